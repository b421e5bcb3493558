"""The page with its tables and figures, and the tables in the terminal.

A section of the page is a module of :mod:`poshgrid.report.sections`. ``collect`` reads all results,
``tables`` makes Tables 3 and 8, ``figures`` the figures.
"""
