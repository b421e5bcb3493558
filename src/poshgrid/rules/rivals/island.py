"""No gap stands inside an adjunct clause, a relative clause or a question."""

from __future__ import annotations

from poshgrid.rules.clauses import relative
from poshgrid.rules.pair import Gap, Pair, prefer
from poshgrid.rules.words import INTERROGATIVES, SUBORDINATORS, Sentence, difference

SAYS = "leaves no gap in an island"
HIERARCHICAL = True


def prefers(pair: Pair) -> float | None:
    """Prefer the member whose gap is outside the island, if one's is inside."""
    gap = pair.gap
    if gap is None:
        return _clause_type(pair)
    early, late = _early_inside(gap), _late_inside(gap)
    return prefer(*((late, early) if gap.first_early else (early, late)))


def _early_inside(gap: Gap) -> bool:
    """Say whether the earlier gap follows the verb of a relative clause: *who helped _ like*."""
    opener = relative(gap.early, 2, gap.place)
    return opener is not None and len(gap.early.verbs(opener + 1, gap.place)) <= 1


def _late_inside(gap: Gap) -> bool:
    """Say whether an adjunct clause begins between the two gaps: *the girl before seeing _*."""
    return bool(set(gap.late.words[gap.place :]) & SUBORDINATORS)


def _clause_type(pair: Pair) -> float | None:
    """Prefer the clause that is no question, in a question about what is inside it."""
    first, second = pair.first, pair.second
    place = difference(first.words, second.words)
    if not place or place < 2 or first.words[0] not in ("who", "what", "whom"):
        return None
    if first.words[place + 1 :] != second.words[place + 1 :]:
        return None
    return prefer(_embeds(second, place), _embeds(first, place))


def _embeds(sentence: Sentence, place: int) -> bool:
    """Say whether a question is embedded at a place: it follows a verb or a pronoun, no noun."""
    return sentence.words[place] in INTERROGATIVES and place - 1 not in sentence.heads
