"""Reconstruction: a clefted reflexive, *It's herself who Karen criticized*.

The reflexive is bound where it would stand in the clause. FiCT gives no rule but the benchmark's
context (section 3.2.1). ``paper``, our rule for it, takes a reflexive that is a predicate with a
clause, whatever the parser calls that clause::

    $reflexives >cop be      $reflexives >acl|advcl|ccomp|csubj _

Reflexives of all persons count, and so do relations with subtypes (``acl:relcl``).

``published`` is the same rule. The published code removes none of 14,545 gold sentences, nor does
this rule: its decisions do not tell more.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = ("principle_A_reconstruction",)
"""Paradigms of BLiMP."""
_RULE = """
clefted reflexive:
    {word:$reflexives}=reflexive >cop {}=copula
    =reflexive >acl|advcl|ccomp|csubj {}=clause
"""
PATTERNS = written(paper=_RULE, published=_RULE)
READINGS = readings(PATTERNS)
