"""The page with its tables and figures.

A section of the page is a module of :mod:`poshgrid.report.sections`. ``collect`` reads all results,
``accuracies`` makes the wide tables of accuracies (Tables 3 and 8), ``figures`` draws figures.
``results`` opens results in Python, ``export`` writes folders for other tools.
"""
