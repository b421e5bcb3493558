"""The checks of minimal pairs: one list for all suites.

They need the pairs, and a list of words if there is one. Whether members are grammatical is not
checked: the tests parse what our own templates make.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, tokens
from poshgrid.benchmark.reading.pairfile import WORD
from poshgrid.core.errors import PoshgridError
from poshgrid.models.classes import CLITIC, FUNCTION_WORDS

_INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff"
# An apostrophe next to a letter is part of the word: also "n't" and "'s" in tokenised text
_MARK = re.compile(rf"(?!['’{_INVISIBLE}])[^\w\s]|(?<![^\W\d_])['’](?![^\W\d_])")
_SPACE = re.compile(rf"[^\S ]|[{_INVISIBLE}]|^ +| +$| {{2,}}")
_APART = re.compile(r"(?<=\s)[.,?!;:]+(?=\s|$)")

_SPOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_IRREGULAR = {"can't": "can", "won't": "will", "shan't": "shall"}

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


_CHECKS = (
    "repeated pairs",
    "identical members",
    "capitals in one member only",
    "marks in one member only",
    "white space in one member only",
    "repeated content words",
    "repeated auxiliaries",
    "words outside the vocabulary",
)
"""Names of the checks, as on the page."""


def checks(
    items: pl.DataFrame,
    lexicon: Lexicon,
    vocabulary: Vocabulary | None = None,
    *,
    generated: bool,
) -> list[Check]:
    """Run all checks that are possible on a suite's pairs.

    Args:
        items: the columns of ``PAIRS``.
        lexicon: the words that a generated pair may use, with their forms.
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
    for item, good, bad in items.select("item_id", "good", "bad").iter_rows():
        if good == bad:
            continue
        for name, reason in _reasons(good, bad, lexicon, vocabulary, generated=generated).items():
            made[name].checked += 1
            if reason:
                made[name].faults.append((item, reason))
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
    good: str, bad: str, lexicon: Lexicon, vocabulary: Vocabulary | None, *, generated: bool
) -> dict[str, str]:
    """Return check -> what is wrong with a pair ("" if nothing), for all possible checks."""
    content = (_repeated_words(member, lexicon) for member in (good, bad))
    auxiliaries = (_auxiliaries(member, lexicon) for member in (good, bad))
    reasons = {
        "capitals in one member only": _capitals(good, bad),
        "marks in one member only": _marks(good, bad),
        "white space in one member only": _spaces(good, bad),
        "repeated content words": next(filter(None, content), ""),
        "repeated auxiliaries": next(filter(None, auxiliaries), ""),
    }
    if generated:
        strange = outside(split(f"{good} {bad}"), lexicon, vocabulary)
        reasons["words outside the vocabulary"] = "; ".join(strange)
    elif vocabulary:
        reasons["words outside the vocabulary"] = _unknown(good, bad, vocabulary)
    return reasons


def split(sentence: str) -> list[str]:
    """Return the lower-cased words; *'s* and *n't* belong to the word before them."""
    return [word.replace("’", "'") for word in _SPOKEN.findall(sentence.lower())]


def bare(word: str) -> str:
    """Return a word without possessive *'s* or negative *n't*: *can't* becomes *can*."""
    return _IRREGULAR.get(word, word.removesuffix("'s").removesuffix("n't"))


def outside(words: Iterable[str], lexicon: Lexicon, vocabulary: Vocabulary | None) -> list[str]:
    """Return a reason for each word that a generated pair must not have.

    Function words make the constructions, so they may be rare; content words may not.

    Args:
        words: lower-cased words.
        lexicon: the words that a pair may use.
        vocabulary: the words that are frequent in every corpus; None: frequency is not checked.
    """
    reasons = []
    for word in dict.fromkeys(map(bare, words)):
        if word in lexicon.function_forms:
            continue
        if word not in lexicon.content_lemmas:
            reasons.append(f"{word!r} is not in the lexicon")
        elif vocabulary and (lacking := vocabulary.lacking(word)):
            reasons.append(f"{word!r} is rare in {', '.join(lacking)}")
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

    A word of the lexicon counts in any of its forms, another word only in the same form. Words of
    closed classes never count.

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
