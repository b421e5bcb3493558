"""One module for each heuristic. The heuristic has the module's name, with ``-`` for ``_``.

A heuristic declares one of

- ``prefers(pair)``: 1 for the first sentence, 0 for the second, .5 for a tie, None for no decision;
- ``compares(pair)``: the words of each sentence whose frequencies in the training text are
  compared, as two words or two lists of words, or None for no decision. Instead of a word it may
  return a pair of neighbours (``a b``), or a question word and a later word (``who … b``);
- ``BASELINE``: the baseline that makes the same choices;

and ``SAYS``, what it does in words. A heuristic that stands for the hypothesis that models have
hierarchical structure declares ``HIERARCHICAL = True``; one for any language, ``ANY_LANGUAGE``.
"""
