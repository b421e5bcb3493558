"""Text: readers of sources, cleaning, fetching, and mixing into nested corpora.

A reader is a module of :mod:`poshgrid.corpora.readers`; ``clean`` cleans what it yields, ``mix``
gives each sentence a split and the smallest size that holds it.
"""
