"""Suites: readers of published files, generation from templates, and a grammar that checks both.

:mod:`poshgrid.benchmark.suites` has a reader for each config word, ``generation`` makes items,
``checks`` judges the items without knowing the templates. ``items`` makes a suite's table of items.
"""
