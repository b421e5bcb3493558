"""Readers of written corpora: hand-made files, hand-worked sentences, and every broken file."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import tracemalloc

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid import plugins
from poshgrid.corpora import split as cutting
from poshgrid.corpora import textfile
from poshgrid.corpora.read import READERS, input_files
from poshgrid.corpora.readers import babylm, gutenberg, tinystories, wikipedia_dump
from poshgrid.corpora.report import Report
from poshgrid.errors import PoshgridError
from tests.unit.corpora.reader_support import put, refused, source_spec, table_of

SEPARATOR = "<|endoftext|>"


def texts(reader: str, path, **options) -> tuple[list[tuple[str, str]], Report]:
    """What a reader yields, and its report, whose lines must add up."""
    module, report = plugins.load(READERS, reader), Report()
    found = list(module.read(path, plugins.options(READERS, reader, options), report))
    assert report.lines == len(found) + sum(report.dropped.values())
    return found, report


def sentences(tmp_path, reader: str, path: str, **options) -> list[tuple[str, str]]:
    """What becomes of a source after cleaning and splitting."""
    frame, _ = table_of(tmp_path, reader, path, options=options)
    return frame.select("document", "text").rows()


def parquet(**columns) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


# ---- TinyStories ------------------------------------------------------------------------------

STORIES = ['Tom had a dog. It ran.\n\n"Stop!" said Tom.', "", "Lily â€œsangâ€\x9d."]
RECORDS = [{"story": text, "summary": "Not to be read."} for text in STORIES]
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
        ("t.txt", f"\r\n{SEPARATOR}\r\n".join(STORIES).encode()),
        ("t.txt.gz", gzip.compress(f"{SEPARATOR}\n".join(STORIES).encode(), mtime=0)),
        ("t.parquet", parquet(text=STORIES)),
        ("t.parquet", parquet(story=[STORIES[0], None, STORIES[2]], text_length=[1, 2, 3])),
        ("t.jsonl", "".join(json.dumps({"text": x}) + "\n" for x in STORIES)),
        ("t.jsonl", "\n\n".join(json.dumps(x, ensure_ascii=False) for x in RECORDS)),
        ("t.jsonl.gz", gzip.compress("\n".join(map(json.dumps, RECORDS)).encode(), mtime=0)),
    ],
)
def test_every_format_holds_the_same_stories(tmp_path, name, content):
    path = put(tmp_path, name, content)
    found, report = texts("tinystories", path)
    blanks = [(key.removeprefix("t-"), text) for key, text in found]
    if name == "t.jsonl" and b"\n\n" in path.read_bytes():
        assert len(blanks) == 3  # empty lines are no records
    assert blanks == EXPECTED
    assert report.dropped == {"empty story": 1}


def test_stories_become_sentences(tmp_path):
    put(tmp_path, "t.parquet", parquet(text=STORIES))
    assert sentences(tmp_path, "tinystories", "t.parquet") == [
        ("t-0000000", "Tom had a dog."),
        ("t-0000000", "It ran."),
        ("t-0000000", '"Stop!" said Tom.'),
        ("t-0000002", 'Lily "sang".'),
    ]


def test_a_folder_with_the_stories_twice_needs_a_choice(tmp_path):
    put(tmp_path, "f/train.txt", "One story.")
    put(tmp_path, "f/train.parquet", parquet(text=["Another one."]))
    with pytest.raises(PoshgridError, match=r"as parquet and as txt; choose one with .*`pattern`"):
        texts("tinystories", tmp_path / "f")
    assert texts("tinystories", tmp_path / "f", pattern="*.txt")[0][0][1] == "One story."
    with pytest.raises(PoshgridError, match=r"holds no file '\*valid\*'"):
        texts("tinystories", tmp_path / "f", pattern="*valid*")


@given(st.lists(st.text("ab .\né<|", max_size=30), min_size=1, max_size=8), st.integers(1, 40))
def test_blocks_may_end_anywhere(tmp_path_factory, stories, size):
    """An independent reading: the whole text, cut at the separator, then at line ends."""
    path = put(tmp_path_factory.mktemp("t"), "t.txt", SEPARATOR.join(stories) + ".")
    whole = path.read_text(encoding="utf-8").split(SEPARATOR)
    expected = [
        (f"t-{number:07d}", line.strip())
        for number, story in enumerate(whole)
        for line in story.split("\n")
        if line.strip()
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textfile, "_BLOCK", size)
        found, _ = texts("tinystories", path)
        records = [{"text": story} for story in whole]
        jsonl = put(path.parent, "t.jsonl", "\n".join(map(json.dumps, records)))
        lines, _ = texts("tinystories", jsonl)
    assert found == lines == expected


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


@pytest.mark.parametrize("name", ["w.xml", "w.xml.bz2", "w.xml.gz", "w.xml-p1p99.bz2"])
@pytest.mark.parametrize("version", ["0.3", "0.10", "0.11", "9.9"])
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


def test_old_exports_tell_the_namespace_in_the_title_only(tmp_path):
    pages = [page("Talk:Dog", "Talk it is.", ""), page("Dog: a life", "A dog is it.", "")]
    path = put(tmp_path, "w.xml", dump(*pages, version="0.3"))
    assert [key for key, _ in texts("wikipedia-dump", path)[0]] == ["w-Dog: a life"]


def test_articles_may_be_few_and_long_ones(tmp_path):
    path = put(tmp_path, "w.xml", dump(*PAGES))
    found, _ = texts("wikipedia-dump", path, articles=1)
    assert [key for key, _ in found] == ["w-Cat"]
    found, report = texts("wikipedia-dump", path, min_article_words=8)
    assert [key for key, _ in found] == ["w-Cat", "w-Ant"]  # 8 words each
    found, report = texts("wikipedia-dump", path, min_article_words=9)
    assert not found
    assert report.dropped["short article"] == 2


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ("70|km|mi", "70 km"),
        ("4|to|9|in|cm", "4 to 9 in"),
        ("5|ft|11|in|m|abbr=on", "5 ft 11 in"),
        ("3|-|8|kg", "3–8 kg"),
        ("20|by|30|x|40|m|ft|0", "20 by 30 x 40 m"),
        ("1,500.5|m2|sqft|1", "1,500.5 m2"),
        ("5+1/2|mi", "5 1/2 mi"),
        ("9|C|0", "9 C"),
        ("9|C|F|disp=out", None),
        ("9|to", None),
        ("many|km|mi", None),
        ("9", None),
    ],
)
def test_measures_end_before_the_unit_that_they_are_converted_to(tmp_path, parameters, text):
    wikitext = f"It is {{{{Convert|{parameters}}}}} here.\n\nFine one."
    found, report = texts("wikipedia-dump", put(tmp_path, "w.xml", dump(page("A", wikitext))))
    assert [line for _, line in found] == [*([f"It is {text} here."] if text else []), "Fine one."]
    assert report.dropped == ({} if text else {"template convert": 1})
    assert report.words == ({} if text else {"template convert": 3})


def test_the_parts_of_a_dump_are_read_and_its_copies_refused(tmp_path):
    folder = tmp_path / "d"
    first = put(folder, "w-pages-articles1.xml-p1p9.bz2", bz2.compress(dump(*PAGES).encode()))
    put(folder, "w-pages-articles2.xml-p10p19", dump(page("Bee", "A bee is it.")))
    put(folder, "w-pages-articles-multistream-index.txt.bz2", b"not read")
    put(folder, ".cache/w.xml", "not read")
    assert wikipedia_dump.files(folder, wikipedia_dump.Options()) == [first]
    put(folder, "w.xml", dump(page("Bee", "A bee is it.")))
    assert len(texts("wikipedia-dump", folder)[0]) == 3
    put(folder, "w.xml.bz2", bz2.compress(dump(page("Bee", "A bee is it.")).encode()))
    with pytest.raises(PoshgridError, match=r"twice, w\.xml and w\.xml\.bz2; give one"):
        texts("wikipedia-dump", folder)


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("{{Unclosed\n'''A''' is b.\n\nFine one.", ["Fine one."]),
        ("A [[link|text is b.\n\nFine one.", ["Fine one."]),
        ("{|\n| cell. \n\nFine one.", ["Fine one."]),
        ("{| \n| a\n{|\n| b.\n|}\n|}\nFine one.", ["Fine one."]),
        ("It is ''so'' and '''that'''.", ["It is so and that."]),
        ("Line one\ngoes on.", ["Line one goes on."]),
        ("{{Main|B}}\nIt is.{{cn|date=May}} So.{{sfn|A|2}}", ["It is. So."]),
        ("{{Infobox a\n| b = {{age|1}}\n}}'''A''' is b.{{Cite web|c}}", ["A is b."]),
        ("It is {{height|m=2}} tall.\n\nFine one.", ["Fine one."]),
        ("In {{CURRENTYEAR}} it is.\n\nIn {{{1}}} it is.\n\nFine one.", ["Fine one."]),
        ("An '''owl''' ({{IPA|aul}}; {{lang-la|bubo}}) is a bird.", ["An owl (bubo) is a bird."]),
        ("We say {{IPA|aul}} for it.\n\nFine one.", ["Fine one."]),
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
        ("Born ({{birth date|1900}}) in [[Paris]] [he said].", ["Born in Paris [he said]."]),
        ("The year 1900{{ndash}}1910 was cold.", ["The year 1900–1910 was cold."]),
        ("<div>In a box.</div>\n<nowiki>A '' b</nowiki> it is.", ["In a box. A '' b it is."]),
        ("One.<br />Two.", ["One. Two."]),
        ("* a [[b]]\n{|\n| c.\n|}\nFine one.", ["Fine one."]),
        ("* a <ref>d\n</ref>\nFine one.", ["Fine one."]),
        ("A " + "b" * 1_001 + " it is.\n\nFine one.", ["Fine one."]),
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
        ("bnc_spoken.dev", "Yes .\nIt is.\n\nRight.\n", [(0, "Yes."), (0, "It is."), (1, "Right.")],
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
        ("switchboard.test", "- Yes, I do.\nOkay.\n", [(0, "Yes, I do."), (0, "Okay.")], {}),
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
            "gutenberg.dev",
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


def test_babylm_options(tmp_path):
    path = put(tmp_path, "mine.txt", "*MOT:\tno xxx dog.\n*CHI:\tmilk.\n")
    with pytest.raises(PoshgridError, match=r"mine\.txt: no conventions for 'mine'.*`corpus`"):
        texts("babylm", path)
    options = {"corpus": "childes", "exclude_codes": ["MOT"]}
    assert texts("babylm", path, **options)[0] == [("mine-000000", "milk.")]
    options = {"corpus": "childes", "unintelligible": "remove", "exclude_codes": []}
    options["lines_per_document"] = 1
    assert texts("babylm", path, **options)[0] == [
        ("mine-000000", "no dog."),
        ("mine-000001", "milk."),
    ]
    typo = put(tmp_path, "simple_wika.train", "A is b.\n")
    with pytest.raises(PoshgridError, match="did you mean 'simple_wiki'"):
        texts("babylm", typo)


def test_splits_of_a_folder_are_chosen_and_sizes_not_mixed(tmp_path):
    put(tmp_path, "d/train_10M/childes.train", "hi.\n")
    put(tmp_path, "d/dev/childes.dev", "ho.\n")
    assert [text for _, text in texts("babylm", tmp_path / "d")[0]] == ["hi."]
    found, _ = texts("babylm", tmp_path / "d", splits=["train", "dev"])
    assert found == [("childes.dev-000000", "ho."), ("childes-000000", "hi.")]
    put(tmp_path, "d/train_100M/childes.train", "hi.\nho.\n")
    with pytest.raises(PoshgridError, match=r"holds childes\.train twice, in train_100M and tr"):
        texts("babylm", tmp_path / "d")


# ---- Gutenberg --------------------------------------------------------------------------------

NEW = ("*** START OF THE PROJECT GUTENBERG EBOOK A ***", "*** END OF THE PROJECT GUTENBERG EBOOK A")
SMALL = "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        NEW,
        ("***START OF THIS PROJECT GUTENBERG EBOOK A***", "***END OF THIS PROJECT GUTENBERG EBOOK"),
        ("*** START OF THIS PROJECT GUTENBERG EBOOK A VERY\nLONG TITLE ***", NEW[1]),
        (SMALL, "End of the Project Gutenberg EBook of A, by B"),
        (SMALL.replace("END*", "END* ", 1), "End of Project Gutenberg's A, by B"),
        (f"{NEW[0]}\n\n*Small print here.\nLicence text is it.\n{SMALL}", "The End of Project "
         "Gutenberg Etext A"),
        (NEW[0], f"*** START: FULL LICENSE ***\n{SMALL}"),
        (NEW[0], f"***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\nNo.\n\n{SMALL}"),
        ("*** START OF THE COPYRIGHTED PROJECT GUTENBERG EBOOK A ***", "This is the end of the "
         "Project Gutenberg Etext"),
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
    assert sentences(tmp_path, "gutenberg", "b") == [
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


def test_a_table_of_contents_ends_where_prose_begins(tmp_path):
    text = (
        "TABLE OF CONTENTS\n\nPart One\n\nThe Fox\n\nThe Crow\n\nCHAPTER 1\n\nIt was a long and "
        "cold day, and nobody in the wood had slept.\n\nShort.\n\nTHE CROW"
    )
    found, report = texts("gutenberg", put(tmp_path, "b.txt", book(text)))
    assert [text for _, text in found] == [
        "It was a long and cold day, and nobody in the wood had slept.",
        "Short.",
    ]
    assert {key for key, _ in found} == {"b-001"}
    assert report.dropped == {"contents": 4, "heading": 2}


def test_a_bracket_that_never_closes_takes_no_more_than_its_paragraph(tmp_path):
    text = "One is [Footnote 2: lost and open.\n\n" + "\n\n".join(f"It is {i}." for i in range(60))
    found, _ = texts("gutenberg", put(tmp_path, "b.txt", book(text)))
    assert [text for _, text in found] == ["One is", *(f"It is {i}." for i in range(60))]


def test_books_of_nested_folders_keep_apart(tmp_path):
    put(tmp_path, "g/a/1.txt", book("One is here."))
    put(tmp_path, "g/b/1.txt.gz", gzip.compress(book("Two is here.").encode()))
    put(tmp_path, "g/notes.md", "not read")
    found, _ = texts("gutenberg", tmp_path / "g")
    assert found == [("a/1-000", "One is here."), ("b/1-000", "Two is here.")]


def test_encodings(tmp_path):
    latin = ("Character set encoding: ISO-8859-1\n" + book("A café it is.")).encode("latin-1")
    path = put(tmp_path, "l.txt", latin)
    place = latin.index(b"\xe9")
    with pytest.raises(PoshgridError, match=rf"l\.txt: byte {place}: not UTF-8; convert it"):
        texts("gutenberg", path)
    for encoding in ("latin-1", "cp1252", "header"):
        found, _ = texts("gutenberg", path, encoding=encoding)
        assert [text for _, text in found] == ["A café it is."]
    put(tmp_path, "u.txt", book("A naïve one."))
    found, _ = texts("gutenberg", tmp_path, encoding="header")
    assert [text for _, text in found] == ["A café it is.", "A naïve one."]
    odd = put(tmp_path, "o.txt", "Character set encoding: Klingon\n" + book("A."))
    with pytest.raises(PoshgridError, match=r"o\.txt: its header declares the encoding 'Klingon'"):
        texts("gutenberg", odd, encoding="header")
    with pytest.raises(ValueError, match="unknown encoding 'klingon'"):
        gutenberg.Options(encoding="klingon")


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
    found, _ = texts(
        "gutenberg", put(tmp_path, "b.txt", book("It ran.\n\nTranscriber's Notes\n\nMore.\n\nOn."))
    )
    assert [text for _, text in found] == ["It ran."]
    tale = [f"Day {n} was long." for n in range(30)]
    text = book("\n\n".join(["Transcriber's note:", "All is well.", *tale]))
    found, _ = texts("gutenberg", put(tmp_path, "b.txt", text))
    assert [text for _, text in found] == tale


def test_a_book_without_an_end_is_read_and_told(tmp_path, caplog):
    path = put(tmp_path, "b.txt", f"{NEW[0]}\n\nIt was so.\n")
    assert texts("gutenberg", path)[0] == [("b-000", "It was so.")]
    assert "b.txt: no line '*** END OF" in caplog.text


# ---- broken files -----------------------------------------------------------------------------

GOOD = {
    "tinystories": ("t.txt", "A dog ran. It sat.\n"),
    "babylm": ("bnc_spoken.train", "A dog ran. It sat.\n"),
    "gutenberg": ("b.txt", book("A dog ran. It sat.")),
    "wikipedia-dump": ("w.xml", dump(page("Dog", "A dog ran. It sat."))),
}
MANY = [f"Story number {i} is this one." for i in range(3_000)]


@pytest.mark.parametrize(
    ("reader", "name", "content", "message"),
    [
        ("tinystories", "t.parquet", b"PAR1 not really", r"after row 0: broken parquet file"),
        ("tinystories", "t.parquet", parquet(text=MANY)[:-200], r"broken parquet file"),
        ("tinystories", "t.parquet", parquet(body=["A."]), r"no column text or story; found body"),
        ("tinystories", "t.parquet", parquet(text=[1, 2]), r"column text holds int64, not text"),
        ("tinystories", "t.jsonl", b'{"text": "A."}\n{"text": "B\n', r"line 2: broken JSON \(Unt"),
        ("tinystories", "t.jsonl", b'{"body": "A."}\n', r"line 1: no column text or story"),
        ("tinystories", "t.jsonl", b'{"text": 7}\n', r"line 1: the story is int, not text"),
        ("tinystories", "t.jsonl", b'["A."]\n', r"line 1: no record such as"),
        ("tinystories", "t.jsonl", b"[" * 100_000 + b"\n", r"line 1: broken JSON \(too deep\)"),
        ("tinystories", "t.csv", b"text\nA.\n", r"no known format; rename it to \.txt"),
        ("wikipedia-dump", "w.xml", dump(*PAGES)[:-40], r"line \d+, column \d+: broken XML"),
        ("wikipedia-dump", "w.xml", "<rss><page/></rss>", r"root element <rss>, not <mediawiki>"),
        ("wikipedia-dump", "w.xml", dump("<page><title>A</page>"), r"line 5, .*: broken XML"),
        ("wikipedia-dump", "w.xml", dump(), r"no sentence left of 0 lines"),
        ("gutenberg", "b.txt", "A text of no licence.\n", r"no line '\*\*\* START OF THE PROJECT"),
        ("babylm", "odd.train", "A.\n", r"odd\.train: no conventions for 'odd'"),
        ("babylm", "childes.train", "*CHI:\thi.\n", r"no sentence left .*child's utterance 1"),
    ],
)  # fmt: skip
def test_errors_name_file_place_and_remedy(tmp_path, reader, name, content, message):
    refused(tmp_path, reader, name, content, message)


@pytest.mark.parametrize(("reader", "suffix"), [(r, "") for r in GOOD] + [("tinystories", "l")])
def test_a_line_of_ten_megabytes(tmp_path, reader, suffix):
    """It is cut after sentences, none is lost, and little of it is in memory."""
    name, good = GOOD[reader]
    count = 10_000_000 // 19
    if suffix:
        name, good = "t.jsonl", json.dumps({"text": good})
    path = put(tmp_path, name, good.replace("A dog ran. It sat.", "A dog ran. It sat. " * count))
    assert path.stat().st_size > 9_900_000
    module, longest, words = plugins.load(READERS, reader), 0, 0
    for _, text in module.read(path, module.Options(), Report()):
        assert text.strip().startswith(("A dog", "It sat."))
        assert text.strip().endswith(("ran.", "sat."))
        longest = max(longest, len(text))
        words += len(text.split())
    assert words == 5 * count
    assert longest <= cutting.LONGEST
    if name.endswith((".txt", ".train")) and reader != "gutenberg":
        tracemalloc.start()
        list(zip(range(12), module.read(path, module.Options(), Report()), strict=False))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4_000_000  # bytes, of 10 million


@pytest.mark.parametrize("reader", ["tinystories", "babylm", "gutenberg"])
def test_a_line_without_a_space_is_refused(tmp_path, reader):
    name, good = GOOD[reader]
    content = good.replace("dog", "x" * 300_000)
    message = r"(line|paragraph) \d+: 100,000 characters without a space"
    refused(tmp_path, reader, name, content, message)


@pytest.mark.parametrize("reader", GOOD)
def test_memory_does_not_grow_with_the_file(tmp_path, reader):
    name, good = GOOD[reader]
    repeated = {
        "wikipedia-dump": lambda n: dump(*(page(f"D{i}", "A dog ran. It sat.") for i in range(n))),
        "gutenberg": lambda n: book("A dog ran. It sat.\n\n" * n),
    }.get(reader, lambda n: good * n)
    module, peaks = plugins.load(READERS, reader), []
    list(module.read(put(tmp_path, name, good), module.Options(), Report()))  # imports
    for size in (500, 4_000):
        path = put(tmp_path, name, repeated(size))
        tracemalloc.start()
        count = sum(1 for _ in module.read(path, module.Options(), Report()))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert count == size
    assert peaks[1] < 2 * peaks[0] + 1_000_000


def test_files_of_a_source_are_what_is_read(tmp_path):
    put(tmp_path, "g/a/1.txt", book("One is here."))
    found = input_files(source_spec("gutenberg", "g"), tmp_path)
    assert found == [tmp_path / "g" / "a" / "1.txt"]


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


def test_modules_answer_to_their_words():
    assert {"tinystories", "wikipedia-dump", "babylm", "gutenberg"} <= set(plugins.names(READERS))
    assert tinystories.SPLIT and wikipedia_dump.SPLIT and babylm.SPLIT and gutenberg.SPLIT
