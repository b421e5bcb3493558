"""Readers: formats that give the same, files that are left out, files that are refused."""

from __future__ import annotations

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
    yielded, report = read("tinystories", path)
    assert yielded == [
        ("t-0000000", "Tom had a dog. It ran."),
        ("t-0000000", '"Stop!" said Tom.'),
        ("t-0000002", "Lily “sang”."),
    ]
    assert report.dropped == {"empty story": 1}


# ---- OPUS -------------------------------------------------------------------------------------


def test_plain_text_is_cut_into_documents(tmp_path):
    put(tmp_path, "en.txt", "One.\n\n# la #\n" + "Two. Three.\n" * 498 + "Four.\n")
    put(tmp_path, "1994/1/x.txt", "A.\n")
    yielded, report = read("opus", tmp_path)
    assert yielded[:2] == [("1994/1/x-000000", "A."), ("en-000000", "One.")]
    assert report.dropped == {"music": 1}
    assert yielded[-2:] == [("en-000000", "Two. Three."), ("en-000001", "Four.")]


# ---- BNC --------------------------------------------------------------------------------------


def bnc(*sentences: str, kind: str = "stext") -> str:
    spoken = "".join(f"<s><w>{sentence}</w></s>" for sentence in sentences)
    return f'<bncDoc xml:id="KX1"><teiHeader/><{kind}><u who="A">{spoken}</u></{kind}></bncDoc>'


LAUGHS = (
    '<!DOCTYPE bncDoc [<!ENTITY a "ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 20}">' for a, b in zip("abcdef", "bcdefg", strict=True))
    + f"]>{bnc('&g;')}"
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
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
