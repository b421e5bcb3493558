"""Accuracy of a parser: tags, attachment, and the relations that filters rely on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from poshgrid.parsing.tree import Tree

RELATIONS = ("acl:relcl", "nsubj", "aux")


def evaluate(gold: Sequence[Tree], predicted: Sequence[Tree]) -> dict[str, object]:
    """Compare trees over the same words.

    A relation counts as correct if the same word has the same full label and the same governor.
    Accuracies are shares of all words, including punctuation.

    Args:
        gold: the treebank's trees.
        predicted: the parser's trees of the same sentences, in the same order.

    Returns:
        ``sentences``, ``words``, ``upos``, ``uas``, ``las`` (shares of words) and ``relations``:
        relation -> ``gold``, ``predicted``, ``correct`` (counts), ``precision``, ``recall``, ``f1``
        (``None`` if the denominator is 0).
    """
    totals = Counter[str]()
    in_gold, in_guess, correct = (Counter[str]() for _ in range(3))
    for truth, guess in zip(gold, predicted, strict=True):
        heads = [a == b for a, b in zip(truth.head, guess.head, strict=True)]
        right = [
            relation
            for head, relation, other in zip(heads, truth.deprel, guess.deprel, strict=True)
            if head and relation == other
        ]
        upos = sum(a == b for a, b in zip(truth.upos, guess.upos, strict=True))
        totals.update(words=len(truth), upos=upos, uas=sum(heads), las=len(right))
        in_gold.update(truth.deprel)
        in_guess.update(guess.deprel)
        correct.update(right)
    words = totals["words"]
    shares = {name: _share(totals[name], words) for name in ("upos", "uas", "las")}
    return {
        "sentences": len(gold),
        "words": words,
        **shares,
        "relations": {
            relation: {
                "gold": in_gold[relation],
                "predicted": in_guess[relation],
                "correct": correct[relation],
                "precision": _share(correct[relation], in_guess[relation]),
                "recall": _share(correct[relation], in_gold[relation]),
                "f1": _share(2 * correct[relation], in_gold[relation] + in_guess[relation]),
            }
            for relation in RELATIONS
        },
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
