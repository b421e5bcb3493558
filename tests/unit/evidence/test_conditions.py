"""Conditions: what is removed, what is put back, and what stays the same."""

from __future__ import annotations

import json
from collections import Counter

import polars as pl
import pytest

from poshgrid.config import specs
from poshgrid.config.runs import SPLITS
from poshgrid.corpora import listing
from poshgrid.corpora.schema import SENTENCES
from poshgrid.database import Database
from poshgrid.errors import PoshgridError
from poshgrid.evidence import condition, prebuilt
from poshgrid.evidence import sentences as planning
from poshgrid.evidence.condition import build
from poshgrid.evidence.schema import Labels
from poshgrid.files import read_table, write_json, write_table
from tests.unit.evidence.condition_support import (
    FILTERS,
    SCHEMA,
    make,
    read,
    spec,
    write_labels,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def tables(base):
    sentences, evidence = base
    return read_table(sentences, SENTENCES), read_table(evidence, SCHEMA)


def test_no_removed_sentence_in_baby_f(tmp_path, base, tables):
    build(spec(filters=FILTERS), *base, tmp_path)
    sentences, labels = tables
    removed = set(
        labels.filter(pl.col("binding_paper") | pl.col("question_formation_paper"))["sent_id"]
    )
    train = read(tmp_path)["train"]
    assert not removed & set(train["sent_id"])
    at_size = sentences.filter((pl.col("split") == "train") & (pl.col("size") == "1K"))
    assert set(train["sent_id"]) == set(at_size["sent_id"]) - removed
    assert train["sent_id"].is_sorted()
    assert train["replaced"].null_count() == train.height


def test_sizes_are_nested(tmp_path, base):
    build(spec("1K", filters=FILTERS), *base, tmp_path / "1K")
    build(spec("2K", filters=FILTERS), *base, tmp_path / "2K")
    small, large = (set(read(tmp_path / size)["train"]["sent_id"]) for size in ("1K", "2K"))
    assert small < large


def test_dev_and_test_are_the_same_for_all_conditions(tmp_path, base, tables):
    conditions = {
        "none": spec(),
        "one": spec(filters=["binding"]),
        "both": spec(filters=FILTERS, rates={"binding": 0.02}),
        "bare": spec("2K", filters=FILTERS, unfiltered_sizes=["2K"]),
    }
    for name, each in conditions.items():
        build(each, *base, tmp_path / name)
    for split in ("dev", "test"):
        first, *rest = ((tmp_path / n / f"{split}.parquet").read_bytes() for n in conditions)
        assert all(other == first for other in rest)
    labels = tables[1]
    removed = set(
        labels.filter(pl.col("binding_paper") | pl.col("question_formation_paper"))["sent_id"]
    )
    found = read(tmp_path / "none")
    parts = [set(found[split]["sent_id"]) for split in SPLITS]
    assert not (parts[1] | parts[2]) & removed
    assert not parts[0] & parts[1] and not parts[0] & parts[2] and not parts[1] & parts[2]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "rates", [{"binding": 0.03}, {"binding": 0.01, "question-formation": 0.04}]
)
def test_reinsertion(tmp_path, seed, rates):
    base = make(tmp_path, seed)
    sentences, labels = (
        read_table(base[0], SENTENCES), read_table(base[1], SCHEMA),
    )  # fmt: skip
    build(spec(filters=FILTERS), *base, tmp_path / "f")
    facts = build(spec(filters=FILTERS, rates=rates), *base, tmp_path / "b")
    plain, mixed = (read(tmp_path / name)["train"] for name in "fb")
    assert plain.height == mixed.height
    new = mixed.filter(pl.col("replaced").is_not_null())
    rest = mixed.filter(pl.col("replaced").is_null())
    # the places of the sentences that gave way, and nothing else, have changed
    kept = mixed.select(pl.coalesce("replaced", "sent_id"))["replaced"]
    assert kept.to_list() == plain["sent_id"].to_list()
    assert set(rest["sent_id"]) | set(new["replaced"]) == set(plain["sent_id"])
    assert new["sent_id"].is_unique().all() and not set(new["sent_id"]) & set(plain["sent_id"])
    told = labels.join(new.select("sent_id"), on="sent_id")
    for word, rate in rates.items():
        stem = word.replace("-", "_")
        other = next(f for f in FILTERS if f != word).replace("-", "_")
        needed = round(rate * plain.height)
        assert facts["reinserted"][word]["sentences"] == needed
        assert told.filter(f"{stem}_direct")[f"{other}_paper"].sum() == 0
        assert told[f"{stem}_direct"].sum() == needed
    before = sentences.join(new.select("replaced"), left_on="sent_id", right_on="replaced")
    assert Counter(before["source"]) == Counter(new["source"])
    texts = dict(zip(sentences["sent_id"], sentences["text"], strict=True))
    assert new["text"].to_list() == [texts[i] for i in new["sent_id"]]
    lengths = dict(zip(sentences["sent_id"], sentences["n_words"], strict=True))
    apart = [abs(lengths[r] - n) for r, n in zip(new["replaced"], new["n_words"], strict=True)]
    assert max(apart) <= 2  # about twenty sentences of each length and source


def test_evidence_of_this_size_comes_first(tmp_path, base, tables):
    build(spec(filters=FILTERS, rates={"binding": 0.01}), *base, tmp_path / "few")
    facts = build(spec(filters=FILTERS, rates={"binding": 0.07}), *base, tmp_path / "many")
    sizes = dict(zip(tables[0]["sent_id"], tables[0]["size"], strict=True))
    few, many = (
        [sizes[i] for i in
         read(tmp_path / n)["train"].filter(pl.col("replaced").is_not_null())["sent_id"]]
        for n in ("few", "many")
    )  # fmt: skip
    assert set(few) == {"1K"}
    assert facts["reinserted"]["binding"]["from_larger_sizes"] == many.count("2K") > 0


def test_one_filter_does_not_change_the_choice_for_another(tmp_path, base):
    build(spec(filters=FILTERS, rates={"question-formation": 0.02}), *base, tmp_path / "a")
    both = {"question-formation": 0.02, "binding": 0.02}
    build(spec(filters=FILTERS, rates=both), *base, tmp_path / "b")
    a, b = (
        set(read(tmp_path / n)["train"].filter(pl.col("replaced").is_not_null())["sent_id"])
        for n in "ab"
    )
    assert a < b


def test_too_scarce_evidence_names_the_largest_rate(tmp_path, base):
    wanted = spec(filters=FILTERS, rates={"binding": 0.5})
    with pytest.raises(PoshgridError, match=r"'binding' at rate 0\.5 needs") as caught:
        build(wanted, *base, tmp_path)
    assert not list(tmp_path.iterdir())
    rate = float(str(caught.value).split("lower the rate to ")[1].split(",")[0])
    build(spec(filters=FILTERS, rates={"binding": rate}), *base, tmp_path)
    with pytest.raises(PoshgridError):
        build(spec(filters=FILTERS, rates={"binding": rate + 0.002}), *base, tmp_path / "more")


def test_same_seed_same_bytes_other_seed_other_choice(tmp_path, base):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        build(spec(filters=FILTERS, rates={"binding": 0.02}, seed=seed), *base, tmp_path / name)
    a, b, c = ((tmp_path / n / "train.parquet").read_bytes() for n in "abc")
    assert a == b != c


def test_unfiltered_size_is_the_bare_base(tmp_path, base, tables):
    wanted = spec("2K", filters=FILTERS, rates={"binding": 0.5}, unfiltered_sizes=["2K"])
    build(wanted, *base, tmp_path)
    train = tables[0].filter(pl.col("split") == "train")
    assert read(tmp_path)["train"]["sent_id"].to_list() == train["sent_id"].to_list()


def test_statistics_by_hand(tmp_path):
    rows = [
        (0, "a", "d", 0, "one two", 2, "train", 0, "1K"),
        (1, "a", "d", 1, "one two three", 3, "train", 1, "1K"),
        (2, "b", "e", 0, "one", 1, "train", 0, "1K"),
        (3, "b", "e", 1, "gone", 1, "train", 1, "1K"),
        (4, "a", "f", 0, "x", 1, "dev", 0, ""),
        (5, "a", "f", 1, "y", 1, "test", 0, ""),
        (6, "a", "f", 2, "z", 1, "test", 1, ""),
    ]
    schema = Labels({"binding": ("paper",)}, {}).schema
    labels = [(i, i in (3, 6), [], *[None] * 3) for i in range(7)]
    sentences, evidence = tmp_path / "s.parquet", tmp_path / "e.parquet"
    write_table(pl.DataFrame(rows, schema=SENTENCES, orient="row"), sentences, SENTENCES)
    write_table(pl.DataFrame(labels, schema=schema, orient="row"), evidence, schema)
    facts = {"binding": {"paper": {"never": []}}}
    write_json(evidence.with_suffix(".json"), {"parsed": 7, "filters": facts})
    build(spec(filters=["binding"]), sentences, evidence, tmp_path / "out")
    found = json.loads((tmp_path / "out" / "statistics.json").read_text())
    assert found["splits"]["train"] == {
        "sentences": 3, "words": 6, "words_per_sentence": 2.0,
        "sources": {"a": {"sentences": 2, "words": 5, "words_per_sentence": 2.5},
                    "b": {"sentences": 1, "words": 1, "words_per_sentence": 1.0}},
    }  # fmt: skip
    assert found["whole"]["words"] == 7 and found["whole"]["sentences"] == 4
    assert found["removed"] == {
        "binding.paper": {"rule": 1, "backstop": 0, "words": 1, "never": []}
    }
    assert (found["removed_sentences"], found["removed_words"]) == (1, 1)
    assert found["heldout_removed"] == {"dev": 0, "test": 1}
    assert found["refilled"] == {"sentences": 0, "words": 0} and found["reinserted"] == {}
    # A bare base is told apart by what it holds
    whole = build(spec(), sentences, None, tmp_path / "plain")
    assert whole["removed"] == {} and whole["digest"] != found["digest"]
    plain = read(tmp_path / "plain")
    assert [plain[split].height for split in SPLITS] == [4, 1, 2]


def test_faults_are_named(tmp_path, base):
    sentences, evidence = base
    out = tmp_path / "out"
    with pytest.raises(PoshgridError, match=r"no labels of filter 'binding\.paper'"):
        build(spec(filters=["binding"]), sentences, None, out)
    with pytest.raises(PoshgridError, match="no train sentences"):
        build(spec("0.5K"), sentences, evidence, out)
    labels = read_table(evidence, SCHEMA)
    short = tmp_path / "short.parquet"
    write_table(labels.filter(pl.col("sent_id") != 17), short, SCHEMA)
    with pytest.raises(PoshgridError, match="not one row for each sentence"):
        build(spec(filters=FILTERS), sentences, short, out)
    everything = labels.with_columns(binding_paper=True)
    write_labels(everything, tmp_path / "all.parquet")
    with pytest.raises(PoshgridError, match="no train sentences"):
        build(spec(filters=FILTERS), sentences, tmp_path / "all.parquet", out)
    with pytest.raises(PoshgridError, match="not found"):
        build(spec(filters=FILTERS), sentences, tmp_path / "absent.parquet", out)
    assert not out.exists()


def test_backstop_is_removed_counted_and_never_put_back(tmp_path, base, tables):
    labels = tables[1]
    looks = set(
        labels.filter(
            pl.col("binding_paper_backstop") | pl.col("question_formation_paper_backstop")
        )["sent_id"]
    )
    without = build(spec(filters=FILTERS), *base, tmp_path / "without")
    rates = {"binding": {"rate": 0.02, "tolerance": 0.01}}
    found = build(spec(filters=FILTERS, rates=rates, backstop=True), *base, tmp_path / "with")
    plain, strict = (set(read(tmp_path / n)["train"]["sent_id"]) for n in ("without", "with"))
    assert plain & looks and not (strict - _put_back(tmp_path / "with")) & looks
    # the direct evidence that is put back may look like evidence of its own filter alone
    other = set(labels.filter(pl.col("question_formation_paper_backstop"))["sent_id"])
    assert not _put_back(tmp_path / "with") & other
    rule, words = pl.col("binding_paper"), pl.col("binding_paper_backstop")
    at_size = tables[0].filter((pl.col("split") == "train") & (pl.col("size") == "1K"))
    here = labels.join(at_size, on="sent_id")
    assert found["removed"]["binding.paper"] == {
        "rule": here.filter(rule).height,
        "backstop": here.filter(words & ~rule).height,
        "words": here.filter(words | rule)["n_words"].sum(),
        "never": [],
    }
    assert found["removed"]["binding.paper"]["backstop"] > 0 and found["backstop"]
    assert {each["backstop"] for each in without["removed"].values()} == {0}
    for split in ("dev", "test"):
        assert not set(read(tmp_path / "with")[split]["sent_id"]) & looks


def _put_back(folder):
    train = read(folder)["train"]
    return set(train.filter(pl.col("replaced").is_not_null())["sent_id"])


def test_natural_rate_and_pools(tmp_path, base, tables):
    joined = tables[0].join(tables[1], on="sent_id")
    at_size = joined.filter((pl.col("split") == "train") & (pl.col("size") == "1K"))
    left = at_size.filter(~pl.col("binding_paper") & ~pl.col("question_formation_paper")).height
    for pool in (None, "direct", "paper"):
        rates = {"binding": {"rate": "natural", "pool": pool, "tolerance": 0.01}}
        found = build(spec(filters=FILTERS, rates=rates), *base, tmp_path / str(pool))
        mine = at_size.filter(
            pl.col(f"binding_{pool or 'direct'}") & ~pl.col("question_formation_paper")
        )
        facts = found["reinserted"]["binding"]
        assert facts["pool"] == (pool or "direct")
        assert (
            facts["sentences"] == facts["different"] == round(mine.height / at_size.height * left)
        )
        assert _put_back(tmp_path / str(pool)) <= set(mine["sent_id"])
        assert facts["from_larger_sizes"] == 0
        assert all(abs(share) <= 0.01 for share in facts["words_difference"].values())
    assert len(_put_back(tmp_path / "paper")) > len(_put_back(tmp_path / "direct"))
    assert _put_back(tmp_path / "None") == _put_back(tmp_path / "direct")


def test_conditions_are_downsampled_to_one_number_in_order(tmp_path, base, tables):
    joined = tables[0].join(tables[1], on="sent_id")
    total = joined.filter((pl.col("split") == "train") & (pl.col("size") == "1K")).height
    kept = {}
    for name, filters in (("none", []), ("binding", ["binding"]), ("both", FILTERS)):
        build(spec(filters=filters, downsample=0.7), *base, tmp_path / name)
        train = read(tmp_path / name)["train"]
        assert train.height == int(0.7 * total)
        assert train["sent_id"].is_sorted()
        kept[name] = set(train["sent_id"])
    removed = set(tables[1].filter("binding_paper")["sent_id"])
    assert not kept["binding"] & removed
    # what is not filtered is mostly the same, as the ranks are
    assert len(kept["none"] & kept["binding"]) > 0.85 * len(kept["none"])
    with pytest.raises(PoshgridError, match=r"lower downsample, for all conditions .* to 0\.\d+"):
        build(spec(filters=FILTERS, downsample=0.95), *base, tmp_path / "much")


FEW = specs.BesideSpec(allow=["size"])
"""Ready files of a few words that are called 10M."""


def test_ready_files_are_taken_as_they_are(tmp_path):
    folder = tmp_path / "ready"
    folder.mkdir()
    texts = {
        "train": "Is it ?\n\n the boy  left\n", "dev": "One two three.\n", "test": "Caf\u00e9\n"
    }  # fmt: skip
    for split, text in texts.items():
        (folder / f"{split}.txt").write_text(text, encoding="utf-8")
    given = spec("10M", name="baby-f", prebuilt="x")
    facts = prebuilt.build(given, folder, tmp_path / "out", FEW)
    found = read(tmp_path / "out")
    assert found["train"]["text"].to_list() == ["Is it ?", "the boy  left"]
    assert found["train"]["n_words"].to_list() == [3, 3]
    assert [found[s]["sent_id"].to_list() for s in SPLITS] == [[0, 1], [2], [3]]
    assert facts["splits"]["train"]["words"] == 6
    # another's that train on the same sentences has the same digest
    (folder / "test.txt").write_text("Yes.\n", encoding="utf-8")
    assert prebuilt.build(given, folder, tmp_path / "test", FEW)["digest"] == facts["digest"]
    (folder / "train.txt").write_text("Is it ?\n", encoding="utf-8")
    assert prebuilt.build(given, folder, tmp_path / "train", FEW)["digest"] != facts["digest"]
    (folder / "dev.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(PoshgridError, match=r"dev\.txt: no sentence"):
        prebuilt.build(given, folder, tmp_path / "empty", FEW)
    (folder / "dev.txt").unlink()
    with pytest.raises(PoshgridError, match=r"dev\.txt: not found; .* needs train\.txt"):
        prebuilt.build(given, folder, tmp_path / "none", FEW)


def test_ready_files_lie_in_folders_of_their_splits_too(tmp_path):
    """As the corpora of POSH-BENCH do: 10Mf/train/10Mf.txt."""
    folder = tmp_path / "baby" / "10Mf"
    for split in SPLITS:
        (folder / split).mkdir(parents=True)
        (folder / split / "10Mf.txt").write_text(f"The {split} .\n", encoding="utf-8")
    assert listing.ready_place("baby/{size}f", "10M") == "baby/10Mf"
    assert listing.ready_place("baby", "10M") == "baby/10M"
    prebuilt.build(spec("10M", name="baby-f", prebuilt="x"), folder, tmp_path / "out", FEW)
    found = read(tmp_path / "out")
    assert [found[s]["text"].to_list() for s in SPLITS] == [[f"The {s} ."] for s in SPLITS]
    (folder / "dev" / "other.txt").write_text("Which?\n", encoding="utf-8")
    with pytest.raises(PoshgridError, match=r"dev\.txt: not found; .* with one \.txt each"):
        prebuilt.build(spec("10M", name="baby-f", prebuilt="x"), folder, tmp_path / "two", FEW)


def test_a_condition_is_read_in_pieces_without_a_trace(tmp_path, monkeypatch):
    base = make(tmp_path)
    rates = {"binding": 0.02}
    build(spec(filters=FILTERS, rates=rates), *base, tmp_path / "whole")
    original = condition.table_batches
    for module in (condition, planning):
        monkeypatch.setattr(
            module,
            "table_batches",
            lambda path, schema, columns: original(path, schema, columns, 97),
        )
    monkeypatch.setattr(Database.pieces, "__defaults__", (31,))
    build(spec(filters=FILTERS, rates=rates), *base, tmp_path / "pieces")
    for split in SPLITS:
        one, two = (read(tmp_path / n)[split] for n in ("whole", "pieces"))
        assert one.equals(two)


def test_a_base_without_a_sentence_is_told(tmp_path):
    sentences, labels = tmp_path / "sentences.parquet", tmp_path / "labels.parquet"
    write_table(pl.DataFrame(schema=SENTENCES), sentences, SENTENCES)
    write_labels(pl.DataFrame(schema=SCHEMA), labels)
    for wanted, evidence in ((spec(), None), (spec(filters=FILTERS), labels)):
        with pytest.raises(PoshgridError, match="'baby' at 1K has no train sentences; give base"):
            build(wanted, sentences, evidence, tmp_path / "out")
    assert not (tmp_path / "out").exists()
