"""The checks of minimal pairs: one list for all suites.

Most checks only need the pairs. Some need a word list, some the grammar, which only judges
phenomena and words that it knows.
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
# An apostrophe next to a letter is part of the word: also "n't" and "'s" in tokenised text
_MARK = re.compile(rf"(?!['’{_INVISIBLE}])[^\w\s]|(?<![^\W\d_])['’](?![^\W\d_])")
_SPACE = re.compile(rf"[^\S ]|[{_INVISIBLE}]|^ +| +$| {{2,}}")
_APART = re.compile(r"(?<=\s)[.,?!;:]+(?=\s|$)")

Fault = tuple[str, str]  # item id, reason


@dataclass
class Check:
    """One check of a suite, and the items that fail it."""

    name: str  # names the fault
    faults: list[Fault] = field(default_factory=list)
    checked: int = 0  # number of items checked

    @property
    def ids(self) -> list[str]:
        """The ids of the items with the fault, in order, without repetition."""
        return list(dict.fromkeys(item for item, _ in self.faults))


def _constructions() -> dict[str, frozenset[str]]:
    text = resources.path("lexicon", "constructions.yaml").read_text(encoding="utf-8")
    return {name: frozenset(listed) for name, listed in yaml.safe_load(text).items()}


CONSTRUCTIONS = _constructions()
"""Phenomenon, or phenomenon/cell -> the constructions that its good members must have."""

CONTROLS = frozenset({"neither", "no-gap", "statement"})
"""Cells of joint sets whose bad member is also a sentence: they control for word frequencies."""

VIOLATIONS = frozenset({"filler-only", "gap-only"})
"""Cells of crossed joint sets in which no member is a sentence, also to control for frequencies."""

_STRUCTURE, _BINDING, _BAD = (
    "ungrammatical good members",
    "reflexives without a rival",
    "grammatical bad members",
)
KINDS = (_STRUCTURE, _BINDING, _BAD)
"""Checks that use the parses of a pair."""

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
"""Names of the checks, as on the page. *Reflexives without a rival*: the bad reflexive could have
the same binder, or no other word could bind it.
"""


class Wrong(NamedTuple):
    """What is wrong with a pair."""

    kind: str  # one of KINDS
    reason: str


class Judge:
    """Checks pairs of the phenomena in ``CONSTRUCTIONS`` with the grammar.

    Args:
        lexicon: words and their features.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._known = readings.readings(lexicon)

    def fault(self, row: Mapping[str, Any]) -> Wrong | None:
        """Return what is wrong with a pair; None if nothing is, or if its phenomenon is unknown.

        The good member must be a sentence of the grammar and contain the phenomenon's construction.
        The bad member must not be a sentence, even if any verb may combine with any noun: nonsense
        would not be evidence of syntax. In the ``CONTROLS`` of a joint set the bad member must be a
        sentence; in its ``VIOLATIONS`` no member may be one.

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
                f"cell {cell}: the bad member is not a complete sentence, so it is not a control"
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
        """Return a fault if the verb does not select both clause types that a pair contrasts."""
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
        """Return why a member has no real gap; "" if it has one, or no argument is asked for.

        In *Who did the man leave while painting?* nothing has to be missing after *painting*: the
        question word is superfluous, but was not moved out of an island. Such a pair tests the
        number of arguments. The test: without its question word, a question about an argument lacks
        that argument. If the rest is a complete yes/no question, nothing is missing: all its verbs
        can do without the argument.
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
    """Run all checks that are possible on a suite's pairs.

    A pair is parsed if its words are in the lexicon and the grammar knows its phenomenon.

    Args:
        items: the columns of ``PAIRS``.
        lexicon: the words that a generated pair may use, and those that the grammar knows.
        vocabulary: the words that are frequent in every corpus, or in given lists; None: frequency
            is not checked.
        generated: whether the suite was made from templates.

    Returns:
        All checks in the order of the page; a check that was not possible has ``checked`` 0.
    """
    made = {name: Check(name) for name in _CHECKS}
    repeated = items.filter(~pl.struct("good", "bad").is_first_distinct())["item_id"]
    for name, ids, reason in (
        ("repeated pairs", repeated, "an earlier item has the same pair"),
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
    """Return the ids of pairs whose members look the same, ignoring spaces and invisible marks."""
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
    """Return check -> what is wrong with a pair ("" if nothing), for all possible checks."""
    good, bad = members = row["good"], row["bad"]
    content = (_repeated_words(member, lexicon) for member in members)
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
        # Published suites may have optional gaps, so only their bad member is checked
        gaps = (judge.vacuous(member) for member in (members if generated else members[1:]))
        reasons["vacuous gaps"] = next(filter(None, gaps), "")
    return reasons


def _capitals(good: str, bad: str) -> str:
    """Return which word has a capital in one member only; "" if there is none.

    Compared are the first letters of the members, and words inside that both members have. A word
    that begins one member and is inside the other is not compared: *Mary* always has a capital,
    *the* does not.
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
    """Return the punctuation marks that only one member has; "" if there are none."""
    return _difference(*(Counter(_MARK.findall(member)) for member in (good, bad)))


def _spaces(good: str, bad: str) -> str:
    """Return the white space that only one member has; "" if there is none.

    Counted is everything except single spaces between words: no-break spaces, line breaks,
    invisible characters, several spaces, a space at an end, or one before a mark that the other
    member lacks.
    """
    counted = [Counter(f"{space!a}" for space in _SPACE.findall(m)) for m in (good, bad)]
    if not _marks(good, bad):
        for spaces, member in zip(counted, (good, bad), strict=True):
            spaces.update(f"a space before {mark}" for mark in _APART.findall(member))
    return _difference(*counted)


def _difference(good: Counter[str], bad: Counter[str]) -> str:
    """Return what is more frequent in one of two counts; "" if they are equal."""
    one, two = (" ".join(sorted((a - b).elements())) for a, b in ((good, bad), (bad, good)))
    if not one and not two:
        return ""
    return f"{one or 'nothing'} in the good member, {two or 'nothing'} in the bad one"


def _repeated_words(text: str, lexicon: Lexicon) -> str:
    """Return the content words that occur more than once in a sentence; "" if there are none.

    A word of the lexicon is repeated if any of its forms is; another word, if the same form is,
    unless it is of a closed class.

    Args:
        text: the sentence.
        lexicon: gives the forms of a word.
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
    """Return the auxiliaries that occur more than once in a sentence; "" if there are none."""
    counted = Counter(word.casefold() for word in WORD.findall(text))
    twice = (word for word, times in counted.items() if times > 1)
    return ", ".join(repr(word) for word in twice if word in lexicon.auxiliary_forms)


def _unknown(good: str, bad: str, vocabulary: Vocabulary) -> str:
    """Return the words of a pair that a vocabulary lacks, and where; "" if it has all of them."""
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
        PoshgridError: gives each kind of fault, how often it occurs and its first item.
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
