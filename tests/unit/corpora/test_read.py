"""Readers: hand-worked lines of each format, samples of the real corpora, and every error."""

from __future__ import annotations

import csv
import re
from collections import Counter

import polars as pl
import pytest

from poshgrid import plugins
from poshgrid.corpora.joining import detokenise, mend
from poshgrid.corpora.read import READERS, input_files, read_source
from poshgrid.corpora.readers import childes_db
from poshgrid.corpora.report import Report, loss
from poshgrid.corpora.schema import SOURCE
from poshgrid.errors import PoshgridError
from poshgrid.files import read_table
from tests.unit.corpora.reader_support import put, refused, source_spec, table_of

HEADER = "gloss,type,speaker_code,speaker_role,transcript_id\n"


# ---- childes-db -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gloss", "kind", "text"),
    [
        ("what's that", "question", "what's that?"),
        ("it's a woof+woof", "declarative", "it's a woof woof."),
        ("you have_to go Mary", "imperative_emphatic", "you have to go Mary!"),
        ("I wanna see", "trail off question", "I wanna see?"),
        ("well then", "trail off", "well then."),
        ("a kitty@f (be)cause &uh 0is here", "declarative", "a kitty because here."),
        ("peek_a_boo", "declarative", "peek a boo."),
        ("xxx", "declarative", None),
        ("this is xxx dog", "declarative", None),
        ("", "declarative", None),
        ("aig?s", "declarative", None),
    ],
)
def test_utterances(gloss, kind, text):
    report = Report()
    assert childes_db.utterance(gloss, kind, childes_db.Options(), report) == text
    assert sum(report.dropped.values()) == (text is None)


def test_unintelligible_words_may_be_taken_out_instead():
    options, report = childes_db.Options(unintelligible="remove"), Report()
    assert childes_db.utterance("a yyy dog", "question", options, report) == "a dog?"
    assert childes_db.utterance("yyy xxx", "question", options, report) is None
    assert report.dropped == {"unintelligible": 1}


def test_children_are_left_out_and_every_row_is_accounted_for(tmp_path):
    rows = [
        "look at that,declarative,MOT,Mother,7",
        "doggy,declarative,CHI,Target_Child,7",
        "ball,declarative,KEN,Child,7",
        "mine,declarative,CHI,Mother,7",
        "xxx,declarative,MOT,Mother,7",
        ",declarative,FAT,Father,7",
        '"well, ""no"" dog",question,FAT,Father,8',
    ]
    put(tmp_path, "A.csv", HEADER + "\n".join(rows) + "\n")
    put(tmp_path, "B.csv", HEADER + "hi there,declarative,MOT,Mother,7\n")
    put(tmp_path, "notes.txt", "not read")
    frame, statistics = table_of(tmp_path, "childes-db")
    assert frame["text"].to_list() == ["look at that.", 'well "no" dog?', "hi there."]
    assert frame["document"].to_list() == ["A-7", "A-8", "B-7"]
    assert frame["n_words"].to_list() == [3, 3, 2]
    assert statistics["dropped"] == {"child's utterance": 3, "no words": 1, "unintelligible": 1}
    assert statistics["dropped_words"] == {
        "child's utterance": 3, "no words": 0, "unintelligible": 1
    }  # fmt: skip
    assert statistics["lines"] == 8 == statistics["sentences"] + 5
    assert statistics["words"] == 8


def test_roles_are_an_option(tmp_path):
    put(tmp_path, "A.csv", HEADER + "hi,declarative,MOT,Mother,7\nho,declarative,CHI,Child,7\n")
    options = {"exclude_roles": ["Mother"], "exclude_codes": []}
    frame, _ = table_of(tmp_path, "childes-db", options=options)
    assert frame["text"].to_list() == ["ho."]


# ---- Switchboard ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoken", "written"),
    [
        ("Uh, do you have a pet Randy? ", "Do you have a pet Randy?"),
        ("Uh, the, the <laughter> dog, wh-, um, ran. -", "The dog, ran."),
        ("it, it - she's, she's picked up a lot,", "It, she's picked up a lot."),
        ("I live in <<very faint>> Texas.", "I live in Texas."),
        ("very, very good", "Very, very good."),
        ("a genuine Chowperd . ", "A genuine Chowperd."),
        ("Uh-huh. So, you, you've only known the dog, wh-, how long did you say.",
         "Uh-huh. So, you, you've only known the dog, how long did you say."),
        ("[ I, I, + I ] went on-site", "I went on-site."),
        ("um, uh.", ""),
    ],
)  # fmt: skip
def test_speech_is_mended(spoken, written):
    assert mend(spoken).strip(".") == written.strip(".")


def test_turns_broken_off_are_joined_and_calls_are_told_apart(tmp_path):
    transcript = (
        "\nA.1: She's big enough to scare them,\nB.2: Yeah.\nA.3: and barks. Good dog! B.4: Oh?\n"
        "B.5: I went to Latin\nAmerica. \n\nA.1: Hello. \nB.2: <noise> \n"
    )
    put(tmp_path, "transcript", transcript)
    frame, statistics = table_of(tmp_path, "switchboard")
    assert frame.select("document", "position", "text").rows() == [
        ("call-0001", 0, "Yeah."),
        ("call-0001", 1, "She's big enough to scare them, and barks."),
        ("call-0001", 2, "Good dog!"),
        ("call-0001", 3, "Oh?"),
        ("call-0001", 4, "I went to Latin America."),
        ("call-0002", 0, "Hello."),
    ]
    assert statistics["dropped"] == {"only noise or fillers": 1}
    assert statistics["lines"] == 7


def test_a_file_without_turns_is_refused(tmp_path):
    put(tmp_path, "transcript", "Just a text.\n")
    with pytest.raises(PoshgridError, match=r"transcript: line 1: no turn such as"):
        table_of(tmp_path, "switchboard")


# ---- Gutenberg --------------------------------------------------------------------------------

BOOK = """\ufeffThe Project Gutenberg eBook of a Test
*** START OF THIS PROJECT GUTENBERG EBOOK A TEST ***
Produced by Nobody

A TEST

CHAPTER I. The Start

Mr. Fox was _very_ tired of
sitting by the bank. ‘Oh!’
said he.

  *    *    *

[Illustration: a fox]

CHAPTER II

He left--at once.
*** END OF THIS PROJECT GUTENBERG EBOOK A TEST ***
Licence text here.
"""


def test_a_book_is_unwrapped_between_its_marks(tmp_path):
    put(tmp_path, "pg1.txt", BOOK)
    frame, statistics = table_of(tmp_path, "gutenberg", "pg1.txt")
    assert frame.select("document", "text").rows() == [
        ("pg1-001", "Mr. Fox was very tired of sitting by the bank."),
        ("pg1-001", "'Oh!' said he."),
        ("pg1-002", "He left - at once."),
    ]
    assert statistics["dropped"] == {"credits": 1, "heading": 5}


def test_a_book_without_marks_is_refused(tmp_path):
    put(tmp_path, "x.txt", "A text without a licence.\n")
    with pytest.raises(PoshgridError, match=r"x\.txt: no line '\*\*\* START"):
        table_of(tmp_path, "gutenberg")


# ---- Wikipedia --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokenised", "written"),
    [
        ("the rotation slows down .", "the rotation slows down."),
        ("a ( see b ) , and c : d .", "a (see b), and c: d."),
        ('he said " yes , sir " twice .', 'he said "yes, sir" twice.'),
        ("apollo 11 ' s crew", "apollo 11's crew"),
        ("lewis ' theory", "lewis' theory"),
        ("a counter - charge and 5 % of $ 5 .", "a counter-charge and 5% of $5."),
        ("in the u.s . army", "in the u.s. army"),
        ("lost ( ) here", "lost here"),
        ("bud ( ; ; born 1900 ) ran", "bud (born 1900) ran"),
        ("bud ( , , ) and ( ; - 1900 )", "bud and (1900)"),
        ('not white " .', 'not white".'),
        ("wrote : < i > yes < / i > .", "wrote: yes."),
        ("germanium's compounds", "germanium's compounds"),
    ],
)
def test_spaces_of_tokenisation_are_taken_back(tokenised, written):
    assert detokenise(tokenised) == written


def test_fragments_and_formulas_are_counted(tmp_path):
    table = 'text\nit is so .\n"can be had from formula_139 :"\nand then\n"x , y ""z"" ."\n'
    put(tmp_path, "w.csv", f"{table}; he ran .\n")
    frame, statistics = table_of(tmp_path, "wikipedia-sentences", options={"rows_per_document": 2})
    assert frame["text"].to_list() == ["it is so.", 'x, y "z".']
    assert frame["document"].to_list() == ["w-000000", "w-000001"]
    assert statistics["dropped"] == {"formula": 1, "no final punctuation": 1, "beginning lost": 1}


def test_articles_may_have_a_column(tmp_path):
    put(tmp_path, "w.csv", "title,body\nDog,it barks .\nCat,it sits .\nDog,it runs .\n")
    options = {"column": "body", "document_column": "title"}
    frame, _ = table_of(tmp_path, "wikipedia-sentences", options=options)
    assert frame.select("document", "position").rows() == [("w-Dog", 0), ("w-Cat", 0), ("w-Dog", 1)]


# ---- toy --------------------------------------------------------------------------------------


def test_toy_reaches_its_words_to_one_sentence(tmp_path):
    options = {"register": "wiki", "words": 2_000, "seed": 3}
    frame, statistics = table_of(tmp_path, "toy", options=options)
    assert 0 <= statistics["words"] - 2_000 < frame["n_words"].to_list()[-1]
    assert frame["document"][0] == "toy-wiki-3-000000"
    again, _ = table_of(tmp_path / "again", "toy", options=options)
    assert again.equals(frame)
    assert [p.name for p in input_files(source_spec("toy"), tmp_path)] == [
        "grammar.yaml",
        "lexicon.yaml",
    ]


# ---- plain text -------------------------------------------------------------------------------


def test_plain_text_is_kept_in_documents(tmp_path):
    put(tmp_path, "a.train", "One is here. Two is there.\n\nThree.\n<|endoftext|>\nFour.\nFive.\n")
    options = {"suffix": ".train", "lines_per_document": 2}
    frame, _ = table_of(tmp_path, "text", options=options)
    assert frame.select("document", "position", "text").rows() == [
        ("a-000000", 0, "One is here."),
        ("a-000000", 1, "Two is there."),
        ("a-000000", 2, "Three."),
        ("a-000001", 0, "Four."),
        ("a-000001", 1, "Five."),
    ]


def test_unknown_words_are_words_and_counted(tmp_path):
    put(tmp_path, "a.txt", "the <unk> of the town\nan <UNK> <i>and</i> < unk > .\n")
    frame, statistics = table_of(tmp_path, "text")
    assert frame["text"].to_list() == ["the <unk> of the town", "an <unk> and <unk> ."]
    assert statistics["unknown_words"] == 3
    put(tmp_path, "w.csv", "text\nthe < unk > ( of <unk> ) .\n")
    frame, statistics = table_of(tmp_path, "wikipedia-sentences", "w.csv")
    assert frame["text"].to_list() == ["the <unk> (of <unk>)."]
    assert statistics["unknown_words"] == 2


@pytest.mark.parametrize(("lost", "line"), [(5, None), (6, "source it: 5.9% of its words")])
def test_a_source_that_loses_more_than_a_twentieth_says_so(tmp_path, lost, line):
    """Words of 95 kept; the reader's drops and the cleaning's count alike, in every process."""
    kept = "".join(f"story {i} is this one .\n" for i in range(19))
    put(tmp_path, "w.csv", f"text\n{kept}" + "word " * (lost - 1) + "here\n\n")
    for threads in (1, 2):
        output = tmp_path / str(threads) / "sentences.parquet"
        spec = source_spec("wikipedia-sentences", "w.csv")
        statistics = read_source(spec, tmp_path, output, threads)
        assert statistics["dropped_words"] == {"no final punctuation": lost}
        assert statistics["dropped_share"] == round(lost / (95 + lost), 4)
        told = loss(statistics)
        assert told is None if line is None else told.startswith(line)


# ---- cleaning, determinism, errors ------------------------------------------------------------


def test_limits_of_length(tmp_path):
    put(tmp_path, "w.csv", "text\none .\none two .\none two three .\n")
    cleaning = {"min_words": 2, "max_words": 2}
    frame, statistics = table_of(tmp_path, "wikipedia-sentences", cleaning=cleaning)
    assert frame["text"].to_list() == ["one two."]
    assert statistics["dropped"] == {"too long": 1, "too short": 1}


TALES = [f"story {i} is this one .\n" for i in range(6)]  # 5 words each


@pytest.mark.parametrize(
    ("words", "sentences"), [(None, 6), (1, 1), (5, 1), (6, 2), (10, 2), ("0.011K", 3), (99, 6)]
)
def test_a_source_stops_after_so_many_words(tmp_path, words, sentences):
    """Whole sentences up to the one that reaches the number; the first ones, in file order."""
    put(tmp_path, "d/b.csv", "text\n" + "".join(TALES[3:]))
    put(tmp_path, "d/a.csv", "text\n" + "".join(TALES[:3]))
    frame, statistics = table_of(tmp_path, "wikipedia-sentences", "d", words=words)
    assert frame["text"].to_list() == [f"story {i} is this one." for i in range(sentences)]
    assert statistics["words"] == 5 * sentences
    assert statistics["lines"] == sentences  # the others were not read


def test_words_are_counted_after_cleaning(tmp_path):
    """What is dropped counts for nothing: short sentences, duplicates."""
    put(tmp_path, "w.csv", "text\n" + "no .\n" * 9 + "a dog ran .\n" * 9 + "a cat ran .\n" * 9)
    cleaning = {"min_words": 2, "duplicates": "drop"}
    frame, _ = table_of(tmp_path, "wikipedia-sentences", words=4, cleaning=cleaning)
    assert frame["text"].to_list() == ["a dog ran.", "a cat ran."]


def test_what_comes_after_the_last_word_is_not_even_opened(tmp_path):
    put(tmp_path, "d/a.txt", "The dog ran. The dog ran. The dog ran.\n")
    put(tmp_path, "d/b.txt", b"\0")
    frame, _ = table_of(tmp_path, "text", "d", words=7)
    assert frame["text"].to_list() == ["The dog ran."] * 3
    with pytest.raises(PoshgridError, match=r"b\.txt: byte 0: binary file"):
        table_of(tmp_path, "text", "d")


def test_no_words_at_all_are_refused():
    with pytest.raises(ValueError, match="greater than 0"):
        source_spec("text", words=0)


SAID = "A dog ran by here now, and so did nine old cats."


@pytest.mark.parametrize(
    ("reader", "name", "turns"),
    [("text", "a.txt", ("", "")), pytest.param("opus", "a.txt", ("", ""), marks=pytest.mark.slow),
     ("switchboard", "transcript", ("A.1: ", "B.2: "))],
)  # fmt: skip
def test_a_line_of_ten_megabytes_is_split_or_dropped(tmp_path, reader, name, turns):
    """It is longer than spaCy takes."""
    line = f"{SAID} " * 185_000
    put(tmp_path, name, f"{turns[0]}{line}\n{turns[1]}The end.\n")
    frame, statistics = table_of(tmp_path, reader, name, words=12 * 20_000)
    if reader == "text":
        assert frame["text"].unique().to_list() == [SAID]
        assert frame.height == 20_000
    else:  # nobody says that much in one go
        assert frame["text"].to_list() == ["The end."]
        assert statistics["dropped"] == {"too long": 1}


def test_a_line_of_ten_megabytes_without_a_space_is_dropped(tmp_path):
    put(tmp_path, "a.txt", "The dog ran.\n" + "x" * 10_000_000)
    frame, statistics = table_of(tmp_path, "text", "a.txt")
    assert frame["text"].to_list() == ["The dog ran."]
    assert statistics["dropped"] == {"no running text": 1}


def test_same_bytes_twice(tmp_path):
    put(tmp_path, "w.csv", "text\n" + "".join(f"number {i} it is .\n" for i in range(500)))
    written = []
    for name in ("a", "b"):
        output = tmp_path / name / "sentences.parquet"
        read_source(source_spec("wikipedia-sentences"), tmp_path, output)
        written.append([p.read_bytes() for p in sorted(output.parent.iterdir())])
    assert written[0] == written[1]


@pytest.mark.parametrize(
    "more",
    [{}, {"words": 333}, {"words": 777, "cleaning": {"duplicates": "drop", "min_words": 6}}],
)
def test_processes_change_neither_table_nor_statistics(tmp_path, monkeypatch, more):
    """Nor do the pieces that they are given; what stands after the last word is broken."""
    monkeypatch.setattr("poshgrid.corpora.read._PIECE", 500)
    text = "".join(
        f"Mr. Dog {n % 40} ran by {n % 7} here. {'It ' * (n % 9)}sat!\n" for n in range(150)
    )
    put(tmp_path, "d/a.txt", text + "no\u200b \n***\n" + text)
    if more:
        put(tmp_path, "d/b.txt", b"\0")
    written = []
    for threads in (1, 2):
        output = tmp_path / str(threads) / "sentences.parquet"
        read_source(source_spec("text", "d", **more), tmp_path, output, threads)
        written.append([p.read_bytes() for p in sorted(output.parent.iterdir())])
    assert written[0] == written[1]
    monkeypatch.undo()
    read_source(source_spec("text", "d", **more), tmp_path, output)
    assert [p.read_bytes() for p in sorted(output.parent.iterdir())] == written[0]


@pytest.mark.parametrize(
    ("reader", "name", "content", "message"),
    [
        ("childes-db", "c.csv", b"gloss,kind\na,b\n",
         r"c\.csv: line 1: no column type, speaker_code, .*; found gloss, kind"),
        ("childes-db", "q.csv", HEADER.encode() + b'"a"b,c,d,e,f\n', r"q\.csv: line 2: broken CSV"),
        ("childes-db", "n.csv", HEADER.encode() + b"xxx,declarative,MOT,Mother,1\n",
         r"n\.csv: no sentence left of 1 lines \(unintelligible 1\)"),
        ("wikipedia-sentences", "h.csv", b"text\n", r"h\.csv: no sentence left of 0 lines"),
        ("wikipedia-sentences", "t.csv", b"sentence\na .\n", r"t\.csv: line 1: no column text"),
    ],
)  # fmt: skip
def test_errors_name_file_place_and_remedy(tmp_path, reader, name, content, message):
    refused(tmp_path, reader, name, content, message)


def test_every_reader_keeps_the_interface():
    found = plugins.names(READERS)
    assert {"childes-db", "gutenberg", "switchboard", "toy", "wikipedia-sentences"} <= set(found)
    for name in found:
        module = plugins.load(READERS, name)
        assert isinstance(module.SPLIT, bool)
        assert issubclass(module.Options, plugins.Options)
        assert callable(module.files)
        assert callable(module.read)


# ---- real corpora -----------------------------------------------------------------------------


def test_real_childes(shared, tmp_path):
    path = shared / "corpora" / "childes-db" / "Bates.csv"
    frame, statistics = read_real(path, "childes-db", tmp_path)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert statistics["lines"] == len(rows)
    assert statistics["sentences"] + sum(statistics["dropped"].values()) == len(rows)
    # an independent count of what adults and others said that was understood
    others = [r for r in rows if r["speaker_code"] != "CHI" and r["speaker_role"] != "Child"]
    plain = [r for r in others if r["gloss"] and not re.search(r"\b(xxx|yyy|www)\b", r["gloss"])]
    assert statistics["sentences"] == len(plain)
    texts = frame["text"]
    assert texts.to_list()[:3] == ["what's that?", "it's a chicken.", "yeah."]
    assert not texts.str.contains(r"\b(?:xxx|yyy|www)\b|[+_&@]").any()
    assert texts.str.contains(r"[.?!]$").all()


def test_real_childes_holds_no_childs_utterance(shared):
    """What only the child said is not there; what others said is."""
    path = shared / "corpora" / "childes-db" / "VanHouten.csv"
    report, options = Report(), childes_db.Options()
    read_texts = Counter(text for _, text in childes_db.read(path, options, report))
    said: dict[bool, set[str]] = {True: set(), False: set()}
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            child = row["speaker_code"] == "CHI" or row["speaker_role"] in {"Target_Child", "Child"}
            text = childes_db.utterance(row["gloss"], row["type"], options, Report())
            if text:
                said[child].add(text)
    assert set(read_texts) == said[False]
    assert not set(read_texts) & (said[True] - said[False])


def test_real_switchboard(shared, tmp_path):
    frame, statistics = read_real(shared / "corpora" / "switchboard", "switchboard", tmp_path)
    assert statistics["documents"] == 36  # its README: 36 calls
    assert 5_000 < statistics["sentences"] < 6_500
    texts = frame["text"]
    assert texts[0] == "Do you have a pet Randy?"
    assert not texts.str.contains(r"[<>\[\]{}]|(?i)(?:^|\s)(?:uh|um)\b[^-]|\b[AB]\.\d").any()
    assert texts.str.contains(r"""[.?!]["')]*$""").all()


def test_real_book(shared, tmp_path):
    frame, statistics = read_real(shared / "corpora" / "gutenberg", "gutenberg", tmp_path)
    assert statistics["documents"] == 12 + 1  # twelve chapters, and the title page
    texts = frame["text"]
    assert not texts.str.contains("(?i)gutenberg|http|ebook").any()
    wanted = "So she set to work, and very soon finished off the cake."
    assert wanted in texts.to_list()
    assert 25_000 < statistics["words"] < 28_000


def test_real_wikipedia(shared, tmp_path):
    path = shared / "corpora" / "wikipedia"
    frame, statistics = read_real(path, "wikipedia-sentences", tmp_path)
    assert statistics["lines"] == statistics["sentences"] + sum(statistics["dropped"].values())
    texts = frame["text"]
    assert texts[0] == "thereby the rotation of the black hole slows down."
    assert not texts.str.contains(r" [,;)]|formula_|blockquote >").any()


def read_real(path, reader: str, tmp_path) -> tuple[pl.DataFrame, dict]:
    output = tmp_path / "out" / "sentences.parquet"
    statistics = read_source(source_spec(reader, path.name), path.parent, output)
    assert statistics["sentences"] > 0
    return read_table(output, SOURCE), statistics
