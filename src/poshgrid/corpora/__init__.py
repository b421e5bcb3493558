"""Text: readers of sources, cleaning, downloading, and mixing sources into nested corpora.

A reader is a module of :mod:`poshgrid.corpora.readers`. ``clean`` cleans the text that a reader
yields; ``mix`` assigns each sentence a split and the smallest size that includes it.
"""
