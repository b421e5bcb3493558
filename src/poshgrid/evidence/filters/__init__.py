"""Filters: one module for each kind of direct evidence.

Most only need ``PATTERNS`` and ``READINGS = readings(PATTERNS)``. A reading written in Python
returns the rule that matched and the matched words (role -> position, from 1), or ``None``.
Functions receive words as parsers do (``wan na``, ``do n't``). A module has

- ``READINGS``, the default first;
- ``BACKSTOPS``: reading -> function that returns the positions of words that look like evidence:
  such a sentence is removed, too;
- ``NEEDS``: reading -> labels that it needs, alternatives separated by ``|``. If no tree of a
  parser has one, the condition's job stops;
- ``TARGETS``: the phenomena that it is aimed at: the report compares what it changes on them and
  on others;
- ``candidates(words)``: positions of the words that evidence needs. Audits draw from sentences with
  such words, unless ``audit.whole`` is set.
"""
