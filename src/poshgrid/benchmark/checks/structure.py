"""The checks of minimal pairs: one list for all suites, each check with what it needs to know.

Most need the pairs alone. Some need a word list, some the grammar, which judges only phenomena
and words that it knows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl
import yaml

from poshgrid import resources
from poshgrid.benchmark.checks import grammar, readings
from poshgrid.benchmark.checks.readings import bare, split
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, tokens
from poshgrid.benchmark.reading.pairfile import WORD
from poshgrid.errors import PoshgridError
from poshgrid.models.classes import CLITIC, FUNCTION_WORDS

_INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff"
# An apostrophe at a letter belongs to its word: "n't" and "'s" of a tokenised text, too
_MARK = re.compile(rf"(?!['’{_INVISIBLE}])[^\w\s]|(?<![^\W\d_])['’](?![^\W\d_])")
_SPACE = re.compile(rf"[^\S ]|[{_INVISIBLE}]|^ +| +$| {{2,}}")
_APART = re.compile(r"(?<=\s)[.,?!;:]+(?=\s|$)")

Fault = tuple[str, str]  # item id, reason


@dataclass
class Check:
    """One check of a suite, and the items that fail it."""

    name: str  # what the faults are
    faults: list[Fault] = field(default_factory=list)
    checked: int = 0  # items

    @property
    def ids(self) -> list[str]:
        """Items with the fault, in their order, each once."""
        return list(dict.fromkeys(item for item, _ in self.faults))


def _constructions() -> dict[str, frozenset[str]]:
    text = resources.path("lexicon", "constructions.yaml").read_text(encoding="utf-8")
    return {name: frozenset(listed) for name, listed in yaml.safe_load(text).items()}


CONSTRUCTIONS = _constructions()
"""Phenomenon, or phenomenon/cell -> the constructions that its good members have."""

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

_CHECKS = (
    "repeated pairs",
    "identical members",
    "capitals in one member only",
    "marks in one member only",
    "white space in one member only",
    "repeated content words",
    "repeated auxiliaries",
    "words outside the vocabulary",
    *KINDS,
    "vacuous gaps",
)
"""Names of the checks, as on the page. *Reflexives without a rival*: the bad one could have the
same binder, or there is no other word that could bind it.
"""


class Wrong(NamedTuple):
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

    def fault(self, row: Mapping[str, Any]) -> Wrong | None:
        """Return what is wrong with a pair; None: nothing, or a phenomenon that is not known.

        The good member must be a sentence of the grammar and hold the phenomenon's construction.
        The bad member must not be a sentence, even if any verb may go with any noun: nonsense would
        be no evidence of syntax. In the ``CONTROLS`` of a joint set it must be one; in its
        ``VIOLATIONS`` no member may be one.

        Args:
            row: ``phenomenon``, ``good`` and ``bad``; also ``cell`` and ``joint``.
        """
        cell, phenomenon = row.get("cell", ""), row["phenomenon"]
        needed = CONSTRUCTIONS.get(f"{phenomenon}/{cell}", CONSTRUCTIONS.get(phenomenon))
        if needed is None:
            return None
        good, bad = split(row["good"]), split(row["bad"])
        asked = row["good"].endswith("?")
        parses = grammar.Parser(good, self._known).parses(question=asked)
        if row.get("joint") and cell in VIOLATIONS:
            whole = parses or grammar.Parser(bad, self._known).parses(question=asked)
            return Wrong(_BAD, f"cell {cell}: a member is a sentence") if whole else None
        fitting = [tags for tags in parses if needed <= tags]
        if not fitting:
            missing = " and no ".join(sorted(map(str, needed - parses[0]))) if parses else ""
            lacks = f"has no {missing}" if missing else "is not a sentence of the grammar"
            return Wrong(_STRUCTURE, f"the good member {lacks}")
        if fault := self._binding(good, bad, fitting) or self._clause_verb(good, bad):
            return fault
        control = row.get("joint") and cell in CONTROLS
        asked = row["bad"].endswith("?")
        parser = grammar.Parser(bad, self._known, nonsense=not control)
        if bool(parser.parses(question=asked)) != bool(control):
            return Wrong(
                _BAD,
                f"cell {cell}: the bad member is no sentence, so it is no control"
                if control
                else "the bad member is a sentence, too",
            )
        return None

    def _binding(
        self, good: Sequence[str], bad: Sequence[str], parses: Sequence[grammar.Tags]
    ) -> Wrong | None:
        """Return why the bad member's reflexive is not a real distractor."""
        places = [i for i, word in enumerate(good) if word in readings.REFLEXIVES]
        if not places or places[-1] >= len(bad) or bad[places[-1]] == good[places[-1]]:
            return None
        position, other = places[-1], bad[places[-1]]
        if other not in readings.REFLEXIVES:
            return None
        binders = {int(tag[2]) for tags in parses for tag in tags if tag[:2] == ("bound", position)}
        for binder in sorted(binders):
            if other in self._bound(good[binder]):
                return Wrong(_BINDING, f"{good[binder]!r} may bind {other!r}, too")
        distractors = [
            word for i, word in enumerate(good) if i not in binders and self._bound(word) == {other}
        ]
        if not distractors:
            return Wrong(_BINDING, f"no other word could bind {other!r}")
        return None

    def _clause_verb(self, good: Sequence[str], bad: Sequence[str]) -> Wrong | None:
        """Return which verb does not select both clause types that a pair contrasts."""
        for i, (g, b) in enumerate(zip(good, bad, strict=False)):
            if g != b:
                if i == 0 or b not in {"whether", "who"}:
                    return None
                verbs = [r for r in self._known.get(good[i - 1], ()) if r.category == "verb"]
                if any({"that", "whether"} <= r.features["frames"] for r in verbs):
                    return None
                return Wrong(_STRUCTURE, f"{good[i - 1]!r} does not take both clauses")
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


def checks(
    items: pl.DataFrame,
    lexicon: Lexicon,
    vocabulary: Vocabulary | None = None,
    *,
    generated: bool,
) -> list[Check]:
    """Make every check of a suite's pairs that can be made.

    A pair is parsed if its words are in the lexicon and the grammar knows its phenomenon.

    Args:
        items: the columns of ``PAIRS``.
        lexicon: the words that a generated pair may use, and those that the grammar knows.
        vocabulary: the words that are frequent in every corpus, or in given lists; None: not
            counted.
        generated: whether the suite was made from templates.

    Returns:
        All checks in the order of the page; one that could not be made has ``checked`` 0.
    """
    made = {name: Check(name) for name in _CHECKS}
    repeated = items.filter(~pl.struct("good", "bad").is_first_distinct())["item_id"]
    for name, ids, reason in (
        ("repeated pairs", repeated, "an item before it has the same pair"),
        ("identical members", identical(items), "both members are this sentence"),
    ):
        made[name].checked = items.height
        made[name].faults = [(item, reason) for item in ids]
    judge = Judge(lexicon)
    for row in items.iter_rows(named=True):
        if row["good"] == row["bad"]:
            continue
        for name, reason in _reasons(row, lexicon, vocabulary, judge, generated=generated).items():
            made[name].checked += 1
            if reason:
                made[name].faults.append((row["item_id"], reason))
    return list(made.values())


def identical(items: pl.DataFrame) -> list[str]:
    """Return the ids of pairs whose members look the same: spaces and invisible marks aside."""
    good, bad = (
        pl.col(member)
        .str.normalize("NFKC")
        .str.replace_all(r"\p{Cf}", "")
        .str.replace_all(r"\s+", " ")
        .str.strip_chars()
        for member in ("good", "bad")
    )
    return items.filter(good == bad)["item_id"].to_list()


def _reasons(
    row: Mapping[str, Any],
    lexicon: Lexicon,
    vocabulary: Vocabulary | None,
    judge: Judge,
    *,
    generated: bool,
) -> dict[str, str]:
    """Return check -> what is wrong with a pair, "" if nothing is, of all that can be made."""
    good, bad = members = row["good"], row["bad"]
    content = (_twice(member, lexicon) for member in members)
    auxiliaries = (_auxiliaries(member, lexicon) for member in members)
    reasons = {
        "capitals in one member only": _capitals(good, bad),
        "marks in one member only": _marks(good, bad),
        "white space in one member only": _spaces(good, bad),
        "repeated content words": next(filter(None, content), ""),
        "repeated auxiliaries": next(filter(None, auxiliaries), ""),
    }
    words = split(f"{good} {bad}")
    strange = readings.outside(words, lexicon, vocabulary if generated else None)
    if generated:
        reasons["words outside the vocabulary"] = "; ".join(strange)
    elif vocabulary:
        reasons["words outside the vocabulary"] = _unknown(good, bad, vocabulary)
    needed = CONSTRUCTIONS.get(row["phenomenon"])
    if strange or needed is None:
        return reasons
    reasons |= dict.fromkeys(KINDS, "")
    if fault := judge.fault(row):
        reasons[fault.kind] = fault.reason
    if "argument question" in needed and row["cell"] not in VIOLATIONS:
        # Outside suites may have gaps that a verb could do without: only the bad one is asked
        gaps = (judge.vacuous(member) for member in (members if generated else members[1:]))
        reasons["vacuous gaps"] = next(filter(None, gaps), "")
    return reasons


def _capitals(good: str, bad: str) -> str:
    """Return which word has a capital in one member only; "" if none.

    That is the first letter of all, or a word inside that both members have. A word that opens one
    member and stands inside the other says nothing: *Mary* is always capital, *the* is not.
    """
    words = [WORD.findall(member) for member in (good, bad)]
    if not all(words):
        return ""
    if words[0][0][0].isupper() != words[1][0][0].isupper():
        return "one member opens with a capital, the other does not"
    forms: list[dict[str, set[str]]] = []
    for member in words:
        known: dict[str, set[str]] = {}
        for word in member[1:]:
            known.setdefault(word.casefold(), set()).add(word)
        forms.append(known)
    for word in sorted(forms[0].keys() & forms[1].keys()):
        one, two = forms[0][word], forms[1][word]
        if not one & two:
            return f"{min(one)!r} in one member, {min(two)!r} in the other"
    return ""


def _marks(good: str, bad: str) -> str:
    """Return which punctuation marks one member has and the other has not; "" if none."""
    return _difference(*(Counter(_MARK.findall(member)) for member in (good, bad)))


def _spaces(good: str, bad: str) -> str:
    """Return which white space one member has and the other has not; "" if none.

    That is any but single spaces between words: no-break spaces, line breaks, invisible characters,
    several spaces, one at an end, or one before a mark that the other member has without it.
    """
    counted = [Counter(f"{space!a}" for space in _SPACE.findall(m)) for m in (good, bad)]
    if not _marks(good, bad):
        for spaces, member in zip(counted, (good, bad), strict=True):
            spaces.update(f"a space before {mark}" for mark in _APART.findall(member))
    return _difference(*counted)


def _difference(good: Counter[str], bad: Counter[str]) -> str:
    """Return what is more often in one of two counts; "" if they are equal."""
    one, two = (" ".join(sorted((a - b).elements())) for a, b in ((good, bad), (bad, good)))
    if not one and not two:
        return ""
    return f"{one or 'nothing'} in the good member, {two or 'nothing'} in the bad one"


def _twice(text: str, lexicon: Lexicon) -> str:
    """Return the content words of a sentence that were there before; "" if none.

    A word of the lexicon is there again in any of its forms; another one, in the same form, unless
    it is of a closed class.

    Args:
        text: the sentence.
        lexicon: knows the forms of a word.
    """
    seen: set[str] = set()
    again: dict[str, None] = {}
    for written in WORD.findall(text):
        word = CLITIC.sub("", written.casefold())
        if not word or word in FUNCTION_WORDS or word in lexicon.function_forms:
            continue
        lemmas = lexicon.content_lemmas.get(word, frozenset({word}))
        if seen & lemmas:
            again[word] = None
        seen |= lemmas
    return ", ".join(map(repr, again))


def _auxiliaries(text: str, lexicon: Lexicon) -> str:
    """Return the auxiliaries that a sentence has more than once; "" if none."""
    counted = Counter(word.casefold() for word in WORD.findall(text))
    twice = (word for word, times in counted.items() if times > 1)
    return ", ".join(repr(word) for word in twice if word in lexicon.auxiliary_forms)


def _unknown(good: str, bad: str, vocabulary: Vocabulary) -> str:
    """Return the words of a pair that a vocabulary lacks, and where; "" if it has them all."""
    return "; ".join(
        f"{word!r} is not in {', '.join(lacking)}"
        for word in dict.fromkeys(tokens(f"{good} {bad}"))
        if (lacking := vocabulary.lacking(word))
    )


def refuse_faults(
    items: pl.DataFrame, lexicon: Lexicon, vocabulary: Vocabulary | None = None
) -> None:
    """Raise if a generated item has a fault; see :func:`checks`.

    Raises:
        PoshgridError: names each kind of fault, how often it occurs and its first item.
    """
    failed = "; ".join(
        f"{check.name}: {len(check.ids)} (first: {check.faults[0][0]}, {check.faults[0][1]})"
        for check in checks(items, lexicon, vocabulary, generated=True)
        if check.faults
    )
    if failed:
        raise PoshgridError(
            f"generated items: {failed}; fix resources/templates or resources/lexicon"
        )
