"""Cleaning and sentence splitting: worked examples, and properties of any text."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.config import Cleaning
from poshgrid.corpora import split as cutting
from poshgrid.corpora.clean import clean, fault, normalise
from poshgrid.corpora.joining import detokenise, mend
from poshgrid.corpora.split import split
from poshgrid.errors import PoshgridError


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("‘Well!’ said “Alice”.", "'Well!' said \"Alice\"."),
        ("``Oh,'' she said", '"Oh," she said'),
        ("it’s Alice’s", "it's Alice's"),
        ("wait—what", "wait - what"),
        ("1914–1918, north – south", "1914-1918, north - south"),
        ("one…", "one..."),
        ("soft\u00adhyphen zero\u200bwidth bell\x07", "softhyphen zerowidth bell"),
        ("cafe\u0301", "caf\u00e9"),
        ("<i>very</i> big<br/>dog<!-- no -->", "very big dog"),
        ("a <unk> of < UNK >", "a <unk> of <unk>"),
        ("He is {{convert|6|ft}} tall.", "He is {{convert|6|ft}} tall."),
        ("[[Dog|dogs]] and [[cat]]s", "dogs and cats"),
        ("born{{citation needed}} in 1900.[12]", "born in 1900."),
        ("Tom &amp; Jerry", "Tom & Jerry"),
        ("3 < 4 and 5 > 4", "3 < 4 and 5 > 4"),
        ("no<i>!</i> Un<b>believ</b>able", "no! Unbelievable"),
        ("a <!-- b --> c <!-- d --> e <!-- f", "a c e <! - f"),
        ("a --> b", "a - > b"),
        ("", ""),
    ],
)
def test_worked_examples(raw, cleaned):
    assert clean(raw) == cleaned


@pytest.mark.parametrize(
    ("raw", "normal"),
    [
        ("the\u00a0boy’s\u200b  cafe\u0301", "the boy's caf\u00e9"),
        ("e\u200b\u0301", "\u00e9"),
        ("A:\u2003no—yes\r\n “B”: 3 &lt; <b>4", 'A: no - yes \n "B": 3 &lt; <b>4'),
        ("`it` ``is''", "'it' \"is\""),
    ],
)
def test_normalise_changes_characters_alone(raw, normal):
    assert normalise(raw) == normal


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
        ("a b c d e f", "too long"),
        ("gar\ufffdmmi is odd", "undecodable character"),
        ("A cat is {{age|1}} old.", "wiki template"),
        ("Two words.", None),
        ("éa ça", None),
    ],
)
def test_reasons(text, reason):
    assert fault(text, Cleaning(min_words=2, max_words=5)) == reason


@pytest.mark.parametrize(
    "sentences",
    [
        ["Mr. Smith went home.", "He saw Dr. J. R. Jones at 5 p.m. on Monday."],
        ["Mrs. Brown lives in the U.S. Army base.", "See No. 5, e.g. this one."],
        ["'Well!' thought Alice to herself.", "'Oh dear!' she said.", "(She was late.)"],
        ["Is it?", "Yes!!", "It cost $5.50."],
        ['"Stop!" he cried, and ran.', '"Why?" she asked.'],
        ["Uh-huh.", "I see."],
    ],
)
def test_sentences(sentences):
    assert split(" ".join(sentences)) == sentences


@given(st.text("ab. ?\n", max_size=400))
def test_pieces_lose_nothing(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "LONGEST", 20)
        try:
            cut = list(cutting.pieces(text, "x"))
        except PoshgridError:
            assert max(map(len, text.split())) >= 20
            return
    assert "".join(cut) == text
    assert max(map(len, cut)) <= 20


PIECES = [
    "<ref ", '<a b="', "[[File:a|", "[http://a ", "{{a|", "{|\n", "<!--", "[[a|b]", " ", " ,", "- ",
    "–", "'", "=", "[ ", "{A ", "( ", "&", "``", ".", '" ',
]  # fmt: skip


@pytest.mark.parametrize("function", [clean, mend, detokenise])
@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_the_square_of_its_length(function, piece):
    def seconds(text: str) -> float:
        start = time.process_time()
        function(text)
        return time.process_time() - start

    # Eight times the text may take 24 times as long; the square would be 64
    short, long = (
        min(seconds(piece * number + " A word.") for _ in range(3)) for number in (2_000, 16_000)
    )
    assert long < 0.02 + 24 * short
