"""*Want to* does not contract if the gap of the question is between the two words."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import ADJUNCTS, ARGUMENTS, Sentence, known
from poshgrid.evaluation.heuristics.pair import Pair, prefer

SAYS = "contracts want to only where no gap is in between"
HIERARCHICAL = True
_CONTRACTED = "wanna"


def prefers(pair: Pair) -> float | None:
    """Prefer the member that does not contract over the gap of *who* or *what*."""
    across = [_contracts_over_gap(sentence) for sentence in (pair.first, pair.second)]
    return None if None in across else prefer(not across[0], not across[1])


def _contracts_over_gap(sentence: Sentence) -> bool | None:
    """Return whether *wanna* contracts over the gap; None if unsure, or without *want to*.

    The gap of *who* and *what* is the subject of the second verb if that verb already has an
    object, or never takes one.
    """
    words = sentence.words
    contracted = _CONTRACTED in words
    if not contracted and not any(a == "want" and "to" in words[i:] for i, a in enumerate(words)):
        return None
    if not words or words[0] not in ARGUMENTS | ADJUNCTS:
        return None
    if not contracted or words[0] in ADJUNCTS:
        return False
    rest = words[words.index(_CONTRACTED) + 1 :]
    if len(rest) == 1 and rest[0] in known().transitive:
        return None
    return bool(rest)
