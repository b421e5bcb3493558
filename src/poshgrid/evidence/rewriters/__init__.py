"""Rewriters: one module for each way to change a sentence by its dependency tree.

A module has ``rewrite(tree)``. It returns the words of the new sentence
(:class:`~poshgrid.evidence.rewriting.Word`) in their order, ``None`` where there is nothing to
change, and raises :class:`~poshgrid.evidence.rewriting.UnsafeError` with a few words of why where
there is and the tree does not tell how: the sentence stays as it is, and is counted. White space,
capitals and the tree that the next rewriter reads follow from the words. ``ENGLISH = True`` keeps
it out of configurations of other languages.
"""
