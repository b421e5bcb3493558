"""CHAT transcripts: hand-worked tiers for each code, files, every kind of fault."""

from __future__ import annotations

import gzip
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.corpora.readers import chat, childes_db
from poshgrid.corpora.report import Report
from tests.unit.corpora.reader_support import put, read, refused

HEADER = (
    "@UTF8\n@Begin\n@Languages:\teng\n"
    "@Participants:\tCHI Ann Target_Child, MOT Mother, BRO Ben Brother, TOM Tom Child\n"
    "@ID:\teng|Home|CHI|2;03.|female|||Target_Child|||\n"
    "@ID:\teng|Home|MOT|||||Mother|||\n"
)


def transcript(*tiers: str, header: str = HEADER, end: str = "@End\n") -> str:
    return header + "".join(f"{tier}\n" for tier in tiers) + end


def test_other_languages_are_dropped():
    report = Report()
    assert chat.utterance("[- spa] hola .", report, "eng") is None
    assert chat.utterance("hola .", report, "spa") is None
    assert report.dropped == {"another language": 2}
    assert chat.utterance("[- eng] hello .", report, "spa") == "hello."
    assert chat.utterance("hello .", report, None) == "hello."


WORD = st.sampled_from(["the", "dog", "can't", "Mommy's", "uh-huh", "go", "on"])
CODES = st.sampled_from(["&-uh", "&=laughs", "&+fr", "&~ah", "0is", "(.)", "[!]", "[?]", "[>]"])
PIECE = st.one_of(
    WORD,
    CODES,
    st.tuples(WORD, st.sampled_from(["[/]", "[//]", "[=! sings]", "[* m]"])).map(" ".join),
    st.lists(WORD, min_size=1, max_size=3).map(lambda words: f"<{' '.join(words)}> [//]"),
    st.just("(be)cause"),
)


@given(st.lists(PIECE, min_size=1, max_size=8), st.sampled_from([".", "?", "!", "+...", "+/?"]))
def test_same_words_as_pylangacq(pieces, terminator):
    """An independent reader of CHAT finds the same words, where it keeps them at all."""
    pylangacq = pytest.importorskip("pylangacq")
    # A code needs a word before it, or it belongs to nothing; both readers have one then.
    tier = " ".join(["so", *pieces, "there", terminator])
    parsed = pylangacq.CHAT.from_strs([transcript(f"*MOT:\t{tier}")], parallel=False, strict=False)
    words = [token.word for token in parsed.utterances()[0].tokens]
    assert words[-1] == terminator
    assert chat.utterance(tier, Report(), "eng")[:-1] == " ".join(words[:-1])


# ---- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("without", ["@Participants", "@ID", "nothing"])
def test_a_target_child_of_another_name_is_left_out(tmp_path, without):
    header = HEADER.replace("CHI Ann Target_Child", "ANN Target_Child").replace("|CHI|", "|ANN|")
    kept = "".join(line for line in header.splitlines(keepends=True) if without not in line)
    text = transcript("*ANN:\tball .", "*MOT:\ta ball .", header=kept)
    yielded, report = read("chat", put(tmp_path, "a.cha", text))
    assert [sentence for _, sentence in yielded] == ["a ball."]
    assert report.dropped == {"child's utterance": 1}


def test_transcripts_may_stand_by_age(tmp_path):
    """Ages from 1;11.30 to 4 years, written as CHAT may; one transcript gives none."""
    for name, age in {"a": "3;", "b": "1;11.30", "c": "", "d": "2;03", "e": "4;00.01"}.items():
        header = HEADER.replace("2;03.", age)
        put(tmp_path, f"{name}.cha", transcript(f"*MOT:\t{name} .", "*MOT:\tyes .", header=header))
    yielded, report = read("chat", tmp_path, by_age=True)
    assert [document for document, _ in yielded] == [*"bb", *"dd", *"aa", *"ee"]
    assert [text for _, text in yielded][:2] == ["b.", "yes."]
    assert report.dropped == {"age not known": 2}
    assert [document for document, _ in read("chat", tmp_path)[0]][::2] == [*"abcde"]


def test_tables_of_childes_db_may_stand_by_age(tmp_path):
    lines = [",".join([*childes_db.COLUMNS, childes_db.AGE])]
    for transcript_id, age in ((1, "900.5"), (2, "NA"), (3, "91.25"), (4, "1000")):
        lines += [f"{text},declarative,MOT,Mother,{transcript_id},{age}" for text in ("hi", "ho")]
    path = put(tmp_path, "t.csv", "\n".join(lines) + "\n")
    yielded, report = read("childes-db", path, by_age=True)
    assert yielded == [(f"t-{n}", text) for n in (3, 1, 4) for text in ("hi.", "ho.")]
    assert report.dropped == {"age not known": 2}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("@UTF8\n*MOT:\thi .\n@End\n", "line 2: no @Begin"),
        ("@UTF8\n@Begin\n*MOT:\thi .\n@End\n", "line 3: no @Participants or @ID"),
    ],
)
def test_what_is_no_transcript_is_refused(tmp_path, content, line):
    refused(tmp_path, "chat", "a.cha", content, rf"a\.cha: {line}")


def test_nested_folders_and_a_file_without_its_end(tmp_path, caplog):
    put(tmp_path, "Brown/Eve/01.cha", transcript("*MOT:\tone ."))
    put(tmp_path, "Brown/Sarah/01.cha", "\ufeff" + transcript("*MOT:\ttwo .").replace("\n", "\r\n"))
    put(tmp_path, "C.cha.gz", gzip.compress(transcript("*MOT:\tthree .", end="").encode()))
    put(tmp_path, "Brown/._01.cha", "\0")
    put(tmp_path, "notes.txt", "not read")
    with caplog.at_level(logging.WARNING, "poshgrid"):
        yielded, report = read("chat", tmp_path)
    assert yielded == [("Brown/Eve/01", "one."), ("Brown/Sarah/01", "two."), ("C", "three.")]
    assert report.dropped == {"no @End": 1}
    assert "C.cha.gz: no @End" in caplog.text
