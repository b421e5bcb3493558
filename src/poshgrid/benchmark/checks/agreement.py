"""Is the good member grammatical, and the bad one not: by a grammar, not by the templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from poshgrid.benchmark.checks import grammar, readings
from poshgrid.benchmark.checks.readings import bare, split
from poshgrid.benchmark.lexicon import Lexicon

CONSTRUCTIONS: dict[str, frozenset[str]] = {
    "island-adjunct": frozenset({"argument question", "adjunct"}),
    "island-adjunct-crossed": frozenset({"argument question", "that clause"}),
    "island-complex-np-crossed": frozenset({"argument question", "that clause"}),
    "island-complex-np": frozenset({"argument question", "subject relative"}),
    "island-wh": frozenset({"argument question", "that clause"}),
    "island-wh-crossed": frozenset({"argument question", "that clause"}),
    "island-wh-pronoun": frozenset({"argument question", "clause"}),
    "principle-a-command": frozenset({"that clause"}),
    "principle-a-gender": frozenset({"that clause"}),
    "principle-a-locality": frozenset({"that clause"}),
    "principle-a-number": frozenset({"that clause"}),
    "principle-a-participle": frozenset({"perceived gerund"}),
    "question-formation-finite-object": frozenset({"yes/no question", "subject relative"}),
    "question-formation-finite-subject": frozenset({"yes/no question"}),
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
    **{
        (f"{island}-crossed", "neither"): frozenset({"adjunct question", "that clause"})
        for island in ("island-adjunct", "island-complex-np", "island-wh")
    },
    ("question-formation-finite-object", "statement"): frozenset({"subject relative"}),
    ("question-formation-finite-subject", "statement"): frozenset(),
    ("wanna", "subject-gap"): frozenset({"argument question", "want to", "subject gap"}),
    ("wanna", "no-gap"): frozenset({"adjunct question", "wanna"}),
    ("principle-a-gender", "possessor"): frozenset({"that clause", "possessor"}),
}
"""The same of cells of factorial designs whose good members are built in another way."""

CONTROLS = frozenset({"neither", "no-gap", "statement"})
"""Cells of joint sets whose bad member is a sentence, too: it is there for the frequencies."""

VIOLATIONS = frozenset({"filler-only", "gap-only"})
"""Cells of crossed joint sets in which no member is a sentence, for the same reason."""

_STRUCTURE, _BINDING, _BAD = (
    "ungrammatical good members",
    "reflexives without a rival",
    "grammatical bad members",
)
KINDS = (_STRUCTURE, _BINDING, _BAD)
"""Checks that one parse of a pair decides."""


class Fault(NamedTuple):
    """What is wrong with a pair."""

    kind: str  # one of KINDS
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
        be no evidence of syntax. In the ``CONTROLS`` of a joint set it must be one; in its
        ``VIOLATIONS`` no member may be one.

        Args:
            row: ``phenomenon``, ``good`` and ``bad``; also ``cell`` and ``joint``.
        """
        cell, named = row.get("cell", ""), CONSTRUCTIONS.get(row["phenomenon"])
        needed = FACTORIAL.get((row["phenomenon"], cell), named)
        if needed is None:
            return None
        good, bad = split(row["good"]), split(row["bad"])
        asked = row["good"].endswith("?")
        parses = grammar.Parser(good, self._known).parses(question=asked)
        if row.get("joint") and cell in VIOLATIONS:
            whole = parses or grammar.Parser(bad, self._known).parses(question=asked)
            return Fault(_BAD, f"cell {cell}: a member is a sentence") if whole else None
        fitting = [tags for tags in parses if needed <= tags]
        if not fitting:
            missing = " and no ".join(sorted(map(str, needed - parses[0]))) if parses else ""
            lacks = f"has no {missing}" if missing else "is not a sentence of the grammar"
            return Fault(_STRUCTURE, f"the good member {lacks}")
        if fault := self._binding(good, bad, fitting) or self._clause_verb(good, bad):
            return fault
        control = row.get("joint") and cell in CONTROLS
        asked = row["bad"].endswith("?")
        parser = grammar.Parser(bad, self._known, nonsense=not control)
        if bool(parser.parses(question=asked)) != bool(control):
            return Fault(
                _BAD,
                f"cell {cell}: the bad member is no sentence, so it is no control"
                if control
                else "the bad member is a sentence, too",
            )
        return None

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
        binders = {int(tag[2]) for tags in parses for tag in tags if tag[:2] == ("bound", place)}
        for binder in sorted(binders):
            if other in self._bound(good[binder]):
                return Fault(_BINDING, f"{good[binder]!r} may bind {other!r}, too")
        distractors = [
            word for i, word in enumerate(good) if i not in binders and self._bound(word) == {other}
        ]
        if not distractors:
            return Fault(_BINDING, f"no other word could bind {other!r}")
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
                return Fault(_STRUCTURE, f"{good[i - 1]!r} does not take both clauses")
        return None

    def vacuous(self, member: str) -> str:
        """Return why the gap of a member is none; "" if it is one, or the member has no gap.

        In *Who did the man leave while painting?* nothing has to be missing after *painting*: the
        question word is left over, but out of no island. Such a pair tests the count of arguments.
        The rest of a question about an argument lacks that argument somewhere. If it is a yes/no
        question as it stands, nothing is lacking: every verb in it can do without.
        """
        words = split(member)
        if not words or words[0] not in readings.WH_ARGUMENTS:
            return ""
        if not grammar.Parser(words[1:], self._known).parses(question=True):
            return ""
        return f"without {words[0]!r} {member!r} is a whole question: it has no gap"

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
