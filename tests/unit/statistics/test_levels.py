"""Templates, cells and sets as levels; phenomena whose templates differ; the best rival."""

import numpy as np
import polars as pl
import pytest

from poshgrid.core import errors
from poshgrid.statistics import verdicts
from tests.unit.statistics import scored
from tests.unit.statistics.scored import only

SETS = 30
TEMPLATES = ("near", "far")
CELL = "baby/10M"


def items(joint=False):
    """Return one phenomenon of two templates, each set with a pair in both; wanna has one."""
    return scored.items(
        {"item_id": f"{phenomenon}-{template}-{s:02}", "category": phenomenon,
         "phenomenon": phenomenon, "template": template, "lexical_set": f"s{s:02}",
         "joint": joint and phenomenon == "wanna"}
        for phenomenon, templates in (("binding", TEMPLATES), ("wanna", ("only",)))
        for template in templates
        for s in range(SETS)
    )  # fmt: skip


def judge(folder, right, baselines=None, heuristics=None):
    """Return counts and accuracies of runs: name -> (item_id -> whether it is right)."""
    made = scored.Folder(folder, items())
    for name, decide in {**right, **(baselines or {})}.items():
        made.add(name, {None: [1 if decide(i) else -1 for i in made.items["item_id"]]})
    made.words(CELL, 10**7)
    if heuristics:
        heuristics = {"posh": scored.chosen(folder / "heuristics.parquet", heuristics)}
    return made.judge(heuristics=heuristics)[1:]


def number(item):
    return int(item[-2:])


def nearest(seed):
    """Follow the nearest noun: right where it is near, wrong where it is far; wanna by chance."""
    rng = np.random.default_rng(seed)

    def decide(item):
        if item.startswith("wanna"):
            return rng.uniform() < 0.5
        return number(item) < 27 if "near" in item else number(item) < 6

    return decide


def test_templates_are_levels_and_the_best_rival_is_named(tmp_path):
    """Nearest noun is right in 50%; the shorter member in 60%, more than the model's 55%."""
    right = {f"{CELL}/mini/packed/none/seed{s}": nearest(s) for s in (1, 2, 3)}
    heuristics = [
        row for i in items()["item_id"] for row in (
            (i, "nearest", False, None if "wanna" in i else float("near" in i)),
            (i, "shorter", False, 1.0 if number(i) < 18 else 0.0),
            (i, "command", True, 1.0),
        )
    ]  # fmt: skip
    _, table = judge(tmp_path, right, heuristics=heuristics)
    templates = table.filter(level="template").select("phenomenon", "part", "mean", "n_pairs")
    assert templates.with_columns(pl.col("mean").round(9)).rows() == [
        ("binding", "far", 0.2, SETS), ("binding", "near", 0.9, SETS)
    ]  # fmt: skip
    whole = only(table, level="phenomenon", phenomenon="binding")
    assert (whole["mean"], whole["rival"]) == (pytest.approx(0.55), "shorter")
    assert whole["rival_mean"] == pytest.approx(18 / SETS)
    assert whole["above_rival"] == pytest.approx(0.55 - 0.6)
    assert whole["above_rival_low"] < -0.05 < whole["above_rival_high"]
    assert whole["learned"] == "cannot tell"
    assert table.filter(pl.col("level") != "phenomenon")["rival"].drop_nulls().is_empty()
    # The mean of a category with one phenomenon has the draws of that phenomenon
    category = only(table, level="category", category="binding")
    assert (category["low"], category["high"]) == (whole["low"], whole["high"])
    near = only(table, part="near")
    assert near["low"] < 0.9 < near["high"] < near["low"] + 0.3


def varied(share, seed):
    rng = np.random.default_rng(seed)
    return lambda item: rng.uniform() < share


@pytest.mark.parametrize(
    ("seeds", "share", "learned"),
    [
        ((1, 2, 3), 0.7, "yes"),
        ((1, 2, 3), 0.9, "no"),  # 90% are right, too: surely less than 5 points above
        ((1, 2, 3), 0.96, "not testable"),
        ((1,), 0.7, "cannot tell"),
    ],
)
def test_verdicts_beside_a_baseline(tmp_path, seeds, share, learned):
    right = 0.97 if learned == "yes" else 0.75
    good = {f"{CELL}/mini/packed/none/seed{s}": varied(right, s) for s in seeds}
    baseline = {f"{CELL}/unigram/counted/none/seed1": lambda item: number(item) < share * SETS}
    _, table = judge(tmp_path, good, baseline)
    rows = table.filter(level="phenomenon", recipe="packed")
    assert rows["rival"].to_list() == ["unigram"] * 2
    assert rows["learned"].to_list() == [learned] * 2
    assert (rows["above_rival_low"].is_null().sum() > 0) == (len(seeds) == 1)
    assert table.filter(recipe="counted")["learned"].drop_nulls().is_empty()


def test_a_rival_at_chance_is_named_and_one_below_it_is_a_coin(tmp_path):
    good = {f"{CELL}/mini/packed/none/seed{s}": varied(0.95, s) for s in (1, 2, 3)}
    for right, named in ((15, "ngram"), (14, "50%"), (18, "untrained")):
        baseline = {
            f"{CELL}/ngram/counted/none/seed0": lambda item, n=right: number(item) < min(n, 15),
            f"{CELL}/mini/untrained/none/seed1": lambda item, n=right: number(item) < n - 1,
            # Neither is this model's: what is trained without a bias, and by nobody else
            f"{CELL}/mini/untrained/dyck/seed1": lambda _: True,
            f"{CELL}/another/untrained/none/seed1": lambda _: True,
        }
        _, table = judge(tmp_path / named, good, baseline)
        rows = table.filter(level="phenomenon", recipe="packed")
        assert rows["rival"].to_list() == [named] * 2
        known = 0.5 if named == "50%" else max(right - 1, 15) / SETS
        assert rows["rival_mean"].to_list() == pytest.approx([known] * 2)
        expected = rows["mean"].to_numpy() - known
        assert rows["above_rival"].to_list() == pytest.approx(expected.tolist())


def test_pairs_that_test_no_structure_do_not_make_a_phenomenon_testable(tmp_path):
    """The nearest noun solves all pairs that the hierarchical heuristic decides."""
    right = {f"{CELL}/mini/packed/none/seed{s}": varied(0.95, s) for s in (1, 2, 3, 4)}
    for wrong, verdict in ((0, "not testable"), (15, "yes")):  # 100 and 50% of these pairs
        heuristics = [
            (i, name, name == "command", float(name == "command" or number(i) >= wrong))
            if "near" in i else (i, name, name == "command", None)
            for i in items()["item_id"] for name in ("command", "nearest")
        ]  # fmt: skip
        _, table = judge(tmp_path / verdict, right, heuristics=heuristics)
        binding = only(table, level="phenomenon", phenomenon="binding")
        assert (binding["rival"], binding["learned"]) == ("nearest", verdict)
        assert only(table, level="phenomenon", phenomenon="wanna")["learned"] == "yes"


def test_rules_of_joint_pairs_and_without_a_say(tmp_path):
    pairs = items(joint=True)
    doubled = pl.concat(
        [pairs, pairs.filter("joint").with_columns(item_id=pl.col("item_id") + "b")]
    )
    said = {"wanna-only-00": 1.0, "wanna-only-00b": 1.0, "wanna-only-01": 1.0,
            "wanna-only-01b": 0.0, "wanna-only-02": 0.0}  # fmt: skip
    rows = [(i, "r", False, said.get(i)) for i in doubled["item_id"]]
    path = scored.chosen(tmp_path / "heuristics.parquet", rows)
    judged = pairs.sort("item_id")
    preferred, _ = verdicts.read_heuristics(path, doubled, judged)
    value = dict(zip(judged["item_id"], preferred["r"], strict=True))
    assert [value[f"wanna-only-{i:02}"] for i in range(4)] == [1.0, 0.5, 0.0, 0.5]
    assert value["binding-near-00"] == 0.5
    with pytest.raises(errors.PoshgridError, match=r"heuristics\.parquet: the items have changed"):
        verdicts.read_heuristics(path, pairs, judged)
