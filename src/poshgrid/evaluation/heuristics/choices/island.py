"""No gap is inside an adjunct clause, a relative clause or an embedded question."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import (
    ARGUMENTS,
    INTERROGATIVES,
    SUBORDINATORS,
    Sentence,
    difference,
    known,
    relative,
)
from poshgrid.evaluation.heuristics.pair import Gap, Pair, prefer

SAYS = "leaves no gap in an island"
HIERARCHICAL = True


def prefers(pair: Pair) -> float | None:
    """Prefer the member whose gap is outside the island, if the other's is inside."""
    gap = pair.gap
    if gap is None:
        return _embedded(pair)
    early, late = _early_inside(gap), _late_inside(gap)
    return prefer(*((late, early) if gap.first_early else (early, late)))


def _early_inside(gap: Gap) -> bool:
    """Return whether the earlier gap follows a relative clause's verb: *who helped _ like*."""
    opener = relative(gap.early, 2, gap.index)
    return opener is not None and len(gap.early.verbs(opener + 1, gap.index)) <= 1


def _late_inside(gap: Gap) -> bool:
    """Return whether an adjunct clause begins between the two gaps: *the girl before seeing _*."""
    return bool(set(gap.late.words[gap.index :]) & SUBORDINATORS)


def _embedded(pair: Pair) -> float | None:
    """Prefer the question whose last clause allows a gap at its end."""
    first, second = pair.first, pair.second
    if first.words[:1] != second.words[:1] or not ARGUMENTS.issuperset(first.words[:1] or [""]):
        return None
    if sorted(first.words) == sorted(second.words):
        return None
    index = difference(first.words, second.words)
    if index and index > 1 and first.words[index + 1 :] == second.words[index + 1 :]:
        # One word makes the clause a question: both members have the gap in it, or neither
        if _has_object(first):
            return None
        return prefer(not _asks(first, index), not _asks(second, index))
    return prefer(not _inside(first), not _inside(second))


def _has_object(sentence: Sentence) -> bool:
    """Return whether the last verb has an object and takes no second: no gap follows."""
    verb = (sentence.verbs(2, len(sentence)) or [0])[-1]
    objects = [noun for noun in sentence.heads if noun > verb]
    ends = objects == [len(sentence) - 1] and sentence.words[-1] in known().nouns
    return ends and sentence.opens(verb + 1) and sentence.words[verb] not in known().ditransitive


def _asks(sentence: Sentence, index: int) -> bool:
    """Return whether a word is an interrogative, not a relative pronoun."""
    return sentence.words[index] in INTERROGATIVES and index - 1 not in sentence.heads


def _inside(sentence: Sentence) -> bool:
    """Return whether the last adjunct clause, question or relative clause has a gap."""
    openers = [
        index
        for index in range(2, len(sentence))
        if sentence.words[index] in INTERROGATIVES | SUBORDINATORS
    ]
    if not openers:
        return False
    verbs = sentence.verbs(openers[-1] + 1, len(sentence))
    if not verbs:
        return True
    # After a relative pronoun, the first verb is that of the relative clause
    verb = verbs[0] if openers[-1] - 1 in sentence.heads else verbs[-1]
    # A clause with an object after its verb has no gap
    return verb + 1 >= len(sentence) or not sentence.opens(verb + 1)
