"""How well a parser does: tag and attachment accuracy, and the relations that filters rest on."""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.errors import PoshgridError
from poshgrid.parsing.tree import Tree

RELATIONS = ("acl:relcl", "nsubj", "aux")


def evaluate(gold: Sequence[Tree], predicted: Sequence[Tree]) -> dict[str, object]:
    """Compare trees over the same words.

    A relation counts as found when the same word bears the same full label and has the same
    governor. Accuracies are shares of all words, punctuation included.

    Args:
        gold: the treebank's trees.
        predicted: the parser's trees of the same sentences, in the same order.

    Returns:
        ``sentences``, ``words``, ``upos``, ``uas``, ``las`` (shares of words) and ``relations``:
        relation -> ``gold``, ``predicted``, ``correct`` (counts), ``precision``, ``recall``, ``f1``
        (``None`` when there is nothing to divide by).

    Raises:
        PoshgridError: the words differ.
    """
    words = upos = uas = las = 0
    counts = {relation: [0, 0, 0] for relation in RELATIONS}
    if len(gold) != len(predicted):
        raise PoshgridError(f"{len(predicted)} predicted trees for {len(gold)} gold ones")
    for number, (truth, guess) in enumerate(zip(gold, predicted, strict=True), start=1):
        if list(truth.form) != list(guess.form):
            raise PoshgridError(f"sentence {number}: the parser changed the words {truth.form}")
        words += len(truth)
        for place in range(len(truth)):
            right_head = truth.head[place] == guess.head[place]
            right = right_head and truth.deprel[place] == guess.deprel[place]
            upos += truth.upos[place] == guess.upos[place]
            uas += right_head
            las += right
            for relation, count in counts.items():
                count[0] += truth.deprel[place] == relation
                count[1] += guess.deprel[place] == relation
                count[2] += right and truth.deprel[place] == relation
    return {
        "sentences": len(gold),
        "words": words,
        "upos": _share(upos, words),
        "uas": _share(uas, words),
        "las": _share(las, words),
        "relations": {
            relation: {
                "gold": in_gold,
                "predicted": in_guess,
                "correct": correct,
                "precision": _share(correct, in_guess),
                "recall": _share(correct, in_gold),
                "f1": _share(2 * correct, in_gold + in_guess),
            }
            for relation, (in_gold, in_guess, correct) in counts.items()
        },
    }


def evaluate_parts(
    gold: Sequence[Tree], predicted: Sequence[Tree], parts: Sequence[str]
) -> dict[str, object]:
    """Compare trees overall and for each part of the treebank.

    Args:
        gold: the treebank's trees.
        predicted: the parser's trees of the same sentences, in the same order.
        parts: the part that each sentence is from.

    Returns:
        What :func:`evaluate` returns, and ``parts``: part -> the same of its sentences alone.

    Raises:
        PoshgridError: the words differ.
    """
    places: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        places.setdefault(part, []).append(place)
    found = {
        part: evaluate([gold[place] for place in own], [predicted[place] for place in own])
        for part, own in sorted(places.items())
    }
    return {**evaluate(gold, predicted), "parts": found}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
