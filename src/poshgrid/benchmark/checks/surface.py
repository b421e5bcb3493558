"""What can be wrong with a pair of any suite: how its members are written, and words that recur.

Nothing is asked of the suite but two sentences: no template, no contrast, no list of its words.
"""

from __future__ import annotations

import re
from collections import Counter

from poshgrid.benchmark.lexicon import Lexicon, Vocabulary, tokens
from poshgrid.benchmark.reading.pairwords import CLITIC, CLOSED, WORD

_INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff"
# An apostrophe at a letter belongs to its word: "n't" and "'s" of a tokenised text, too
_MARK = re.compile(rf"(?!['’{_INVISIBLE}])[^\w\s]|(?<![^\W\d_])['’](?![^\W\d_])")
_SPACE = re.compile(rf"[^\S ]|[{_INVISIBLE}]|^ +| +$| {{2,}}")
_APART = re.compile(r"(?<=\s)[.,?!;:]+(?=\s|$)")


def capitals(good: str, bad: str) -> str:
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


def marks(good: str, bad: str) -> str:
    """Return which punctuation marks one member has and the other has not; "" if none."""
    return _difference(*(Counter(_MARK.findall(member)) for member in (good, bad)))


def spaces(good: str, bad: str) -> str:
    """Return which white space one member has and the other has not; "" if none.

    That is any but single spaces between words: no-break spaces, line breaks, invisible characters,
    several spaces, one at an end, or one before a mark that the other member has without it.
    """
    counted = [Counter(f"{space!a}" for space in _SPACE.findall(m)) for m in (good, bad)]
    if not marks(good, bad):
        for found, member in zip(counted, (good, bad), strict=True):
            found.update(f"a space before {mark}" for mark in _APART.findall(member))
    return _difference(*counted)


def _difference(good: Counter[str], bad: Counter[str]) -> str:
    """Return what is more often in one of two counts; "" if they are equal."""
    one, two = (" ".join(sorted((a - b).elements())) for a, b in ((good, bad), (bad, good)))
    if not one and not two:
        return ""
    return f"{one or 'nothing'} in the good member, {two or 'nothing'} in the bad one"


def repeated(text: str, lexicon: Lexicon) -> str:
    """Return the content words of a sentence that were there before; "" if none.

    A word of the lexicon is there again in any of its forms; another one, in the same form, unless
    it is of a closed class.

    Args:
        text: the sentence.
        lexicon: tells the forms of a word.
    """
    seen: set[str] = set()
    again: dict[str, None] = {}
    for written in WORD.findall(text):
        word = CLITIC.sub("", written.casefold())
        if not word or word in CLOSED or word in lexicon.function_forms:
            continue
        lemmas = lexicon.content_lemmas.get(word, frozenset({word}))
        if seen & lemmas:
            again[word] = None
        seen |= lemmas
    return ", ".join(map(repr, again))


def auxiliaries(text: str, lexicon: Lexicon) -> str:
    """Return the auxiliaries that a sentence has more than once; "" if none."""
    counted = Counter(word.casefold() for word in WORD.findall(text))
    twice = (word for word, times in counted.items() if times > 1)
    return ", ".join(repr(word) for word in twice if word in lexicon.auxiliary_forms)


def unknown(good: str, bad: str, vocabulary: Vocabulary) -> str:
    """Return the words of a pair that a vocabulary lacks, and where; "" if it has them all."""
    return "; ".join(
        f"{word!r} is not in {', '.join(lacking)}"
        for word in dict.fromkeys(tokens(f"{good} {bad}"))
        if (lacking := vocabulary.lacking(word))
    )
