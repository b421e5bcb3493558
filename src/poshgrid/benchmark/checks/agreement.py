"""Is the good member grammatical, and the bad one not: by a grammar, not by the templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from poshgrid.benchmark.checks import grammar, readings
from poshgrid.benchmark.checks.readings import bare, split
from poshgrid.benchmark.lexicon import Lexicon

CONSTRUCTIONS: dict[str, frozenset[str]] = {
    "island-adjunct": frozenset({"argument question", "adjunct"}),
    "island-complex-np": frozenset({"argument question", "subject relative"}),
    "island-wh": frozenset({"argument question", "that clause"}),
    "island-wh-pronoun": frozenset({"argument question", "clause"}),
    "principle-a-command": frozenset({"that clause"}),
    "principle-a-gender": frozenset({"that clause"}),
    "principle-a-locality": frozenset({"that clause"}),
    "principle-a-number": frozenset({"that clause"}),
    "principle-a-participle": frozenset({"perceived gerund"}),
    "question-formation-or": frozenset({"yes/no question", "object relative"}),
    "question-formation-rr": frozenset({"yes/no question", "reduced relative"}),
    "question-formation-sr": frozenset({"yes/no question", "subject relative"}),
    "wanna": frozenset({"adjunct question", "wanna"}),
}
"""Phenomenon -> the constructions that its good members have. Others are not parsed."""

FACTORIAL: dict[tuple[str, str], frozenset[str]] = {
    ("island-adjunct", "gap"): frozenset({"argument question", "that clause"}),
    ("island-adjunct", "no-gap"): frozenset({"adjunct question", "adjunct"}),
    ("island-complex-np", "gap"): frozenset({"argument question", "that clause"}),
    ("island-complex-np", "no-gap"): frozenset({"adjunct question", "subject relative"}),
    ("island-wh", "gap"): frozenset({"argument question", "that clause"}),
    ("island-wh", "no-gap"): frozenset({"adjunct question", "whether clause"}),
    ("wanna", "subject-gap"): frozenset({"argument question", "want to", "subject gap"}),
    ("wanna", "no-gap"): frozenset({"adjunct question", "wanna"}),
    ("principle-a-gender", "possessor"): frozenset({"that clause", "possessor"}),
}
"""The same of cells of factorial designs whose good members are built in another way."""

CONTROLS = frozenset({"no-gap"})
"""Cells of joint sets whose bad member is a sentence, too: it is there for the frequencies."""

_CAUSES = (  # what is relaxed, in this order -> what was wrong if that makes a sentence of it
    ({"gender"}, "gender"),
    ({"number"}, "number"),
    ({"form"}, "verb form"),
    ({"selection"}, "selection"),
    ({"selection", "frame"}, "selection"),
)
_GAPS = frozenset({"gap-position", "clause-type", "wh-pronoun", "complementizer", "structure"})
"""Contrasts of islands: where one is not, there must be a gap."""
_REASONS = {
    "gender": "a reflexive does not agree with the subject of its clause",
    "number": "a determiner, an auxiliary or a verb does not agree in number",
    "verb form": "a verb is in the wrong form",
    "selection": "a verb or an adjective does not go with its noun or clause",
}


def gap_sites(words: Sequence[str], known: readings.Readings) -> list[int]:
    """Return the places of verbs that nothing follows that could be an object.

    The sentence ends there, or a finite verb or a subordinator comes next: the places of gaps.

    Args:
        words: lower-cased words.
        known: what each form may be.
    """
    categories = [{r.category for r in known.get(word, ())} for word in words]
    found = []
    for place, these in enumerate(categories):
        after_determiner = place > 0 and "determiner" in categories[place - 1]
        if "verb" not in these or ("noun" in these and after_determiner):
            continue
        rest = known.get(words[place + 1], ()) if place + 1 < len(words) else None
        if rest is None or any(
            r.category == "verb" or "subordinator" in r.features.get("roles", ()) for r in rest
        ):
            found.append(place)
    return found


class Fault(NamedTuple):
    """What is wrong with a pair."""

    kind: str  # gender, number, verb form, selection, gap, structure, bad member
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
        be no evidence of syntax. In the ``CONTROLS`` of a joint set it must be one. At the gap of
        an island stands a verb that must have its object: after one that can do without (*before
        painting*) there need be no gap, and then no island is broken.

        Args:
            row: ``phenomenon``, ``good`` and ``bad``; also ``contrast``, ``cell`` and ``joint``.
        """
        cell = row.get("cell", "")
        needed = FACTORIAL.get((row["phenomenon"], cell)) or CONSTRUCTIONS.get(row["phenomenon"])
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
        if not fault and row.get("contrast") in _GAPS:
            fault = self._vacuous(good) or self._vacuous(bad)
        if fault:
            return fault
        control = row.get("joint") and cell in CONTROLS
        relaxed = frozenset[str]() if control else frozenset({"selection"})
        asked = row["bad"].endswith("?")
        if bool(grammar.Parser(bad, self._known, relaxed).parses(question=asked)) != bool(control):
            return Fault(
                "bad member",
                f"cell {cell}: the bad member is no sentence, so it is no control"
                if control
                else "the bad member is a sentence, too",
            )
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
        if other not in readings.REFLEXIVES:
            return None
        kind = "gender" if readings.REFLEXIVES[other] and good[place] != "themselves" else "number"
        binders = {int(tag[2]) for tags in parses for tag in tags if tag[:2] == ("bound", place)}
        for binder in sorted(binders):
            if other in self._bound(good[binder]):
                return Fault(kind, f"{good[binder]!r} may bind {other!r}, too")
        distractors = [
            word for i, word in enumerate(good) if i not in binders and self._bound(word) == {other}
        ]
        if not distractors:
            return Fault(kind, f"no other word has the {kind} of {other!r}")
        return None

    def _clause_verb(self, good: Sequence[str], bad: Sequence[str]) -> Fault | None:
        """Return which verb does not select both clause types that a pair contrasts."""
        for i, (g, b) in enumerate(zip(good, bad, strict=False)):
            if g != b:
                if i == 0 or b not in {"whether", "who"}:
                    return None
                verbs = self._verbs(good[i - 1])
                if any({"that", "whether"} <= r.features["frames"] for r in verbs):
                    return None
                return Fault("selection", f"{good[i - 1]!r} does not take both clauses")
        return None

    def _vacuous(self, words: Sequence[str]) -> Fault | None:
        """Return which verb of a question stands without an object and can do so."""
        if not words or words[0] not in readings.WH_ARGUMENTS:
            return None
        sites = [
            (words[place], {f for r in self._verbs(words[place]) for f in r.features["frames"]})
            for place in gap_sites(words, self._known)
        ]
        for verb, frames in sites:
            if "either" in frames:
                return Fault("gap", f"{verb!r} can do without an object: no gap")
        if all("objectless" in frames for _, frames in sites):
            return Fault("gap", "no verb lacks an object: no gap")
        return None

    def _verbs(self, word: str) -> list[readings.Reading]:
        return [r for r in self._known.get(word, ()) if r.category == "verb"]

    def _bound(self, word: str) -> frozenset[str]:
        """Return the reflexives that agree with a noun or a name."""
        return frozenset(
            reflexive
            for reading in self._known.get(bare(word), ())
            if reading.category in {"noun", "name"}
            for reflexive, gender in readings.REFLEXIVES.items()
            if (gender in readings.genders(reading) if gender else readings.genders(reading))
            and (reading.form == "plural") == (not gender)
        )
