"""Broken files of pairs: one line that names file, place and remedy, or a fact; no wrong pair."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

from poshgrid import plugins
from poshgrid.errors import PoshgridError
from tests.unit.corpora.reader_support import put

SUITES = "poshgrid.benchmark.suites"
GOOD, BAD = "the dog sat .", "sat dog the ."
NAMES = {"lines": "it.txt", "scamp": "it.tsv", "blimp": "it.jsonl"}
every_reader = pytest.mark.parametrize("reader", NAMES)


def pair(reader: str, good: str = GOOD, bad: str = BAD) -> str:
    """One pair in the reader's format, without its last line end."""
    if reader == "lines":
        return f"{bad}\n{good}"
    if reader == "scamp":
        return f"{good}\t{bad}"
    return json.dumps({"sentence_good": good, "sentence_bad": bad}, ensure_ascii=False)


def load(reader: str, path, **options):
    module = plugins.load(SUITES, reader)
    return module.load(path, plugins.options(SUITES, reader, options), None)


def refused(reader: str, path, message: str, **options) -> None:
    """Hold a suite to one line that names what is wrong."""
    with pytest.raises(PoshgridError, match=message) as caught:
        load(reader, path, **options)
    assert "\n" not in str(caught.value)
    assert "sources[]" not in str(caught.value)


@every_reader
def test_nothing_to_read(tmp_path, reader):
    refused(reader, None, r"suites\[\]\.path: missing; name the suite's file or folder")
    refused(reader, tmp_path / "no", r"no: not found; check `data` and suites\[\]\.path")
    refused(reader, tmp_path, r"holds no \.\w+ .*file; check suites\[\]\.path")
    put(tmp_path, "notes.md", "not read")
    refused(reader, tmp_path, r"holds no \.\w+ .*file; check suites\[\]\.path")


@every_reader
@pytest.mark.parametrize("skip", ["error", "skip"])
def test_files_that_are_no_text_are_never_skipped(tmp_path, reader, skip):
    name, whole = NAMES[reader], f"{pair(reader)}\n" * 100
    for content, message in {
        b"": "empty file; replace it or take it out",
        b"\n \n": "holds no pair; replace it or take it out|malformed, more than 5%",
        whole.replace("dog", "d\0g", 1).encode(): r"byte \d+: binary file \(a NUL byte\)",
        whole.replace("dog", "d\xf4g").encode("latin-1"): r"byte \d+: not UTF-8; convert it",
        whole.encode("utf-16"): r"byte \d+: (binary file|not UTF-8)",
    }.items():
        file = put(tmp_path, name, content)
        refused(reader, file, rf"{re.escape(name)}: .*({message})", malformed=skip)


@every_reader
@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ("", "empty sentence"),
        ("  ", "empty sentence"),
        ("the dog\x07 sat", r"the character U\+0007 is no text"),
        ("the dog\x85 sat", r"the character U\+0085 is no text"),
        ("wug " * 2_501, "a sentence of more than 10,000 characters"),
    ],
)
def test_malformed_members_stop_the_suite_or_are_listed(tmp_path, reader, member, reason):
    """The broken pair is the third of forty; the others keep their numbers."""
    broken_line = {"lines": 6, "scamp": 3, "blimp": 3}[reader]
    pairs = [pair(reader, f"dog {n} sat .") for n in range(40)]
    pairs[2] = pair(reader, good=member)
    file = put(tmp_path, NAMES[reader], "\n".join(pairs))
    refused(reader, file, rf"line {broken_line}: {reason}; mend it, or .* malformed: skip")
    items, facts = load(reader, file, malformed="skip")
    assert len(facts["malformed"]) == 1
    fault = facts["malformed"][0]
    assert (fault["file"], fault["line"]) == (file.name, broken_line)
    assert re.fullmatch(reason, fault["reason"])
    assert items["item_id"].to_list() == [f"it-{n:05}" for n in range(1, 41) if n != 3]
    assert items["good"].to_list() == [f"dog {n} sat ." for n in range(40) if n != 2]
    assert facts["files"][file.name]["pairs"] == 39


@every_reader
def test_the_bad_member_is_held_to_the_same(tmp_path, reader):
    file = put(tmp_path, NAMES[reader], f"{pair(reader)}\n{pair(reader, bad='')}\n{pair(reader)}")
    refused(reader, file, rf"line {3 if reader == 'lines' else 2}: empty sentence")


@every_reader
@pytest.mark.parametrize(("broken", "accepted"), [(2, True), (3, False)])
def test_more_than_a_twentieth_of_a_file_is_too_much(tmp_path, reader, broken, accepted):
    pairs = [pair(reader, bad="" if n < broken else BAD) for n in range(40)]
    put(tmp_path, NAMES[reader], "\n".join(pairs))
    put(tmp_path, f"other{NAMES[reader]}", "\n".join([pair(reader)] * 1_000))
    if accepted:
        assert len(load(reader, tmp_path, malformed="skip").facts["malformed"]) == broken
    else:
        message = r"line 1: empty sentence; 3 of 40 pairs are malformed, more than 5%"
        refused(reader, tmp_path, message, malformed="skip")


@pytest.mark.parametrize("skip", ["error", "skip"])
def test_a_missing_line_shifts_no_pairs(tmp_path, skip):
    lines = [f"{pair('lines')}"] * 50
    file = put(tmp_path, "it.txt", "\n".join(lines).replace(f"{GOOD}\n", "", 1))
    refused("lines", file, r"it\.txt: line 99: an odd number of lines", malformed=skip)


def test_an_empty_line_inside_shifts_no_pairs(tmp_path):
    file = put(tmp_path, "it.txt", f"{pair('lines')}\n\n{pair('lines')}\n{BAD}\n")
    refused("lines", file, r"line 3: empty sentence")


def test_columns_that_are_missing_or_too_many(tmp_path):
    file = put(tmp_path, "it.tsv", f"{pair('scamp')}\n{GOOD} {BAD}\n")
    refused("scamp", file, "line 2: not 2 columns separated by tabs: 1 found; mend it")
    put(tmp_path, "it.tsv", f"{pair('scamp')}\n{pair('scamp')}\tmore\n")
    refused("scamp", file, "line 2: not 2 columns separated by tabs: 3 found")
    put(tmp_path, "it.tsv", f"n\tgood\tworse\n1\t{GOOD}\t{BAD}\n")
    refused("scamp", file, "line 1: the header must name .*; found n, good, worse")
    put(tmp_path, "it.tsv", f"acceptable\tunacceptable\n{GOOD}\t{BAD}\n")
    refused("scamp", file, r"line 1: a header, as it seems \(acceptable, unacceptable\)")
    file.write_text("Sentence A\tSentence B\nThe dog barks.\tThe dog bark.\n")
    refused("scamp", file, "line 1: a header")
    put(tmp_path, "it.tsv", f"sings\tsing\nswims\tswim\n{GOOD}\t{BAD}\n")  # pairs of words
    assert load("scamp", file).items.height == 3
    put(tmp_path, "it.tsv", f"good\tbad\tbad\n{GOOD}\t{BAD}\t{BAD}\n")
    refused("scamp", file, "line 1: the header must name one column good and one column bad")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"sentence_good": "a"', r"not JSON \(.*column \d+\)"),
        ("[1, 2]", "not a JSON object"),
        ('{"sentence_good": "a"}', "no key sentence_bad"),
        ('{"sentence_bad": "a", "sentence_Good": "b"}', "no key sentence_good"),
        ('{"sentence_good": "a", "sentence_bad": 1}', "sentence_bad is not a text"),
        ('{"sentence_good": null, "sentence_bad": "a"}', "sentence_good is not a text"),
        ('{"sentence_good": "a", "sentence_bad": "b", "UID": 7}', "UID is not a text"),
        ('{"sentence_good": "a", "sentence_bad": "\\ud800"}', r"U\+D800 is no text"),
        ('{"sentence_good": "a", "sentence_bad": "b", "UID": "\\n"}', r"U\+000A is no text"),
        ('{"sentence_good": "a", "sentence_bad": "b", "linguistics_term": "\\ud800"}', r"U\+D800"),
        (
            '{"sentence_good": "a", "sentence_bad": "b", "sentence_good": "c"}',
            "'sentence_good' stands twice",
        ),
        ("[" * 100_000, "not JSON that can be read"),
        ('{"n": ' + "9" * 5_000 + "}", "not JSON that can be read"),
    ],
)
def test_records_that_are_no_pair(tmp_path, line, message):
    """An empty line counts as a line and is no pair."""
    file = put(tmp_path, "it.jsonl", f"{pair('blimp')}\n\n{line}\n")
    refused("blimp", file, rf"it\.jsonl: line 3: .*{message}")
    put(tmp_path, "it.jsonl", "\n".join([pair("blimp")] * 19 + [line]))
    items, facts = load("blimp", file, malformed="skip")
    assert (items.height, facts["malformed"][0]["line"]) == (19, 20)


def test_tables_that_hold_no_pairs(tmp_path):
    file = put(tmp_path, "it.parquet", "no table")
    refused("blimp", file, r"it\.parquet: not a parquet table .*; download it again")
    pl.DataFrame({"sentence_good": ["a"], "UID": ["b"]}).write_parquet(file)
    refused("blimp", file, r"no column sentence_bad; found sentence_good, UID")
    pl.DataFrame({"sentence_good": ["a", None], "sentence_bad": ["b", "c"]}).write_parquet(file)
    refused("blimp", file, "line 2: sentence_good is not a text")


def test_a_phenomenon_in_two_files_has_no_unique_ids(tmp_path):
    line = json.dumps({"sentence_good": "a", "sentence_bad": "b", "UID": "same"})
    put(tmp_path, "one.jsonl", line)
    put(tmp_path, "two.jsonl", line)
    refused("blimp", tmp_path, r"two\.jsonl: phenomenon 'same' is in .*one\.jsonl too; keep one")


@every_reader
def test_a_suite_of_which_no_pair_is_left(tmp_path, reader):
    file = put(tmp_path, NAMES[reader], pair(reader, "same", "same"))
    refused(reader, file, "no pair is left", identical="drop")
    refused(reader, file, "no pair is left", mapped=True)
