"""Readers: formats that give the same, files that are left out, files that are refused."""

from __future__ import annotations

import bz2
import gzip

import polars as pl
import pytest

from tests.unit.corpora.reader_support import put, read, refused

# ---- TinyStories ------------------------------------------------------------------------------

END = "<|endoftext|>"
STORIES = ['Tom had a dog. It ran.\n\n"Stop!" said Tom.', "", "Lily â€œsangâ€\x9d."]


@pytest.mark.parametrize("kind", ["own lines", "one line", "parquet"])
def test_every_format_holds_the_same_stories(tmp_path, kind):
    path = tmp_path / ("t.parquet" if kind == "parquet" else "t.txt")
    if kind == "parquet":
        pl.DataFrame({"text": STORIES}).write_parquet(path)
    else:
        gap = f"\r\n{END}\r\n" if kind == "own lines" else END
        put(tmp_path, path.name, gap.join([*STORIES, ""]))
    found, report = read("tinystories", path)
    assert found == [
        ("t-0000000", "Tom had a dog. It ran."),
        ("t-0000000", '"Stop!" said Tom.'),
        ("t-0000002", "Lily “sang”."),
    ]
    assert report.dropped == {"empty story": 1}


# ---- Wikipedia --------------------------------------------------------------------------------


def page(title: str, text: str, extra: str = "<ns>0</ns>") -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f"<page><title>{title}</title>{extra}<id>1</id><revision><id>2</id>"
        f"<text>{text}</text></revision></page>\n"
    )


def dump(*pages: str, version: str = "0.11") -> str:
    start = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-{version}/" xml:lang="en">'
    return f"{start}<siteinfo/>{''.join(pages)}</mediawiki>\n"


PAGES = [
    page("Talk:Dog", "It is talk.", "<ns>1</ns>"),
    page("Hound", "#REDIRECT [[Dog]]", '<ns>0</ns><redirect title="Dog" />'),
    page("Cur", "#redirect [[Dog]]"),
    page("Rex", "'''Rex''' may be:\n* a\n{{Disambiguation}}"),
    page("Max", "Max may be one.\n{{human name disambig|x}}"),
    page("Bo (disambiguation)", "Bo may be one."),
    page("Style", ".a { b: c }.", "<ns>0</ns><model>css</model>"),
    page("List", "* a\n* b"),
    page("Cat", "A cat is a pet of [[Mouser|a kind]].{{disambiguation needed|date=x}}"),
    page("Ant", "An ant is small. It is not big."),
]


@pytest.mark.parametrize(
    ("name", "version"), [("w.xml", "0.3"), ("w.xml.gz", "0.11"), ("w.xml-p1p99.bz2", "9.9")]
)
def test_what_is_no_article_is_counted(tmp_path, name, version):
    text = dump(*PAGES, version=version).encode()
    pack = bz2.compress if name.endswith("bz2") else gzip.compress if name.endswith("gz") else bytes
    found, report = read("wikipedia-dump", put(tmp_path, name, pack(text)))
    assert found == [
        ("w-Cat", "A cat is a pet of a kind."),
        ("w-Ant", "An ant is small. It is not big."),
    ]
    assert report.dropped == {
        "page of another namespace": 1,
        "redirect": 2,
        "disambiguation page": 3,
        "page that is not wikitext": 1,
        "article without running text": 1,
    }


# ---- OPUS -------------------------------------------------------------------------------------


def test_plain_text_is_cut_into_documents(tmp_path):
    put(tmp_path, "en.txt", "One.\n\n# la #\n" + "Two. Three.\n" * 498 + "Four.\n")
    put(tmp_path, "1994/1/x.txt", "A.\n")
    found, report = read("opus", tmp_path)
    assert found[:2] == [("1994/1/x-000000", "A."), ("en-000000", "One.")]
    assert report.dropped == {"music": 1}
    assert found[-2:] == [("en-000000", "Two. Three."), ("en-000001", "Four.")]


# ---- BNC --------------------------------------------------------------------------------------


def bnc(*sentences: str, kind: str = "stext") -> str:
    spoken = "".join(f"<s><w>{sentence}</w></s>" for sentence in sentences)
    return f'<bncDoc xml:id="KX1"><teiHeader/><{kind}><u who="A">{spoken}</u></{kind}></bncDoc>'


def test_speech_is_read_and_writing_is_not(tmp_path):
    put(tmp_path, "K/KX/KX1.xml", bnc("Hello there", "Come in."))
    put(tmp_path, "A/AX/AX0.xml", bnc("It rained.", kind="wtext"))
    put(tmp_path, ".hidden/KX9.xml", "not read")
    found, report = read("bnc-xml", tmp_path)
    assert found == [("KX1", "Hello there"), ("KX1", "Come in.")]
    assert report.dropped == {"written text": 1}
    assert report.lines == 2


LAUGHS = (
    '<!DOCTYPE bncDoc [<!ENTITY a "ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 20}">' for a, b in zip("abcdef", "bcdefg", strict=True))
    + f"]>{bnc('&g;')}"
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (bnc("Hello there")[:-40], "broken XML"),
        ("<TEI><text><s>Hi</s></text></TEI>", "root element <TEI>, not <bncDoc>"),
        ('<?xml version="1.0" encoding="klingon"?>' + bnc("Hi"), "broken XML"),
        (
            '<!DOCTYPE bncDoc [<!ENTITY e SYSTEM "secret.txt">]>' + bnc("&e;"),
            "undefined entity &e;",
        ),
        (LAUGHS, "limit on input amplification"),
        ("<bncDoc><s><w>Hi</w></s></bncDoc>", "sentence 1 is in no <stext> or <wtext>"),
        (bnc("Hi", kind="wtext"), r"no sentence left .* \(written text 1\)"),
    ],
)
def test_broken_files(tmp_path, content, message):
    put(tmp_path, "secret.txt", "secret")
    refused(tmp_path, "bnc-xml", "a.xml", content, message)
