"""The sections of the page, one module each (see :mod:`poshgrid.report.parts`)."""
