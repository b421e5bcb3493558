"""An independent gate: what no generated pair may be. It knows nothing of the templates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import polars as pl

from poshgrid.benchmark.lexicon import Lexicon, Vocabulary
from poshgrid.errors import PoshgridError, did_you_mean

_WORD = re.compile(r"[^\W\d_]+(?:'s)?")
_ADJUNCTS, _ARGUMENTS = frozenset({"when", "how", "why", "where"}), frozenset({"who", "what"})


def gate(items: pl.DataFrame, lexicon: Lexicon, vocabulary: Vocabulary) -> None:
    """Refuse items with a fault.

    Args:
        items: table with the columns of ``ITEMS``.
        lexicon: the words that a pair may use.
        vocabulary: those of them that are frequent in every base.

    Raises:
        PoshgridError: names each kind of fault, how often it occurs and its first item.
    """
    found = faults(items, lexicon, vocabulary)
    if found:
        parts = [f"{len(ids)} {kind} (first: {ids[0]})" for kind, ids in sorted(found.items())]
        raise PoshgridError(
            f"generated items: {'; '.join(parts)}; mend resources/templates or resources/lexicon"
        )


def faults(items: pl.DataFrame, lexicon: Lexicon, vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Return kind of fault -> ids of the items that have it; kinds without items are left out."""
    auxiliaries = {word.lemma.casefold() for word in lexicon.of("auxiliary")}
    names = {word.lemma for word in lexicon.of("name")}
    found: dict[str, list[str]] = {
        "repeated pairs": repeated(items),
        "identical members": identical(items),
    }
    for row in items.iter_rows(named=True):
        good, bad = _words(row["good"]), _words(row["bad"])
        kinds = {
            "pairs that differ beyond the contrast": not minimal(
                row["contrast"], good, bad, auxiliaries
            ),
            "words outside the vocabulary": any(
                not _allowed(word, lexicon, vocabulary) for word in good + bad
            ),
            "repeated content words": any(
                _repeats(member, lexicon.content_lemmas) for member in (good, bad)
            ),
            "repeated auxiliaries": any(
                max(Counter(w for w in member if w in auxiliaries).values(), default=0) > 1
                for member in (good, bad)
            ),
            "members not written as sentences": any(
                not _sentence(row[member], names) for member in ("good", "bad")
            )
            or row["good"][-1:] != row["bad"][-1:],
        }
        for kind, is_there in kinds.items():
            if is_there:
                found.setdefault(kind, []).append(row["item_id"])
    return {kind: ids for kind, ids in found.items() if ids}


def repeated(items: pl.DataFrame) -> list[str]:
    """Return the ids of pairs that occurred before."""
    later = ~items.select(pl.struct("good", "bad").is_first_distinct()).to_series()
    return items.filter(later)["item_id"].to_list()


def identical(items: pl.DataFrame) -> list[str]:
    """Return the ids of pairs whose members are the same."""
    return items.filter(pl.col("good") == pl.col("bad"))["item_id"].to_list()


# ---- the contrasts ---------------------------------------------------------------------------


def minimal(contrast: str, good: list[str], bad: list[str], auxiliaries: set[str]) -> bool:
    """Say whether two members differ in the contrast and in nothing else.

    Args:
        contrast: ``reflexive-gender``, ``clause-type`` and ``wh-word`` replace one word;
            ``gap-position`` and ``moved-auxiliary`` permute.
        good: lower-cased words.
        bad: lower-cased words.
        auxiliaries: lower-cased auxiliaries.

    Raises:
        PoshgridError: the contrast is not known.
    """
    rules: dict[str, Callable[[], bool]] = {
        "reflexive-gender": lambda: _replaced(good, bad) in _REFLEXIVES,
        "clause-type": lambda: _replaced(good, bad) == ("that", "whether"),
        "wh-word": lambda: _wh_word(_replaced(good, bad)),
        "gap-position": lambda: _swapped_blocks(good, bad),
        "moved-auxiliary": lambda: _moved_auxiliary(good, bad, auxiliaries),
    }
    if contrast not in rules:
        raise PoshgridError(f"unknown contrast {contrast!r}{did_you_mean(contrast, rules)}")
    return rules[contrast]()


_REFLEXIVES = {("himself", "herself"), ("herself", "himself")}


def _replaced(good: list[str], bad: list[str]) -> tuple[str, str] | None:
    """Return the one pair of words in which two members of equal length differ."""
    if len(good) != len(bad):
        return None
    differing = [(g, b) for g, b in zip(good, bad, strict=True) if g != b]
    return differing[0] if len(differing) == 1 else None


def _wh_word(pair: tuple[str, str] | None) -> bool:
    return pair is not None and pair[0] in _ADJUNCTS and pair[1] in _ARGUMENTS


def _swapped_blocks(good: list[str], bad: list[str]) -> bool:
    """Say whether exchanging two neighbouring blocks of words turns one member into the other."""
    if sorted(good) != sorted(bad) or good == bad:
        return False
    differ = [i for i, (g, b) in enumerate(zip(good, bad, strict=True)) if g != b]
    first, last = differ[0], differ[-1] + 1
    # A word at a border may be the same in both blocks ("the"), so let the borders move outwards.
    return any(
        good[k:j] + good[i:k] == bad[i:j]
        for i in range(first + 1)
        for j in range(last, len(good) + 1)
        for k in range(i + 1, j)
    )


def _moved_auxiliary(good: list[str], bad: list[str], auxiliaries: set[str]) -> bool:
    """Say whether the members open with another auxiliary each and otherwise share their words."""
    rest = [[w for w in member if w not in auxiliaries] for member in (good, bad)]
    moved = [[w for w in member if w in auxiliaries] for member in (good, bad)]
    return (
        rest[0] == rest[1]
        and len(moved[0]) == 2
        and moved[0] == moved[1][::-1]
        and moved[0] != moved[1]
        and good[0] == moved[0][0]
        and bad[0] == moved[1][0]
    )


# ---- words -------------------------------------------------------------------------------------


def _words(sentence: str) -> list[str]:
    """Return the lower-cased words; a possessor keeps its *'s*."""
    return _WORD.findall(sentence.lower())


def _allowed(word: str, lexicon: Lexicon, vocabulary: Vocabulary) -> bool:
    bare = word.removesuffix("'s")
    if bare in lexicon.function_forms:
        return True
    return bare in lexicon.content_lemmas and not vocabulary.lacking(bare)


def _repeats(words: list[str], lemmas: dict[str, frozenset[str]]) -> bool:
    seen: set[str] = set()
    for word in words:
        these = lemmas.get(word.removesuffix("'s"), frozenset())
        if seen & these:
            return True
        seen |= these
    return False


def _sentence(text: str, names: set[str]) -> bool:
    """Say whether a member opens upper-case, has no stray capital or space, and ends in . or ?."""
    words = text[:-1].split(" ")
    return (
        text[-1:] in {".", "?"}
        and all(_WORD.fullmatch(word) for word in words)
        and words[0][0].isupper()
        and all(_cased(word.removesuffix("'s"), names) for word in words[1:])
    )


def _cased(word: str, names: set[str]) -> bool:
    return word in names or (word.islower() and word.capitalize() not in names)
