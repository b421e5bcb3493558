"""One module for each heuristic; its name, with ``-`` for ``_``, is the heuristic's.

A heuristic declares one of

- ``prefers(pair)``: 1 for the first sentence, 0 for the second, .5 for a tie, ``None``: no say;
- ``compares(pair)``: two words, of which the model has seen one more often, or ``None``; or two
  lists of words, of which one has the larger sum of frequencies; for a word may stand two that
  follow each other (``a b``), or a question word and one that comes soon after it (``who … b``);
- ``BASELINE``: the baseline whose choices are the heuristic's;

and ``SAYS``, what it does in words, and ``HIERARCHICAL = True`` if it stands for the hypothesis
that the model has hierarchical structure.
"""
