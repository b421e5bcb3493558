"""The audit of filtered corpora: who is drawn, what a person sees, and what the labels say."""

from __future__ import annotations

import csv
import functools
import io
import json
import re
import shutil
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from poshgrid.audit import draw as drawing
from poshgrid.audit import labels, leakage, sheet
from poshgrid.audit import rate as rating
from poshgrid.audit.draw import draw
from poshgrid.audit.estimate import Stratum, estimate
from poshgrid.audit.rate import lines as told
from poshgrid.audit.rate import percent, rate
from poshgrid.audit.rows import Drawn, Sample, pieces, spans
from poshgrid.audit.sheet import COLUMNS, WEIGHTS, Row
from poshgrid.config import Condition, Filter, specs
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence.condition import build
from poshgrid.evidence.label import rules_of
from poshgrid.evidence.schema import Labels, column
from poshgrid.files import read_json, table_batches, write_json, write_table
from poshgrid.parsing.words import tokenize
from poshgrid.tables.formats import guarded
from poshgrid.tables.formats import unguarded as plain

FILTERS = ["binding", "question-formation"]
PAPER = [Filter(name=name, reading="paper") for name in FILTERS]
ONE_LINE = re.compile(r"[^\n]+")

OLD = [name for name in COLUMNS if name not in WEIGHTS]
"""Columns of a sheet of an earlier version."""

# --- drawing ---------------------------------------------------------------------------------


def drawn(numbers, size, seed=0, name="binding.leakage"):
    sample = Sample(size, seed, name)
    for number in numbers:
        sample.offer(number, lambda number=number: number)
    return sample.result()


@given(
    st.lists(st.integers(0, 2**32 - 1), unique=True, max_size=60),
    st.integers(1, 30),
    st.integers(0, 30),
    st.randoms(use_true_random=False),
)
def test_order_does_not_matter_and_samples_are_nested(numbers, size, more, random):
    small, large = drawn(numbers, size), drawn(numbers, size + more)
    assert small == large[:size]
    assert len(small) == min(size, len(numbers)) and set(small) <= set(numbers)
    shuffled = list(numbers)
    random.shuffle(shuffled)
    assert drawn(shuffled, size) == small
    rank = Sample(1, 0, "binding.leakage").rank
    assert small == sorted(numbers, key=rank)[:size]  # the same, found by sorting all


def test_every_sentence_has_the_same_chance():
    """Over 4,000 seeds, 5 of 20: each is drawn 1,000 times, and first 200 times."""
    chosen = [drawn(range(20), 5, seed) for seed in range(4_000)]
    members = Counter(number for one in chosen for number in one)
    # Drawing without replacement, the variance of a count is 1 - 5/20 of the chi-square test's,
    # times 20/19: the statistic is scaled to have its distribution.
    spread = sum((members[i] - 1_000) ** 2 / 1_000 for i in range(20)) / (0.75 * 20 / 19)
    assert 0.001 < stats.chi2.sf(spread, 19) < 0.999
    first = Counter(one[0] for one in chosen)
    assert stats.chisquare([first[i] for i in range(20)]).pvalue > 0.001
    pairs = Counter(tuple(sorted(one[:2])) for one in chosen)
    assert len(pairs) == 190  # all pairs occur: neighbours are not drawn together or apart
    assert stats.chisquare(list(pairs.values())).pvalue > 0.001


def test_seeds_and_names_give_samples_of_their_own():
    base = drawn(range(500), 50)
    others = [
        drawn(range(500), 50, seed=1),
        drawn(range(500), 50, name="binding.precision"),
        drawn(range(500), 50, seed=10, name="x"),
        drawn(range(500), 50, seed=1, name="0x"),
    ]
    assert drawn(range(500), 50) == base
    # Two samples of 50 of 500 share 5 on average, and 14 or more with probability 1e-4
    for other in others:
        assert len(set(base) & set(other)) < 14


def test_what_is_not_kept_is_not_read():
    sample = Sample(3, 0, "x")
    read = []
    for number in range(1_000):
        sample.offer(number, lambda number=number: read.append(number) or number)
    assert sample.offered == 1_000
    assert set(sample.result()) <= set(read) and len(read) < 100


# --- marking words ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "places", "marked"),
    [
        ("Isn't he who isn't here ill?", [1, 5, 9], "[Is]n't he who [is]n't here ill[?]"),
        ("You can't wanna, can you?", [2, 4, 7, 9], "You [ca]n't [wan]na, [can] you[?]"),
        ("he hid himself , himself", [5], "he hid himself , [himself]"),
        ("is is is", [2], "is [is] is"),
        ("a  b", [2], "a  [b]"),
        ("herself", [1], "[herself]"),
        ("no word", [], "no word"),
    ],
)  # fmt: skip
def test_marks(text, places, marked):
    cut = pieces(text, tokenize(text), places)
    assert "".join(f"[{piece}]" if mark else piece for piece, mark in cut) == marked


@given(st.text(st.sampled_from("aI'’stn.?!-,\"( \u00a0z3$é"), max_size=25))
def test_words_are_found_in_any_text(text):
    words = tokenize(text)
    found = spans(text, words)
    assert [text[start:end] for start, end in found] == words
    cut = pieces(text, words, range(1, len(words) + 1, 2))
    assert "".join(piece for piece, _ in cut) == text
    assert [piece for piece, mark in cut if mark] == words[::2]


def test_words_of_another_text_are_refused():
    with pytest.raises(ValueError, match="'dog' is not the next word"):
        spans("the big dog", ["the", "dog"])
    with pytest.raises(ValueError, match="no word 3"):
        pieces("two words", ["two", "words"], [3])


# --- sheets ----------------------------------------------------------------------------------

FORMULAS = [
    '=HYPERLINK("http://x.example","y")', "+1", "-said he", "@home", "=1+1", "\t=1", "\rx", " =1",
    "＝1", "＋1", "－1", "＠x", "'=1", "''-",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_becomes_a_formula(tmp_path, text):
    rows = [Row(3, text, text, text, (text,), (1,))]
    sheet.write(rows, tmp_path / "a.csv")
    stream = io.StringIO((tmp_path / "a.csv").read_bytes().decode("utf-8-sig"), newline="")
    header, line = csv.reader(stream)
    assert tuple(header) == COLUMNS and line[0:2] == ["1", "3"]
    for value in line:
        assert not re.match(r"[\s\u00a0]*[=+\-@＝＋－＠]|[\t\r\n]", value), value
        assert value in ("1", "3", "1.000000", "", f"'{text}")
    assert sheet.read(tmp_path / "a.csv")[0].text == text


@given(st.text(st.sampled_from("'=+-@ \ta1＝\u00a0\r\n"), max_size=6))
def test_guarding_can_be_undone(text):
    assert plain(guarded(text)) == text
    assert guarded(text)[:1] not in tuple("=+-@\t\r\n＝")


def test_harmless_text_stays(tmp_path):
    for text in ("It's 3 - 4 = -1.", "'t is", "'Tis", "1-2", "a@b"):
        assert guarded(text) == text == plain(text)
    text = 'She said, "Ça va; naïve"'
    sheet.write([Row(0, "s", "d", text)], tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes().startswith(b'\xef\xbb\xbf"number",')
    assert sheet.read(tmp_path / "a.csv")[0].text == text


# --- a corpus, and its audit -----------------------------------------------------------------

# For each class: text, what each filter's paper reading says of it, the words that matched
CLASSES = {
    "left": ("Mary sees her self {} and herself", None, None, []),
    "bound": ("=the girl's dad{} likes himself", "rule", None, [3, 7]),
    "question": ("Is the boy{} who is here <b>nice</b>?", None, "rule", [1, 5]),
    "plain": ("the dog barks{}", None, None, []),
    "aux": ("Can't he say what he has {}?", None, None, []),
    "looks": ("dad{} and himself", "backstop", None, [3]),
}
ORDER = list(CLASSES)
N = len(ORDER)


def make(folder, blocks=80):
    """Write a base of blocks, one sentence of each class, every other at 1K, and its labels."""
    rows = blocks * N
    base, labels = [], []
    for i in range(rows):
        text, *says, tokens = CLASSES[ORDER[i % N]]
        split = ("dev", "test")[i % 2] if i >= rows * 0.9 else "train"
        size = "" if split != "train" else ("1K", "2K")[i // N % 2]
        base.append((i, "s", f"doc {i // 10}", i % 10, text.format(i), 6, split, i, size))
        row = {"sent_id": i}
        for word, say in zip(FILTERS, says, strict=True):
            row |= {
                column(word, "paper"): say == "rule",
                column(word, "paper", "backstop"): say == "backstop",
                column(word, "paper", "tokens"): tokens if say else [],
            }
        labels.append(row)
    return write_base(folder, base, labels)


LABELS = Labels(dict.fromkeys(FILTERS, ("paper", "direct")), dict.fromkeys(FILTERS, ("paper",)))
NOTHING = {
    name: [] if kind == pl.List(pl.UInt16) else False for name, kind in LABELS.schema.items()
}


def write_base(folder, base, labels):
    paths = SimpleNamespace(
        sentences=folder / "sentences.parquet",
        labels=folder / "evidence.parquet",
        condition=folder / "condition",
    )
    write_table(pl.DataFrame(base, schema=SENTENCES, orient="row"), paths.sentences, SENTENCES)
    rows = [NOTHING | row for row in labels]
    write_table(pl.DataFrame(rows, schema=LABELS.schema), paths.labels, LABELS.schema)
    known = {word: {each: {"never": []} for each in LABELS.readings[word]} for word in FILTERS}
    write_json(paths.labels.with_suffix(".json"), {"parsed": len(rows), "filters": known})
    return paths


def but(paths, **settings):
    return SimpleNamespace(**{**vars(paths), **settings})


def condition(paths, size="1K", rate=None, filters=PAPER, backstop=True, **dose):
    reinsert = [{"filter": "binding", "rate": rate, "pool": "paper"} | dose] if rate else []
    spec = specs.ConditionSpec(
        condition=Condition(name="baby-f", base="baby", filters=filters, reinsert=reinsert),
        size=size,
        backstop=backstop,
    )
    allowed = specs.BesideSpec(allow=["void"])  # these labels are nobody's
    return build(spec, paths.sentences, paths.labels, paths.condition, allowed)


def spec(number=10, seed=0, filters=PAPER, size="1K", detector=False):
    return specs.AuditSpec(
        condition="baby-f", size=size, filters=filters, sample=number, seed=seed, detector=detector
    )


def audit(paths, output, *args, **settings):
    return draw(spec(*args, **settings), paths.condition, paths.sentences, paths.labels, output)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    paths = make(tmp_path_factory.mktemp("base"))
    condition(paths)
    return paths


def entries(folder, name):
    return sheet.read(folder / f"{name}.csv")


def full(folder, name):
    with (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_candidates_are_those_left_in_and_removed(tmp_path, paths):
    """72 blocks are training sentences, 36 of them at size 1K."""
    facts = audit(paths, tmp_path, 1_000)
    built = read_json(paths.condition / "statistics.json")
    assert facts == read_json(tmp_path / "statistics.json")
    assert facts["sentences"] == built["splits"]["train"]["sentences"] == 36 * 3
    assert facts["base_sentences"] == 36 * 6
    for word, backstop in (("binding", 36), ("question-formation", 0)):
        precision, leakage = (facts["filters"][word][kind] for kind in ("precision", "leakage"))
        removed = built["removed"][f"{word}.paper"]
        assert precision["backstop"] == removed["backstop"] == backstop
        assert precision["candidates"] == removed["rule"] + backstop
        assert (leakage["candidates"], leakage["sampled"], leakage["reinserted"]) == (36, 36, 0)
    expected = {
        "binding.leakage": ["left"],
        "binding.precision": ["bound", "looks"],
        "question-formation.leakage": ["aux"],
        "question-formation.precision": ["question"],
    }
    for name, classes in expected.items():
        found = entries(tmp_path, name)
        numbers = [i for i in range(432) if i // N % 2 == 0 and ORDER[i % N] in classes]
        assert sorted(e.sent_id for e in found) == numbers, name
        assert [e.number for e in found] == list(range(1, len(numbers) + 1))
        assert [e.sent_id for e in found] != numbers  # in the order of rank, not of the corpus
        for e in found:
            assert e.text == CLASSES[ORDER[e.sent_id % N]][0].format(e.sent_id)
            assert not e.label and not e.note
    rows = {row["sent_id"]: row for name in expected for row in full(tmp_path, name)}
    assert rows["13"]["text"] == "'=the girl's dad13 likes himself"
    assert rows["13"]["words"] == "girl | himself" and rows["13"]["document"] == "doc 1"
    assert rows["16"]["words"] == "Ca | has | ?"
    assert rows["17"]["words"] == "himself"


def test_without_the_backstop_its_sentences_are_left_in(tmp_path, paths):
    other = but(paths, condition=tmp_path / "c")
    condition(other, backstop=False)
    facts = audit(other, tmp_path / "audit", 1_000)["filters"]["binding"]
    assert facts["leakage"]["candidates"] == 72
    assert (facts["precision"]["candidates"], facts["precision"]["backstop"]) == (36, 0)


def test_larger_size_has_the_smaller_ones_sentences(tmp_path, paths):
    other = but(paths, condition=tmp_path / "c")
    condition(other, "2K")
    small = audit(paths, tmp_path / "1", 1_000)
    large = audit(other, tmp_path / "2", 1_000, size="2K")
    assert (small["base_sentences"], large["base_sentences"]) == (216, 432)
    ids = [{e.sent_id for e in entries(tmp_path / n, "binding.precision")} for n in "12"]
    assert ids[0] < ids[1] and len(ids[1]) == 144


def test_the_same_for_any_parts_and_nested(tmp_path, paths, monkeypatch):
    audit(paths, tmp_path / "a", 12)
    for module in (leakage, drawing):
        monkeypatch.setattr(module, "table_batches", functools.partial(table_batches, size=13))
    audit(paths, tmp_path / "b", 12)
    audit(paths, tmp_path / "large", 20)
    audit(paths, tmp_path / "all", 1_000)
    audit(paths, tmp_path / "other", 12, seed=1)
    files = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert len(files) == 5
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    for word in FILTERS:
        for kind in ("leakage", "precision"):
            name = f"{word}.{kind}"
            small, large = entries(tmp_path / "a", name), entries(tmp_path / "large", name)
            assert len(small) == 12 and len(large) == 20
            assert [replace(e, weight=None) for e in small] == [
                replace(e, weight=None) for e in large[:12]
            ]
            size = len({e.sent_id for e in entries(tmp_path / "all", name)})
            assert [e.weight for e in small] == [pytest.approx(size / 12)] * 12
            assert small != entries(tmp_path / "other", name)


def test_evidence_put_back_is_no_leakage(tmp_path):
    paths = make(tmp_path)
    built = condition(paths, rate=0.1)
    put_back = built["reinserted"]["binding"]["sentences"]
    assert put_back == 11
    facts = audit(paths, tmp_path / "audit", 1_000)["filters"]["binding"]["leakage"]
    assert facts["reinserted"] == put_back
    train = pl.read_parquet(paths.condition / "train.parquet")
    left = train.filter(pl.col("replaced").is_null() & pl.col("text").str.contains("herself"))
    found = entries(tmp_path / "audit", "binding.leakage")
    assert {e.sent_id for e in found} == set(left["sent_id"])
    assert facts["candidates"] == left.height


def test_a_filter_without_candidates_has_no_leakage_sheet(tmp_path, paths, monkeypatch):
    monkeypatch.setattr(
        drawing, "lexical", lambda word: SimpleNamespace(__name__=f"lexical.{word}")
    )
    facts = audit(paths, tmp_path)["filters"]
    assert facts["binding"]["leakage"] is facts["question-formation"]["leakage"] is None
    assert facts["binding"]["reason"] == "lexical.binding has no function candidates"
    assert facts["question-formation"]["reason"].startswith("lexical.question-formation has no")
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {"statistics.json", *(f"{w}.precision.csv" for w in FILTERS)}
    assert facts["binding"]["question"] == labels.general_question("binding")


def test_no_candidate_at_all(tmp_path, paths, monkeypatch):
    module = SimpleNamespace(__name__="x", candidates=lambda words: None)
    monkeypatch.setattr(drawing, "lexical", lambda word: module)
    facts = audit(paths, tmp_path)["filters"]["binding"]["leakage"]
    assert (facts["candidates"], facts["sampled"]) == (0, 0)
    with pytest.raises(PoshgridError, match="no sentence has a label"):
        rate(tmp_path / "binding.leakage.csv")


def refused(paths, output, message, **settings):
    before = sorted(p.name for p in output.iterdir()) if output.exists() else []
    with pytest.raises(PoshgridError, match=message) as error:
        audit(paths, output, **settings)
    assert ONE_LINE.fullmatch(str(error.value))
    assert (sorted(p.name for p in output.iterdir()) if output.exists() else []) == before


def test_a_sheet_with_labels_is_not_overwritten(tmp_path, paths):
    audit(paths, tmp_path)
    audit(paths, tmp_path, 20)  # blank sheets may go
    path = tmp_path / "binding.leakage.csv"
    for answers, note in (({5: "no"}, ""), ({}, "see me")):
        kept = fill(path, answers, note=note, separator=";").read_bytes()
        audit(paths, tmp_path, 20)  # the same sentences
        assert path.read_bytes() == kept
        before = {p: p.read_bytes() for p in tmp_path.iterdir()}
        message = r"binding\.leakage\.csv: holds labels or notes on another sample"
        refused(paths, tmp_path, message, number=10)
        refused(paths, tmp_path, message, number=20, seed=1)
        assert {p: p.read_bytes() for p in tmp_path.iterdir()} == before
        sheet.write([], path)
        audit(paths, tmp_path, 20)
    # The same numbers, of a base made anew
    fill(path, {5: "no"})
    path.write_text(path.read_text("utf-8-sig").replace("Mary sees", "Mary saw"), newline="")
    refused(paths, tmp_path, "on another sample", number=20)


def test_tables_that_do_not_belong_together(tmp_path, paths):
    out = tmp_path / "out"
    refused(paths, out, "has no filters: there is nothing to audit", filters=[])
    other = specs.AuditSpec.model_construct(
        condition="c", size="1K", filters=[SimpleNamespace(name="bindings", reading="x")]
    )
    with pytest.raises(PoshgridError, match=r"no labels of filter .*; did you mean 'binding'"):
        draw(other, paths.condition, paths.sentences, paths.labels, out)
    refused(but(paths, labels=tmp_path / "none.parquet"), out, "none.parquet: not found")
    refused(but(paths, sentences=tmp_path / "none.parquet"), out, "none.parquet: not found")
    refused(but(paths, labels=paths.sentences), out, "column 'source' is not in the contract")
    broken = tmp_path / "broken"
    shutil.copytree(paths.condition, broken)
    (broken / "train.parquet").write_text("text")
    refused(but(paths, condition=broken), out, "train.parquet: not a parquet table")
    (broken / "train.parquet").unlink()
    refused(but(paths, condition=broken), out, "train.parquet: not found")
    write_json(broken / "statistics.json", {})
    refused(but(paths, condition=broken), out, "not the statistics of a filtered condition")
    # A condition without filters holds what they remove
    bare = but(paths, condition=tmp_path / "c")
    condition(bare, filters=[])
    refused(bare, out, "sent_id 1 is a sentence that filter 'binding' removes")
    # Tables of a shorter base
    short = {name: tmp_path / f"{name}.parquet" for name in ("labels", "sentences")}
    for name, path in short.items():
        pl.read_parquet(vars(paths)[name]).head(300).write_parquet(path)
    refused(but(paths, labels=short["labels"]), out, r"labels\.parquet: sent_ids are not 0 to 479")
    refused(but(paths, **short), out, "is not in .*run poshgrid condition again")
    wrong = but(paths, labels=tmp_path / "w.parquet")
    pl.read_parquet(paths.labels).with_columns(
        pl.when("binding_paper").then(pl.lit([99], pl.List(pl.UInt16)))
        .otherwise("binding_paper_tokens").alias("binding_paper_tokens")
    ).write_parquet(wrong.labels)  # fmt: skip
    refused(wrong, out, r"filter 'binding' matched words \[99\] of sent_id", number=1_000)


def test_candidates_that_name_no_word(tmp_path, paths, monkeypatch):
    module = SimpleNamespace(__name__="lexical", candidates=lambda words: (0,))
    monkeypatch.setattr(drawing, "lexical", lambda word: module)
    refused(paths, tmp_path / "out", "mend its function candidates")


def test_the_papers_candidates(tmp_path):
    """Appendix C: reflexives; a question mark and at least two auxiliaries."""
    texts = {
        "People like her don't often get themselves murdered.": "binding",
        "the boy hid": None,
        "Mrs. Cochran swayed against David, who pulled himself together.": "binding",
        "Is the boy who is here smiling?": "question-formation",
        "How could anyone that was awake not hear that?": "question-formation",
        "Is he here?": None,
        "he said he is what he was.": None,
    }
    base = [(i, "s", "d", i, text, 5, "train", i, "1K") for i, text in enumerate(texts)]
    base += [(7, "s", "d", 7, "dev", 2, "dev", 0, ""), (8, "s", "d", 8, "test", 1, "test", 0, "")]
    paths = write_base(tmp_path, base, [{"sent_id": i} for i in range(9)])
    condition(paths)
    facts = audit(paths, tmp_path / "audit", 100)
    for word in FILTERS:
        found = {e.text for e in entries(tmp_path / "audit", f"{word}.leakage")}
        assert found == {text for text, filter_ in texts.items() if filter_ == word}
        assert facts["filters"][word]["precision"]["candidates"] == 0
    rows = full(tmp_path / "audit", "binding.leakage")
    assert {r["words"] for r in rows} == {"themselves", "himself"}


# --- rating ----------------------------------------------------------------------------------


def fill(path, labels, note="", separator=",", end="\r\n", encoding="utf-8-sig"):
    """Write labels into a sheet as a spreadsheet saves it."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    for row in rows[1:]:
        row[-2] = labels.get(int(row[0]), "")
        row[-1] = note
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separator, lineterminator=end).writerows(rows)
    path.write_bytes(stream.getvalue().encode(encoding))
    return path


def write_sheet(folder, labels, name="binding.leakage.csv", first=100):
    rows = [Row(first + i, "s", "d", f"the {i} dog's café", ()) for i in range(len(labels))]
    sheet.write(rows, folder / name)
    return fill(folder / name, dict(enumerate(labels, start=1)))


def statistics(folder, path, candidates, sentences=1_500_000):
    digest = sheet.digest((e.number, e.sent_id, e.text) for e in sheet.read(path))
    facts = {"candidates": candidates, "sampled": len(sheet.read(path)), "digest": digest}
    value = {
        "condition": "baby-f", "size": "10M", "seed": 42, "sample": 1_000,
        "sentences": sentences, "base_sentences": 2 * sentences,
        "filters": {"binding": {"leakage": facts, "precision": {**facts, "digest": "other"}}},
    }  # fmt: skip
    write_json(folder / "statistics.json", value)
    return folder / "statistics.json"


def clopper_pearson(yes, n, level=0.95):
    """The interval by its definition: each tail holds half of what the interval leaves out."""
    tail = (1 - level) / 2
    low = stats.beta.ppf(tail, yes, n - yes + 1) if yes else 0.0
    high = stats.beta.ppf(1 - tail, yes + 1, n - yes) if yes < n else 1.0
    return low, high


def test_the_papers_number(tmp_path):
    """Appendix C: 6 of 1,000 of 5.7k candidates, "30 sentences in 1.5M"."""
    path = write_sheet(tmp_path, ["yes"] * 6 + ["no"] * 994)
    statistics(tmp_path, path, 5_700)
    found = rate(path)
    assert (found.first.annotated, found.first.yes, found.first.blank) == (1_000, 6, 0)
    assert found.first.low == found.first.high
    assert found.first.low.share == 0.006
    low, high = found.first.low.interval
    assert (low, high) == pytest.approx((0.002205, 0.013013), abs=1e-6)
    # So many or more, and so many or fewer, are as rare as 1 in 40 at the bounds
    assert stats.binom.sf(5, 1_000, low) == pytest.approx(0.025)
    assert stats.binom.cdf(6, 1_000, high) == pytest.approx(0.025)
    assert found.first.low.expected == pytest.approx(34.2)
    assert found.first.low.expected_interval == pytest.approx((12.57, 74.18), abs=0.01)
    assert told(found) == [
        "baby-f at 10M, filter binding, leakage",
        "binding.leakage.csv: 1,000 annotated: 6 yes, 994 no, 0 unsure; 0 blank",
        "  leak rate: 0.60% (95% interval 0.22 to 1.30%)",
        "  expected: 34.2 (12.6 to 74.2) of 5,700 candidates, "
        "in the condition's 1,500,000 sentences",
        "  sentences without candidates' words were never looked at: the rate says nothing of them",
    ]


def share(yes, labelled, level=0.95, sentences=None):
    return estimate([Stratum(sentences, labelled, yes)], level)


def test_intervals_by_hand():
    # None of n: the rule of three, exactly 1 - .025^(1/n)
    assert share(0, 1_000, 0.95).interval == pytest.approx((0, 1 - 0.025 ** (1 / 1_000)))
    assert share(10, 10, 0.95).interval == pytest.approx((0.025 ** (1 / 10), 1))
    for yes, n, level in [(1, 7, 0.9), (3, 10, 0.95), (50, 100, 0.99)]:
        found = share(yes, n, level).interval
        assert found == pytest.approx(clopper_pearson(yes, n, level))
        # By definition the bounds are where so many, or more, have half of 1 - level
        assert stats.binom.sf(yes - 1, n, found[0]) == pytest.approx((1 - level) / 2)
        assert stats.binom.cdf(yes, n, found[1]) == pytest.approx((1 - level) / 2)


def test_all_candidates_labelled_leave_no_doubt():
    assert share(3, 50, 0.95, 50).expected_interval == (3, 3)
    low, high = share(3, 40, 0.95, 50).expected_interval
    assert low == 3 and high <= 13  # found; not ruled out


def test_unsure_counts_both_ways(tmp_path):
    path = write_sheet(tmp_path, ["yes"] * 2 + ["unsure"] * 3 + ["no"] * 15 + [""] * 5)
    statistics(tmp_path, path, 200)
    first = rate(path, confidence=0.9).first
    assert (first.annotated, first.yes, first.no, first.unsure, first.blank) == (20, 2, 15, 3, 5)
    assert (first.low.share, first.high.share) == (0.1, 0.25)
    assert first.low.interval == pytest.approx(clopper_pearson(2, 20, 0.9))
    assert first.high.interval == pytest.approx(clopper_pearson(5, 20, 0.9))
    assert (first.low.expected, first.high.expected) == (20, 50)
    assert not first.skipped
    text = "\n".join(told(rate(path, confidence=0.9)))
    assert "unsure as no: 10.00%" in text and "unsure as yes: 25.00%" in text and "90%" in text


def test_sentences_that_were_skipped_are_reported(tmp_path):
    path = write_sheet(tmp_path, ["no", "", "yes", ""])
    assert rate(path).first.skipped
    assert "skipped" in told(rate(path))[-1]
    lines = path.read_text("utf-8-sig").splitlines()
    path.write_text("\n".join([lines[0], *lines[:0:-1]]))  # sorted the other way round
    assert rate(path).first.skipped
    fill(path, {1: "no", 2: "yes"})
    assert not rate(path).first.skipped


@pytest.mark.parametrize(
    "saved",
    [
        {"separator": ";"},
        {"separator": "\t", "encoding": "utf-16"},
        {"encoding": "cp1252", "separator": ";"},
        {"end": "\n", "encoding": "utf-8"},
    ],
)
def test_sheets_as_spreadsheets_save_them(tmp_path, saved):
    path = write_sheet(tmp_path, [""] * 6)
    labels = {1: "YES", 2: " no ", 3: "Unsure", 4: "No\u00a0", 5: "yes"}
    fill(path, labels, note="a; note, with\r\na line", **saved)
    encoding = saved.get("encoding", "utf-8-sig")
    text = path.read_bytes().decode(encoding)
    empty = saved.get("separator", ",") * 9  # a row that somebody cleared
    path.write_bytes((text + empty + saved.get("end", "\r\n")).encode(encoding))
    first = rate(path).first
    assert (first.yes, first.no, first.unsure, first.blank) == (2, 2, 1, 1)


def test_round_trip_through_the_audit(tmp_path, paths):
    audit(paths, tmp_path, 10)
    copy = tmp_path / "copies" / "anna (1).csv"
    copy.parent.mkdir()
    shutil.copy(tmp_path / "binding.precision.csv", copy)
    fill(copy, {1: "yes", 2: "yes", 3: "no"})
    assert rate(copy).origin is None
    found = rate(copy, statistics=tmp_path / "statistics.json")
    assert (found.origin.filter, found.origin.kind) == ("binding", "precision")
    assert (found.origin.candidates, found.origin.sentences) == (72, 216)
    assert found.first.low.expected == pytest.approx(48)
    assert any("precision: 66.67%" in line for line in told(found))
    assert any("removed from 216 sentences" in line for line in told(found))
    assert json.loads(json.dumps(asdict(found)))["first"]["yes"] == 2


def test_two_people(tmp_path):
    """Cohen (1960) by hand: 4 both yes, 1 and 1 apart, 4 neither: .8 observed, .5 expected."""
    one = ["yes"] * 5 + ["no"] * 4 + ["unsure", "no", ""]
    two = ["yes"] * 4 + ["no"] + ["no"] * 3 + ["yes", "no", "", "yes"]
    first = write_sheet(tmp_path, one)
    second = write_sheet(tmp_path, two, "binding.leakage.ben.csv")
    found = rate(first, second)
    assert found.second.yes == 6 and found.second.blank == 1
    assert found.agreement.compared == 10
    assert found.agreement.kappa == pytest.approx(0.6)
    assert [(d["number"], d["first"], d["second"]) for d in found.agreement.disagreements] == [
        (5, "yes", "no"), (9, "no", "yes"), (10, "unsure", "no"),
    ]  # fmt: skip
    lines = told(found)
    assert any("kappa 0.600" in line and "3 disagreements" in line for line in lines)
    assert lines[-3] == "  5: yes / no: the 4 dog's café"
    assert rate(second, first).agreement.kappa == pytest.approx(0.6)


def test_kappa_may_be_undefined(tmp_path):
    first = write_sheet(tmp_path, ["no", "no"])
    second = write_sheet(tmp_path, ["no", "no"], "b.csv")
    assert rate(first, second).agreement.kappa is None
    assert "undefined" in told(rate(first, second))[-1]
    third = write_sheet(tmp_path, ["no", ""], "c.csv")
    fourth = write_sheet(tmp_path, ["", "no"], "d.csv")
    assert told(rate(third, fourth))[-1] == "no sentence was labelled by both"


def wrong(message, *args, **settings):
    with pytest.raises(PoshgridError, match=message) as error:
        rate(*args, **settings)
    assert ONE_LINE.fullmatch(str(error.value))


@pytest.mark.parametrize("label", ["Y", "N", "ja", "yes?", "1", "true"])
def test_unknown_labels_are_named_with_their_line(tmp_path, label):
    path = write_sheet(tmp_path, ["yes", "no", label])
    wrong(rf"binding.leakage.csv: line 4 \(number 3\): label '{re.escape(label)}'", path)
    # Lines as an editor counts them: a note may have several
    fill(path, {1: "yes", 3: label}, note="two\r\nlines")
    wrong(rf"line 6 \(number 3\): label '{re.escape(label)}'", path)


def test_files_that_are_no_sheets(tmp_path):
    path = tmp_path / "a.csv"
    wrong("cannot read: No such file", path)
    path.write_text("")
    wrong("column 'number' is missing", path)
    path.write_bytes(b"PK\x03\x04\x00\xff\xfe")
    wrong("column 'number' is missing.*saved as 'CSV UTF-8'", path)
    for name in COLUMNS:
        header = [n for n in COLUMNS if n != name]
        path.write_text(",".join(header) + "\n")
        wrong(f"column '{name}' is missing", path)
        path.write_text(",".join([*COLUMNS, name]) + "\n")
        wrong(f"column '{name}' is twice", path)
    path.write_text(",".join("labels" if n == "label" else n for n in COLUMNS) + "\n")
    wrong("column 'label' is missing; did you mean 'labels'", path)
    for value in ("0", "0.5", "x", "inf", "nan", "-3"):
        path.write_text(f"{','.join(COLUMNS)}\n1,5,s,d,t,w,1,{value},no,\n")
        wrong(f"line 2: weight '{value}' is not a number from 1 on", path)
    path.write_text(f"{','.join(COLUMNS)}\n1,5,s,d,t,w,low,2,no,\n")
    wrong("line 2: stratum 'low' is not a whole number", path)
    header = ",".join(OLD)
    path.write_text(f"{header}\n1,5,s,d,text,w,no,\n2,6,s,d\n")
    wrong("line 3: 4 cells, and the first line has 8", path)
    path.write_text(f'{header}\n1,5,s,d,"text,w,no,\n')
    wrong("line 2: not CSV", path)
    path.write_text(f"{header}\n1.0,5,s,d,t,w,no,\n")
    wrong("line 2: number '1.0' is not a whole number", path)
    path.write_text(f"{header}\n1,5E3,s,d,t,w,no,\n")
    wrong("line 2: sent_id '5E3' is not a whole number", path)
    path.write_text(f"{header}\n1,5,s,d,t,w,no,\n2,5,s,d,t,w,no,\n1,7,s,d,t,w,no,\n")
    wrong("line 4: number 1 stands on line 2 already", path)


def test_sheets_that_cannot_be_rated(tmp_path):
    blank = write_sheet(tmp_path, ["", " "])
    wrong("no sentence has a label", blank)
    path = write_sheet(tmp_path, ["no", "yes"], "a.csv")
    wrong("b.csv: no sentence has a label", path, write_sheet(tmp_path, ["", ""], "b.csv"))
    for level in (0, 1, 95):
        wrong("write a number between 0 and 1", path, confidence=level)
    wrong("given twice", path, path)
    other = write_sheet(tmp_path, ["no", "yes"], "o.csv", first=101)
    wrong("not the sheet of .*: number 1 is sent_id 101 here and sent_id 100 there", path, other)
    longer = write_sheet(tmp_path, ["no", "yes", "no"], "l.csv")
    wrong("number 3 is sent_id 102 here and missing there", path, longer)
    wrong("number 3 is missing here and sent_id 102 there", longer, path)


def test_statistics_of_another_sample(tmp_path):
    path = write_sheet(tmp_path, ["no", "yes", ""])
    known = statistics(tmp_path, path, 10)
    assert rate(path).origin.candidates == 10
    other = write_sheet(tmp_path, ["no", "yes", ""], "o.csv", first=7)
    wrong("3 sentences that are not a sample of", other)
    lines = path.read_text("utf-8-sig").splitlines()
    path.write_text("\n".join(lines[:-1]))
    wrong("2 sentences that are not a sample of .*restore rows", path)
    path.write_text("\n".join([lines[0], *lines[:0:-1]]))  # sorted: the same sentences
    assert rate(path).origin.candidates == 10
    write_json(known, {"condition": "x"})
    wrong("not the statistics of an audit", path)
    known.write_text("{")
    wrong("not JSON", path)
    wrong("none.json: not found", path, statistics=tmp_path / "none.json")


def test_two_sheets_of_the_same_sentences_are_told_by_name(tmp_path):
    path = write_sheet(tmp_path, ["no"])
    known = statistics(tmp_path, path, 1)
    value = read_json(known)
    value["filters"]["binding"]["precision"]["digest"] = value["filters"]["binding"]["leakage"][
        "digest"
    ]
    write_json(known, value)
    assert rate(path).origin.kind == "leakage"
    renamed = path.rename(tmp_path / "anna.csv")
    wrong("may be any of several sheets", renamed)


# --- a detector ------------------------------------------------------------------------------


def by_detector(monkeypatch, score):
    """Let a function of the words stand for a trained detector."""

    def scores(word, sentences):
        assert all(isinstance(each, list) for each in sentences)
        return np.array([score(word, each) for each in sentences])

    monkeypatch.setattr(drawing, "_scores", lambda spec, folder: scores)


def detected(paths, output, *args, **settings):
    given = spec(*args, detector=True, **settings)
    return draw(given, paths.condition, paths.sentences, paths.labels, output, Path("detector"))


def knowing(word, words):
    """Return a score by the words: herself is nearly sure, auxiliaries are likely."""
    return 0.9 if "herself" in words else 0.3 if "has" in words else 0.01


def test_with_a_detector_every_sentence_may_be_drawn(tmp_path, paths, monkeypatch):
    """36 blocks of three sentences that are left: a third of each score, which is one stratum."""
    by_detector(monkeypatch, knowing)
    facts = detected(paths, tmp_path, 1_000)["filters"]
    for word in FILTERS:
        found = facts[word]["leakage"]
        assert found["whole"] and found["candidates"] == found["sampled"] == 108
        assert found["strata"] == {"1": {"sentences": 108, "sampled": 108}}
        rows = full(tmp_path, f"{word}.leakage")
        assert {row["stratum"] for row in rows} == {"1"}
        assert {row["weight"] for row in rows} == {"1.000000"}
    rows = {row["sent_id"]: row for row in full(tmp_path, "binding.leakage")}
    assert rows["0"]["words"] == "self | herself"  # marked where the filter has candidates
    assert rows["3"]["words"] == ""


def test_without_a_detector_the_rate_says_what_was_never_looked_at(tmp_path, paths):
    facts = audit(paths, tmp_path, 10)["filters"]["binding"]["leakage"]
    assert not facts["whole"] and facts["strata"] == {"1": {"sentences": 36, "sampled": 10}}
    fill(tmp_path / "binding.leakage.csv", {1: "no"})
    assert any("never looked at" in line for line in told(rate(tmp_path / "binding.leakage.csv")))


def likely(word, words):
    """Return a score of a sentence of its own, from its number: no two are the same."""
    number = next(int(text) for each in words if (text := re.sub(r"\D", "", each)))
    return 1 / (1 + np.exp(9 - number / 100))


@pytest.fixture
def many(tmp_path):
    """A base of which 720 sentences are left at size 2K."""
    paths = make(tmp_path / "base", 267)
    condition(paths, "2K")
    return paths


def test_high_scores_are_drawn_more_often_and_weigh_less(tmp_path, many, monkeypatch):
    by_detector(monkeypatch, likely)
    facts = detected(many, tmp_path, 60, size="2K")["filters"]["binding"]["leakage"]
    total = facts["candidates"]
    strata = {int(n): each for n, each in facts["strata"].items()}
    assert sum(each["sentences"] for each in strata.values()) == total
    assert strata[1]["sentences"] == pytest.approx(0.9 * total, rel=0.02)
    shares = [each["sampled"] / each["sentences"] for _, each in sorted(strata.items())]
    assert shares == sorted(shares) and shares[-1] == 1
    rows = full(tmp_path, "binding.leakage")
    by_stratum = {int(r["stratum"]): float(r["weight"]) for r in rows}
    assert by_stratum == pytest.approx(
        {n: each["sentences"] / each["sampled"] for n, each in strata.items()}, abs=1e-6
    )
    assert sum(float(r["weight"]) for r in rows) == pytest.approx(total, abs=1e-3)
    scored = [(likely("", tokenize(r["text"])), int(r["stratum"])) for r in rows]
    assert sorted(n for _, n in scored) == [n for _, n in sorted(scored)]


def test_strata_do_not_depend_on_parts_and_sheets_are_nested(tmp_path, many, monkeypatch):
    by_detector(monkeypatch, likely)
    detected(many, tmp_path / "a", 40, size="2K")
    monkeypatch.setattr(leakage, "table_batches", functools.partial(table_batches, size=13))
    detected(many, tmp_path / "b", 40, size="2K")
    detected(many, tmp_path / "large", 75, size="2K")
    detected(many, tmp_path / "other", 40, size="2K", seed=1)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name
    name = "binding.leakage"
    small, large = (
        [(e.number, e.sent_id, e.stratum) for e in entries(tmp_path / each, name)]
        for each in ("a", "large")
    )
    assert small == large[:40]
    assert small != [(e.number, e.sent_id, e.stratum) for e in entries(tmp_path / "other", name)]


def test_a_dose_is_no_leakage_and_a_sentence_counts_once(tmp_path, monkeypatch):
    """Binding is put back over and over. For question formation what comes back is text as any."""
    paths = make(tmp_path)
    built = condition(paths, rate=0.9, repeat=True, tolerance=1)
    dose = built["reinserted"]["binding"]
    assert dose["sentences"] > dose["different"]
    train = pl.read_parquet(paths.condition / "train.parquet")
    assert train["sent_id"].n_unique() < train.height
    by_detector(monkeypatch, knowing_any)
    facts = detected(paths, tmp_path / "audit", 1_000)
    assert facts["sentences"] == train.height
    own = train.filter(pl.col("replaced").is_null())["sent_id"]
    binding, question = (facts["filters"][word]["leakage"] for word in FILTERS)
    assert (binding["reinserted"], question["reinserted"]) == (dose["sentences"], 0)
    assert binding["candidates"] == own.len()
    assert question["candidates"] == own.len() + dose["different"]
    found = {word: [e.sent_id for e in entries(tmp_path / "audit", f"{word}.leakage")]
             for word in FILTERS}  # fmt: skip
    assert sorted(found["binding"]) == own.sort().to_list()
    assert sorted(found["question-formation"]) == sorted(set(train["sent_id"]))


def knowing_any(word, words):
    return 0.5


def test_what_another_reading_finds_and_a_dose_brings_is_no_leakage(tmp_path):
    """`paper` removes, and `direct` is put back: of what is gone, as the rest never left."""
    paths = make(tmp_path)
    table = pl.read_parquet(paths.labels)
    left = pl.col("sent_id") % N == ORDER.index("left")
    table = table.with_columns(binding_direct=left | pl.col("binding_paper"))
    write_table(table, paths.labels, LABELS.schema)
    built = condition(paths, rate=0.01, pool="direct", tolerance=1)
    train = pl.read_parquet(paths.condition / "train.parquet")
    back = train.filter(pl.col("replaced").is_not_null())["sent_id"]
    assert back.len() == built["reinserted"]["binding"]["sentences"] > 0
    assert set(back) <= set(table.filter("binding_paper")["sent_id"])
    facts = audit(paths, tmp_path / "audit", 1_000)["filters"]["binding"]["leakage"]
    assert facts["reinserted"] == back.len()
    own = train.filter(pl.col("replaced").is_null() & pl.col("text").str.contains("herself"))
    assert {e.sent_id for e in entries(tmp_path / "audit", "binding.leakage")} == set(
        own["sent_id"]
    )


# --- questions by reading --------------------------------------------------------------------


def test_sheets_ask_the_question_of_the_conditions_reading(tmp_path, paths):
    questions = {}
    for reading in ("paper", "direct"):
        other = but(paths, condition=tmp_path / reading)
        condition(other, filters=[Filter(name="binding", reading=reading)])
        filters = [Filter(name="binding", reading=reading)]
        facts = audit(other, tmp_path / f"audit-{reading}", filters=filters)["filters"]
        questions[reading] = facts["binding"]["question"]
    before = "at least two nouns, names or pronouns stand before a reflexive"
    assert before in questions["paper"]
    assert "by structure alone" in questions["direct"]


def test_questions_of_readings():
    both = [Filter(name="binding", reading=r) for r in ("paper", "direct")]
    known = SimpleNamespace(QUESTIONS={"paper": "Wide?", "direct": "Strict?"})
    assert labels.question_of(known, both[:1]) == "Wide?"
    assert labels.question_of(known, both) == "Wide? Or: Strict?"
    assert labels.question_of(SimpleNamespace(), both) == labels.general_question("binding")
    partly = SimpleNamespace(QUESTIONS={"direct": "Strict?"})
    assert labels.question_of(partly, both[:1]) == labels.general_question("binding")


@pytest.mark.parametrize("word", FILTERS)
def test_every_reading_of_the_papers_filters_has_a_question(word):
    questions = drawing.lexical(word).QUESTIONS
    assert set(questions) == set(rules_of(word).readings)
    assert len(set(questions.values())) == len(questions)
    assert all(each.endswith("?") for each in questions.values())


# --- weights ---------------------------------------------------------------------------------

# stratum: sentences, sampled, yes among them
STRATA = {1: (9_000, 10, 0), 2: (900, 6, 1), 3: (90, 4, 2)}


def weighted(folder, labels=True, columns=True, known=True):
    """Write a sheet of three strata with its statistics; strata take turns."""
    rows = [
        (Row(100 * n + i, "s", "d", f"text {n} {i}"), n)
        for n, (_, sampled, _) in STRATA.items()
        for i in range(sampled)
    ]
    rows.sort(key=lambda each: (each[0].sent_id % 100, each[1]))
    drawn = Drawn.of(rows, {n: size for n, (size, _, _) in STRATA.items()}, {})
    path = folder / "binding.leakage.csv"
    sheet.write(drawn.rows, path)
    yes = {n: number for n, (_, _, number) in STRATA.items()}
    words = {}
    for number, row in enumerate(drawn.rows, start=1):
        words[number] = "yes" if yes[row.stratum] else "no"
        yes[row.stratum] -= yes[row.stratum] > 0
    fill(path, words if labels else {})
    if not columns:
        path.write_text(without(path, WEIGHTS), encoding="utf-8-sig", newline="")
    if known:
        write_json(folder / "statistics.json", {
            "condition": "baby-f", "size": "10M", "seed": 42, "sample": 20, "sentences": 10_000,
            "base_sentences": 11_000,
            "filters": {"binding": {"leakage": {**drawn.facts(), "whole": True},
                                    "precision": None}},
        })  # fmt: skip
    return path


def without(path, names):
    """Return the text of a sheet without some of its columns."""
    rows = full(path.parent, path.stem)
    kept = [name for name in rows[0] if name not in names]
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, kept, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def test_weights_make_the_rate_by_hand(tmp_path):
    """0 of 10 of 9,000, 1 of 6 of 900, 2 of 4 of 90: 150 and 45 of 9,990."""
    found = rate(weighted(tmp_path))
    assert found.first.low.expected == pytest.approx(195)
    assert found.first.low.share == pytest.approx(195 / 9_990)
    low, high = found.first.low.expected_interval
    assert 3 <= low < 195 < high < 9_000
    assert found.origin.whole and found.origin.candidates == 9_990
    lines = told(found)
    assert lines[2].startswith("  leak rate: 1.95% (95% interval ")
    assert lines[3].startswith("  expected: 195.0 (")
    assert lines[3].endswith("of 9,990 sentences, all that the filter left in")
    assert lines[4:] == [
        "  stratum 1: 0 yes of 10 labelled, of 9,000 sentences",
        "  stratum 2: 1 yes of 6 labelled, of 900 sentences",
        "  stratum 3: 2 yes of 4 labelled, of 90 sentences",
    ]
    json.dumps(asdict(found))


def test_a_sheet_without_statistics_has_its_own_weights(tmp_path):
    alone = rate(weighted(tmp_path / "a", known=False))
    known = rate(weighted(tmp_path / "b"))
    assert alone.origin is None
    assert alone.first.low == known.first.low
    # As some spreadsheets write numbers
    path = tmp_path / "a" / "binding.leakage.csv"
    text = path.read_text("utf-8-sig")
    path.write_text(re.sub(r",(\d+)\.(\d{6}),", r',"\1,\2",', text), newline="")
    assert rate(path).first.low == known.first.low


def test_old_sheets_are_read_and_weigh_alike(tmp_path):
    """Three yes of twenty, whatever the strata were; of old statistics, too."""
    path = weighted(tmp_path, columns=False, known=False)
    assert [e.weight for e in sheet.read(path)] == [None] * 20
    found = rate(path).first
    assert found.low.share == 3 / 20 and found.low.expected is None
    assert found.low.interval == pytest.approx(clopper_pearson(3, 20))
    statistics(tmp_path, path, 400)
    assert rate(path).first.low.expected == 60


def test_strata_that_are_not_the_samples_are_refused(tmp_path):
    path = weighted(tmp_path, columns=False)
    wrong("the column 'stratum' is not that of the sample; restore it", path)
    path = weighted(tmp_path)
    text = path.read_text("utf-8-sig")
    path.write_text(text.replace(",3,22.500000,", ",4,22.500000,"), newline="")
    wrong("the column 'stratum' is not that of the sample", path)
    path.write_text(text.replace(",2,150.000000,", ",1,150.000000,", 1), newline="")
    wrong("the column 'stratum' is not that of the sample", path)
    path = weighted(tmp_path, columns=True)
    path.write_text(without(path, ["weight"]), newline="")
    wrong("column 'weight' is missing", path)
    value = read_json(tmp_path / "statistics.json")
    value["filters"]["binding"]["leakage"]["strata"]["1"].pop("sentences")
    write_json(tmp_path / "statistics.json", value)
    wrong("not the statistics of an audit", weighted(tmp_path, known=False))


def test_a_stratum_without_a_label_is_told(tmp_path):
    path = weighted(tmp_path, labels=False)
    rows = {e.number: e.stratum for e in sheet.read(path)}
    fill(path, {number: "no" for number, stratum in rows.items() if stratum != 1})
    found = rate(path)
    assert found.first.unseen == 9_000
    assert found.first.low.share == 0 and found.first.low.expected_interval[1] > 9_000
    assert any("no label in strata of 9,000 sentences" in line for line in told(found))


def test_small_rates_are_not_written_as_naught():
    assert [percent(x) for x in (0, 1, 0.006, 0.001, 0.00034, 3.1e-7)] == [
        "0.00", "100.00", "0.60", "0.10", "0.034", "0.000031",
    ]  # fmt: skip


# --- from the corpus to the rate, with leaks that are known --------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("knows", [True, False], ids=["knows", "noise"])
def test_the_audit_finds_the_leaks_that_were_planted(tmp_path, monkeypatch, knows):
    """300 sheets, each drawn, written, labelled by somebody who knows, and rated.

    15 of 300 sentences are leaks; one in five of them has a score that tells nothing.
    """
    leaks = set(range(0, 300, 20))
    texts = [f"dog {i}" for i in range(300)]
    base = [(i, "s", "d", i, text, 2, "train", i, "1K") for i, text in enumerate(texts)]
    base += [(300 + i, "s", "d", i, f"x {i}", 2, s, 0, "") for i, s in enumerate(("dev", "test"))]
    paths = write_base(tmp_path, base, [{"sent_id": i} for i in range(302)])
    binding = [Filter(name="binding", reading="paper")]
    condition(paths, filters=binding)
    odds = np.random.default_rng(5).normal(size=300)
    if knows:
        odds[[i for i in leaks if i % 100]] += 3
    by_detector(monkeypatch, lambda word, words: 1 / (1 + np.exp(-odds[int(words[1])])))
    monkeypatch.setattr(rating, "estimate", functools.partial(estimate, draws=2_000))
    found = []
    for seed in range(300):
        detected(paths, tmp_path / "audit", 40, seed=seed, filters=binding)
        path = tmp_path / "audit" / "binding.leakage.csv"
        fill(path, {e.number: "yes" if e.sent_id in leaks else "no" for e in sheet.read(path)})
        found.append(rate(path).first.low)
        path.unlink()
    means = np.array([each.expected for each in found])
    error = means.std(ddof=1) / len(found) ** 0.5
    assert abs(means.mean() - 15) < 4 * error
    holds = np.mean([low <= 15 <= high for low, high in (e.expected_interval for e in found)])
    assert holds >= 0.93
