"""The question word and the first verb that were heard together more often win.

Such a skip-gram gives a difference between islands without islands: a verb that questions reach
into (*say*) is heard with *who*, one that they do not reach into (*hesitate*) is not.
"""

from __future__ import annotations

from poshgrid.heuristics.pair import Pair
from poshgrid.heuristics.words import ADJUNCTS, ARGUMENTS, Sentence

SAYS = "prefers the question word and verb that are heard together more often"


def compares(pair: Pair) -> tuple[str, str] | None:
    """Return the question word and the first verb of each sentence, if they differ."""
    first, second = _skip(pair.first), _skip(pair.second)
    return (first, second) if first and second and first != second else None


def _skip(sentence: Sentence) -> str | None:
    filler, *rest = sentence.words or [""]
    verbs = {sentence.words[index] for index in sentence.verbs(1, len(sentence))}
    verb = next((word for word in rest if word in verbs | {"want", "wanna"}), None)
    return f"{filler} … {verb}" if verb and filler in ARGUMENTS | ADJUNCTS | {"which"} else None
