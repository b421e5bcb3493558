"""Readers of written corpora: hand-made files and hand-worked sentences."""

from __future__ import annotations

import bz2
import gzip
import io

import polars as pl
import pytest

from poshgrid.corpora.report import Report
from tests.unit.corpora.reader_support import put, read, table_of

SEPARATOR = "<|endoftext|>"


def texts(reader: str, path, **options) -> tuple[list[tuple[str, str]], Report]:
    """What a reader yields, and its report, whose lines must add up."""
    found, report = read(reader, path, **options)
    assert report.lines == len(found) + sum(report.dropped.values())
    return found, report


def parquet(**columns) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


# ---- TinyStories ------------------------------------------------------------------------------

STORIES = ['Tom had a dog. It ran.\n\n"Stop!" said Tom.', "", "Lily â€œsangâ€\x9d."]
EXPECTED = [
    ("0000000", "Tom had a dog. It ran."),
    ("0000000", '"Stop!" said Tom.'),
    ("0000002", "Lily “sang”."),
]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.txt", f"\n{SEPARATOR}\n".join(STORIES)),
        ("t.txt", f"{SEPARATOR}".join(STORIES) + SEPARATOR),
        ("t.txt.gz", gzip.compress(f"\r\n{SEPARATOR}\r\n".join(STORIES).encode(), mtime=0)),
        ("t.parquet", parquet(text=STORIES)),
    ],
)
def test_every_format_holds_the_same_stories(tmp_path, name, content):
    found, report = texts("tinystories", put(tmp_path, name, content))
    assert [(key.removeprefix("t-"), text) for key, text in found] == EXPECTED
    assert report.dropped == {"empty story": 1}


# ---- Wikipedia --------------------------------------------------------------------------------

HEADER = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-{version}/" xml:lang="en">
  <siteinfo><sitename>W</sitename><dbname>simplewiki</dbname><namespaces>
    <namespace key="0" case="first-letter" /><namespace key="1">Talk</namespace>
  </namespaces></siteinfo>
"""


def page(title: str, text: str, extra: str = "<ns>0</ns>") -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f"<page><title>{title}</title>{extra}<id>1</id><revision><id>2</id>"
        f"<text>{text}</text></revision></page>\n"
    )


def dump(*pages: str, version: str = "0.11") -> str:
    return HEADER.format(version=version) + "".join(pages) + "</mediawiki>\n"


DOG = """{{Infobox animal
| name = Dog
| list = {{plainlist|
* wolf
}}
}}
[[File:Dog.jpg|thumb|A [[brown]] dog. It sits.]]
'''Dogs''' ({{IPA|dɒgz}}; ''Canis familiaris'') are [[Pet|pets]] of [[human]]s.<ref>A book.</ref>
They run {{convert|40|km|mi}} a day{{citation needed|date=May 2020}} &amp; eat
{{lang|fr|baguette}}.<ref name="x" />

== Kinds ==
There are many [https://example.org kinds].

* Big [[dog]]s are big.
** ''Huge'' ones too.
# One.
; Term : It is so.
Small dogs are small.
{| class="wikitext"
! Name || Size
|-
| Rex || A table cell is here.
|}
<gallery>
File:A.jpg|A caption of it.
</gallery>
The area is <math>r^2</math> here.

A caption without an end

See also [[:Category:Dogs]] and [[wikt:dog|the word]].<!-- hidden. -->
== References ==
{{reflist}}
[[Category:Pets]]
[[fr:Chien]]
"""
DOG_TEXT = [
    "Dogs (Canis familiaris) are pets of humans. They run 40 km a day & eat baguette.",
    "There are many kinds.",
    "Small dogs are small.",
    "See also Category:Dogs and the word.",
]


def test_an_article_is_its_running_text(tmp_path):
    path = put(tmp_path, "simplewiki-pages-articles.xml", dump(page("Dog", DOG)))
    found, report = texts("wikipedia-dump", path)
    assert found == [("simplewiki-Dog", text) for text in DOG_TEXT]
    assert report.dropped == {"formula": 1, "no final punctuation": 1}


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
    found, report = texts("wikipedia-dump", put(tmp_path, name, pack(text)))
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


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ("70|km|mi", "70 km"),
        ("4|to|9|in|cm", "4 to 9 in"),
        ("5|ft|11|in|m|abbr=on", "5 ft 11 in"),
        ("5+1/2|mi", "5 1/2 mi"),
        ("9|C|F|disp=out", None),
    ],
)
def test_measures_end_before_the_unit_that_they_are_converted_to(tmp_path, parameters, text):
    wikitext = f"It is {{{{Convert|{parameters}}}}} here.\n\nFine one."
    found, report = texts("wikipedia-dump", put(tmp_path, "w.xml", dump(page("A", wikitext))))
    assert [line for _, line in found] == [*([f"It is {text} here."] if text else []), "Fine one."]
    assert report.dropped == ({} if text else {"template convert": 1})
    assert report.words == ({} if text else {"template convert": 3})


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("{{Unclosed\n'''A''' is b.\n\nFine one.", ["Fine one."]),
        ("{|\n| cell. \n\nFine one.", ["Fine one."]),
        ("{{Infobox a\n| b = {{age|1}}\n}}'''A''' is b.{{Cite web|c}}", ["A is b."]),
        ("In {{CURRENTYEAR}} it is.\n\nIn {{{1}}} it is.\n\nFine one.", ["Fine one."]),
        ("An '''owl''' ({{IPA|aul}}; {{lang-la|bubo}}) is a bird.", ["An owl (bubo) is a bird."]),
        ("So {{lang|fr|hibou}} and {{w|Owl|owls}} and {{W|Ant}}.", ["So hibou and owls and Ant."]),
        ("{{As of|2001}}, {{nts|51000}} and {{formatnum:7}}.", ["As of 2001, 51,000 and 7."]),
        (
            "It cost {{US$|3}} in 40 {{BCE}}, {{as of|40|lc=y}}.",
            ["It cost US$3 in 40 BCE, as of 40."],
        ),
        (
            "It has {{frac|3|4}} or {{frac|7|1|2}} {{nowrap|old {{sup|th}}}}.",
            ["It has 3/4 or 7 1/2 old th."],
        ),
        ("<div>In a box.</div>\n<nowiki>A '' b</nowiki> it is.", ["In a box. A '' b it is."]),
    ],
)
def test_wikitext(tmp_path, wikitext, expected):
    found, _ = texts("wikipedia-dump", put(tmp_path, "w.xml", dump(page("A", wikitext))))
    assert [text for _, text in found] == expected


# ---- BabyLM -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "expected", "dropped"),
    [
        (
            "childes.train",
            "= = = Eng/Brown/01.cha = = =\n[kitchen]\n*MOT:\tdo you want it ?\n*CHI:\tmilk.\n"
            "*MOT:\txxx dog.\n*FAT:\tlook [points] here.\n*MOT:\t[laughs]\n*FAT:\tis it yyy?\n"
            "*MOT:\tread the www.\n*MOT:\tyyy's hat.\n*MOT:\tXXX ...\n*MOT:\tsee www.toys.com.\n"
            "\n= = = Eng/Brown/02.cha = = =\n*MOT:\thi.\n",
            [(0, "do you want it?"), (0, "look here."), (0, "see www.toys.com."), (1, "hi.")],
            {"heading": 2, "annotation": 1, "child's utterance": 1, "unintelligible": 5,
             "no words": 1},
        ),
        ("aochildes.train", "you want it ?\nno .\n", [(0, "you want it?"), (0, "no.")], {}),
        ("bnc_spoken.train", "Yes .\n\nRight.\n", [(0, "Yes."), (1, "Right.")],
         {}),
        (
            "open_subtitles.train.txt",
            "- Who is it?\n[door slams] Me.\n♪ ♪\nSubtitles by Nobody\n(SIGHS) We subtracted it.\n"
            "{\\an8}ANNA: Up <i>here</i>!\n(sighs)\n- Why? - Oh .\n",
            [(0, "Who is it?"), (0, "Me."), (0, "We subtracted it."), (0, "Up here!"), (0, "Why?"),
             (0, "Oh.")],
            {"credits": 1, "music": 1, "sound description": 1},
        ),
        (
            "switchboard.train",
            "A:\tUh, do you have,\nB:\tYeah.\nA:\ta, a pet?\nB:\tUm,\nB:\tuh.\n",
            [(0, "Yeah."), (0, "Do you have, a pet?")],
            {"only noise or fillers": 1},
        ),
        ("switchboard.train.txt", "- Yes, I do.\nOkay.\n", [(0, "Yes, I do."), (0, "Okay.")], {}),
        (
            "simple_wiki.train",
            "= = = April = = =\nApril is a month.\nMonths\nIt has 30 days.\n\n"
            "= = = August = = =\nAugust is one too.\n",
            [(0, "April is a month."), (0, "It has 30 days."), (1, "August is one too.")],
            {"heading": 2, "no final punctuation": 1},
        ),
        (
            "wikipedia.train",
            " = Valkyria = \n\n It is a game . \n\n = = Play = = \n\n = = = Part = = = \n\n One"
            " plays it . \n\n = Tower = \n\n It is high . \n",
            [(0, "It is a game ."), (0, "One plays it ."), (1, "It is high .")],
            {"heading": 4},
        ),
        (
            "gutenberg.train",
            f"= = = 11 = = =\nA TITLE\n_Long_ is {'very ' * 20}long.\nHe left.\n*   *   *\n"
            "*The author's note.\n= = = 12 = = =\nAnother one.\n",
            [(0, f"Long is {'very ' * 20}long."), (0, "He left."), (1, "Another one.")],
            {"heading": 3, "note or row of asterisks": 2},
        ),
        (
            "gutenberg_fixed.train",
            "A TITLE\n\nIt was a long day, and\nthe fox was tired.\nHe slept.\n\n* * *\n\nHe left.",
            [(0, "It was a long day, and the fox was tired. He slept."), (0, "He left.")],
            {"heading": 1, "note or row of asterisks": 1},
        ),
        (
            "qed.train",
            "So this is\nthe one\nthat we want. [MUSIC]\nMAN 2: Why?\n>> ANNA: It\nis <i>green\n"
            "</i>.\n(Applause)\nAnd\n\nnow.\n(Applause)\n",
            [(0, "So this is the one that we want."), (0, "Why?"), (0, "It is green."), (0, "And"),
             (1, "now.")],
            {"sound description": 1},
        ),
        (
            "cbt.train",
            "_BOOK_TITLE_ : A.txt.out\nCHAPTER I. -LCB- picture : p1 -RCB-\nHe did n't go , you see"
            " .\n\n_BOOK_TITLE_ : B.txt.out\nShe 'll go .\n",
            [(0, "He didn't go, you see."), (1, "She'll go.")],
            {"heading": 3},
        ),
    ],
)  # fmt: skip
def test_each_file_of_babylm_has_its_conventions(tmp_path, name, content, expected, dropped):
    found, report = texts("babylm", put(tmp_path, name, content))
    stem = name.removesuffix(".txt").removesuffix(".train")
    assert found == [(f"{stem}-{document:06d}", text) for document, text in expected]
    assert report.dropped == dropped


# ---- Gutenberg --------------------------------------------------------------------------------

NEW = ("*** START OF THE PROJECT GUTENBERG EBOOK A ***", "*** END OF THE PROJECT GUTENBERG EBOOK A")
SMALL = "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        NEW,
        ("*** START OF THIS PROJECT GUTENBERG EBOOK A VERY\nLONG TITLE ***", NEW[1]),
        (SMALL, "End of the Project Gutenberg EBook of A, by B"),
        (f"{NEW[0]}\n\n*Small print here.\nLicence text is it.\n{SMALL}", "The End of Project "
         "Gutenberg Etext A"),
        (NEW[0], f"*** START: FULL LICENSE ***\n{SMALL}"),
    ],
)  # fmt: skip
def test_the_licence_is_cut(tmp_path, opening, closing):
    book = (
        f"Licence above it.\n{opening}\n\nHe was at\nthe end of the project.\n\n{closing}\nLaw.\n"
    )
    found, _ = texts("gutenberg", put(tmp_path, "b.txt", book))
    assert found == [("b-000", "He was at the end of the project.")]


def book(text: str) -> str:
    return f"{NEW[0]}\n\n{text}\n\n{NEW[1]} ***\n"


BOOK = """\
THE FOX

by

Some Body

Illustrated by N. Body

E-text prepared by Nobody and the Online Distributed Team

Contents

  CHAPTER I.   The Start ..... 1
  CHAPTER II.  The End, 20

  Notes  30

CHAPTER I.

THE START

“Hi,” said _he_.

The fox,[1] who was _very_ tired,[A] sat
by the [Illustration: a [big] bank] water.{12} It was _his_.

[Footnote 1: The fox is [sic] dead.

It never lived.]

[Illustration:

The fox.
]

The Fox and the Crow

*       *       *

Chapter Two

Chapter and verse were given.

I went.* ‘No!’
"""


def test_a_book_without_what_is_not_its_text(tmp_path):
    put(tmp_path, "b/b.txt", book(BOOK))
    frame, _ = table_of(tmp_path, "gutenberg", "b")
    assert frame.select("document", "text").rows() == [
        ("b-000", "Some Body"),  # as one cannot tell from a signature
        ("b-001", '"Hi," said he.'),
        ("b-001", "The fox, who was very tired, sat by the water."),
        ("b-001", "It was his."),
        ("b-002", "Chapter and verse were given."),
        ("b-002", "I went."),
        ("b-002", "'No!'"),
    ]
    _, report = texts("gutenberg", tmp_path / "b")
    assert report.dropped["contents"] == 3
    assert report.dropped["title page"] == 2
    assert report.dropped["credits"] == 1


def test_the_last_mark_ends_a_volume_of_several_works(tmp_path, caplog):
    volume = (
        f"{NEW[0]}\n\nOne ran.\n\nEnd of Project Gutenberg's A Very\nLong Title, by B\n\n"
        "Two ran.\n\nThe End of the Project Gutenberg EBook of C\n\nThree ran.\n\n"
        f"{NEW[1]} ***\nLaw is law.\n\n"
        "*** START: FULL LICENSE ***\n\nMore law is law.\n"
    )
    again = f"{NEW[0]}\n\nFour ran.\n\n{NEW[1]} ***\nLaw is law.\n"
    found, _ = texts("gutenberg", put(tmp_path, "b.txt", volume + again))
    assert [text for _, text in found] == ["One ran.", "Two ran.", "Three ran.", "Four ran."]
    assert not caplog.text


def test_what_transcribers_say_is_gone(tmp_path):
    """A note goes on to the next heading or the end of the book; if that is far, a paragraph."""
    front = (
        "Note: Project Gutenberg also has\nan HTML version.\n\nSee 7-h.htm or 7-h.zip:\n\n"
        "E-text prepared by A. N. Other\n\nTranscriber's note:\n\n   Spelling is kept.\n\n"
        "   Errors are not.\n\nCHAPTER I\n\nThe fox ran.\n\nTranscribers' Note: It is all.\n\n"
    )
    found, report = texts("gutenberg", put(tmp_path, "b.txt", book(front + "It slept.")))
    assert [text for _, text in found] == ["The fox ran.", "It slept."]
    assert report.dropped == {"credits": 3, "transcriber's note": 4, "heading": 1}
    tale = [f"Day {n} was long." for n in range(30)]
    text = book("\n\n".join(["Transcriber's note:", "All is well.", *tale]))
    found, _ = texts("gutenberg", put(tmp_path, "b.txt", text))
    assert [text for _, text in found] == tale
