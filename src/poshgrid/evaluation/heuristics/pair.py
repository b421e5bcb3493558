"""A pair as heuristics see it: two sentences, without knowing which one is grammatical."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from poshgrid.evaluation.heuristics.english import REFLEXIVES, Noun, Sentence, difference, known


def prefer(first: bool, second: bool) -> float | None:
    """Return 1 if only the first sentence is preferred, 0 if only the second, else None."""
    return None if first == second else float(first)


@dataclass(frozen=True)
class Fronted:
    """Two yes/no questions that front different auxiliaries of one statement."""

    body: Sentence  # the common words, without both auxiliaries
    first: int  # index in the body from which the first sentence fronted its auxiliary
    second: int  # the same for the second sentence


@dataclass(frozen=True)
class Gap:
    """Two wh-questions with the same words, and their gaps in different positions."""

    first_early: bool  # whether the first sentence has the earlier gap
    early: Sentence  # the sentence with the earlier gap
    late: Sentence
    index: int  # the first index at which they differ: that of the earlier gap


class Pair:
    """Two sentences in arbitrary order."""

    def __init__(self, first: str, second: str) -> None:
        self.first, self.second = Sentence(first), Sentence(second)

    @cached_property
    def fronted(self) -> Fronted | None:
        """The pair as questions that front different auxiliaries; None for other pairs.

        Each member has one auxiliary in front and one in its original position, from which the
        other member fronted it.
        """
        first, second = self.first, self.second
        auxiliaries = known().auxiliaries
        if len(first) != len(second) or len(first) < 2:
            return None
        if not {first.words[0], second.words[0]} <= auxiliaries:
            return None
        for stayed in (i for i, word in enumerate(first.words) if i and word in auxiliaries):
            for other in (i for i, word in enumerate(second.words) if i and word in auxiliaries):
                body = [*first.written[1:stayed], *first.written[stayed + 1 :]]
                same = [*second.words[1:other], *second.words[other + 1 :]]
                if stayed != other and [word.casefold() for word in body] == same:
                    return Fronted(Sentence(" ".join(body)), other - 1, stayed - 1)
        return None

    @cached_property
    def gap(self) -> Gap | None:
        """The pair as questions that differ in the position of their gap; None for other pairs."""
        first, second = self.first, self.second
        if sorted(first.words) != sorted(second.words) or first.words[:1] != second.words[:1]:
            return None
        if first.words[:1] not in (["who"], ["what"], ["whom"], ["which"]):
            return None
        index = difference(first.words, second.words)
        if index is None or first.opens(index) == second.opens(index):
            return None
        early = not first.opens(index)
        return Gap(early, *((first, second) if early else (second, first)), index)

    def bound(self, antecedent: Callable[[Sentence, int], Noun | None]) -> float | None:
        """Return the preference for the member whose reflexive agrees with its antecedent.

        Args:
            antecedent: function of a sentence and the index of its reflexive.

        Returns:
            None if a member does not have exactly one reflexive, or no antecedent; or if both
            reflexives agree with their antecedents, or neither does.
        """
        agrees = []
        for sentence in (self.first, self.second):
            reflexives = [i for i, word in enumerate(sentence.words) if word in REFLEXIVES]
            noun = antecedent(sentence, reflexives[0]) if len(reflexives) == 1 else None
            if noun is None:
                return None
            agrees.append(noun.binds(sentence.words[reflexives[0]]))
        return prefer(*agrees)
