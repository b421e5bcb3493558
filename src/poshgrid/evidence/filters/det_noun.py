"""Agreement of demonstratives with listed nouns: *Craig explored that grocery store*.

``paper``, the rule of FiCT (section 3.2.2): one of the benchmark's nouns with a demonstrative
determiner "directly adjacent"::

    this|that|these|those <+det $det-nouns
    this|that|these|those <det _ . _ <+compound $det-nouns

The list (``resources/filters/det-nouns.yaml``) holds the nouns of the four paradigms in both
numbers. The second rule is for the paradigms' own *that grocery store*, the listed noun of which is
*store*.

``published``, the rule of the published code, inferred from its decisions on gold trees::

    this|that|these|those <det $det-nouns

It does not require adjacency (*that little man*). It uses lemmas; *dat goose*, which only a lemma
corrects, is missed here.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = (
    "determiner_noun_agreement_1",
    "determiner_noun_agreement_2",
    "determiner_noun_agreement_irregular_1",
    "determiner_noun_agreement_irregular_2",
)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    demonstrative before a listed noun:
        {word:this|that|these|those}=determiner <+det {upos:NOUN|PROPN;word:$det-nouns}=noun
    demonstrative before a compound with a listed noun:
        {word:this|that|these|those;rel:det}=determiner . {}=first
        =first <+compound {upos:NOUN|PROPN;word:$det-nouns}=noun
    """,
    published="""
    demonstrative of a listed noun:
        {word:this|that|these|those}=determiner <det {word:$det-nouns}=noun
    """,
)
READINGS = readings(PATTERNS)
