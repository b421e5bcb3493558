"""The BNC reader: hand-made texts with hand-worked sentences, and every way to be broken."""

from __future__ import annotations

import gzip
from xml.sax.saxutils import escape

import pytest

from poshgrid.corpora.report import Report
from tests.unit.corpora.reader_support import read as read_with
from tests.unit.corpora.reader_support import refused

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


def put(tmp_path, name: str, content: str | bytes):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(
        gzip.compress(data) if name.endswith(".gz") and data[:2] != b"\x1f\x8b" else data
    )
    return path


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


def corpus(tmp_path):
    talk = u(s(w("Hello ", "there")), s(w("Come ", "in") + c("."))) + '<div n="2">' + u(
        '<unclear/>', s(w("Thanks"))) + "</div>"  # fmt: skip
    book = s(w("It ", "rained") + c("."))
    put(tmp_path, "K/KX/KX1.xml", text(talk))
    put(tmp_path, "A/AX/AX0.xml", text(book, "AX0", "wtext"))
    put(tmp_path, "K/KX/KX2.xml.gz", text(u(s(w("Bye"))), "KX2"))
    put(tmp_path, "K/readme.txt", "not read")
    put(tmp_path, ".hidden/KX9.xml", "not read")


def test_speech_is_read_and_writing_is_not(tmp_path):
    corpus(tmp_path)
    found, report = read(tmp_path)
    assert found == [("KX1", "Hello there"), ("KX1", "Come in."), ("KX1", "Thanks"), ("KX2", "Bye")]
    assert report.dropped == {"written text": 1}
    assert report.lines == 4


# ---- broken files -----------------------------------------------------------------------------

GOOD = text(u(s(w("Hello ", "there")), s(w("Bye"))))
LAUGHS = (
    '<!DOCTYPE bncDoc [<!ENTITY a "ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 20}">' for a, b in zip("abcdef", "bcdefg", strict=True))
    + f"]>{text(u(s('<w>&g;</w>')))}"
)
BROKEN = [
    ("t.xml", GOOD[:-40], r"broken XML"),
    ("r.xml", "<TEI><text><s>Hi</s></text></TEI>", r"root element <TEI>, not <bncDoc>"),
    ("c.xml", '<?xml version="1.0" encoding="klingon"?>' + GOOD, r"broken XML"),
    ("j.xml", '<?xml version="1.0" encoding="shift_jis"?>' + GOOD, r"convert it to UTF-8"),
    ("x.xml", '<!DOCTYPE bncDoc [<!ENTITY e SYSTEM "secret.txt">]>' + GOOD.replace("Bye", "&e;"),
     r"undefined entity &e;"),
    ("b.xml", LAUGHS, r"limit on input amplification"),
    ("o.xml", f"<bncDoc>{s(w('Hi'))}</bncDoc>", r"sentence 1 is in no <stext> or <wtext>"),
    ("w.xml", text(u(s(w("Hi"))), kind="wtext"), r"no sentence left .* \(written text 1\)"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), BROKEN, ids=[name for name, *_ in BROKEN])
def test_broken_files(tmp_path, name, content, message):
    put(tmp_path, "secret.txt", "secret")
    refused(tmp_path, "bnc-xml", name, content, message)
