"""Readers and generators of suites: one module for each format or design.

``files(path, options)`` is what is read and watched; ``load(path, options, context)`` returns the
items. A suite of another task than minimal pairs declares ``TASK``: paradigms, choices or
completions. With ``CORPORA = True`` the context has word frequencies, n-gram models and the
sentences that a corpus holds.
"""
