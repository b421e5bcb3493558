"""Weak quantifiers below existential *there*: *There are many people here*.

``paper``, the rule of FiCT (section 3.2.1), where ARE is any form of *be* and WEAK-Q is one of the
benchmark's five: *a(n)*, *no*, *some*, *few*, *many*::

    there <expl be      be >nsubj _ > a|an|no|some|few|many

If a parser makes the noun the predicate, with *be* as its copula, the rule does not match: in
Universal Dependencies for English *be* governs both.

``published``, the rule of the published code, inferred from its decisions on gold trees: the same
with ten quantifiers, including strong ones (*all*, *every*; it is a guess that *each* and *most*,
the benchmark's other two, complete the ten). It uses lemmas, so that *there s* counts; *their is*,
which only a lemma corrects, is missed here.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = ("existential_there_quantifiers_1",)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    weak quantifier below there:
        {word:am|is|are|was|were|be|been|being|'s|'re|ai}=be >expl {word:there}=there
        =be >nsubj {}=subject
        =subject > {word:a|an|no|some|few|many}=quantifier
    """,
    published="""
    quantifier below there:
        {word:am|is|are|was|were|be|been|being|'s|s|'re|re|ai}=be >expl {word:there}=there
        =be >nsubj {}=subject
        =subject > {word:a|an|no|some|few|many|all|every|each|most}=quantifier
    """,
)
READINGS = readings(PATTERNS)
