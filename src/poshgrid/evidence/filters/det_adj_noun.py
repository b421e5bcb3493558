"""Agreement across an adjective: *Tracy praises those lucky guys*.

``paper``, the rule of FiCT (section 3.2.1), "a demonstrative determiner followed by an adjective
and a noun"::

    this|that|these|those <det NOUN      _ <++amod NOUN
    determiner $++ adjective

Words between them are allowed (*those very old cars*); other parts of speech than ADJ are allowed
for the ``amod`` (*those purple octopuses*, *this lost report*).

``published``, the rule of the published code, inferred from its decisions on gold trees::

    this|that|these|those <det _      right before a word that is not a NOUN or PROPN

An adjective is not required: numerals (*these ten hats*), quotation marks and adverbs (*that much*)
between determiner and noun also match; *this noun compound* stays.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = (
    "determiner_noun_agreement_with_adjective_1",
    "determiner_noun_agreement_with_adj_2",
    "determiner_noun_agreement_with_adj_irregular_1",
    "determiner_noun_agreement_with_adj_irregular_2",
)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    adjective between demonstrative and noun:
        {word:this|that|these|those;rel:det}=determiner $++ {rel:amod}=adjective
        =adjective <++ {upos:NOUN|PROPN}=noun
    """,
    published="""
    demonstrative that is not right before a noun:
        {word:this|that|these|those;rel:det}=determiner . {upos:!NOUN|PROPN}=next
    """,
)
READINGS = readings(PATTERNS)
