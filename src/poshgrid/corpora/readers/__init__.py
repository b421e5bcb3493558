"""Readers of corpora: one module for each format of text.

A module has ``files(path, options)``, which returns the files to read; ``read(path, options,
report)``, which yields ``(document, text)`` and counts what it drops; ``SPLIT = True`` if its text
is not yet split into sentences; and ``ENGLISH = True`` if it only reads English.
"""
