"""Suites: readers of others' files, generation from templates, and a grammar that checks both.

:mod:`poshgrid.benchmark.suites` are the readers by their config words, ``generation`` makes items,
``checks`` knows no template and judges what was made. A suite becomes items in ``items``.
"""
