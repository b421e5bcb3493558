"""A pair as a heuristic sees it: two sentences, without which one is grammatical."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from poshgrid.heuristics.words import REFLEXIVES, Noun, Sentence, difference, known


def prefer(first: bool, second: bool) -> float | None:
    """Return 1 if only the first sentence is preferred, 0 if only the second, else ``None``."""
    return None if first == second else float(first)


@dataclass(frozen=True)
class Fronted:
    """Two yes/no questions of the same words but for the places of two auxiliaries."""

    body: Sentence  # what they share: without any of the auxiliaries
    first: int  # the place in the body that the first sentence's fronted auxiliary was taken from
    second: int


@dataclass(frozen=True)
class Gap:
    """Two wh-questions of the same words, in one of which a noun phrase stands further left."""

    first_early: bool  # the gap of the first sentence is the earlier one
    early: Sentence  # the sentence with the earlier gap
    late: Sentence
    index: int  # where they begin to differ: that of the earlier gap


class Pair:
    """Two sentences, in an order that means nothing."""

    def __init__(self, first: str, second: str) -> None:
        self.first, self.second = Sentence(first), Sentence(second)

    @cached_property
    def fronted(self) -> Fronted | None:
        """The pair as questions that front different auxiliaries; ``None``: it is no such pair.

        In a member one auxiliary stands in front and one has stayed. Where the one has stayed is
        where the other member's was taken from.
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
        """The pair as questions that differ in the place of their gap; ``None``: no such pair."""
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
            antecedent: returns it, given a sentence and the place of its reflexive.

        Returns:
            ``None`` where a member has no reflexive, or another number than one; no antecedent is
            found; or both reflexives agree with theirs, or none does.
        """
        agrees = []
        for sentence in (self.first, self.second):
            places = [i for i, word in enumerate(sentence.words) if word in REFLEXIVES]
            noun = antecedent(sentence, places[0]) if len(places) == 1 else None
            if noun is None:
                return None
            agrees.append(noun.binds(sentence.words[places[0]]))
        return prefer(*agrees)
