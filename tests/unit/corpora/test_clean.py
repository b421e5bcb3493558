"""Cleaning and cutting of text: what holds of any text."""

from __future__ import annotations

import re
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.config import Cleaning
from poshgrid.corpora.clean import clean, fault, normalise
from poshgrid.corpora.joining import detokenise, without_disfluencies
from tests.unit.corpora.reader_support import put, read


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab '\"`’“«—–-… \u00a0\u200b\u0301e\n\r")))
def test_normalise_is_idempotent_and_what_clean_applies(raw):
    normal = normalise(raw)
    assert normalise(normal) == normal
    assert unicodedata.is_normalized("NFC", normal)
    line = raw.replace("\n", " ")
    if not re.search("(?:['`’]\\W*){3}", line):  # wiki bold
        assert clean(line) == normalise(line).strip()


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_comes_out_tidy(raw):
    text = clean(raw)
    assert text == text.strip()
    assert "  " not in text
    assert not any(c in text for c in "‘’“”–—…\t\n\r\u00a0\u200b")
    assert not any(unicodedata.category(c) in {"Cc", "Cf"} for c in text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("...", "no letter"),
        ("One.", "too short"),
        ("a " * 201, "too long"),
        ("gar\ufffdmmi is odd", "undecodable character"),
        ("A cat is {{age|1}} old.", "wiki template"),
        ("Two words.", None),
        ("éa ça", None),
    ],
)
def test_reasons(text, reason):
    assert fault(text, Cleaning(min_words=2)) == reason


PIECES = [
    "<ref ", '<a b="', "[[File:a|", "[http://a ", "{{a|", "{|\n", "<!--", "[[a|b]", " ", " ,", "- ",
    "–", "'", "=", "[ ", "{A ", "( ", "&", "``", ".", '" ',
]  # fmt: skip


def takes_the_square(function, text) -> bool:
    """Whether eight times the text takes more than 24 times as long; the square would be 64."""

    def seconds(number: int) -> float:
        book = text(number)
        start = time.process_time()
        function(book)
        return time.process_time() - start

    short, long = (min(seconds(number) for _ in range(3)) for number in (2_000, 16_000))
    return long >= 0.02 + 24 * short


@pytest.mark.parametrize("function", [clean, without_disfluencies, detokenise])
@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_the_square_of_its_length(function, piece):
    assert not takes_the_square(function, lambda number: piece * number + " A word.")


@pytest.mark.parametrize("piece", ["*", " ", "   \t", "\n\f", ")", "-", "[note ", ". "])
def test_no_book_takes_the_square_of_its_length(tmp_path, piece):
    def book(number: int) -> Path:
        text = f"Chapter {piece * number}it ran."
        return put(tmp_path, "b.txt", f"*** START OF THE PROJECT GUTENBERG EBOOK A ***\n\n{text}")

    assert not takes_the_square(lambda path: read("gutenberg", path), book)
