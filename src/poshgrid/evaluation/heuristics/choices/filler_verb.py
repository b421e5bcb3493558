"""The question word and the first verb that are together more often in the text win.

Such a skip-gram can imitate knowledge of islands: verbs whose clauses allow a gap (*say*) occur
with *who*, verbs whose clauses do not (*hesitate*) do not.
"""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import ADJUNCTS, ARGUMENTS, Sentence
from poshgrid.evaluation.heuristics.pair import Pair

SAYS = "prefers the question word and verb that are heard together more often"


def compares(pair: Pair) -> tuple[str, str] | None:
    """Return the question word and the first verb of each sentence, if they differ."""
    first, second = _skip_gram(pair.first), _skip_gram(pair.second)
    return (first, second) if first and second and first != second else None


def _skip_gram(sentence: Sentence) -> str | None:
    filler, *rest = sentence.words or [""]
    verbs = {sentence.words[index] for index in sentence.verbs(1, len(sentence))}
    verb = next((word for word in rest if word in verbs | {"want", "wanna"}), None)
    return f"{filler} … {verb}" if verb and filler in ARGUMENTS | ADJUNCTS | {"which"} else None
