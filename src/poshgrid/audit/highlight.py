"""Finding the words of a sentence in its text, to mark those that matter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def spans(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return where each word begins and ends in the text.

    Args:
        text: a sentence.
        words: its words in order, as :func:`poshgrid.parsing.words.tokenize` cuts them: nothing but
            white space stands between two of them.

    Raises:
        ValueError: the words are not those of the text.
    """
    found, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            raise ValueError(f"{word!r} is not the next word of {text!r}")
        end = start + len(word)
        found.append((start, end))
    return found


def pieces(text: str, words: Sequence[str], places: Iterable[int]) -> list[tuple[str, bool]]:
    """Cut a text into pieces that are marked (``True``) or not; together they are the text.

    Args:
        text: a sentence.
        words: all its words.
        places: places of the words to mark, from 1.

    Raises:
        ValueError: the words are not those of the text, or it has no word at a place.
    """
    where = spans(text, words)
    cut: list[tuple[str, bool]] = []
    end = 0
    for place in sorted(set(places)):
        if not 1 <= place <= len(where):
            raise ValueError(f"{text!r} has no word {place}")
        start, stop = where[place - 1]
        cut += [(text[end:start], False), (text[start:stop], True)]
        end = stop
    return [(piece, marked) for piece, marked in [*cut, (text[end:], False)] if piece]
