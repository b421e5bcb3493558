"""Direct evidence: filters, screens before parsing, conditions, and what else a filter removes.

A filter is a module of :mod:`poshgrid.evidence.filters`. ``label`` asks it of each sentence,
``condition`` leaves sentences out and puts some back, ``side_effects`` counts what went with them.
"""
