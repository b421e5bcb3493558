"""Suites: readers of published files, generation from templates, and checks of both.

:mod:`poshgrid.benchmark.suites` has a reader for each config word, ``generation`` makes items,
``structure`` finds mechanical faults. ``items`` makes a suite's table of items.
"""
