"""Every clause has a finite verb: one that agrees with its subject, or an auxiliary."""

from __future__ import annotations

from poshgrid.evaluation.heuristics.english import Sentence, in_relative, known
from poshgrid.evaluation.heuristics.pair import Pair, prefer

SAYS = "gives every clause a finite verb"


def prefers(pair: Pair) -> float | None:
    """Prefer the question whose relative clause has a finite verb; its main clause always has one.

    An auxiliary that stays in the relative clause is finite. If it was fronted, the remaining verb
    may be finite (*the boys see*, *the boy saw*) or not (*the boy see*).
    """
    questions = pair.fronted
    if questions is None:
        return None
    # A member keeps the auxiliary that the other member fronts
    inside = [in_relative(questions.body, kept) for kept in (questions.second, questions.first)]
    index = questions.second if inside[0] else questions.first
    return None if _finite(questions.body, index) else prefer(*inside)


def _finite(sentence: Sentence, index: int) -> bool:
    """Return whether the first verb or auxiliary from an index on is finite, given its subject."""
    verbs, auxiliaries = sentence.verbs(index, len(sentence)), known().auxiliaries - {"have", "do"}
    after = enumerate(sentence.words[index:], start=index)
    verb = next((word for at, word in after if at in verbs or word in known().auxiliaries), "")
    subject = next(reversed(sentence.before(index)), None)
    if verb in known().finite | auxiliaries or subject is None:
        return True
    # "the boys see", "we see"; a noun that is not in the lexicon is plural if it ends in -s
    plural = "singular" not in subject.numbers or (
        len(subject.numbers) > 1 and sentence.words[subject.index].endswith("s")
    )
    return plural and (verb in known().bases or verb not in known().verbs)
