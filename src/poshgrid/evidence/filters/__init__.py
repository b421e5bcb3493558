"""Filters: one module for each kind of direct evidence.

Most need only ``PATTERNS`` and ``READINGS = readings(PATTERNS)``. In Python a reading returns the
rule that fired and the words that it matched (role -> place, from 1), or ``None``. Functions see
words as parsers do (``wan na``, ``do n't``). A module has

- ``READINGS``, the default first;
- ``screen(words)``: may the filter remove a sentence of these words? It must say yes wherever a
  reading or a backstop fires. Patterns that each name a word are their own screen; without one
  every sentence of the corpus is parsed;
- ``BACKSTOPS``: reading -> function that returns the places of words that look like evidence: the
  sentence is removed, too;
- ``NEEDS``: reading -> labels that it needs, alternatives divided by ``|``. If no tree of a parser
  has one, the condition's job stops;
- ``candidates(words)``: places of the words that evidence needs. Audits draw from such sentences,
  but for ``audit.whole``.

``screen``, ``BACKSTOPS`` and ``candidates`` may be in a module of the same name in
``evidence/screening/lexical``: then an edit of the rule reruns no parse.
"""
