"""Conditions: what they go without, what refills them, their controls, and void ones."""

import functools
from collections import Counter

import numpy as np
import polars as pl
import pytest

from poshgrid.config.runs import SPLITS
from poshgrid.core.database import Database
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json, table_batches
from poshgrid.evidence import sentences as planning
from poshgrid.evidence.condition import build
from poshgrid.evidence.removal import choose
from tests.unit.evidence import condition_support as support
from tests.unit.evidence.condition_support import (
    DIRECT,
    FILTERS,
    held,
    planned,
    read,
    removes,
    spec,
    words_of,
)


@pytest.fixture(scope="module")
def looking(tmp_path_factory):
    """A corpus in which backstops remove sentences, too."""
    return support.make(tmp_path_factory.mktemp("looking"), rows=3_000, looks=0.03)


# ---- what is removed, by brute force ----------------------------------------------------------


def brute(corpus, wanted):
    """Plan a condition again, sentence by sentence: what it keeps, lost and got in exchange."""
    rows = corpus.table.to_dicts()
    bare = wanted.size in wanted.condition.unfiltered_sizes
    filters = [] if bare else list(map(str, wanted.condition.filters))
    sizes = ("1K",) if wanted.size == "1K" else ("1K", "2K")

    def gone(row):
        return any(removes(row, word) for word in filters)

    whole = [row for row in rows if row["size"] in sizes]
    left = [row for row in whole if not gone(row)]
    kept = list(left)
    if wanted.condition.refill:
        for source in ("childes", "books"):
            lacking = sum(row["n_words"] for row in whole if row["source"] == source and gone(row))
            for row in sorted(rows, key=lambda row: row["rank"]):
                further = row["split"] == "train" and row["size"] not in sizes and not gone(row)
                if further and row["source"] == source and lacking > 0:
                    kept.append(row)
                    lacking -= row["n_words"]
    if wanted.condition.downsample < 1:
        drawn = np.random.default_rng(wanted.condition.seed).random(len(rows))
        number = int(wanted.condition.downsample * len(whole))
        kept = sorted(kept, key=lambda row: drawn[row["sent_id"]])[:number]
    removed = {}
    for word in filters:
        rule = [row for row in whole if removes(row, word, backstop=False)]
        both = [row for row in whole if removes(row, word)]
        words = sum(row["n_words"] for row in both)
        counts = {"rule": len(rule), "backstop": len(both) - len(rule), "words": words}
        name = f"{word.partition('.')[0].replace('-', '_')}_direct"
        direct = [sum(row[name] for row in part) for part in (both, whole)]
        counts |= {"never": [], "direct": direct[0], "direct_whole": direct[1]}
        removed[word if "." in word else f"{word}.paper"] = counts
    return whole, left, sorted(kept, key=lambda row: row["sent_id"]), removed


def counted(rows):
    return {"sentences": len(rows), "words": sum(row["n_words"] for row in rows)}


def summary(rows):
    """Return what ``statistics.json`` says of some sentences."""

    def facts(some):
        counts = counted(some)
        return {**counts, "words_per_sentence": round(counts["words"] / counts["sentences"], 4)}

    sources = sorted({row["source"] for row in rows})
    own = {source: facts([row for row in rows if row["source"] == source]) for source in sources}
    return {**facts(rows), "sources": own}


CONDITIONS = {
    "nothing": {},
    "one filter": {"filters": ["binding"]},
    "both": {"filters": FILTERS},
    "direct": {"filters": DIRECT},
    "readings": {"filters": ["binding.paper", "binding.direct", "question-formation.direct"]},
    "larger": {"filters": FILTERS, "size": "2K"},
    "refilled": {"filters": FILTERS, "refill": True},
    "larger, refilled": {"filters": ["binding"], "refill": True, "size": "2K"},
    "down-sampled": {"filters": FILTERS, "downsample": 0.7, "seed": 3},
    "bare": {"filters": FILTERS, "size": "2K", "unfiltered_sizes": ["2K"], "refill": True},
    "published dev and test": {"filters": FILTERS, "heldout": False},
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_sentences_and_statistics_by_brute_force(tmp_path, looking, name):
    wanted = spec(**CONDITIONS[name])
    train, facts = looking.build(wanted, tmp_path)
    whole, left, kept, removed = brute(looking, wanted)
    assert train["sent_id"].to_list() == [row["sent_id"] for row in kept]
    assert train["text"].to_list() == [row["text"] for row in kept]
    assert train["replaced"].null_count() == train.height
    assert facts == read_json(tmp_path / "statistics.json")
    assert facts["splits"]["train"] == summary(kept) and facts["whole"] == summary(whole)
    assert facts["removed"] == removed
    lost = len(whole) - len(left), counted(whole)["words"] - counted(left)["words"]
    assert (facts["removed_sentences"], facts["removed_words"]) == lost
    if "downsample" not in CONDITIONS[name]:
        more = {key: counted(kept)[key] - counted(left)[key] for key in ("sentences", "words")}
        assert facts["refilled"] == more
    # What any filter of the labels removes is in no condition's dev and test, unless published
    words = FILTERS if wanted.heldout_filtered else []
    for split in ("dev", "test"):
        rows = [row for row in looking.table.to_dicts() if row["split"] == split]
        clean = [row for row in rows if not any(removes(row, word) for word in words)]
        assert read(tmp_path)[split]["sent_id"].to_list() == [row["sent_id"] for row in clean]
        assert facts["splits"][split] == summary(clean)
        assert facts["heldout_removed"][split] == len(rows) - len(clean)


def test_a_refill_takes_the_next_sentences_until_the_words_are_there():
    here = [("a", 5, "1K", True), ("b", 3, "1K", True), ("a", 4, "1K", False)]
    further = [("a", n, size, False) for n, size in ((2, "2K"), (3, "2K"), (1, ""))]
    # All that b had is gone; the three words of a are neither too many nor too few
    rest = [("b", 1, "2K", False), ("b", 9, "2K", True), ("b", 1, "", False), ("b", 1, "", False)]
    wanted = spec(filters=["binding"], refill=True)
    with planned(*here, *further, *rest) as corpus:
        assert held(corpus, choose(corpus, wanted).filled) == [2, 3, 4, 6, 8, 9]
    with (
        planned(*here, *further, *rest[:-1]) as corpus,
        pytest.raises(PoshgridError, match=r"source 'b' lacks 1 words to refill the 3 that are"),
    ):
        choose(corpus, wanted)


@pytest.mark.parametrize(("downsample", "lower"), [(0.5, r"0\.285"), (3, "2"), ("0.003K", "2")])
def test_a_downsampled_condition_needs_as_many_sentences_as_it_keeps(downsample, lower):
    wanted = spec(filters=["binding"], downsample=downsample)  # three of seven
    with planned(*(("a", 5, "1K", i >= 3) for i in range(7))) as corpus:
        assert held(corpus, choose(corpus, wanted).kept) == [0, 1, 2]
    with (
        planned(*(("a", 5, "1K", i >= 2) for i in range(7))) as corpus,
        pytest.raises(PoshgridError, match=rf"leave 2; lower downsample.* to {lower}$"),
    ):
        choose(corpus, wanted)


# ---- controls ------------------------------------------------------------------------------------


def control(size="1K", **settings):
    return spec(size, name="c", control="f", of=FILTERS, **settings)


@pytest.mark.parametrize("match", [[], ["question"]])
def test_a_control_goes_without_as_much(tmp_path, corpus, match):
    """As many sentences of each source and kind, as many words, and none of the evidence."""
    train, facts = corpus.build(control("2K", match=match), tmp_path)
    whole = corpus.at("2K").with_columns(question=pl.col("text").str.ends_with("?"))
    gone = whole.filter(~pl.col("sent_id").is_in(train["sent_id"].implode()))
    is_evidence = pl.col("binding_paper") | pl.col("question_formation_paper")
    evidence = whole.filter(is_evidence)
    assert gone.height and not gone.select(is_evidence.any()).item()
    kinds = ["source", *match]
    assert Counter(gone.select(kinds).iter_rows()) == Counter(evidence.select(kinds).iter_rows())
    for source, words in words_of(whole).items():
        assert abs(words_of(gone)[source] - words_of(evidence)[source]) <= 0.001 * words
    assert (facts["removed_sentences"], facts["control"]) == (evidence.height, "f")
    # What it is a control of is counted by filter
    assert facts["removed"]["binding.paper"]["rule"] == whole["binding_paper"].sum()
    assert facts["removed_words"] == gone["n_words"].sum()


def test_a_control_depends_on_its_seed_alone(tmp_path, corpus):
    one, again, other = (
        corpus.build(control(seed=seed), tmp_path / name)[0]["sent_id"].to_list()
        for name, seed in (("one", 1), ("again", 1), ("other", 2))
    )
    assert one == again and one != other


def test_a_refilled_control_is_nested(tmp_path, corpus):
    small, large = (
        corpus.build(control(size, refill=True), tmp_path / size)[0] for size in ("1K", "2K")
    )
    assert set(small["sent_id"]) < set(large["sent_id"])
    for size, train in (("1K", small), ("2K", large)):
        evidence = corpus.at(size).filter(
            pl.col("binding_paper") | pl.col("question_formation_paper")
        )
        assert set(evidence["sent_id"]) <= set(train["sent_id"])
        for source, words in words_of(corpus.at(size)).items():
            assert words <= words_of(train)[source] < words + 30  # sentences have at most 30


@pytest.mark.parametrize(
    ("match", "others", "fits"),
    [([], 110, True), ([], 109, False), (["question"], 222, True), (["question"], 221, False)],
)
def test_a_control_keeps_to_a_thousandth_of_the_words_of_a_source(match, others, fits):
    """20 words are gone, and others have 18: two of 2,000 may, of 4,000 for each of two kinds."""
    rows = [("a", 20, "1K", True), *[("a", 18, "1K", False)] * others]
    wanted = spec(name="c", control="f", of=["binding"], match=match)
    with planned(*rows) as corpus:
        if fits:
            left = held(corpus, choose(corpus, wanted).left)
            assert len(left) == others and 0 in left
            return
        with pytest.raises(PoshgridError, match="evidence is longer than the sentences"):
            choose(corpus, wanted)


# ---- void conditions, and faults -----------------------------------------------------------------


def test_a_filter_that_removes_nothing_stops_its_condition(tmp_path, corpus):
    names = ["binding_paper", "binding_paper_backstop"]
    nothing = corpus.table.with_columns(pl.lit(False).alias(name) for name in names)
    labels = support.write_labels(nothing, tmp_path / "labels.parquet")
    wanted = spec(filters=FILTERS)
    # A control has nothing to match, either
    for void in (wanted, control()):
        with pytest.raises(PoshgridError, match=r" at 1K: filter 'binding\.paper' removes nothing"):
            corpus.build(void, tmp_path / "out", labels)
    assert not (tmp_path / "out").exists()
    facts = corpus.build(wanted, tmp_path / "out", labels, allow=["void"])[1]
    nothing = {"rule": 0, "backstop": 0, "words": 0, "never": [], "direct": 0}
    assert facts["removed"]["binding.paper"].items() > nothing.items()
    corpus.build(spec(filters=DIRECT), tmp_path / "direct", labels)


def test_a_filter_that_asks_for_what_no_tree_has_stops_its_condition(tmp_path, corpus):
    """Few trees may lack a label by chance, if the rest of the rule removes something."""
    never = {("binding", "paper"): ["Voice=Pass", "acl:relcl"]}
    nothing = corpus.table.with_columns(binding_paper=pl.lit(value=False))
    wanted, message = spec(filters=FILTERS), r"'binding\.paper' needs Voice=Pass, acl:relcl"
    for table, parsed in ((corpus.table, 10_000), (nothing, 9_999)):
        labels = support.write_labels(table, tmp_path / "labels.parquet", never, parsed=parsed)
        with pytest.raises(PoshgridError, match=message):
            corpus.build(wanted, tmp_path / "out", labels)
        corpus.build(wanted, tmp_path / "allowed", labels, allow=["void"])
    labels = support.write_labels(corpus.table, tmp_path / "labels.parquet", never, parsed=9_999)
    facts = corpus.build(wanted, tmp_path / "out", labels)[1]
    assert facts["removed"]["binding.paper"]["never"] == ["Voice=Pass", "acl:relcl"]


def test_conditions_of_the_same_sentences_have_one_digest(tmp_path, corpus):
    same = corpus.table.with_columns(
        binding_direct="binding_paper", question_formation_direct="question_formation_paper"
    )
    labels = support.write_labels(same, tmp_path / "same.parquet")
    digests = [
        corpus.build(spec(filters=filters), tmp_path / str(n), labels)[1]["digest"]
        for n, filters in enumerate((FILTERS, DIRECT, ["binding"]))
    ]
    assert digests[0] == digests[1] != digests[2]


def test_faults_are_named(tmp_path, corpus):
    out, sentences = tmp_path / "out", corpus.sentences
    with pytest.raises(PoshgridError, match=r"no labels of filter 'binding\.paper'"):
        build(spec(filters=["binding"]), sentences, None, out)
    short = support.write_labels(
        corpus.table.filter(pl.col("sent_id") != 17), tmp_path / "short.parquet"
    )
    everything = corpus.table.with_columns(binding_paper=True)
    everything = support.write_labels(everything, tmp_path / "all.parquet")
    for wanted, labels, message in (
        (spec("0.5K"), corpus.labels, "no train sentences"),
        (spec(filters=FILTERS), everything, "no train sentences"),
        (spec(filters=FILTERS), short, "not one row for each sentence"),
        (spec(filters=FILTERS), tmp_path / "absent.parquet", "not found"),
    ):
        with pytest.raises(PoshgridError, match=message):
            build(wanted, sentences, labels, out)
    assert not out.exists()


def test_a_condition_is_read_in_pieces_without_a_trace(tmp_path, corpus, monkeypatch):
    wanted = spec(filters=FILTERS, rates={"binding": 0.02})
    corpus.build(wanted, tmp_path / "whole")
    monkeypatch.setattr(planning, "table_batches", functools.partial(table_batches, size=97))
    monkeypatch.setattr(Database.pieces, "__defaults__", (31,))
    corpus.build(wanted, tmp_path / "pieces")
    for split in SPLITS:
        one, two = (read(tmp_path / n)[split] for n in ("whole", "pieces"))
        assert one.equals(two)
