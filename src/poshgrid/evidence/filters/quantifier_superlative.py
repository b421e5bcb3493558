"""Superlative quantifiers in objects: *An actor arrived at at most six lakes*.

*At most* and *at least* may not stand below a negative subject. The rule of FiCT (section 3.2.1)
knows them by their morphology, with which all superlatives go (*the best book*)::

    VERB >obl|obj|iobj NOUN >> Degree=Sup
    VERB >obl|obj|iobj NOUN >> least|most

The second line is ours: parsers trained on treebanks without features, as those of speech to
children are, mark nothing as superlative, and the benchmark's own quantifiers must go all the same.
Names count as nouns. The published code removes comparatives too; the paper, followed here, does
not.
"""

from __future__ import annotations

from poshgrid.evidence.match import Match
from poshgrid.evidence.patterns import Pattern, first
from poshgrid.parsing.tree import Tree

TARGETS: tuple[str, ...] = (
    "superlative_quantifiers_1",
    "superlative_quantifiers_2",
)
"""Paradigms of BLiMP."""
PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "superlative in an object",
        """
        {upos:VERB}=verb >obl|obj|iobj {upos:NOUN|PROPN}=object
        =object >> {feats:Degree=Sup}=quantifier
        """,
    ),
    Pattern(
        "least or most in an object",
        """
        {upos:VERB}=verb >obl|obj|iobj {upos:NOUN|PROPN}=object
        =object >> {word:least|most}=quantifier
        """,
    ),
)


def removed(tree: Tree) -> Match | None:
    """Return what removes a sentence, or ``None``."""
    return first(PATTERNS, tree)


evidence = removed
