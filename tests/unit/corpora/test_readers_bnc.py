"""The BNC reader: hand-made texts with hand-worked sentences, and every way to be broken."""

from __future__ import annotations

from xml.sax.saxutils import escape

import pytest

from poshgrid.corpora.report import Report
from tests.unit.corpora.reader_support import put, refused
from tests.unit.corpora.reader_support import read as read_with

HEADER = "<teiHeader><fileDesc><title>A talk. Sample</title></fileDesc></teiHeader>"


def w(*words: str) -> str:
    return "".join(f'<w c5="XXX" hw="x" pos="X">{escape(word)}</w>' for word in words)


def c(mark: str) -> str:
    return f'<c c5="PUN">{escape(mark)}</c>'


def s(*parts: str, n: int = 1) -> str:
    return f'<s n="{n}">{"".join(parts)}</s>'


def text(body: str, name: str = "KX1", kind: str = "stext", header: str = HEADER) -> str:
    return f'<bncDoc xml:id="{name}">{header}<{kind} type="CONVRSN">{body}</{kind}></bncDoc>'


def u(*sentences: str) -> str:
    return "\n".join(['<u who="PS0X1">', *sentences, "</u>\n"])


def read(path, **options) -> tuple[list[tuple[str, str]], Report]:
    return read_with("bnc-xml", path, **options)


# ---- sentences --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "wanted"),
    [
        # words carry their own spaces; what is one written word has none
        (w("What", "'s ", "that") + c("?"), "What's that?"),
        (w("I ", "do", "n't ", "wan", "na ", "go") + c("."), "I don't wanna go."),
        ('<mw c5="AV0">' + w("of ", "course ") + "</mw>" + w("not"), "of course not"),
        ('<hi rend="it">' + w("Big ") + "</hi>" + w("dog"), "Big dog"),
        # what is no word
        (w("Oh ") + '<vocal desc="laugh"/><event desc="door"/><pause dur="6"/>' + w("no"),
         "Oh no"),
        ('<shift new="whispering"/>' + w("Come ") + '<align with="KX1LC001"/>' + w("here")
         + "<shift/>", "Come here"),
        (c("."), None),
        # what nobody understood, what the corpus left out
        (w("the ") + "<unclear/>" + w("dog"), None),
        (w("call ") + '<gap desc="name" reason="anonymization"/>' + w("now"), None),
        # broken-off words and fillers
        (w("I ") + "<trunc>" + w("wa ") + "</trunc>" + w("was"), "I was"),
        ("<trunc>" + w("Th ") + "</trunc>" + w("the ", "dog"), "The dog"),
        (w("Well") + c(", ") + w("er") + c(", ") + w("I ", "go ", "erm") + c("."),
         "Well, I go."),
        (w("Erm") + c(", ") + w("the ", "dog") + c("."), "The dog."),
        (w("erm ", "the ", "dog"), "the dog"),
    ],
)  # fmt: skip
def test_sentences(tmp_path, inside, wanted):
    path = put(tmp_path, "KX1.xml", text(u(s(inside))))
    found, report = read(path)
    assert [said for _, said in found] == ([wanted] if wanted else [])
    assert report.lines == 1 == len(found) + sum(report.dropped.values())


# ---- texts ------------------------------------------------------------------------------------


def test_speech_is_read_and_writing_is_not(tmp_path):
    talk = u(s(w("Hello ", "there")), s(w("Come ", "in") + c("."))) + '<div n="2">' + u(
        '<unclear/>', s(w("Thanks"))) + "</div>"  # fmt: skip
    put(tmp_path, "K/KX/KX1.xml", text(talk))
    put(tmp_path, "A/AX/AX0.xml", text(s(w("It ", "rained") + c(".")), "AX0", "wtext"))
    put(tmp_path, ".hidden/KX9.xml", "not read")
    found, report = read(tmp_path)
    assert found == [("KX1", "Hello there"), ("KX1", "Come in."), ("KX1", "Thanks")]
    assert report.dropped == {"written text": 1}
    assert report.lines == 3


# ---- broken files -----------------------------------------------------------------------------

GOOD = text(u(s(w("Hello ", "there")), s(w("Bye"))))
LAUGHS = (
    '<!DOCTYPE bncDoc [<!ENTITY a "ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 20}">' for a, b in zip("abcdef", "bcdefg", strict=True))
    + f"]>{text(u(s('<w>&g;</w>')))}"
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD[:-40], "broken XML"),
        ("<TEI><text><s>Hi</s></text></TEI>", "root element <TEI>, not <bncDoc>"),
        ('<?xml version="1.0" encoding="klingon"?>' + GOOD, "broken XML"),
        ('<!DOCTYPE bncDoc [<!ENTITY e SYSTEM "secret.txt">]>' + GOOD.replace("Bye", "&e;"),
         "undefined entity &e;"),
        (LAUGHS, "limit on input amplification"),
        (f"<bncDoc>{s(w('Hi'))}</bncDoc>", "sentence 1 is in no <stext> or <wtext>"),
        (text(u(s(w("Hi"))), kind="wtext"), r"no sentence left .* \(written text 1\)"),
    ],
)  # fmt: skip
def test_broken_files(tmp_path, content, message):
    put(tmp_path, "secret.txt", "secret")
    refused(tmp_path, "bnc-xml", "a.xml", content, message)
