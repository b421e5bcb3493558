"""Constructions other than the evidence, which a filter removes as a side effect.

The report shows how many are lost; a control can be matched by questions.
"""

from __future__ import annotations

import polars as pl

from poshgrid.evidence.schema import BY_TREE
from poshgrid.evidence.screening.closed_classes import WH_WORDS
from poshgrid.parsing.tree import Tree

_QUESTION = pl.col("text").str.contains(r"\?[!?]*[\s\"'”’)]*$")
_WH = pl.col("text").str.contains(rf"(?i)^\W*({'|'.join(sorted(WH_WORDS))})\b")
BY_WORDS: dict[str, pl.Expr] = {
    "question": _QUESTION,  # ends in a question mark, quotation marks aside
    "wh_question": _QUESTION & _WH,  # and begins with a wh-word
    "reflexive": pl.col("text").str.contains(r"(?i)\b\w+sel(f|ves)\b"),
}
"""Constructions that are found in the text of any sentence, parsed or not."""
CONSTRUCTIONS = (*BY_WORDS, *BY_TREE)
_RELATIVES = ("acl:relcl", "relcl")
_PASSIVES = ("aux:pass", "nsubj:pass", "csubj:pass", "auxpass", "nsubjpass", "csubjpass")
_CLAUSES = ("ccomp", "csubj")
_ASKS = WH_WORDS | {"whether", "if"}


def by_tree(parses: pl.DataFrame) -> pl.DataFrame:
    """Return which constructions each parsed sentence has: a Boolean column for each.

    Args:
        parses: rows of ``PARSES`` with words.
    """
    relation = pl.element()
    constructions = parses.select(
        embedded_question=_any(relation.str.contains(rf"^({'|'.join(_CLAUSES)})")),
        relative=_any(relation.is_in(_RELATIVES)),
        passive=_any(relation.is_in(_PASSIVES)),
    )
    # Only the tree shows whether a clause is a question
    possible = constructions["embedded_question"].arg_true()
    lists = parses.select("form", "upos", "feats", "head", "deprel")
    asks = [_embedded_question(Tree(*row)) for row in lists[possible].iter_rows()]
    embedded = pl.repeat(False, parses.height, dtype=pl.Boolean, eager=True)
    return constructions.with_columns(embedded_question=embedded.scatter(possible, asks))


def _any(test: pl.Expr) -> pl.Expr:
    return pl.col("deprel").list.eval(test).list.any()


def _embedded_question(tree: Tree) -> bool:
    """Return whether a complement or subject clause is a question: *I know what you want*."""
    return any(
        tree.relation(clause) in _CLAUSES
        and any(child < clause and tree.lower(child) in _ASKS for child in tree.children(clause))
        for clause in range(1, len(tree) + 1)
    )
