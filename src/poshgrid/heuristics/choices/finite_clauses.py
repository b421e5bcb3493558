"""Every clause has a finite verb: one that agrees with its subject, or an auxiliary."""

from __future__ import annotations

from poshgrid.heuristics.pair import Pair, prefer
from poshgrid.heuristics.words import Sentence, in_relative, known

SAYS = "gives every clause a finite verb"


def prefers(pair: Pair) -> float | None:
    """Prefer the question whose relative clause has a finite verb: the main one has, in front.

    Where an auxiliary stays in the relative clause, that is finite; where it was fronted, the verb
    that is left may be (*the boys see*, *the boy saw*) or not (*the boy see*).
    """
    questions = pair.fronted
    if questions is None:
        return None
    # What a member has kept in its place is what the other has fronted
    inside = [in_relative(questions.body, kept) for kept in (questions.second, questions.first)]
    index = questions.second if inside[0] else questions.first
    return None if _finite(questions.body, index) else prefer(*inside)


def _finite(sentence: Sentence, index: int) -> bool:
    """Say whether the first verb or auxiliary from a place on is finite, after its noun."""
    verbs, auxiliaries = (
        sentence.verbs(index, len(sentence)),
        known().auxiliaries - {"have", "do"},
    )
    after = enumerate(sentence.words[index:], start=index)
    verb = next((word for at, word in after if at in verbs or word in known().auxiliaries), "")
    subject = next((n for n in reversed(sentence.nouns) if n.index < index), None)
    if verb in known().finite | auxiliaries or subject is None:
        return True
    # "the boys see", "we see"; of a noun that the lexicon has not, its ending tells
    plural = "singular" not in subject.numbers or (
        len(subject.numbers) > 1 and sentence.words[subject.index].endswith("s")
    )
    return plural and (verb in known().bases or verb not in known().verbs)
