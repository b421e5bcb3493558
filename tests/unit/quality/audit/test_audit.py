"""The audit of filtered corpora: who is drawn, and what a person sees."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.config import Filter, specs
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json, read_table, write_table
from poshgrid.evidence.schema import CONDITION, Labels, column
from poshgrid.quality.audit import sheet
from poshgrid.quality.audit.draw import draw, sample
from poshgrid.quality.audit.rate import rate
from tests.unit.evidence.condition_support import FILTERS, LABELS, Made, spec, write
from tests.unit.quality.audit.sheets import fill, sentences

PAPER = [Filter(name=name, reading="paper") for name in FILTERS]


# --- drawing ---------------------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 2**32 - 1), unique=True, max_size=60),
    st.integers(1, 30),
    st.integers(0, 30),
    st.randoms(use_true_random=False),
)
def test_order_does_not_matter_and_samples_are_nested(numbers, size, more, random):
    small, large = (sample(numbers, n, 0, "x") for n in (size, size + more))
    assert small == large[:size]
    assert len(small) == min(size, len(numbers)) and set(small) <= set(numbers)
    shuffled = list(numbers)
    random.shuffle(shuffled)
    assert sample(shuffled, size, 0, "x") == small


def test_the_sample_of_a_seed_is_pinned():
    """Labelled sheets of earlier versions must stay valid."""
    assert sample(range(100), 5, 42, "binding.leakage") == [32, 85, 41, 46, 31]


# --- sheets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["-said he", "\rx", "'=1"])
def test_no_text_becomes_a_formula(tmp_path, text):
    sheet.write("b.leakage", sentences(text, first=3), tmp_path / "a.csv")
    stream = io.StringIO((tmp_path / "a.csv").read_bytes().decode("utf-8-sig"), newline="")
    header, line = csv.reader(stream)
    assert header == ["number", "sheet", *sheet.ROWS, "label", "note"]
    assert line[:3] == ["1", "b.leakage", "3"]
    assert line[3:] == [f"'{text}"] * 4 + ["", ""]
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
BLOCKS = 80


def make(folder: Path, labels: Labels = LABELS) -> Made:
    """Write a corpus of blocks, one sentence of each class, every other at 1K, and its labels."""
    rows = []
    for i in range(BLOCKS * N):
        text, *says, tokens = CLASSES[ORDER[i % N]]
        split = ("dev", "test")[i % 2] if i >= BLOCKS * N * 0.9 else "train"
        size = "" if split != "train" else ("1K", "2K")[i // N % 2]
        row = {"document": f"doc {i // 10}", "text": text.format(i), "n_words": 6}
        for word, say in zip(labels.readings, says, strict=False):
            row[column(word, "paper")] = say == "rule"
            row[column(word, "paper", "tokens")] = tokens if say else []
            if word in labels.backstops:
                row[column(word, "paper", "backstop")] = say == "backstop"
        rows.append(row | {"split": split, "size": size})
    return write(folder, rows, labels)


def condition(tables, folder, filters=PAPER, **dose):
    rates = {"binding": {"pool": "paper", "tolerance": 1} | dose} if dose else {}
    wanted = spec(name="baby-f", filters=filters, rates=rates)
    return tables.build(wanted, folder, allow=["void"])  # these labels are nobody's


def audit(tables, output, number=10, built=None, **settings):
    settings = {"filters": PAPER, "size": "1K"} | settings
    wanted = specs.AuditSpec(condition="baby-f", sample=number, **settings)
    folder = built or tables.sentences.with_name("condition")
    return draw(wanted, folder, tables.sentences, tables.labels, output)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    tables = make(folder)
    condition(tables, folder / "condition")
    return tables


def entries(folder, name):
    return sheet.read(folder / f"{name}.csv")


def numbers(folder, name):
    return {entry.sent_id for entry in entries(folder, name)}


def of_classes(*classes):
    """Return the sentences at 1K of some classes."""
    return {i for i in range(432) if i // N % 2 == 0 and ORDER[i % N] in classes}


def test_candidates_are_those_left_in_and_removed(tmp_path, tables):
    """72 blocks are training sentences, 36 of them at size 1K."""
    facts = audit(tables, tmp_path, 1_000)
    assert facts == read_json(tmp_path / "statistics.json")
    assert (facts["sentences"], facts["corpus_sentences"]) == (36 * 3, 36 * 6)
    for word, removed, backstop in (("binding", 72, 36), ("question-formation", 36, 0)):
        precision, leakage = (facts["filters"][word][kind] for kind in ("precision", "leakage"))
        assert (precision["candidates"], precision["backstop"]) == (removed, backstop)
        assert leakage.items() >= {
            "candidates": 36, "sampled": 36, "reinserted": 0, "whole": False
        }.items()  # fmt: skip
    for name, classes in (
        ("binding.leakage", ["left"]),
        ("binding.precision", ["bound", "looks"]),
        ("question-formation.leakage", ["aux"]),
        ("question-formation.precision", ["question"]),
    ):
        rows = entries(tmp_path, name)
        drawn = [entry.sent_id for entry in rows]
        assert set(drawn) == of_classes(*classes)
        assert drawn != sorted(drawn)  # in the order of rank, not of the corpus
        assert [entry.number for entry in rows] == list(range(1, len(drawn) + 1))
        for entry in rows:
            assert entry.text == CLASSES[ORDER[entry.sent_id % N]][0].format(entry.sent_id)
    cells = {}
    for path in tmp_path.glob("*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as stream:
            cells |= {row["sent_id"]: row for row in csv.DictReader(stream)}
    assert cells["13"]["text"] == "'=the girl's dad13 likes himself"
    assert cells["13"]["words"] == "girl | himself" and cells["13"]["document"] == "doc 1"
    assert (cells["16"]["words"], cells["17"]["words"]) == ("Ca | has | ?", "himself")


def test_candidates_of_rewritten_sentences_are_those_of_the_corpus(tmp_path, tables):
    built = shutil.copytree(tables.sentences.with_name("condition"), tmp_path / "condition")
    train = read_table(built / "train.parquet", CONDITION)
    write_table(train.with_columns(text=pl.lit("x")), built / "train.parquet", CONDITION)
    facts = audit(tables, tmp_path / "audit", 1_000, built, rewrite=True)["filters"]
    assert [facts[word]["leakage"]["candidates"] for word in FILTERS] == [36, 36]
    assert numbers(tmp_path / "audit", "binding.leakage") == of_classes("left")
    assert facts["rewrite"]["precision"]["candidates"] == train.height


def test_a_filter_without_candidates_is_drawn_from_all_that_is_left(tmp_path):
    """The filter of relative clauses names no words to look for."""
    word = "agr-rel-cl"
    tables = make(tmp_path, Labels({word: ("paper",)}, {}))
    filters = [Filter(name=word, reading="paper")]
    condition(tables, tmp_path / "condition", filters)
    facts = audit(tables, tmp_path / "audit", 1_000, filters=filters)["filters"][word]
    assert facts["leakage"]["whole"] and facts["leakage"]["candidates"] == 36 * 5
    left = of_classes(*ORDER) - of_classes("bound")
    assert numbers(tmp_path / "audit", f"{word}.leakage") == left


@pytest.mark.parametrize("rate", [0.01, 0.9])
def test_a_dose_is_no_leakage(tmp_path, rate):
    """Of what is gone, the evidence may come back; repeated, a sentence counts once."""
    tables = make(tmp_path)
    train, built = condition(tables, tmp_path / "condition", rate=rate, repeat=True)
    dose = built["reinserted"]["binding"]
    assert (dose["sentences"] > dose["different"]) == (rate == 0.9)
    facts = audit(tables, tmp_path / "audit", 1_000, whole=True)
    assert facts["sentences"] == train.height
    own = set(train.filter(pl.col("replaced").is_null())["sent_id"])
    binding, question = (facts["filters"][word]["leakage"] for word in FILTERS)
    assert (binding["reinserted"], question["reinserted"]) == (dose["sentences"], 0)
    assert numbers(tmp_path / "audit", "binding.leakage") == own
    assert numbers(tmp_path / "audit", "question-formation.leakage") == set(train["sent_id"])
    assert (binding["candidates"], question["candidates"]) == (
        len(own), train["sent_id"].n_unique(),
    )  # fmt: skip


# --- faults ----------------------------------------------------------------------------------


def refused(tables, output, message, **settings):
    before = {p: p.read_bytes() for p in output.iterdir()} if output.exists() else {}
    with pytest.raises(PoshgridError, match=message) as error:
        audit(tables, output, **settings)
    assert "\n" not in str(error.value)
    assert ({p: p.read_bytes() for p in output.iterdir()} if output.exists() else {}) == before


def test_a_sheet_with_labels_is_not_overwritten(tmp_path, tables):
    audit(tables, tmp_path)
    audit(tables, tmp_path, 20)  # blank sheets may go
    path = tmp_path / "binding.leakage.csv"
    for labels, note in (({5: "no"}, ""), ({}, "see me")):
        kept = fill(path, labels, note=note, separator=";").read_bytes()
        audit(tables, tmp_path, 20)  # the same sentences
        assert path.read_bytes() == kept
        refused(tables, tmp_path, r"binding\.leakage\.csv", number=10)
        sheet.write("binding.leakage", sentences(), path)
        audit(tables, tmp_path, 20)
    # Columns that a person has renamed, or lost
    fill(path, {5: "no"}, separator=";")
    kept = path.read_text("utf-8-sig")
    for name, message in (("Label", "has labels or notes"), ("answer", "no column 'label'")):
        path.write_text(kept.replace("label", name, 1), newline="")
        refused(tables, tmp_path, message, number=10)
    sheet.write("binding.leakage", sentences(), path)
    audit(tables, tmp_path, 20)
    # The same numbers, of a corpus made anew
    fill(path, {5: "no"})
    path.write_text(path.read_text("utf-8-sig").replace("Mary sees", "Mary saw"), newline="")
    refused(tables, tmp_path, r"binding\.leakage\.csv", number=20)


def test_tables_that_do_not_belong_together(tmp_path, tables):
    out = tmp_path / "out"
    refused(tables, out, "no labels of filter", filters=[Filter(name="passive", reading="paper")])
    # A condition without filters holds what they remove
    condition(tables, tmp_path / "bare", filters=[])
    refused(tables, out, "sent_id 1 .* filter 'binding' removes", built=tmp_path / "bare")
    built = tables.sentences.with_name("condition")
    short = write(tmp_path / "short", tables.table.head(300).to_dicts())
    refused(short, out, "run -R condition", built=built)


def test_round_trip_through_the_audit(tmp_path, tables):
    audit(tables, tmp_path, 10)
    copy = tmp_path / "copies" / "anna (1).csv"
    copy.parent.mkdir()
    shutil.copy(tmp_path / "binding.precision.csv", copy)
    fill(copy, {1: "yes", 2: "yes", 3: "no"})
    assert rate(copy).drawn is None
    shutil.copy(tmp_path / "statistics.json", copy.parent)
    rated = rate(copy)
    assert (rated.filter, rated.kind, rated.drawn["candidates"]) == ("binding", "precision", 72)
    assert rated.rates == (2 / 3, 2 / 3)
