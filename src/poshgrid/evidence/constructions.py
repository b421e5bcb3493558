"""Constructions other than the evidence, which a filter removes as a side effect.

The report shows how many are lost; a control can be matched by questions.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from poshgrid.evidence.closed_classes import WH_WORDS
from poshgrid.parsing.tree import Tree

_QUESTION = pl.col("text").str.contains(r"\?[!?]*[\s\"'”’)]*$")
_WH = pl.col("text").str.contains(rf"(?i)^\W*({'|'.join(sorted(WH_WORDS))})\b")
BY_WORDS: dict[str, pl.Expr] = {
    "question": _QUESTION,  # ends in a question mark, quotation marks aside
    "wh_question": _QUESTION & _WH,  # and begins with a wh-word
    "reflexive": pl.col("text").str.contains(r"(?i)\b\w+sel(f|ves)\b"),
}
"""Constructions that are found by a sentence's words, without its tree."""
_PASSIVES = frozenset({"aux:pass", "nsubj:pass", "csubj:pass"})
_CLAUSES = frozenset({"ccomp", "csubj"})
_ASKS = WH_WORDS | {"whether", "if"}


def _embedded_question(tree: Tree) -> bool:
    """Return whether a complement or subject clause is a question: *I know what you want*."""
    return any(
        tree.relation(clause) in _CLAUSES
        and any(child < clause and tree.lower(child) in _ASKS for child in tree.children(clause))
        for clause in range(1, len(tree) + 1)
    )


BY_TREE: dict[str, Callable[[Tree], bool]] = {
    "embedded_question": _embedded_question,
    "relative": lambda tree: "acl:relcl" in tree.deprel,  # a relative clause
    "passive": lambda tree: not _PASSIVES.isdisjoint(tree.deprel),
}
"""Constructions that are found in the tree: columns of the evidence table."""
CONSTRUCTIONS = (*BY_WORDS, *BY_TREE)
