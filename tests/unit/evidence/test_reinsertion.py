"""Evidence that is put back: how much, which, in whose place; rates of nothing."""

from collections import Counter

import polars as pl
import polars.selectors as cs
import pytest

from poshgrid.core.errors import PoshgridError
from poshgrid.evidence.reinsertion import reinsert
from poshgrid.evidence.removal import choose
from tests.unit.evidence.condition_support import FILTERS, make, planned, spec, write_labels


def back(rates, **settings):
    return spec(filters=FILTERS, rates=rates, **settings)


def put(train):
    """Return the sentences that were put back."""
    return train.filter(pl.col("replaced").is_not_null())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "rates", [{"binding": 0.03}, {"binding": 0.01, "question-formation": 0.04}]
)
def test_evidence_takes_the_places_of_others(tmp_path, seed, rates):
    corpus = make(tmp_path, seed)
    plain, _ = corpus.build(spec(filters=FILTERS), tmp_path / "f")
    mixed, facts = corpus.build(back(rates), tmp_path / "b")
    new = put(mixed)
    # The places of the sentences that gave way, and nothing else, have changed
    places = mixed.select(pl.coalesce("replaced", "sent_id"))["replaced"]
    assert places.to_list() == plain["sent_id"].to_list()
    assert new["sent_id"].is_unique().all() and not set(new["sent_id"]) & set(plain["sent_id"])
    evidence = corpus.table.join(new.select("sent_id", "replaced"), on="sent_id")
    for word, rate in rates.items():
        stem = word.replace("-", "_")
        (other,) = (f.replace("-", "_") for f in FILTERS if f != word)
        needed = round(rate * plain.height)
        assert facts["reinserted"][word]["sentences"] == needed
        assert evidence[f"{stem}_direct"].sum() == needed
        # What is evidence of another filter, too, stays out
        assert not evidence.filter(f"{stem}_direct")[f"{other}_paper"].any()
    assert new["text"].to_list() == evidence.sort("replaced")["text"].to_list()
    pairs = evidence.join(corpus.table, left_on="replaced", right_on="sent_id")
    assert (pairs["source"] == pairs["source_right"]).all()
    lengths = pairs["n_words"].cast(int) - pairs["n_words_right"].cast(int)
    assert lengths.abs().max() <= 2  # about ten sentences of each length and source


def test_evidence_of_this_size_comes_first(tmp_path, corpus):
    few, _ = corpus.build(back({"binding": 0.01}), tmp_path / "few")
    many, facts = corpus.build(back({"binding": 0.07}), tmp_path / "many")
    sizes = dict(corpus.table.select("sent_id", "size").iter_rows())
    assert {sizes[i] for i in put(few)["sent_id"]} == {"1K"}
    larger = [i for i in put(many)["sent_id"] if sizes[i] != "1K"]
    assert facts["reinserted"]["binding"]["from_larger_sizes"] == len(larger) > 0


def test_one_filter_does_not_change_the_choice_for_another(tmp_path, corpus):
    one, _ = corpus.build(back({"question-formation": 0.02}), tmp_path / "a")
    both, _ = corpus.build(back({"question-formation": 0.02, "binding": 0.02}), tmp_path / "b")
    assert set(put(one)["sent_id"]) < set(put(both)["sent_id"])


def test_evidence_is_drawn_by_the_seed_from_all_there_is(tmp_path, corpus):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        corpus.build(back({"binding": 0.02}, seed=seed), tmp_path / name)
    one, same, other = ((tmp_path / n / "train.parquet").read_bytes() for n in "abc")
    assert one == same != other
    pool = corpus.at("1K").filter(pl.col("binding_direct") & ~pl.col("question_formation_paper"))
    for name in "ac":
        drawn = pl.read_parquet(tmp_path / name / "train.parquet").drop_nulls("replaced")["sent_id"]
        assert set(drawn) < set(pool["sent_id"])
        assert set(drawn) != set(pool["sent_id"][: drawn.len()])


def test_what_the_backstop_took_is_never_put_back(tmp_path):
    corpus = make(tmp_path, looks=0.03)
    train, _ = corpus.build(back({"binding": 0.02}), tmp_path / "out")
    looks = corpus.table.filter("question_formation_paper_backstop")["sent_id"]
    assert put(train).height and not set(put(train)["sent_id"]) & set(looks)


@pytest.mark.parametrize("pool", [None, "direct", "paper"])
def test_natural_rate_and_pools(tmp_path, corpus, pool):
    rates = {"binding": {"rate": "natural", "pool": pool}}
    train, statistics = corpus.build(back(rates), tmp_path)
    whole = corpus.at("1K")
    mine = whole.filter(pl.col(f"binding_{pool or 'direct'}") & ~pl.col("question_formation_paper"))
    needed = round(mine.height / whole.height * train.height)
    facts = statistics["reinserted"]["binding"]
    assert facts["pool"] == (pool or "direct")
    assert facts["rate"] == pytest.approx(mine.height / whole.height, abs=1e-8)
    assert facts["sentences"] == facts["different"] == needed
    assert facts["from_larger_sizes"] == 0
    assert set(put(train)["sent_id"]) <= set(mine["sent_id"])
    assert all(abs(share) <= 0.01 for share in facts["words_difference"].values())


def test_too_scarce_evidence_names_the_largest_rate(tmp_path, corpus):
    with pytest.raises(PoshgridError, match=r"'binding' at rate 0\.5 needs") as caught:
        corpus.build(back({"binding": 0.5}), tmp_path)
    assert not list(tmp_path.iterdir())
    rate = float(str(caught.value).split("lower the rate to ")[1].split(",")[0])
    corpus.build(back({"binding": rate}), tmp_path)
    with pytest.raises(PoshgridError, match="set repeat: true"):
        corpus.build(back({"binding": rate + 0.003}), tmp_path / "more")
    repeated = {"binding": {"rate": 0.2, "repeat": True}}
    train, facts = corpus.build(back(repeated), tmp_path / "repeated")
    counts = facts["reinserted"]["binding"]
    assert counts["sentences"] == round(0.2 * train.height) == put(train).height
    assert counts["sentences"] > counts["available"] >= counts["different"]
    assert put(train)["replaced"].is_unique().all()


def test_a_filter_that_finds_nothing_is_named(tmp_path, corpus):
    none = (cs.starts_with("binding") & cs.boolean()) & pl.lit(value=False)
    labels = corpus.table.with_columns(none)
    labels = write_labels(labels, tmp_path / "labels.parquet")
    with pytest.raises(PoshgridError, match=r"'binding' at rate 0\.5: the filter finds no"):
        corpus.build(back({"binding": 0.5}), tmp_path / "out", labels, allow=["void"])


@pytest.mark.parametrize("rate", ["natural", 0.0001])
def test_to_put_nothing_back_is_refused(tmp_path, corpus, rate):
    labels = corpus.table.with_columns(binding_direct=False) if rate == "natural" else corpus.table
    labels = write_labels(labels, tmp_path / "labels.parquet")
    with pytest.raises(PoshgridError, match=r"'binding' at .* puts nothing back into"):
        corpus.build(back({"binding": rate}), tmp_path / "out", labels)
    _, facts = corpus.build(back({"binding": rate}), tmp_path / "out", labels, allow=["void"])
    counts = facts["reinserted"]["binding"]
    assert [counts[key] for key in ("sentences", "different", "from_larger_sizes")] == [0] * 3
    # None asked for, none put back
    corpus.build(back({"binding": 0.0}), tmp_path / "none")


def put_back(wanted, *rows):
    """Return the sentence that gives way -> the evidence, and facts."""
    with planned(*rows) as corpus:
        facts = reinsert(corpus, wanted, choose(corpus, wanted))["binding"]
        return dict(corpus.database.rows("select place, sent_id from swaps")), facts


@pytest.mark.parametrize(("there", "rate"), [(1, 0.25), (2, 0.25), (2, 0.1)])
def test_scarce_evidence_is_repeated_evenly(there, rate):
    rows = [*[("a", 6, "1K", True)] * there, *[("a", 6, "1K", False)] * 20]
    wanted = spec(filters=["binding"], rates={"binding": {"rate": rate, "repeat": True}})
    swaps, facts = put_back(wanted, *rows)
    needed = round(rate * 20)
    times = sorted(Counter(swaps.values()).values())
    assert times == sorted((needed + i) // there for i in range(there))
    assert facts == {
        "sentences": needed, "rate": rate, "pool": "direct", "available": there,
        "different": there, "direct": needed, "from_larger_sizes": 0,
        "words_difference": {"a": 0.0},
    }  # fmt: skip
