"""Accuracy of a parser: tags and attachment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from poshgrid.parsing.tree import Tree


def evaluate(gold: Sequence[Tree], predicted: Sequence[Tree]) -> dict[str, object]:
    """Compare trees over the same words.

    A relation counts as correct if the same word has the same full label and the same governor.
    Accuracies are shares of all words, including punctuation.

    Args:
        gold: the treebank's trees.
        predicted: the parser's trees of the same sentences, in the same order.

    Returns:
        ``sentences``, ``words``, and the shares of words ``upos``, ``uas``, ``las``; ``None``
        without words.
    """
    totals = Counter[str]()
    for truth, guess in zip(gold, predicted, strict=True):
        heads = [a == b for a, b in zip(truth.head, guess.head, strict=True)]
        labels = [a == b for a, b in zip(truth.deprel, guess.deprel, strict=True)]
        upos = sum(a == b for a, b in zip(truth.upos, guess.upos, strict=True))
        las = sum(head and label for head, label in zip(heads, labels, strict=True))
        totals.update(words=len(truth), upos=upos, uas=sum(heads), las=las)
    words = totals["words"]
    shares = {
        name: round(totals[name] / words, 6) if words else None for name in ("upos", "uas", "las")
    }
    return {"sentences": len(gold), "words": words, **shares}
