"""Reconstruction: a clefted reflexive, *It's herself who Karen criticized*.

The reflexive is bound at its position in the uncleft clause. FiCT gives no rule, only the
benchmark's context (section 3.2.1). ``paper``, poshgrid's rule for it, matches a reflexive that is
a predicate with a clause, whatever its relation::

    $reflexives >cop be      $reflexives >acl|advcl|ccomp|csubj _

Reflexives of all persons count, and so do relations with subtypes (``acl:relcl``).

``published`` is the same rule. The published code removes none of 14,545 gold sentences, and
neither does this rule, so nothing more can be inferred.
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
