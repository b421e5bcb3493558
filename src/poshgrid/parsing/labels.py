"""Labels of Universal Dependencies, and which of them a parser has.

Filters ask for UD's relations and features. A parser of another scheme (the stock English pipelines
of spaCy: ``dobj``, ``nsubjpass``, ``relcl``) gives other names to the same things, and one that was
trained on trees without features gives none; filters then find nothing, and nothing fails. What is
here tells so before.
"""

from __future__ import annotations

from collections.abc import Iterable

RELATIONS = frozenset({
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound",
    "conj", "cop", "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat",
    "goeswith", "iobj", "list", "mark", "nmod", "nsubj", "nummod", "obj", "obl", "orphan",
    "parataxis", "punct", "reparandum", "root", "vocative", "xcomp",
})  # fmt: skip
"""The 37 universal relations (de Marneffe et al. 2021, "Universal Dependencies", Table 2)."""

TAGS = frozenset({
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
    "PUNCT", "SCONJ", "SYM", "VERB", "X",
})  # fmt: skip
"""The 17 universal tags (the same, Table 1)."""


def base(relation: str) -> str:
    """Return a relation without its subtype: ``nsubj:pass`` -> ``nsubj``."""
    return relation.partition(":")[0]


def foreign(labels: Iterable[str]) -> list[str]:
    """Return the labels, sorted, whose relation is none of UD's.

    Subtypes are free in UD and are not looked at: ``nsubj:anything`` is UD's, ``nsubjpass`` is not.
    """
    return sorted({label for label in labels if base(label) not in RELATIONS})
