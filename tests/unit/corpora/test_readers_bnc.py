"""The BNC reader: hand-made texts with hand-worked sentences, and every way to be broken."""

from __future__ import annotations

import gzip
import tracemalloc
from collections import Counter
from xml.sax.saxutils import escape

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.config import Source, specs
from poshgrid.corpora import xmlfile
from poshgrid.corpora.read import input_files, read_source
from poshgrid.corpora.readers import bnc_xml
from poshgrid.corpora.report import Report
from poshgrid.corpora.schema import SOURCE
from poshgrid.errors import PoshgridError
from poshgrid.files import read_table
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
    report = Report()
    return list(bnc_xml.read(path, bnc_xml.Options(**options), report)), report


def spec(path: str, **options) -> specs.SourceSpec:
    return specs.SourceSpec(source=Source(name="bnc", reader="bnc-xml", path=path, options=options))


# ---- sentences --------------------------------------------------------------------------------

LOST = {"unintelligible": "remove"}
SPOKEN = {"disfluencies": True}


@pytest.mark.parametrize(
    ("inside", "options", "wanted"),
    [
        # words carry their own spaces; what is one written word has none
        (w("What", "'s ", "that") + c("?"), {}, "What's that?"),
        (w("I ", "do", "n't ", "wan", "na ", "go") + c("."), {}, "I don't wanna go."),
        ("\n  " + w("Yes ") + "\n  " + w("Mum") + c(".") + "\n", {}, "Yes Mum."),
        (w("Me ") + c("& ") + w("you") + c("."), {}, "Me & you."),
        ('<mw c5="AV0">' + w("of ", "course ") + "</mw>" + w("not"), {}, "of course not"),
        ('<hi rend="it">' + w("Big ") + "</hi>" + w("dog"), {}, "Big dog"),
        ('<corr sic="teh">' + w("the ") + "</corr>" + w("dog"), {}, "the dog"),
        ("<w>hel<pause/>lo </w>" + w("you"), {}, "hello you"),
        # what is no word
        (w("Oh ") + '<vocal desc="laugh"/><event desc="door"/><pause dur="6"/>' + w("no"), {},
         "Oh no"),
        ('<shift new="whispering"/>' + w("Come ") + '<align with="KX1LC001"/>' + w("here")
         + "<shift/>", {}, "Come here"),
        ("<!-- a note -->" + w("Hi") + "<?x y?>", {}, "Hi"),
        ('<vocal desc="cough"/><pause/>', {}, None),
        (c("."), {}, None),
        ("", {}, None),
        # what nobody understood, what the corpus left out
        (w("the ") + "<unclear/>" + w("dog"), {}, None),
        (w("the ") + "<unclear/>" + w("dog"), LOST, "the dog"),
        (w("the ") + "<unclear>" + w("cat ") + "</unclear>" + w("dog"), LOST, "the dog"),
        (w("call ") + '<gap desc="name" reason="anonymization"/>' + w("now"), {}, None),
        (w("call ") + '<gap desc="name" reason="anonymization"/>' + w("now"), LOST, "call now"),
        ("<mw>" + w("a ") + "<unclear/></mw>" + w("b"), {}, None),
        ("<unclear/>", LOST, None),
        # broken-off words and fillers
        (w("I ") + "<trunc>" + w("wa ") + "</trunc>" + w("was"), {}, "I was"),
        (w("I ") + "<trunc>" + w("wa ") + "</trunc>" + w("was"), SPOKEN, "I wa was"),
        ("<trunc>" + w("Th ") + "</trunc>" + w("the ", "dog"), {}, "The dog"),
        (w("Well") + c(", ") + w("er") + c(", ") + w("I ", "go ", "erm") + c("."), {},
         "Well, I go."),
        (w("Well") + c(", ") + w("er") + c(", ") + w("I"), SPOKEN, "Well, er, I"),
        (w("Erm") + c(", ") + w("the ", "dog") + c("."), {}, "The dog."),
        (w("erm ", "the ", "dog"), {}, "the dog"),
        (w("Er") + c("."), {}, None),
        (w("Er") + c("."), SPOKEN, "Er."),
        (w("Her ", "term ", "mm"), {}, "Her term mm"),
    ],
)  # fmt: skip
def test_sentences(tmp_path, inside, options, wanted):
    path = put(tmp_path, "KX1.xml", text(u(s(inside))))
    found, report = read(path, **options)
    assert [said for _, said in found] == ([wanted] if wanted else [])
    assert report.lines == 1 == len(found) + sum(report.dropped.values())


def test_reasons_are_told_apart(tmp_path):
    body = u(
        s(w("a ") + "<unclear/>"), s("<gap/>" + w("b")), s("<pause/>"), s(w("c"), n=4),
        s(w("x" * 10_001)),
    )  # fmt: skip
    _, report = read(put(tmp_path, "a.xml", text(body)))
    assert report.dropped == {
        "unintelligible": 1, "words left out by the corpus": 1, "no words": 1, "too long": 1,
    }  # fmt: skip


NOISES = ["<vocal/>", "<event/>", '<pause dur="3"/>', '<shift new="x"/>', "<align/>", "\n"]
NOISES += ["<!--x-->", "<trunc><w>zzz </w></trunc>"]


@given(st.lists(st.tuples(st.sampled_from(["dog", "Ann's", "a&b", "o<o", "café"]),
                          st.lists(st.sampled_from(NOISES), max_size=3)), min_size=1))  # fmt: skip
def test_noises_change_no_sentence(tmp_path_factory, pieces):
    """Property: the words in their order and nothing else, wherever noises stand."""
    inside = "".join("".join(noises) + w(f"{word} ") for word, noises in pieces)
    path = put(tmp_path_factory.mktemp("bnc"), "a.xml", text(u(s(inside))))
    found, _ = read(path)
    assert found == [("KX1", " ".join(word for word, _ in pieces))]


# ---- texts ------------------------------------------------------------------------------------


def corpus(tmp_path):
    talk = u(s(w("Hello ", "there")), s(w("Come ", "in") + c("."))) + '<div n="2">' + u(
        '<unclear/>', s(w("Thanks"))) + "</div>"  # fmt: skip
    book = (
        '<div level="1"><head type="MAIN">' + s(w("A ", "Title")) + "</head><p>"
        + s(w("It ", "rained") + c(".")) + "<quote><p>" + s(w("So ", "it ", "did"))
        + "</p></quote></p></div>"
    )  # fmt: skip
    put(tmp_path, "K/KX/KX1.xml", text(talk))
    put(tmp_path, "A/AX/AX0.xml", text(book, "AX0", "wtext"))
    put(tmp_path, "K/KX/KX2.xml.gz", text(u(s(w("Bye"))), "KX2"))
    put(tmp_path, "K/readme.txt", "not read")
    put(tmp_path, ".hidden/KX9.xml", "not read")


SPEECH = [("KX1", "Hello there"), ("KX1", "Come in."), ("KX1", "Thanks"), ("KX2", "Bye")]
WRITING = [("AX0", "It rained."), ("AX0", "So it did")]


@pytest.mark.parametrize(
    ("kind", "wanted", "dropped", "lines"),
    [
        ("spoken", SPEECH, {"written text": 1}, 4),
        ("written", WRITING, {"spoken text": 2, "heading": 1}, 3),
        ("all", WRITING + SPEECH, {"heading": 1}, 7),
    ],
)
def test_kinds(tmp_path, kind, wanted, dropped, lines):
    corpus(tmp_path)
    found, report = read(tmp_path, kind=kind)
    assert found == wanted
    assert report.dropped == dropped
    assert report.lines == lines


def test_speech_is_the_default_and_reaches_the_table(tmp_path):
    corpus(tmp_path)
    output = tmp_path / "out" / "sentences.parquet"
    statistics = read_source(spec("K"), tmp_path, output)
    frame = read_table(output, SOURCE)
    assert frame.select("document", "text").rows() == SPEECH
    assert frame["position"].to_list() == [0, 1, 2, 0]
    assert statistics["files"] == 2
    assert [p.name for p in input_files(spec("K"), tmp_path)] == ["KX1.xml", "KX2.xml.gz"]


def test_a_text_without_a_name_has_its_files(tmp_path):
    path = put(tmp_path, "KX7.xml.gz", f"<bncDoc>{HEADER}<stext>{u(s(w('Hi')))}</stext></bncDoc>")
    assert read(path)[0] == [("KX7", "Hi")]


def test_a_text_without_sentences_is_counted(tmp_path):
    put(tmp_path, "a.xml", text("<u><pause/></u>"))
    put(tmp_path, "b.xml", text(u(s(w("Hi")))))
    found, report = read(tmp_path)
    assert found == [("KX1", "Hi")]
    assert report.dropped == {"text without sentences": 1}


def test_packed_and_unpacked_side_by_side_are_one_text(tmp_path):
    for name in ("a.xml", "a.xml.gz"):
        put(tmp_path, name, text(u(s(w("Hi")))))
    assert read(tmp_path)[0] == [("KX1", "Hi")]


def test_encodings_that_the_file_declares(tmp_path):
    whole = text(u(s(w("café"))))
    for name, encoding in (("a.xml", "iso-8859-1"), ("b.xml", "utf-16")):
        declared = f'<?xml version="1.0" encoding="{encoding}"?>{whole}'
        assert read(put(tmp_path, name, declared.encode(encoding)))[0] == [("KX1", "café")]


@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz"])
def test_memory_is_bounded(tmp_path, name):
    """A text forty times as long takes no more memory: one <u>, as a lecture has."""

    def peak(sentences: int) -> int:
        path = put(tmp_path, name, text(u(*[s(w("one ", "two ", "three"))] * sentences)))
        counted = Counter()
        tracemalloc.start()
        for document, _ in bnc_xml.read(path, bnc_xml.Options(), Report()):
            counted[document] += 1
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert counted == {"KX1": sentences}
        return top

    peak(10)  # imports
    assert peak(20_000) < peak(2_000) + 300_000


# ---- broken files -----------------------------------------------------------------------------

GOOD = text(u(s(w("Hello ", "there")), s(w("Bye"))))
PACKED = gzip.compress(GOOD.encode(), mtime=0)
LAUGHS = (
    '<!DOCTYPE bncDoc [<!ENTITY a "ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ha ">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 20}">' for a, b in zip("abcdef", "bcdefg", strict=True))
    + f"]>{text(u(s('<w>&g;</w>')))}"
)
BROKEN = [
    ("z.xml.gz", b"\x1f\x8b", r"z\.xml\.gz: byte 0 of its content: broken gzip file \(it was"),
    ("t.xml", GOOD[:-40].encode(), r"t\.xml: line \d+, column \d+: broken XML \(.*\); download"),
    ("h.xml", GOOD[:60].encode(), r"h\.xml: line 1, column 61: broken XML \(no element found\)"),
    ("g.xml", PACKED, r"g\.xml: line 1, column \d+: broken XML"),
    ("r.xml", b"<TEI><text><s>Hi</s></text></TEI>",
     r"r\.xml: line 1: root element <TEI>, not <bncDoc>; take the file out"),
    ("p.xml", b"Just a text.\n", r"p\.xml: line 1, column 1: broken XML \(syntax error\)"),
    ("l.xml", GOOD.replace("Bye", "café").encode("latin-1"),
     r"l\.xml: line 3, column 40: broken XML \(not well-formed"),
    ("c.xml", b'<?xml version="1.0" encoding="klingon"?>' + GOOD.encode(),
     r"c\.xml: line 1.*encoding"),
    ("j.xml", b'<?xml version="1.0" encoding="shift_jis"?>' + GOOD.encode(),
     r"j\.xml: line 1: encoding not supported \(.*\); convert it to UTF-8"),
    ("u.xml", GOOD.replace("Bye", "&eacute;").encode(), r"u\.xml: line 3, .*undefined entity"),
    ("x.xml", b'<!DOCTYPE bncDoc [<!ENTITY e SYSTEM "secret.txt">]>'
     + GOOD.replace("Bye", "&e;").encode(), r"x\.xml: line 3, .*undefined entity &e;"),
    ("b.xml", LAUGHS.encode(), r"b\.xml: line 2, .*limit on input amplification"),
    ("o.xml", f"<bncDoc>{s(w('Hi'))}</bncDoc>".encode(),
     r"o\.xml: sentence 1 is in no <stext> or <wtext>"),
    ("m.xml", text(u(s(w("long " * 2_000_000)))).encode(),
     r"m\.xml: no sentence left of 1 lines \(too long 1\)"),
    ("w.xml", text(u(s(w("Hi"))), kind="wtext").encode(),
     r"w\.xml: no sentence left of 0 lines \(written text 1\)"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), BROKEN, ids=[name for name, *_ in BROKEN])
def test_broken_files(tmp_path, name, content, message):
    put(tmp_path, "secret.txt", "secret")
    refused(tmp_path, "bnc-xml", name, content, message)


def test_every_cut_of_a_text_is_an_error(tmp_path):
    """Property: no prefix of a text, packed or not, passes for the text."""
    for whole, name in ((GOOD.encode(), "a.xml"), (PACKED, "a.xml.gz")):
        for length in range(0, len(whole), 7):
            (tmp_path / name).write_bytes(whole[:length])
            with pytest.raises(PoshgridError, match=r"broken|empty"):
                read(tmp_path / name)


def test_an_element_that_never_ends_is_not_held(tmp_path, monkeypatch):
    monkeypatch.setattr(xmlfile, "_LONGEST", 200_000)
    words = w(*["one "] * 20_000)
    with pytest.raises(PoshgridError, match=r"a\.xml: more than 200,000 bytes in one element"):
        read(put(tmp_path, "a.xml", text(u(s(words)))))
    with pytest.raises(PoshgridError, match=r"b\.xml: more than 200,000 bytes in one element"):
        read(put(tmp_path, "b.xml", text("x" * 400_000)))
    assert len(read(put(tmp_path, "c.xml", text(u(*[s(w("one"))] * 20_000))))[0]) == 20_000


def test_a_folder_without_texts_is_named(tmp_path):
    put(tmp_path, "a.txt", "x")
    with pytest.raises(PoshgridError, match=r"holds no \.xml or \.xml\.gz file; check sources"):
        read(tmp_path)


def test_links_to_folders_are_followed_once(tmp_path):
    put(tmp_path, "elsewhere/KX1.xml", text(u(s(w("Hi")))))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "K").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "elsewhere" / "up").symlink_to(tmp_path / "data", target_is_directory=True)
    assert read(tmp_path / "data")[0] == [("KX1", "Hi")]


def test_the_table_is_the_same_for_the_same_texts(tmp_path):
    corpus(tmp_path)
    frames = []
    for name in ("one", "two"):
        output = tmp_path / name / "sentences.parquet"
        read_source(spec("K"), tmp_path, output)
        frames.append(pl.read_parquet(output))
    assert frames[0].equals(frames[1])
