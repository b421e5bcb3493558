"""The sections of the page, one module each; :mod:`poshgrid.report.parts` says what it declares."""
