"""Rewriters: one module for each way to change a sentence by its dependency tree.

A module has ``rewrite(tree)``. It returns the words of the new sentence
(:class:`~poshgrid.evidence.rewriting.Word`) in order, or ``None`` if there is nothing to change. If
the tree does not show how to change the sentence, it raises
:class:`~poshgrid.evidence.rewriting.UnsafeError` with a short reason: the sentence stays as it is,
and is counted. White space, capitals and the new tree are made from the words. A module with
``ENGLISH = True`` is refused in other languages.
"""
