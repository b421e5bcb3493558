"""What two members may differ in, and where: the contrast and the critical region."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from poshgrid.benchmark.checks.readings import (
    PRONOUNS,
    WH_ADJUNCTS,
    WH_ARGUMENTS,
    bare,
    split,
)
from poshgrid.benchmark.lexicon import Lexicon
from poshgrid.errors import check_known

_REFLEXIVES = {("himself", "herself"), ("herself", "himself")}
_NUMBERS = {
    pair for one in ("himself", "herself") for pair in ((one, "themselves"), ("themselves", one))
}
_COMPLEMENTIZERS = {("that", "whether"), ("whether", "that")}
_STRETCH = 4  # "help the boy who" in the place of "say that the boy"
_CONTRACTED, _FULL = "wanna", ["want", "to"]

Words = Sequence[str]


class Contrasts:
    """The contrasts that generated pairs may have.

    ``reflexive-gender``, ``reflexive-number``, ``clause-type``, ``complementizer``, ``wh-word``,
    ``wh-pronoun`` and ``participle-form`` replace one word, ``contraction`` one by two, and
    ``structure`` the words that make the clause after them an island or none; ``gap-position`` and
    ``moved-auxiliary`` permute. ``complementizer``, ``contraction`` and ``structure`` are those of
    2x2 designs, the cells of which are each other's reverse: either member may have either side.

    Args:
        lexicon: tells the auxiliaries and the forms of verbs.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._auxiliaries = frozenset(w.lemma.casefold() for w in lexicon.of("auxiliary"))
        self._participles = {
            (word.forms["gerund"].casefold(), word.forms[other].casefold())
            for word in lexicon.of("verb")
            for other in ("past", "participle")
        }
        self._rules: dict[str, Callable[[Words, Words], bool]] = {
            "reflexive-gender": lambda good, bad: _replaced(good, bad) in _REFLEXIVES,
            "reflexive-number": lambda good, bad: _replaced(good, bad) in _NUMBERS,
            "complementizer": lambda good, bad: _replaced(good, bad) in _COMPLEMENTIZERS,
            "contraction": _contracted,
            "structure": _one_stretch,
            "clause-type": lambda good, bad: _replaced(good, bad) == ("that", "whether"),
            "wh-word": lambda good, bad: _from_to(_replaced(good, bad), WH_ADJUNCTS, WH_ARGUMENTS),
            "wh-pronoun": lambda good, bad: _from_to(_replaced(good, bad), PRONOUNS, {"who"}),
            "participle-form": lambda good, bad: _replaced(good, bad) in self._participles,
            "gap-position": _swapped_blocks,
            "moved-auxiliary": self._moved_auxiliary,
        }

    def minimal(self, contrast: str, good: Words, bad: Words) -> bool:
        """Say whether two members differ in the contrast and in nothing else.

        Args:
            contrast: its name.
            good: lower-cased words.
            bad: lower-cased words.

        Raises:
            PoshgridError: the contrast is not known.
        """
        check_known("unknown contrast", contrast, self._rules)
        return self._rules[contrast](good, bad)

    def _moved_auxiliary(self, good: Words, bad: Words) -> bool:
        """Say whether the members open with another auxiliary each and share all other words.

        That the two auxiliaries are different words is another check's business.
        """
        rest, moved = (
            [
                [w for w in member if (bare(w) in self._auxiliaries) == is_one]
                for member in (good, bad)
            ]
            for is_one in (False, True)
        )
        return (
            rest[0] == rest[1]
            and len(moved[0]) == 2
            and moved[0] == moved[1][::-1]
            and list(good) != list(bad)
            and good[0] == moved[0][0]
            and bad[0] == moved[1][0]
        )


def _replaced(good: Words, bad: Words) -> tuple[str, str] | None:
    """Return the one pair of words in which two members of equal length differ."""
    if len(good) != len(bad):
        return None
    differing = [(g, b) for g, b in zip(good, bad, strict=True) if g != b]
    return differing[0] if len(differing) == 1 else None


def _from_to(pair: tuple[str, str] | None, before: Collection[str], after: Collection[str]) -> bool:
    return pair is not None and pair[0] in before and pair[1] in after


def _contracted(good: Words, bad: Words) -> bool:
    """Say whether one member has *wanna* for the other's *want to*, and all else is the same."""
    for short, long in ((list(good), list(bad)), (list(bad), list(good))):
        if short.count(_CONTRACTED) == 1:
            place = short.index(_CONTRACTED)
            return short[:place] + _FULL + short[place + 1 :] == long
    return False


def _one_stretch(good: Words, bad: Words) -> bool:
    """Say whether members of equal length differ within one stretch of four words or fewer."""
    if len(good) != len(bad):
        return False
    differ = [i for i, (g, b) in enumerate(zip(good, bad, strict=True)) if g != b]
    return bool(differ) and differ[-1] - differ[0] < _STRETCH


def _swapped_blocks(good: Words, bad: Words) -> bool:
    """Say whether exchanging two neighbouring blocks of words turns one member into the other."""
    good, bad = list(good), list(bad)
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


def misplaced(row: Mapping[str, Any]) -> str:
    """Return why a recorded critical region is not where the members differ; "" if it is.

    Outside the regions the members must be the same; the regions must begin and end with words,
    and with words that differ. An empty region stands in a member that only lacks words.

    Args:
        row: an item (``ITEMS``).
    """
    inside, before, after = [], [], []  # words, with their case and marks inside
    for member in ("good", "bad"):
        text, start, end = row[member], row[f"{member}_start"], row[f"{member}_end"]
        if not start <= end <= len(text):
            return f"the region of the {member} member does not lie in it"
        if _cuts(text, start) or _cuts(text, end):
            return f"the region of the {member} member cuts a word"
        inside.append(text[start:end].split())
        before.append(split(text[:start]))
        after.append(split(text[end:]))
    if not all(inside):
        # Where words are missing does not matter: their place has no width.
        same = before[0] + after[0] == before[1] + after[1]
        return "" if same and any(inside) else "the members differ outside the regions"
    if before[0] != before[1] or after[0] != after[1]:
        return "the members differ outside the regions"
    if inside[0][0] == inside[1][0] or inside[0][-1] == inside[1][-1]:
        return "the regions are wider than the difference"
    return ""


def _cuts(text: str, place: int) -> bool:
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()
