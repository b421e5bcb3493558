"""No text makes cleaning slow: time grows with length, not with its square."""

import time
from collections.abc import Callable

import pytest

from poshgrid.corpora import clean, joining
from poshgrid.corpora.readers import babylm, wikipedia_dump
from poshgrid.corpora.report import Report

_OPENED = (
    "<ref ", "<ref>", "<a b=\"", "[[File:a|", "[http://a ", "{{a|", "{{{a|", "{|\n", "<b>", "<!--",
    "<nowiki>", "<i><b>", "[[a|b]",
)  # fmt: skip
_REPEATED = (*_OPENED, " ", " ,", "- ", "-", "–", "'", "=", "[ ", "{A ", "( ", "&", "``")
_SHORT, _LONG = 2_000, 16_000  # repetitions: eight times as many
_ALLOWED = 24  # times the work; the square would be 64


def _seconds(function: Callable[[str], object], text: str) -> float:
    """Return the least CPU time of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        function(text)
        times.append(time.process_time() - start)
    return min(times)


def _cbt(text: str) -> object:
    return list(babylm._cbt(iter([text]), Report()))


@pytest.mark.parametrize(
    ("function", "piece"),
    [
        *((joining.detokenise, piece) for piece in (*_REPEATED, ".", '"', '" ', "<a ", ". ")),
        *((_cbt, piece) for piece in ("-LRB- ", "<ref>")),
        (babylm._heading, "= "),
        *((clean.clean, piece) for piece in _REPEATED),
        *((joining.mend, piece) for piece in _REPEATED),
        *((wikipedia_dump._paragraphs, piece) for piece in _OPENED),
    ],
)
def test_repetitions_cost_their_number(function, piece):
    short, long = (_seconds(function, piece * n + " A word.") for n in (_SHORT, _LONG))
    assert long < 0.02 + _ALLOWED * short


def test_an_article_of_open_brackets_is_told_apart_from_one_with_a_few():
    text = "A word was here, and [[another|it]] was [[broken. {{cite}} Its end<ref>b</ref> is this."
    assert wikipedia_dump._unclosed(text) == 2  # brackets
    closed = "<ref name=a/> <br/> <li> a <b>c</b> {| |} [http://a b] [1] <!-- d -->"
    assert wikipedia_dump._unclosed(closed) == 0
    kept, left_out = wikipedia_dump._paragraphs("A word.\n\n" + "[[a " * 101)
    assert (kept, left_out) == ([], [("wikitext that does not parse", "")])


def test_comments_go_and_what_only_looks_like_one_stays():
    assert clean.clean("a <!-- b --> c <!-- d --> e <!-- f") == "a c e <! - f"
    assert clean.clean("a --> b") == "a - > b"
