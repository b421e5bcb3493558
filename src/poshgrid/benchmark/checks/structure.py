"""The checks of minimal pairs: one list for all suites, each check with what it needs to know.

Most need the pairs alone. Some need a word list, some the grammar, which tells only of phenomena
and words that it knows, and two what only a suite that was made from templates has: a contrast of
a known name, and words that are all in the lexicon.

Is there a gap where the bad member should have one?

In *Who did the man leave while painting?* nothing has to be missing after *painting*: the question
word is left over, but out of no island. Such a pair tests the count of arguments, not islands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import polars as pl

from poshgrid.benchmark.checks import agreement, grammar, readings, surface
from poshgrid.benchmark.checks.contrasts import Contrasts, misplaced
from poshgrid.benchmark.checks.readings import Readings, split
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary
from poshgrid.errors import PoshgridError


def vacuous(bad: str, known: Readings) -> str:
    """Return why the gap of a bad member is none; "" if it is one, or the member has no gap.

    The rest of a question about an argument lacks that argument somewhere. If it is a yes/no
    question as it stands, nothing is lacking: every verb in it can do without.

    Args:
        bad: the bad member.
        known: what each form may be.
    """
    words = split(bad)
    if not words or words[0] not in readings.WH_ARGUMENTS:
        return ""
    if not grammar.Parser(words[1:], known).parses(question=True):
        return ""
    return f"without {words[0]!r} the bad member is a whole question: it has no gap"


Fault = tuple[str, str]  # item id, reason
Needs = Literal["pairs", "words", "grammar", "templates"]


@dataclass
class Check:
    """One check of a suite, and the items that fail it."""

    name: str  # what the faults are
    requirement: str  # what holds where there are none
    needs: Needs = "pairs"
    refuses: bool = True  # a generated suite with a fault; else the fault is only told
    faults: list[Fault] = field(default_factory=list)
    checked: int = 0  # items

    @property
    def ids(self) -> list[str]:
        """Items with the fault, in their order, each once."""
        return list(dict.fromkeys(item for item, _ in self.faults))

    def see(self, item: str, reason: str) -> None:
        """Count an item, and the fault that it has; "": none."""
        self.checked += 1
        if reason:
            self.faults.append((item, reason))


_REQUIRED: dict[Needs, dict[str, str]] = {
    "pairs": {
        "repeated ids": "No item id occurs twice",
        "repeated pairs": "No pair occurs twice",
        "identical members": "The members of a pair differ",
        "capitals in one member only": "Both members have the same capitals",
        "marks in one member only": "Both members have the same punctuation",
        "white space in one member only": "Both members have the same kinds of white space",
        "spelt unlike the corpora": "Members have the characters that cleaned corpora have",
        "members of different lengths": "Both members have as many words",
        "repeated content words": "No content word occurs twice in a member",
        "repeated auxiliaries": "No auxiliary occurs twice in a member",
    },
    "words": {
        "words outside the vocabulary": "Words are in the lists that are given and frequent in "
        "every base; those of templates in the lexicon, too",
    },
    "templates": {
        "pairs that differ beyond the contrast": "Members differ in the contrast and in nothing "
        "else",
        "misplaced critical regions": "The recorded critical region is where the members differ",
        "members not written as sentences": "Members open with a capital and end in a mark",
    },
    "grammar": {
        "ungrammatical good members": "The good member is a sentence of its phenomenon",
        "errors of gender": "The good reflexive agrees with its local binder; the bad one with "
        "another word only",
        "errors of number": "Determiners, auxiliaries and verbs agree in number",
        "wrong verb forms": "Verbs have the form that their place asks for",
        "errors of selection": "Verbs go with their nouns and clauses",
        "grammatical bad members": "The bad member is not a sentence",
        "vacuous gaps": "Without its question word the bad member lacks something",
    },
}
"""What each check needs -> its name -> what holds where there are no faults; as on the page."""
_TOLD = {"members of different lengths", "spelt unlike the corpora"}
"""Faults that refuse no suite."""


def _all() -> dict[str, Check]:
    """Return every check, nothing checked yet, in the order of the page."""
    return {
        name: Check(name, requirement, needs, refuses=name not in _TOLD)
        for needs, named in _REQUIRED.items()
        for name, requirement in named.items()
    }


_SAME = {
    "repeated ids": "an item before it has the same id",
    "repeated pairs": "an item before it has the same pair",
    "identical members": "both members are this sentence",
}
_GRAMMAR = {  # kind of a fault that the grammar finds -> check
    "structure": "ungrammatical good members",
    "gender": "errors of gender",
    "number": "errors of number",
    "verb form": "wrong verb forms",
    "selection": "errors of selection",
    "bad member": "grammatical bad members",
}
_REGIONS = {"good_start", "good_end", "bad_start", "bad_end"}


def checks(
    items: pl.DataFrame,
    lexicon: Lexicon,
    vocabulary: Vocabulary | None = None,
    *,
    generated: bool,
) -> list[Check]:
    """Hold the pairs of a suite to every check that can be made of it.

    A pair is parsed if its words are in the lexicon and the grammar knows its phenomenon. One of a
    generated suite that differs beyond its contrast is not: what is grammatical in it means
    nothing. Nor is one whose members differ in capitals or marks asked if it is well written.

    Args:
        items: the columns of ``PAIRS``, or of ``ITEMS``: then the critical regions are checked too.
        lexicon: the words that a generated pair may use, and those that the grammar knows.
        vocabulary: the words that are frequent in every base, or in given lists; None: not
            counted.
        generated: whether the suite was made from templates.

    Returns:
        All checks in the order of the page; one that could not be made has ``checked`` 0.

    Raises:
        PoshgridError: a generated pair's contrast is not known.
    """
    found = _all()
    same = {
        "repeated ids": repeated(items, "item_id"),
        "repeated pairs": repeated(items, "good", "bad"),
        "identical members": identical(items),
    }
    for name, ids in same.items():
        found[name].checked = items.height
        found[name].faults = [(item, _SAME[name]) for item in ids]
    grammar, templates = _Grammar(lexicon, found), _Templates(lexicon, found)
    finders = _finders(lexicon)
    for row in items.iter_rows(named=True):
        if row["good"] == row["bad"]:
            continue
        for name, find in finders.items():
            found[name].see(row["item_id"], find(row["good"], row["bad"]))
        strange = readings.outside(
            readings.split(row["good"]) + readings.split(row["bad"]),
            lexicon,
            vocabulary if generated else None,
        )
        if generated:
            found["words outside the vocabulary"].see(row["item_id"], "; ".join(strange))
        elif vocabulary:
            lacking = surface.unknown(row["good"], row["bad"], vocabulary)
            found["words outside the vocabulary"].see(row["item_id"], lacking)
        minimal = templates.see(row) if generated else True
        if minimal and not strange:
            grammar.see(row)
    return list(found.values())


def repeated(items: pl.DataFrame, *columns: str) -> list[str]:
    """Return the ids of pairs whose cells in some columns occurred before."""
    return items.filter(~pl.struct(columns).is_first_distinct())["item_id"].to_list()


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


def _finders(lexicon: Lexicon) -> dict[str, Callable[[str, str], str]]:
    """Return the checks that need the two members alone, each what it says of them."""
    auxiliaries = frozenset(form for w in lexicon.of("auxiliary") for form in w.folded)

    def twice(good: str, bad: str, find: Callable[[str], list[str]]) -> str:
        """Return what ``find`` finds in the first member that has any."""
        found = find(good) or find(bad)
        return f"{', '.join(map(repr, found))} twice" if found else ""

    return {
        "capitals in one member only": surface.capitals,
        "marks in one member only": surface.marks,
        "white space in one member only": surface.spaces,
        "spelt unlike the corpora": surface.spelling,
        "members of different lengths": surface.lengths,
        "repeated content words": partial(twice, find=lambda t: surface.repeated(t, lexicon)),
        "repeated auxiliaries": partial(twice, find=lambda t: surface.auxiliaries(t, auxiliaries)),
    }


class _Templates:
    """The checks that need a pair made from a template."""

    def __init__(self, lexicon: Lexicon, found: dict[str, Check]) -> None:
        self._contrasts, self._spelling = Contrasts(lexicon), readings.Spelling(lexicon)
        self._beyond = found["pairs that differ beyond the contrast"]
        self._written = found["members not written as sentences"]
        self._regions = found["misplaced critical regions"]
        self._other = [found[f"{what} in one member only"] for what in ("capitals", "marks")]

    def see(self, row: Mapping[str, Any]) -> bool:
        """Check a pair; say whether it differs in its contrast alone."""
        item = row["item_id"]
        members = [readings.split(row[member]) for member in ("good", "bad")]
        minimal = self._contrasts.minimal(row["contrast"], *members)
        self._beyond.see(item, "" if minimal else f"not (only) {row['contrast']}")
        told = any(check.faults and check.faults[-1][0] == item for check in self._other)
        self._written.see(item, "" if told else self._misspelt(row))
        if row.keys() >= _REGIONS:
            self._regions.see(item, misplaced(row))
        return minimal

    def _misspelt(self, row: Mapping[str, Any]) -> str:
        for member in ("good", "bad"):
            if reason := self._spelling.fault(row[member]):
                return f"{member} member: {reason}"
        return ""


class _Grammar:
    """The checks that need the grammar to know a pair's phenomenon and words."""

    def __init__(self, lexicon: Lexicon, found: dict[str, Check]) -> None:
        self._judge, self._known = agreement.Judge(lexicon), readings.readings(lexicon)
        self._parsed = {kind: found[name] for kind, name in _GRAMMAR.items()}
        self._vacuous = found["vacuous gaps"]

    def see(self, row: Mapping[str, Any]) -> None:
        """Check a pair if its phenomenon is known."""
        needed = agreement.CONSTRUCTIONS.get(row["phenomenon"])
        if needed is None:
            return
        fault = self._judge.fault(row)
        for kind, check in self._parsed.items():
            check.see(row["item_id"], fault.reason if fault and fault.kind == kind else "")
        if "argument question" in needed:
            gap = fault.reason if fault and fault.kind == "gap" else ""
            self._vacuous.see(row["item_id"], gap or vacuous(row["bad"], self._known))


def hold(items: pl.DataFrame, lexicon: Lexicon, vocabulary: Vocabulary | None = None) -> None:
    """Refuse generated items with a fault; see :func:`checks`.

    Raises:
        PoshgridError: names each kind of fault, how often it occurs and its first item.
    """
    found = checks(items, lexicon, vocabulary, generated=True)
    failed = [check for check in found if check.faults and check.refuses]
    if failed:
        raise PoshgridError(
            f"generated items: {summary(failed)}; mend resources/templates or resources/lexicon"
        )


def summary(failed: list[Check]) -> str:
    """Return kinds of faults, how often they occur, and their first items, in one line."""
    return "; ".join(
        f"{check.name}: {len(check.ids)} (first: {check.faults[0][0]}, {check.faults[0][1]})"
        for check in failed
    )
