"""Direct evidence: filters, conditions, and the side effects of filtering.

A filter is a module of :mod:`poshgrid.evidence.filters`. ``label`` applies it to each sentence,
``condition`` leaves sentences out and puts some back, ``side_effects`` counts what else is removed.
"""
