"""The audit of filtered corpora: who is drawn, what a person sees, and what the labels say."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections import Counter
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from poshgrid.audit import sheet
from poshgrid.audit.draw import draw, sample
from poshgrid.audit.firing import marked
from poshgrid.audit.rate import estimate, lines, percent, rate
from poshgrid.audit.sheet import COLUMNS, Row
from poshgrid.config import Condition, Filter, specs
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence.condition import build
from poshgrid.evidence.match import Match
from poshgrid.evidence.schema import Labels, column
from poshgrid.evidence.screening.detector import train
from poshgrid.evidence.screening.screen import lexical
from poshgrid.files import read_json, write_json, write_table
from poshgrid.parsing.tree import Tree
from poshgrid.parsing.words import tokenize

FILTERS = ["binding", "question-formation"]
PAPER = [Filter(name=name, reading="paper") for name in FILTERS]

# --- drawing ---------------------------------------------------------------------------------


def drawn(numbers, size, seed=0, name="binding.leakage"):
    return sample(numbers, size, seed, name)


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


def test_the_sample_of_a_seed_is_pinned():
    """Labelled sheets of earlier versions must stay valid."""
    assert sample(range(100), 5, 42, "binding.leakage") == [32, 85, 41, 46, 31]


# --- marking words ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "places", "shown"),
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
def test_marks(text, places, shown):
    assert marked(text, places) == shown


@given(st.text(st.sampled_from("aI'’stn.?!-,\"( \u00a0z3$é"), max_size=25))
def test_words_are_found_in_any_text(text):
    assert marked(text, []) == text
    words = tokenize(text)
    assert re.findall(r"\[(.*?)\]", marked(text, range(1, len(words) + 1))) == words


# --- sheets ----------------------------------------------------------------------------------

FORMULAS = [
    '=HYPERLINK("http://x.example","y")', "+1", "-said he", "@home", "=1+1", "\t=1", "\rx", " =1",
    "＝1", "＋1", "－1", "＠x", "'=1", "''-",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_becomes_a_formula(tmp_path, text):
    sheet.write("b.leakage", [Row(3, text, text, text, text)], tmp_path / "a.csv")
    stream = io.StringIO((tmp_path / "a.csv").read_bytes().decode("utf-8-sig"), newline="")
    header, line = csv.reader(stream)
    assert tuple(header) == COLUMNS and line[:3] == ["1", "b.leakage", "3"]
    for value in line:
        assert not re.match(r"[\s\u00a0]*[=+\-@＝＋－＠]|[\t\r\n]", value), value
        assert value in ("1", "3", "b.leakage", "", f"'{text}")
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


def audit(paths, output, number=10, seed=0, filters=PAPER, size="1K", detector=None):
    spec = specs.AuditSpec(
        condition="baby-f", size=size, filters=filters, sample=number, seed=seed,
        detector=detector is not None,
    )  # fmt: skip
    return draw(spec, paths.condition, paths.sentences, paths.labels, output, detector)


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


def test_larger_sheets_begin_with_smaller_ones(tmp_path, paths):
    audit(paths, tmp_path / "a", 12)
    audit(paths, tmp_path / "large", 20)
    audit(paths, tmp_path / "other", 12, seed=1)
    for word in FILTERS:
        for kind in ("leakage", "precision"):
            name = f"{word}.{kind}"
            small, large = entries(tmp_path / "a", name), entries(tmp_path / "large", name)
            assert len(small) == 12 and small == large[:12]
            assert small != entries(tmp_path / "other", name)


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


def test_a_filter_without_candidates_is_drawn_from_all_that_is_left(tmp_path):
    """The filter of existential *there* names no words to look for."""
    word = "agr-rel-cl"
    assert not hasattr(lexical(word), "candidates")
    base = [(i, "s", "d", i, f"text {i}", 2, "train", i, "1K") for i in range(20)]
    base += [(20, "s", "d", 0, "a", 1, "dev", 0, ""), (21, "s", "d", 0, "b", 1, "test", 0, "")]
    schema = Labels({word: ("paper",)}, {}).schema
    nothing = {n: [] if kind == pl.List(pl.UInt16) else False for n, kind in schema.items()}
    rows = [nothing | {"sent_id": i, column(word, "paper"): i < 5} for i in range(22)]
    paths = write_base(tmp_path, base, [])
    write_table(pl.DataFrame(rows, schema=schema), paths.labels, schema)
    write_json(paths.labels.with_suffix(".json"), {"filters": {word: {"paper": {"never": []}}}})
    filters = [Filter(name=word, reading="paper")]
    condition(paths, filters=filters)
    facts = audit(paths, tmp_path / "audit", 100, filters=filters)["filters"][word]
    assert facts["leakage"]["whole"] and facts["leakage"]["candidates"] == 15
    assert {e.sent_id for e in entries(tmp_path / "audit", f"{word}.leakage")} == {*range(5, 20)}


@pytest.fixture(scope="module")
def detector(tmp_path_factory):
    """A detector of *herself* and of *has*, of sentences like those of the base."""
    forms = [tokenize(text.format(i)) for i in range(40) for text, *_ in CLASSES.values()]
    n = len
    trees = [
        Tree(f, ["X"] * n(f), ["_"] * n(f), [0] + [1] * (n(f) - 1), ["dep"] * n(f)) for f in forms
    ]

    def knows(word):
        return lambda tree: Match("x", {"a": 1}) if word in tree.form else None

    rules = {"binding": [knows("herself")], "question-formation": [knows("has")]}
    folder = tmp_path_factory.mktemp("detector")
    train(trees, rules).save(folder)
    return folder


def test_a_detector_lists_the_likeliest_and_all_may_be_drawn(tmp_path, paths, detector):
    """36 blocks of three sentences that are left: `left`, `plain` and `aux`."""
    facts = audit(paths, tmp_path, 30, detector=detector)["filters"]
    for word, likely in (("binding", "herself"), ("question-formation", "has")):
        found = facts[word]["leakage"]
        assert found["whole"] and (found["candidates"], found["sampled"]) == (108, 30)
        assert facts[word]["suspects"]["candidates"] == 108
        suspects = entries(tmp_path, f"{word}.suspects")
        assert len(suspects) == 30 and all(likely in e.text for e in suspects)
        texts = Counter(e.text for e in entries(tmp_path, f"{word}.leakage"))
        assert 0 < sum(likely in text for text in texts) < 30
    known = full(tmp_path, "binding.suspects")[0]
    assert known["words"].endswith("herself") and known["sheet"] == "binding.suspects"
    fill(tmp_path / "binding.suspects.csv", {1: "yes", 2: "yes", 3: "no", 4: "unsure"})
    first = rate(tmp_path / "binding.suspects.csv").first
    assert (first.low.share, first.high.share) == (0.5, 0.75)
    assert first.low.interval is None and first.low.expected is None


def test_a_dose_is_no_leakage_and_a_text_is_suspect_once(tmp_path, detector):
    """Binding is put back over and over. For question formation what comes back is text as any."""
    paths = make(tmp_path)
    built = condition(paths, rate=0.9, repeat=True, tolerance=1)
    dose = built["reinserted"]["binding"]
    train = pl.read_parquet(paths.condition / "train.parquet")
    assert train["sent_id"].n_unique() < train.height and dose["sentences"] > dose["different"]
    facts = audit(paths, tmp_path / "audit", 1_000, detector=detector)
    assert facts["sentences"] == train.height
    own = train.filter(pl.col("replaced").is_null())["sent_id"]
    binding, question = (facts["filters"][word]["leakage"] for word in FILTERS)
    assert (binding["reinserted"], question["reinserted"]) == (dose["sentences"], 0)
    assert (binding["candidates"], question["candidates"]) == (
        own.len(), own.len() + dose["different"],
    )  # fmt: skip
    found = {w: [e.sent_id for e in entries(tmp_path / "audit", f"{w}.leakage")] for w in FILTERS}
    assert sorted(found["binding"]) == own.sort().to_list()
    assert sorted(found["question-formation"]) == sorted(set(train["sent_id"]))
    for word in FILTERS:
        texts = [e.text for e in entries(tmp_path / "audit", f"{word}.suspects")]
        assert len(texts) == len(set(texts))


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("none", r"none/detector\.safetensors: cannot be read"),
        ("own", "knows binding, ques.*, not npi"),
    ],
)
def test_a_detector_that_does_not_fit_is_refused(tmp_path, paths, detector, folder, message):
    filters = [*PAPER, Filter(name="npi-only", reading="paper")]
    given = detector if folder == "own" else tmp_path / folder
    refused(paths, tmp_path / "out", message, filters=filters, detector=given)


def refused(paths, output, message, **settings):
    before = {p: p.read_bytes() for p in output.iterdir()} if output.exists() else {}
    with pytest.raises(PoshgridError, match=message) as error:
        audit(paths, output, **settings)
    assert "\n" not in str(error.value)
    assert ({p: p.read_bytes() for p in output.iterdir()} if output.exists() else {}) == before


def test_a_sheet_with_labels_is_not_overwritten(tmp_path, paths):
    audit(paths, tmp_path)
    audit(paths, tmp_path, 20)  # blank sheets may go
    path = tmp_path / "binding.leakage.csv"
    for answers, note in (({5: "no"}, ""), ({}, "see me")):
        kept = fill(path, answers, note=note, separator=";").read_bytes()
        audit(paths, tmp_path, 20)  # the same sentences
        assert path.read_bytes() == kept
        message = r"binding\.leakage\.csv: holds labels or notes on another sample"
        refused(paths, tmp_path, message, number=10)
        refused(paths, tmp_path, message, number=20, seed=1)
        sheet.write("binding.leakage", [], path)
        audit(paths, tmp_path, 20)
    # The same numbers, of a base made anew
    fill(path, {5: "no"})
    path.write_text(path.read_text("utf-8-sig").replace("Mary sees", "Mary saw"), newline="")
    refused(paths, tmp_path, "on another sample", number=20)


def test_tables_that_do_not_belong_together(tmp_path, paths):
    out = tmp_path / "out"
    refused(paths, out, "nothing to audit", filters=[])
    refused(paths, out, "no labels of filter", filters=[Filter(name="passive", reading="paper")])
    refused(but(paths, labels=tmp_path / "none.parquet"), out, "none.parquet: not found")
    broken = tmp_path / "broken"
    shutil.copytree(paths.condition, broken)
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
    refused(but(paths, **short), out, "that is not in ")
    refused(but(paths, sentences=short["sentences"]), out, "480 sentences, and .* has 300")


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
    rows = [Row(first + i, "s", "d", f"the {i} dog's café") for i in range(len(labels))]
    sheet.write("binding.leakage", rows, folder / name)
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


def test_intervals_by_hand():
    # None of n: the rule of three, exactly 1 - .025^(1/n)
    assert estimate(0, 1_000).interval == pytest.approx((0, 1 - 0.025 ** (1 / 1_000)))
    assert estimate(10, 10).interval == pytest.approx((0.025 ** (1 / 10), 1))
    for yes, n, level in [(1, 7, 0.9), (3, 10, 0.95), (50, 100, 0.99)]:
        low, high = estimate(yes, n, level).interval
        assert (low, high) == pytest.approx(clopper_pearson(yes, n, level))
        # By definition the bounds are where so many, or more, have half of 1 - level
        assert stats.binom.sf(yes - 1, n, low) == pytest.approx((1 - level) / 2)
        assert stats.binom.cdf(yes, n, high) == pytest.approx((1 - level) / 2)


def test_planted_leaks_are_estimated_without_bias(tmp_path):
    """Sheets of 100 of 500 sentences, 40 of them leaks: their mean, and what intervals hold."""
    leaks = set(range(0, 500, 13)) | {1, 2}
    found = []
    for seed in range(300):
        drawn = sample(range(500), 100, seed, "x")
        found.append(estimate(len(leaks.intersection(drawn)), 100, 0.95, 500))
    expected = np.array([each.expected for each in found])
    assert abs(expected.mean() - len(leaks)) < 4 * expected.std(ddof=1) / len(found) ** 0.5
    bounds = [each.expected_interval for each in found]
    assert np.mean([low <= len(leaks) <= high for low, high in bounds]) > 0.93


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


def test_sentences_that_were_skipped_are_reported(tmp_path):
    path = write_sheet(tmp_path, ["no", "", "yes", ""])
    assert rate(path).first.skipped
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
    assert rate(copy).drawn is None
    found = rate(copy, statistics=tmp_path / "statistics.json")
    assert (found.filter, found.kind, found.drawn["candidates"]) == ("binding", "precision", 72)
    assert found.first.low.expected == pytest.approx(48)
    assert any("precision: 66.67%" in line for line in lines(found))
    assert json.loads(json.dumps(asdict(found)))["first"]["yes"] == 2


def test_exports_of_label_studio_and_doccano_are_read(tmp_path):
    """Columns in another order, some left out, some more, and rows in another order."""
    path = write_sheet(tmp_path, ["", "", ""])
    statistics(tmp_path, path, 10)
    rows = list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))
    for row, label in zip(rows, ["no", "yes", ""], strict=True):
        row |= {"label": label, "annotator": "1", "lead_time": "3.2"}
    kept = ["annotator", "label", "lead_time", "number", "sent_id", "sheet", "text"]
    pl.DataFrame(rows[::-1]).select(kept).write_csv(path)
    found = rate(path)
    assert (found.first.yes, found.first.no, found.first.blank) == (1, 1, 1)
    assert found.drawn["candidates"] == 10


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
    assert rate(second, first).agreement.kappa == pytest.approx(0.6)
    same = write_sheet(tmp_path, ["no", "no"], "a.csv")
    assert rate(same, write_sheet(tmp_path, ["no", "no"], "b.csv")).agreement.kappa is None


def wrong(message, *args, **settings):
    with pytest.raises(PoshgridError, match=message) as error:
        rate(*args, **settings)
    assert "\n" not in str(error.value)


HEADER = ",".join(COLUMNS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 'number'"),
        ("PK\x03\x04", "column 'number'"),
        (HEADER.replace("label", "labels"), "column 'label'"),
        (f"{HEADER},number", "column 'number'"),
        (f"{HEADER}\n1,b.leakage,5,s,d,t,w,ja,\n", "number 1: label 'ja'"),
        (f"{HEADER}\n1,b.leakage,5,s\n", "number 1: label None"),
        (f'{HEADER}\n1,b.leakage,5,s,d,"text,w,no,\n', "unexpected end of data"),
        (f"{HEADER}\n1.0,b.leakage,5,s,d,t,w,no,\n", "number '1.0' is no whole number"),
        (f"{HEADER}\n1,b.leakage,5E3,s,d,t,w,no,\n", "sent_id '5E3' is no whole number"),
        (f"{HEADER}\n1,b.leakage,5,s,d,t,w,no,\n1,b.leakage,6,s,d,t,w,no,\n", "1 is there twice"),
        (f"{HEADER}\n1,b.leakage,5,s,d,t,w,no,\n2,c.leakage,6,s,d,t,w,no,\n", "one sheet alone"),
        (f"{HEADER}\n1,b.leakage,5,s,d,t,w, ,\n", "no sentence has a label"),
    ],
)  # fmt: skip
def test_what_is_no_annotated_sheet_is_refused(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    wrong(message, tmp_path / "a.csv")


def test_sheets_that_do_not_belong_together(tmp_path):
    path = write_sheet(tmp_path, ["no", "yes", ""])
    wrong("none.csv: cannot read", tmp_path / "none.csv")
    wrong("between 0 and 1", path, confidence=95)
    wrong("not another copy", path, path)
    wrong("not another copy", path, write_sheet(tmp_path, ["no", "yes", ""], "o.csv", first=101))
    wrong("not another copy", path, write_sheet(tmp_path, ["no", "yes"], "l.csv"))
    known = statistics(tmp_path, path, 10)
    assert rate(path).drawn["candidates"] == 10
    wrong("are not a sample of", write_sheet(tmp_path, ["no", "yes", ""], "o.csv", first=7))
    rows = path.read_text("utf-8-sig").splitlines()
    path.write_text("\n".join(rows[:-1]))
    wrong("2 sentences that are not a sample of", path)
    write_json(known, {"condition": "x"})
    wrong("not the statistics of an audit", path)
    wrong("none.json: not found", path, statistics=tmp_path / "none.json")


def test_small_rates_are_not_written_as_naught():
    assert [percent(x) for x in (0, 1, 0.006, 0.001, 0.00034, 3.1e-7)] == [
        "0.00", "100.00", "0.60", "0.10", "0.034", "0.000031",
    ]  # fmt: skip


# --- from the corpus to the rate, with leaks that are known --------------------------------------
