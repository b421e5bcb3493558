"""Readers and generators of suites: one module for each format or design.

``files(path, options)`` returns the files to read; ``load(path, options, context)`` returns the
items. A suite whose task is not minimal pairs declares ``TASK``: paradigms, choices or completions.
With ``CORPORA = True`` the context has word frequencies, n-gram models and the sentences of the
corpora.
"""
