"""Conditions that hold as much as another: refills, controls, doses, readings; and void ones."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

from poshgrid.config import specs
from poshgrid.corpora.schema import SENTENCES, trains
from poshgrid.errors import PoshgridError
from poshgrid.evidence.condition import build
from poshgrid.evidence.reinsertion import reinsert
from poshgrid.evidence.removal import choose
from poshgrid.evidence.schema import Labels
from poshgrid.files import read_json, read_table, write_json
from tests.unit.evidence.condition_support import (
    FILTERS,
    SCHEMA,
    held,
    make,
    planned,
    read,
    spec,
    write_labels,
)

DIRECT = [{"name": word, "reading": "direct"} for word in FILTERS]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make(tmp_path_factory.mktemp("base"), rows=3_000, removed=0.05, spare=0.2)


@pytest.fixture(scope="module")
def tables(base):
    return read_table(base[0], SENTENCES), read_table(base[1], SCHEMA)


def taken(tables, reading="paper"):
    """Return what either filter removes."""
    columns = [f"{word.replace('-', '_')}_{reading}" for word in FILTERS]
    return set(tables[1].filter(pl.any_horizontal(columns))["sent_id"])


def by_source(rows):
    return dict(rows.group_by("source").agg(pl.col("n_words").sum()).iter_rows())


def ids(folder):
    return read(folder)["train"]["sent_id"].to_list()


# ---- refills -------------------------------------------------------------------------------------


def test_a_refill_restores_the_words_of_each_source(tmp_path, base, tables):
    found = {}
    for size in ("1K", "2K"):
        facts = build(spec(size, filters=FILTERS, refill=True), *base, tmp_path / size)
        whole = tables[0].filter(trains(tables[0], size))
        train = read(tmp_path / size)["train"]
        assert not taken(tables) & set(train["sent_id"])
        assert train["sent_id"].is_sorted() and train["sent_id"].is_unique().all()
        for source, words in by_source(whole).items():
            assert words <= by_source(train)[source] < words + 30  # sentences have at most 30
        own = whole.filter(~pl.col("sent_id").is_in(taken(tables)))
        assert set(own["sent_id"]) < set(train["sent_id"])
        assert facts["refilled"] == {
            "sentences": train.height - own.height,
            "words": int(train["n_words"].sum() - own["n_words"].sum()),
        }
        assert facts["removed_sentences"] == whole.height - own.height
        found[size] = set(train["sent_id"])
    assert found["1K"] < found["2K"]
    spare = set(tables[0].filter((pl.col("split") == "train") & (pl.col("size") == ""))["sent_id"])
    assert found["2K"] & spare and not found["1K"] & spare


# ---- controls ------------------------------------------------------------------------------------


@pytest.mark.parametrize("match", [[], ["question"], ["relative"], ["question", "relative"]])
def test_a_control_goes_without_as_much(tmp_path, base, tables, match):
    """As many sentences of each source and kind, as many words, and none of the evidence."""
    wanted = spec("2K", name="c", control="f", of=FILTERS, match=match)
    facts = build(wanted, *base, tmp_path / "c")
    labelled = tables[0].join(tables[1], on="sent_id")
    labelled = labelled.with_columns(question=pl.col("text").str.ends_with("?"))
    whole = labelled.filter(trains(tables[0], "2K"))
    gone = whole.filter(~pl.col("sent_id").is_in(ids(tmp_path / "c")))
    evidence = whole.filter(pl.col("sent_id").is_in(taken(tables)))
    assert gone.height and not set(gone["sent_id"]) & taken(tables)
    kinds = ["source", *match]
    assert Counter(gone.select(kinds).iter_rows()) == Counter(evidence.select(kinds).iter_rows())
    for source, words in by_source(whole).items():
        assert abs(by_source(gone)[source] - by_source(evidence)[source]) <= 0.001 * words
    assert (facts["removed_sentences"], facts["control"]) == (evidence.height, "f")
    # what it is a control of is told by filter
    assert facts["removed"]["binding.paper"]["rule"] == whole["binding_paper"].sum()
    assert facts["removed_words"] == gone["n_words"].sum()


def test_a_control_depends_on_its_seed_alone(tmp_path, base):
    def made(name, **settings):
        build(spec(name="c", control="f", of=FILTERS, **settings), *base, tmp_path / name)
        return ids(tmp_path / name)

    one, again, other = made("one", seed=1), made("again", seed=1), made("other", seed=2)
    assert one == again and one != other


def test_a_refilled_control_is_nested(tmp_path, base, tables):
    found = {}
    for size in ("1K", "2K"):
        build(spec(size, name="c", control="f", of=FILTERS, refill=True), *base, tmp_path / size)
        whole = tables[0].filter(trains(tables[0], size))
        train = read(tmp_path / size)["train"]
        found[size] = set(train["sent_id"])
        assert taken(tables) & set(whole["sent_id"]) <= found[size]
        for source, words in by_source(whole).items():
            assert words <= by_source(train)[source] < words + 30
    assert found["1K"] < found["2K"]


def test_a_control_by_structure_needs_every_sentence_parsed(tmp_path, base, tables):
    unparsed = tables[1].with_columns(relative=pl.when(pl.col("sent_id") % 2 == 0).then("relative"))
    write_labels(unparsed, tmp_path / "labels.parquet")
    wanted = spec(name="c", control="f", of=FILTERS, match=["relative"])
    with pytest.raises(PoshgridError) as caught:
        build(wanted, base[0], tmp_path / "labels.parquet", tmp_path / "out")
    assert str(caught.value) == (
        "condition 'c' at 1K: a control matched by relative needs every sentence parsed, and "
        f"{unparsed.filter(trains(tables[0], '2K') | _spare(tables))['relative'].null_count():,} "
        "are not; set evidence.parse: all"
    )
    # a question is one by its last character
    asked = spec(name="c", control="f", of=FILTERS, match=["question"])
    build(asked, base[0], tmp_path / "labels.parquet", tmp_path / "screened")
    build(asked, *base, tmp_path / "whole")
    assert ids(tmp_path / "screened") == ids(tmp_path / "whole")


def _spare(tables):
    return (tables[0]["split"] == "train") & (tables[0]["size"] == "")


# ---- doses ---------------------------------------------------------------------------------------


def test_a_dose_is_exact_and_scarce_evidence_is_repeated(tmp_path, base, tables):
    """A dose of 20% of direct evidence, of which the base has less."""
    rates = {"binding": {"rate": 0.2, "tolerance": 0.01, "repeat": True}}
    plain = build(spec(filters=FILTERS), *base, tmp_path / "f")["splits"]["train"]
    facts = build(spec(filters=FILTERS, rates=rates), *base, tmp_path / "b")
    back = facts["reinserted"]["binding"]
    pool = (
        tables[1]
        .join(tables[0].filter(pl.col("split") == "train"), on="sent_id")
        .filter(pl.col("binding_direct") & ~pl.col("question_formation_paper"))
    )
    assert back["sentences"] == round(0.2 * plain["sentences"]) > back["available"] == pool.height
    train = read(tmp_path / "b")["train"]
    put = train.filter(pl.col("replaced").is_not_null())
    assert put.height == back["sentences"] and train.height == plain["sentences"]
    times = Counter(put["sent_id"])
    assert set(times) <= set(pool["sent_id"])
    assert back["different"] == len(times)
    assert put["replaced"].is_unique().all()
    texts = dict(tables[0].select("sent_id", "text").iter_rows())
    assert all(text == texts[i] for i, text in put.select("sent_id", "text").iter_rows())
    # copies are spread over the pool: none comes a third time while another is there once
    assert max(times.values()) <= -(-back["sentences"] // pool.height) + 1
    with pytest.raises(PoshgridError, match=r"or set repeat: true$"):
        once = {"binding": {"rate": 0.2, "tolerance": 0.01}}
        build(spec(filters=FILTERS, rates=once), *base, tmp_path / "once")


# ---- readings ------------------------------------------------------------------------------------


def test_a_condition_removes_by_its_readings(tmp_path, base, tables):
    conditions = {
        "paper": FILTERS,
        "direct": DIRECT,
        "both": [FILTERS[0], DIRECT[0]],
        "words": [f"{word}.paper" for word in FILTERS],
    }
    facts = {
        name: build(spec(filters=filters), *base, tmp_path / name)
        for name, filters in conditions.items()
    }
    whole = set(tables[0].filter(trains(tables[0], "1K"))["sent_id"])
    gone = {name: whole - set(ids(tmp_path / name)) for name in conditions}
    assert gone["paper"] == taken(tables) & whole == gone["words"]
    assert gone["direct"] == taken(tables, "direct") & whole < gone["paper"]
    one = set(tables[1].filter("binding_paper")["sent_id"])
    assert gone["both"] == one & whole  # whatever is direct, the paper's reading removes, too
    assert list(facts["both"]["removed"]) == ["binding.paper", "binding.direct"]
    assert list(facts["direct"]["removed"]) == ["binding.direct", "question-formation.direct"]
    # dev and test are free of what any reading removes
    for split in ("dev", "test"):
        assert len({(tmp_path / n / f"{split}.parquet").read_bytes() for n in conditions}) == 1


# ---- void ones -----------------------------------------------------------------------------------


def blind(tables, folder, word="binding", reading="paper", never=()):
    """Write labels of a parser by which a filter finds nothing."""
    stem = f"{word.replace('-', '_')}_{reading}"
    nothing = tables[1].with_columns(
        pl.lit(False).alias(name) for name in (stem, f"{stem}_backstop") if name in tables[1]
    )
    return write_labels(nothing, folder / "blind.parquet", {(word, reading): list(never)})


def test_a_filter_that_removes_nothing_stops_its_condition(tmp_path, base, tables):
    labels = blind(tables, tmp_path)
    wanted = spec(name="baby-f", filters=FILTERS, backstop=True)
    with pytest.raises(PoshgridError) as caught:
        build(wanted, base[0], labels, tmp_path / "out")
    assert str(caught.value) == (
        "condition 'baby-f' at 1K: filter 'binding.paper' removes nothing of base 'baby'; choose "
        "another parser or reading (`poshgrid explain --sample 20 --filter binding.paper --config "
        "FILE` shows what it makes of the text), leave the filter out, or set allow: [void]"
    )
    assert not (tmp_path / "out").exists()
    allowed = specs.BesideSpec(allow=["void"])
    facts = build(wanted, base[0], labels, tmp_path / "out", allowed)
    nothing = {"rule": 0, "backstop": 0, "words": 0, "never": []}
    assert facts["removed"]["binding.paper"] == nothing
    # a control has nothing to match, either
    control = spec(name="c", control="baby-f", of=["binding"])
    with pytest.raises(PoshgridError, match=r"'c' at 1K: filter 'binding\.paper' removes nothing"):
        build(control, base[0], labels, tmp_path / "control")
    # another reading of it does
    build(spec(filters=DIRECT), base[0], labels, tmp_path / "direct")


def test_a_filter_that_asks_for_what_no_tree_bears_stops_its_condition(tmp_path, base, tables):
    """It may find something by its other rules, or by words: not what it is to remove."""
    never = {("binding", "paper"): ["Voice=Pass", "acl:relcl"]}
    labels = write_labels(tables[1], tmp_path / "labels.parquet", never)
    wanted = spec(name="baby-f", filters=FILTERS)
    with pytest.raises(PoshgridError) as caught:
        build(wanted, base[0], labels, tmp_path / "out")
    assert str(caught.value).startswith(
        "condition 'baby-f' at 1K: filter 'binding.paper' asks for Voice=Pass, acl:relcl, which "
        "no tree of its parser bears; choose another parser or reading"
    )
    facts = build(wanted, base[0], labels, tmp_path / "out", specs.BesideSpec(allow=["void"]))
    assert facts["removed"]["binding.paper"]["never"] == ["Voice=Pass", "acl:relcl"]
    seen = labels.with_suffix(".json")
    write_json(seen, read_json(seen) | {"foreign": ["dobj", "pobj", "prep", "relcl"]})
    with pytest.raises(
        PoshgridError, match=r"bears \(its relations .*: dobj, pobj, prep\); choose"
    ):
        build(wanted, base[0], labels, tmp_path / "foreign")
    build(spec(filters=DIRECT), base[0], labels, tmp_path / "direct")


def test_nothing_put_back_stops_its_condition(tmp_path, base, tables):
    for rate, told in ((0.0001, "rate 0.0001"), ("natural", "the natural rate 0")):
        labels = blind(tables, tmp_path, reading="direct") if rate == "natural" else base[1]
        wanted = spec(filters=FILTERS, rates={"binding": {"rate": rate}})
        with pytest.raises(PoshgridError) as caught:
            build(wanted, base[0], labels, tmp_path / "out")
        left = len(_left(tables, "1K"))
        assert str(caught.value) == (
            f"condition 'baby' at 1K: re-insertion of 'binding' at {told} puts nothing back into "
            f"{left:,} sentences; raise the rate, leave it out, or set allow: [void]"
        )
        facts = build(
            wanted, base[0], labels, tmp_path / str(rate), specs.BesideSpec(allow=["void"])
        )
        counts = facts["reinserted"]["binding"]
        assert [counts[each] for each in ("sentences", "different", "from_larger_sizes")] == [0] * 3
    # none asked for, none put back
    build(spec(filters=FILTERS, rates={"binding": 0.0}), *base, tmp_path / "none")


def _left(tables, size):
    return set(tables[0].filter(trains(tables[0], size))["sent_id"]) - taken(tables)


# ---- the same by another name --------------------------------------------------------------------


def test_conditions_that_hold_the_same_sentences_are_refused(tmp_path, base, tables):
    """Both readings take the same here: neither condition is built, whichever comes first."""
    same = tables[1].with_columns(
        binding_direct="binding_paper", question_formation_direct="question_formation_paper"
    )
    labels = tmp_path / "same.parquet"
    write_labels(same, labels)
    one, two = spec(name="a", filters=FILTERS), spec(name="b", filters=DIRECT)
    other = spec(name="c", filters=["binding"])
    for mine, its in ((one, two), (two, one)):
        with pytest.raises(PoshgridError) as caught:
            beside = specs.BesideSpec(others=[other, its])
            build(mine, base[0], labels, tmp_path / "out", beside)
        assert str(caught.value) == (
            f"conditions 'a' and 'b' at 1K hold the same {len(_left(tables, '1K')):,} sentences of "
            "base 'baby': a removes binding.paper, question-formation.paper and b removes "
            "binding.direct, question-formation.direct; change one's filters or reading, leave "
            "one out, or set allow: [void]"
        )
    assert not (tmp_path / "out").exists()
    # where the readings differ, and where it is allowed, both are built
    build(one, *base, tmp_path / "a", specs.BesideSpec(others=[other, two]))
    build(one, base[0], labels, tmp_path / "x", specs.BesideSpec(others=[two], allow=["void"]))
    digests = [read_json(tmp_path / name / "statistics.json")["digest"] for name in ("a", "x")]
    assert digests[0] == digests[1]


def test_what_is_put_back_and_in_whose_place_tells_conditions_apart(tmp_path, base):
    def back(name, **settings):
        rates = {"binding": {"rate": 0.01, "tolerance": 0.01}}
        return spec(name=name, filters=FILTERS, rates=rates, **settings)

    void = spec(name="void", filters=FILTERS, rates={"binding": {"rate": 0.0001}})
    build(spec(filters=FILTERS), *base, tmp_path / "f", specs.BesideSpec(others=[void]))
    others = [spec(name="f", filters=FILTERS), back("other", seed=7), spec(name="whole")]
    build(back("b"), *base, tmp_path / "b", specs.BesideSpec(others=others))
    with pytest.raises(PoshgridError, match="'b' and 'twin' at 1K hold the same"):
        build(back("b"), *base, tmp_path / "b", specs.BesideSpec(others=[back("twin")]))
    # a control differs from the base and from what it is one for; one that cannot be made is passed
    control = spec(name="c", control="f", of=FILTERS)
    unknown = spec(name="u", filters=["passive"])
    beside = specs.BesideSpec(others=[*others, unknown])
    build(control, *base, tmp_path / "c", beside)
    with pytest.raises(PoshgridError, match="a is a control of f and b is a control of f"):
        build(
            spec(name="a", control="f", of=FILTERS),
            *base,
            tmp_path / "x",
            specs.BesideSpec(others=[spec(name="b", control="f", of=FILTERS)]),
        )


# ---- by hand -------------------------------------------------------------------------------------

LABELS = Labels({"binding": ("paper", "direct")}, {})


def plan(*rows):
    """Make training sentences of (source, words, size, removed), with their labels."""
    return pl.DataFrame(
        [
            (i, source, words, "train", i, size, gone, gone, False)
            for i, (source, words, size, gone) in enumerate(rows)
        ],
        schema={
            "sent_id": pl.UInt32, "source": pl.String, "n_words": pl.UInt32, "split": pl.String,
            "rank": pl.UInt32, "size": pl.String, "binding_paper": pl.Boolean,
            "binding_direct": pl.Boolean, "question": pl.Boolean,
        },
        orient="row",
    )  # fmt: skip


def filled(*rows, **settings):
    wanted = spec(filters=["binding"], refill=True, **settings)
    with planned(plan(*rows), LABELS) as base:
        return held(base, choose(base, wanted).filled)


def test_a_refill_takes_the_next_sentences_until_the_words_are_there():
    here = [("a", 5, "1K", True), ("b", 3, "1K", True), ("a", 4, "1K", False)]
    further = [("a", n, size, False) for n, size in ((2, "2K"), (3, "2K"), (1, ""))]
    # All that b had is gone; the three words of a are neither too many nor too few
    rest = [("b", 1, "2K", False), ("b", 9, "2K", True), ("b", 1, "", False), ("b", 1, "", False)]
    assert filled(*here, *further, *rest) == [2, 3, 4, 6, 8, 9]
    with pytest.raises(PoshgridError, match=r"source 'b' lacks 1 words to refill the 3 that are"):
        filled(*here, *further, *rest[:-1])


@pytest.mark.parametrize("kept", [3, 2])
def test_a_downsampled_condition_needs_as_many_sentences_as_it_keeps(kept):
    rows = plan(*[("a", 5, "1K", False)] * kept, *[("a", 5, "1K", True)] * (7 - kept))
    wanted = spec(filters=["binding"], downsample=0.5)  # three of seven
    with planned(rows, LABELS) as base:
        if kept == 3:
            assert held(base, choose(base, wanted).kept) == [0, 1, 2]
            return
        with pytest.raises(PoshgridError, match=r": 3 sentences .* leave 2; .* to 0\.285$"):
            choose(base, wanted)


@pytest.mark.parametrize(
    ("match", "others", "fits"),
    [([], 110, True), ([], 109, False), (["question"], 222, True), (["question"], 221, False)],
)
def test_a_control_keeps_to_a_thousandth_of_the_words_of_a_source(match, others, fits):
    """20 words are gone, and others have 18: two of 2,000 may, of 4,000 for each of two kinds."""
    rows = plan(("a", 20, "1K", True), *[("a", 18, "1K", False)] * others)
    wanted = spec(name="c", control="f", of=["binding"], match=match)
    with planned(rows, LABELS) as base:
        if fits:
            found = held(base, choose(base, wanted).left)
            assert len(found) == others
            assert 0 in found
            return
        with pytest.raises(PoshgridError) as caught:
            choose(base, wanted)
    told = str(caught.value)
    assert "source 'a" in told and "would gain at least 2 of" in told
    assert "reinsert" not in told  # which is no remedy here


def test_evidence_that_is_put_back_is_drawn_from_all_there_is(tmp_path, base):
    """By the seed: neither the first sentences nor the same ones for all seeds."""
    found = []
    for seed in (1, 2):
        rates = {"binding": {"rate": 0.01, "tolerance": 0.01}}
        build(spec(filters=FILTERS, rates=rates, seed=seed), *base, tmp_path / str(seed))
        train = read(tmp_path / str(seed))["train"]
        found.append(set(train.drop_nulls("replaced")["sent_id"]))
    wanted = spec(filters=FILTERS, rates={"binding": {"rate": 0.01}})
    rows = pl.read_parquet(base[0]).hstack(pl.read_parquet(base[1]).drop("sent_id"))
    with planned(rows.drop("text"), Labels.of(SCHEMA)) as planning:
        whole = choose(planning, wanted).whole
        first = held(planning, f"{whole} and binding_direct and not question_formation_paper")
    assert found[0] != found[1]
    for each in found:
        assert each < set(first)
        assert each != set(first[: len(each)])


def put_back(wanted, rows):
    """Return the sentence that gives way -> the evidence, and facts."""
    with planned(rows, LABELS) as base:
        facts = reinsert(base, wanted, choose(base, wanted))
        return dict(
            base.database.rows("select place, sent_id from own_swaps order by place")
        ), facts


@pytest.mark.parametrize(("there", "rate"), [(1, 0.25), (2, 0.25), (2, 0.1)])
def test_scarce_evidence_is_repeated_evenly(there, rate):
    rows = plan(*[("a", 6, "1K", True)] * there, *[("a", 6, "1K", False)] * 20)
    back = {"binding": {"rate": rate, "tolerance": 0.01, "repeat": True}}
    wanted = spec(filters=["binding"], rates=back)
    swaps, facts = put_back(wanted, rows)
    needed = round(rate * 20)
    times = sorted(Counter(swaps.values()).values())
    assert times == sorted((needed + i) // there for i in range(there))
    assert facts["binding"] == {
        "sentences": needed, "rate": rate, "pool": "direct", "available": there,
        "different": there, "from_larger_sizes": 0, "words_difference": {"a": 0.0},
    }  # fmt: skip


def test_the_natural_rate_is_that_of_the_base():
    """One of three, of two sentences: one is put back."""
    rows = plan(("a", 6, "1K", True), ("a", 6, "1K", False), ("a", 6, "1K", False))
    rates = {"binding": {"rate": "natural", "tolerance": 0.01}}
    wanted = spec(filters=["binding"], rates=rates)
    swaps, facts = put_back(wanted, rows)
    assert list(swaps.values()) == [0]
    assert (facts["binding"]["sentences"], facts["binding"]["rate"]) == (1, 0.33333333)
