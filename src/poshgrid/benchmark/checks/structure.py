"""The structural checks: an item that fails one is wrong, whatever a model makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from poshgrid.benchmark.checks import agreement, words
from poshgrid.benchmark.checks.contrasts import Contrasts, misplaced
from poshgrid.benchmark.lexicon import Lexicon, Vocabulary
from poshgrid.errors import PoshgridError

Fault = tuple[str, str]  # item id, reason


@dataclass
class Check:
    """One check of a suite, and the items that fail it."""

    name: str  # what the faults are
    requirement: str  # what holds where there are none
    faults: list[Fault] = field(default_factory=list)
    checked: int = 0  # items

    @property
    def ids(self) -> list[str]:
        """Items with the fault, in their order, each once."""
        return list(dict.fromkeys(item for item, _ in self.faults))


_ANY = {
    "repeated ids": "No item id occurs twice",
    "repeated pairs": "No pair occurs twice",
    "identical members": "The members of a pair differ",
}
_SAME = {
    "repeated ids": "an item before it has the same id",
    "repeated pairs": "an item before it has the same pair",
    "identical members": "both members are this sentence",
}
_GENERATED = {
    "pairs that differ beyond the contrast": "Members differ in the contrast and in nothing else",
    "misplaced critical regions": "The recorded critical region is where the members differ",
    "words outside the vocabulary": "Words are in the lexicon and frequent in every base",
    "repeated content words": "No content word occurs twice in a member",
    "repeated auxiliaries": "No auxiliary occurs twice in a member",
    "members not written as sentences": "Members open with a capital and end in the same mark",
}
_GRAMMAR = {
    "structure": ("ungrammatical good members", "The good member is a sentence of its phenomenon"),
    "gender": (
        "errors of gender",
        "The good reflexive agrees with its local binder; the bad one with another word only",
    ),
    "number": ("errors of number", "Determiners, auxiliaries and verbs agree in number"),
    "verb form": ("wrong verb forms", "Verbs have the form that their place asks for"),
    "selection": ("errors of selection", "Verbs go with their nouns and clauses"),
    "bad member": ("grammatical bad members", "The bad member is not a sentence"),
}


def outside(items: pl.DataFrame) -> list[Check]:
    """Return the checks of a suite that was read from files.

    Args:
        items: at least the columns of ``PAIRS``.
    """
    checks = [Check(name, requirement, checked=items.height) for name, requirement in _ANY.items()]
    ids = items.filter(~pl.col("item_id").is_first_distinct())["item_id"].to_list()
    for check, found in zip(checks, (ids, repeated(items), identical(items)), strict=True):
        check.faults = [(item, _SAME[check.name]) for item in found]
    return checks


def repeated(items: pl.DataFrame) -> list[str]:
    """Return the ids of pairs that occurred before."""
    return items.filter(~pl.struct("good", "bad").is_first_distinct())["item_id"].to_list()


def identical(items: pl.DataFrame) -> list[str]:
    """Return the ids of pairs whose members are the same."""
    return items.filter(pl.col("good") == pl.col("bad"))["item_id"].to_list()


def generated(
    items: pl.DataFrame, lexicon: Lexicon, vocabulary: Vocabulary | None = None
) -> list[Check]:
    """Return the checks of a suite that was made from templates.

    A pair that differs beyond its contrast, or has unknown words, is not parsed: what is
    grammatical in it means nothing.

    Args:
        items: the columns of ``PAIRS``, or of ``ITEMS``: then the critical regions are checked too.
        lexicon: the words that a pair may use.
        vocabulary: those of them that are frequent in every base; None: not counted.

    Raises:
        PoshgridError: a contrast is not known.
    """
    checks = outside(items)
    regions = {"good_start", "good_end", "bad_start", "bad_end"} <= set(items.columns)
    named = {name: Check(name, requirement) for name, requirement in _GENERATED.items()}
    parsed = {kind: Check(*described) for kind, described in _GRAMMAR.items()}
    if not regions:
        del named["misplaced critical regions"]
    same = set(identical(items))
    judge, contrasts = agreement.Judge(lexicon), Contrasts(lexicon)
    auxiliaries = frozenset(word.lemma.casefold() for word in lexicon.of("auxiliary"))
    spelling = words.Spelling(lexicon)
    for row in items.iter_rows(named=True):
        item = row["item_id"]
        members = {member: words.split(row[member]) for member in ("good", "bad")}
        strange = words.outside(members["good"] + members["bad"], lexicon, vocabulary)
        minimal = item in same or contrasts.minimal(row["contrast"], *members.values())
        found = {
            "pairs that differ beyond the contrast": ""
            if minimal
            else f"not (only) {row['contrast']}",
            "words outside the vocabulary": "; ".join(strange),
            "repeated content words": _each(members, words.repeated_content, lexicon),
            "repeated auxiliaries": _each(members, words.repeated_auxiliaries, auxiliaries),
            "members not written as sentences": _misspelt(row, spelling),
        }
        if regions and item not in same:
            found["misplaced critical regions"] = misplaced(row)
        for name, reason in found.items():
            named[name].checked += 1
            if reason:
                named[name].faults.append((item, reason))
        if strange or not minimal or item in same:
            continue
        if row["phenomenon"] in agreement.CONSTRUCTIONS:
            for check in parsed.values():
                check.checked += 1
            fault = judge.fault(row)
            if fault:
                parsed[fault.kind].faults.append((item, fault.reason))
    return [*checks, *named.values(), *parsed.values()]


def hold(items: pl.DataFrame, lexicon: Lexicon, vocabulary: Vocabulary | None = None) -> None:
    """Refuse generated items with a fault; see :func:`generated`.

    Raises:
        PoshgridError: names each kind of fault, how often it occurs and its first item.
    """
    failed = [check for check in generated(items, lexicon, vocabulary) if check.faults]
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


def _each(members: Mapping[str, list[str]], find: Any, known: Any) -> str:  # noqa: ANN401
    """Return what ``find`` finds in the first member that has any."""
    for found in _nonempty(find(member, known) for member in members.values()):
        return f"{', '.join(map(repr, found))} twice"
    return ""


def _nonempty(lists: Iterator[list[str]]) -> Iterator[list[str]]:
    return (each for each in lists if each)


def _misspelt(row: Mapping[str, Any], spelling: words.Spelling) -> str:
    for member in ("good", "bad"):
        if reason := spelling.fault(row[member]):
            return f"{member} member: {reason}"
    return "" if row["good"][-1:] == row["bad"][-1:] else "the members end in different marks"
