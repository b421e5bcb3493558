"""How often the words of a suite occur, and whether those of a set occur equally often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from poshgrid.benchmark.checks import readings
from poshgrid.benchmark.checks.readings import bare, split
from poshgrid.benchmark.lexicon import TABLES, Lexicon

if TYPE_CHECKING:
    from poshgrid.quality.nulls import Null

RATIO = 1.2  # the most frequent word of a balanced set to the least frequent one
LEVEL = 0.05  # of the chi-square test
_TESTED = frozenset({"wh-word", "first auxiliary", "second auxiliary"})
_COUNTED = frozenset({"determiner", "noun", "verb", "adjective", "name"})  # shown, not held to
_ORDINALS = ("first", "second", "third")


@dataclass(frozen=True)
class Balance:
    """The words of one set in one member of a phenomenon's pairs."""

    phenomenon: str
    member: str  # good or bad
    words: str  # the set: wh-word, first auxiliary, reflexive ...
    counts: dict[str, int]  # the most frequent first
    ratio: float  # of the largest count to the smallest
    p: float | None  # chi-square against equal counts; None: not tested
    held: bool  # the set should be balanced
    flagged: bool

    def sentence(self) -> str:
        """Return what is wrong, for people."""
        (most, first), *_, (least, last) = self.counts.items()
        test = f"; χ² p = {self.p:.2g}" if self.p is not None else ""
        return (
            f"Not balanced: {self.words} of the {self.member} members "
            f"({most!r} {first:,}, {least!r} {last:,}{test})."
        )


def balances(items: pl.DataFrame, lexicon: Lexicon) -> list[Balance]:
    """Count the words of each set, phenomenon by phenomenon.

    A set is balanced if its most frequent word occurs at most ``RATIO`` times as often as its least
    frequent one; one pair more or less for each template is rounding, not imbalance. Question words
    and auxiliaries are tested, too (chi-square against equal counts). Determiners and content words
    are counted only: agreement and selection decide how often they can occur.

    Args:
        items: the columns of ``PAIRS``.
        lexicon: the sets.
    """
    classes = _classes(lexicon)
    found = []
    for (phenomenon,), rows in items.group_by("phenomenon", maintain_order=True):
        templates = rows["template"].n_unique()
        counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for member in ("good", "bad"):
            for text in rows[member]:
                for words, word in _members(split(text), classes):
                    counts[member, words][word] += 1
        for (member, words), counted in counts.items():
            # A bad member repeats what its good member says of these sets: say it once.
            if member == "bad" and counted == counts.get(("good", words)):
                continue
            found.append(_balance(str(phenomenon), member, words, counted, templates))
    return found


def _balance(
    phenomenon: str, member: str, words: str, counted: Counter[str], templates: int
) -> Balance:
    from scipy.stats import chisquare

    counts = dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
    most, least = max(counts.values()), min(counts.values())
    held = words not in _COUNTED and len(counts) > 1
    p = float(chisquare(list(counts.values())).pvalue) if held and words in _TESTED else None
    uneven = most > RATIO * least and most - least > templates
    flagged = held and (uneven or (p is not None and p < LEVEL))
    return Balance(phenomenon, member, words, counts, most / least, p, held, flagged)


def _classes(lexicon: Lexicon) -> dict[str, str]:
    """Return lower-cased form -> the set that it belongs to; content words under their lemmas."""
    found: dict[str, str] = {}
    for word in lexicon.words:
        if TABLES[word.category].content or word.category in {"determiner", "auxiliary"}:
            for form in word.folded:
                found.setdefault(form, word.category)
    for word in lexicon.of("function"):
        for role in ("reflexive", "subordinator"):
            if role in word.features["roles"]:
                found[word.lemma] = role
    return found


def _members(words: list[str], classes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the set and the word for each word of a sentence that belongs to one."""
    if words and words[0] in readings.WH_ADJUNCTS | readings.WH_ARGUMENTS:
        yield "wh-word", words[0]
    auxiliaries = 0
    for word in map(bare, words):
        kind = classes.get(word)
        if kind == "auxiliary":
            if auxiliaries < len(_ORDINALS):
                yield f"{_ORDINALS[auxiliaries]} auxiliary", word
            auxiliaries += 1
        elif kind:
            yield kind, word


def flagged(found: Iterable[Null | Balance]) -> dict[str, list[str]]:
    """Return phenomenon -> sentences that say which nulls leave 50%, which sets lack balance."""
    said: dict[str, list[str]] = defaultdict(list)
    for each in found:
        if each.flagged:
            said[each.phenomenon].append(each.sentence())
    return dict(said)
