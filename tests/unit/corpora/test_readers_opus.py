"""The OPUS reader: marks of subtitles by hand, its formats held to each other."""

from __future__ import annotations

import gzip
from xml.sax.saxutils import escape

import pytest

from poshgrid.corpora.read import input_files
from poshgrid.corpora.readers import opus
from poshgrid.corpora.report import Report
from tests.unit.corpora.reader_support import put, refused, source_spec
from tests.unit.corpora.reader_support import read as read_with


def raw(*sentences: str) -> str:
    """Untokenised XML: text between times, a sentence over one or two subtitles."""
    body = "".join(
        f'  <s id="{i}">\n    <time id="T{i}S" value="00:00:0{i % 10},000" />\n{escape(text)}\n'
        f'    <time id="T{i}E" value="00:00:0{i % 10},900" />\n  </s>\n'
        for i, text in enumerate(sentences, start=1)
    )
    return document(body)


def document(body: str) -> str:
    meta = "<meta><subtitle><language>English</language><blocks>2</blocks></subtitle></meta>"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<document id="1">\n{body}{meta}</document>\n'


def read(path, **options) -> tuple[list[tuple[str, str]], Report]:
    return read_with("opus", path, **options)


# ---- marks of subtitles -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subtitle", "wanted"),
    [
        ("Where are you going?", ["Where are you going?"]),
        # speakers
        (">> Good evening.", ["Good evening."]),
        ("- Where is he? - Gone.", ["Where is he?", "Gone."]),
        ("- Where are you\n- Here", ["Where are you", "Here"]),
        ('- "Go!" - Why?', ['"Go!"', "Why?"]),
        ("I came - I saw.", ["I came - I saw."]),
        # labels
        ("JOHN: Come here.", ["Come here."]),
        ("- MAN 2: Stop! - MRS. O'HARA: No!", ["Stop!", "No!"]),
        ("MAN: Stop! WOMAN: No!", ["Stop!", "No!"]),
        ("ÉLODIE : Oui?", ["Oui?"]),
        ("JOHN (on phone): Hi.", ["Hi."]),
        ("It's 5:30.", ["It's 5:30."]),
        ("I: the first.", ["I: the first."]),
        # typography
        (r"{\an8}Over there.", ["Over there."]),
        ("I <b>un</b>did it, <i>no</i>!", ["I undid it, no!"]),
        ("< i > Over there . < / i >", ["Over there."]),
        # sounds
        ("[door slams] Who's there?", ["Who's there?"]),
        ("Yes (sighs) I know.", ["Yes I know."]),
        ("[♪♪] Hello.", ["Hello."]),
        # hashes that are no songs
        ("We're #1!", ["We're #1!"]),
        # words that credits use, in speech
        ("Subtitles are hard to read.", ["Subtitles are hard to read."]),
    ],
)
def test_what_speakers_say(subtitle, wanted):
    report = Report()
    assert opus.speeches(subtitle, report) == wanted
    assert not report.dropped


@pytest.mark.parametrize(
    ("subtitle", "reason"),
    [
        ("♪ Happy birthday to you ♪", "music"),
        ("# Happy birthday to you #", "music"),
        ("[door slams]", "sound description"),
        ("MAN: [laughs]", "sound description"),
        ("I think it was [inaudible] yesterday.", "unintelligible"),
        ("[a door that goes on", "unclosed bracket"),
        ("Subtitles by SomeBody", "credits"),
        ("Sync and corrections by someone", "credits"),
        ("See www.example.org", "URL"),
        ("JOHN:", "no words"),
        ("So f(x) is small.", "unclosed bracket"),
        ("word " * 401, "too long"),
    ],
)
def test_what_is_no_speech_is_counted(subtitle, reason):
    report = Report()
    assert opus.speeches(subtitle, report) == []
    assert report.dropped == {reason: 1}
    assert report.words == {reason: len(subtitle.split())}


# ---- formats ----------------------------------------------------------------------------------

SUBTITLES = ["- Hello, Ann. - I don't know.", "♪ la la ♪", "{\\an8}<i>She's gone!</i>", "(sighs)"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "\ufeff" + "\r\n".join(SUBTITLES)),
        ("a.xml.gz", gzip.compress(raw(*SUBTITLES).encode())),
        ("a.xml", raw(*SUBTITLES).replace("utf-8", "utf-16").encode("utf-16")),
    ],
)
def test_every_format_gives_the_same(tmp_path, name, content):
    found, report = read(put(tmp_path, name, content))
    assert [said for _, said in found] == ["Hello, Ann.", "I don't know.", "She's gone!"]
    assert {film for film, _ in found} == {"a-000000" if ".txt" in name else "a"}
    assert report.lines == 4
    assert report.dropped == {"music": 1, "sound description": 1}


def test_xml_that_is_cut_into_words_is_refused(tmp_path):
    """It would be read with spaces within its words: do n't."""
    cut = document('<s id="1"><w id="1.1">do</w><w id="1.2">n\'t</w></s>')
    refused(tmp_path, "opus", "a.xml", cut, "a.xml: cut into words")


def test_films_in_a_tree(tmp_path):
    tree = "OpenSubtitles/xml/en"
    put(tmp_path, f"{tree}/1994/110912/9.xml", raw("Later."))
    put(tmp_path, f"{tree}/1994/110912/10.xml", raw("First.", "Second."))
    put(tmp_path, f"{tree}/1994/110912/11.xml", raw("Last."))
    put(tmp_path, f"{tree}/1995/110912/1.xml", raw("Another year."))
    put(tmp_path, f"{tree}/1995/some film/1.xml", raw("Another film."))
    put(tmp_path, f"{tree}/1995/.hidden.xml", raw("Hidden."))
    put(tmp_path, f"{tree}/README", "not read")
    wanted = [
        ("1994/110912", "First."), ("1994/110912", "Second."),
        ("1995/110912", "Another year."), ("1995/some film", "Another film."),
    ]  # fmt: skip
    found, report = read(tmp_path / tree)
    assert found == wanted
    assert report.dropped == {"other version of a film": 2}
    assert report.lines == 4
    # from higher up the films have longer names
    assert read(tmp_path)[0] == [(f"{tree}/{film}", said) for film, said in wanted]
    # a file that is named is read, and Snakemake watches only what is read
    assert read(tmp_path / tree / "1994/110912/11.xml")[0] == [("11", "Last.")]
    names = [p.parent.name + "/" + p.name for p in input_files(source_spec("opus", tree), tmp_path)]
    assert names == ["110912/10.xml", "110912/1.xml", "some film/1.xml"]


def test_plain_text_is_cut_into_documents(tmp_path):
    put(tmp_path, "en.txt", "One.\n\n# la #\n" + "Two. Three.\n" * 498 + "Four.\n")
    put(tmp_path, "1994/1/x.txt", "A.\nB.\n")
    found, _ = read(tmp_path)
    assert found[:3] == [("1994/1", "A."), ("1994/1", "B."), ("en-000000", "One.")]
    assert found[-2:] == [("en-000000", "Two. Three."), ("en-000001", "Four.")]
