"""Superlative quantifiers in objects: *An actor arrived at at most six lakes*.

*At most* and *at least* cannot follow a negative subject. ``paper``, the rule of FiCT (section
3.2.1), identifies them by their morphology, so that all superlatives match (*the best book*)::

    VERB >obl|obj|iobj NOUN >> Degree=Sup
    VERB >obl|obj|iobj NOUN >> least|most

The second line is poshgrid's: parsers trained on treebanks without features, such as those of
speech to children, never predict superlatives, but the benchmark's own quantifiers must be removed.
Names count as nouns.

``published``, the rule of the published code, inferred from its decisions on gold trees::

    O: obl, obj or iobj, without a subtype
    O >> Degree=Sup|Cmp
    O with Degree=Sup|Cmp

It also matches comparatives (*more than five forks*) and any parts of speech, and the quantifier
may be the object itself (*we need more*, *at least*). Agents and times (``obl:agent``,
``obl:unmarked``: *I waited at least an hour*) do not count as objects.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = (
    "superlative_quantifiers_1",
    "superlative_quantifiers_2",
)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    superlative in an object:
        {upos:VERB}=verb >obl|obj|iobj {upos:NOUN|PROPN}=object
        =object >> {feats:Degree=Sup}=quantifier
    least or most in an object:
        {upos:VERB}=verb >obl|obj|iobj {upos:NOUN|PROPN}=object
        =object >> {word:least|most}=quantifier
    """,
    published="""
    superlative or comparative in an object:
        {rel:obl:|obj|iobj}=object >> {feats:Degree=Sup|Degree=Cmp}=quantifier
    superlative or comparative as object:
        {rel:obl:|obj|iobj;feats:Degree=Sup|Degree=Cmp}=quantifier
    """,
)
READINGS = readings(PATTERNS)
