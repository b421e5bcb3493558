"""Is the good member grammatical, and the bad one not: by a grammar, not by the templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from poshgrid.benchmark.checks import grammar, readings
from poshgrid.benchmark.checks.words import bare, split
from poshgrid.benchmark.lexicon import Lexicon

CONSTRUCTIONS: dict[str, frozenset[str]] = {
    "island-adjunct": frozenset({"argument question", "adjunct"}),
    "island-complex-np": frozenset({"argument question", "subject relative"}),
    "island-wh": frozenset({"argument question", "that clause"}),
    "island-wh-pronoun": frozenset({"argument question", "clause"}),
    "principle-a-command": frozenset({"that clause"}),
    "principle-a-locality": frozenset({"that clause"}),
    "principle-a-participle": frozenset({"perceived gerund"}),
    "question-formation-or": frozenset({"yes/no question", "object relative"}),
    "question-formation-rr": frozenset({"yes/no question", "reduced relative"}),
    "question-formation-sr": frozenset({"yes/no question", "subject relative"}),
    "wanna": frozenset({"adjunct question", "wanna"}),
}
"""Phenomenon -> the constructions that its good members have. Others are not parsed."""

_CAUSES = (  # what is relaxed, in this order -> what was wrong if that makes a sentence of it
    ({"gender"}, "gender"),
    ({"number"}, "number"),
    ({"form"}, "verb form"),
    ({"selection"}, "selection"),
    ({"selection", "frame"}, "selection"),
)
_REASONS = {
    "gender": "a reflexive does not agree with the subject of its clause",
    "number": "a determiner, an auxiliary or a verb does not agree in number",
    "verb form": "a verb is in the wrong form",
    "selection": "a verb or an adjective does not go with its noun or clause",
}


class Fault(NamedTuple):
    """What is wrong with a pair."""

    kind: str  # gender, number, verb form, selection, structure, bad member
    reason: str


class Judge:
    """Judges pairs of the phenomena in ``CONSTRUCTIONS``.

    Args:
        lexicon: words and their features.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._known = readings.readings(lexicon)

    def fault(self, row: Mapping[str, Any]) -> Fault | None:
        """Return what is wrong with a pair; None: nothing, or a phenomenon that is not known.

        The good member must be a sentence of the grammar and hold the phenomenon's construction.
        The bad member must not be a sentence, even if any verb may go with any noun: nonsense would
        be no evidence of syntax.

        Args:
            row: ``phenomenon``, ``good`` and ``bad``.
        """
        needed = CONSTRUCTIONS.get(row["phenomenon"])
        if needed is None:
            return None
        good, bad = split(row["good"]), split(row["bad"])
        asked = row["good"].endswith("?")
        parses = grammar.Parser(good, self._known).parses(question=asked)
        if not parses:
            return self._cause(good, asked)
        fitting = [tags for tags in parses if needed <= tags]
        if not fitting:
            missing = sorted(map(str, needed - parses[0]))
            return Fault("structure", f"the good member has no {' and no '.join(missing)}")
        fault = self._binding(good, bad, fitting) or self._clause_verb(good, bad)
        if fault:
            return fault
        relaxed = frozenset({"selection"})
        if grammar.Parser(bad, self._known, relaxed).parses(question=row["bad"].endswith("?")):
            return Fault("bad member", "the bad member is a sentence, too")
        return None

    def _cause(self, good: Sequence[str], asked: bool) -> Fault:
        """Return what has to be relaxed for a good member to be a sentence."""
        for relaxed, kind in _CAUSES:
            if grammar.Parser(good, self._known, frozenset(relaxed)).parses(question=asked):
                return Fault(kind, f"good member: {_REASONS[kind]}")
        return Fault("structure", "the good member is not a sentence of the grammar")

    def _binding(
        self, good: Sequence[str], bad: Sequence[str], parses: Sequence[grammar.Tags]
    ) -> Fault | None:
        """Return why the bad member's reflexive is not a real distractor."""
        places = [i for i, word in enumerate(good) if word in readings.REFLEXIVES]
        if not places or places[-1] >= len(bad) or bad[places[-1]] == good[places[-1]]:
            return None
        place, other = places[-1], bad[places[-1]]
        gender = readings.REFLEXIVES.get(other)
        binders = {tag[2] for tags in parses for tag in tags if tag[:2] == ("bound", place)}
        for binder in sorted(binders):
            if gender in self._genders(good[binder]):
                return Fault("gender", f"{good[binder]!r} may bind {other!r}, too")
        distractors = [
            word
            for i, word in enumerate(good)
            if i not in binders and self._genders(word) == {gender}
        ]
        if not distractors:
            return Fault("gender", f"no other word has the gender of {other!r}")
        return None

    def _clause_verb(self, good: Sequence[str], bad: Sequence[str]) -> Fault | None:
        """Return which verb does not select both clause types that a pair contrasts."""
        for i, (g, b) in enumerate(zip(good, bad, strict=False)):
            if g != b:
                if i == 0 or b not in {"whether", "who"}:
                    return None
                verbs = [r for r in self._known.get(good[i - 1], ()) if r.category == "verb"]
                if any({"that", "whether"} <= r.features["frames"] for r in verbs):
                    return None
                return Fault("selection", f"{good[i - 1]!r} does not take both clauses")
        return None

    def _genders(self, word: str) -> frozenset[str]:
        return frozenset(
            gender
            for reading in self._known.get(bare(word), ())
            if reading.category in {"noun", "name"}
            for gender in readings.genders(reading)
        )
