"""How often models agree with heuristics: worked by hand, against numpy, and from files."""

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from poshgrid.core.files import read_table
from poshgrid.evaluation.heuristics import table
from poshgrid.models.ngram import count
from poshgrid.statistics import accuracy
from poshgrid.statistics.agreement import agreed
from poshgrid.statistics.schema import HEURISTIC_AGREEMENT
from tests.unit.models.training.training_support import write_condition
from tests.unit.statistics.scored import Folder, chosen, items, only


def units(right, sets):
    """Return pairs of one phenomenon: how many seeds are right, and the lexical set of each."""
    return pl.DataFrame(
        {"item_id": [f"i{n:03}" for n in range(len(right))], "lexical_set": sets,
         "right": np.array(right, float)}
    ).with_columns(category=pl.lit("c"), phenomenon=pl.lit("p"))  # fmt: skip


def choices(**heuristics):
    """Return what heuristics choose of the same pairs; None: no decision."""
    rows = [
        (f"i{n:03}", name, preferred)
        for name, values in heuristics.items()
        for n, preferred in enumerate(values)
        if preferred is not None
    ]
    return pl.DataFrame(rows, schema=table.PREDICTIONS, orient="row")


def test_by_hand():
    """Two seeds: right twice, right and tied, never, once. A tie of a heuristic decides nothing."""
    said = choices(
        some=[1, 0, 1, 0.5], one=[None, None, None, 0], none=[0.5, 0.5, None, None],
        always=[1, 1, 1, 1],
    )  # fmt: skip
    rows = agreed(units([2, 1.5, 0, 1], ["a", "a", "b", "c"]), said, seeds=2)
    assert rows["heuristic"].to_list() == ["always", "one", "some"]
    some = only(rows, heuristic="some")  # of six choices: both, half of one, none
    assert (some["pairs"], some["sets"], some["right"]) == (3, 2, pytest.approx(2 / 3))
    assert (some["agreement"], some["where_wrong"]) == (pytest.approx(2.5 / 6), 0.25)
    assert (some["low"], some["high"]) == (0, 1)
    one = only(rows, heuristic="one")
    assert (one["pairs"], one["right"], one["agreement"], one["where_wrong"]) == (1, 0, 0.5, 0.5)
    assert one["low"] is None and one["high"] is None  # one set has no interval
    always = only(rows, heuristic="always")  # its agreement is the model's accuracy
    assert (always["right"], always["agreement"]) == (1, 4.5 / 8)
    assert always["where_wrong"] is None


def test_intervals_are_those_of_a_ratio_of_sums_over_sets():
    generator = np.random.default_rng(4)
    sets = np.sort(generator.integers(0, 40, 120))
    right, said = generator.integers(0, 4, 120), generator.choice([0.0, 1.0], 120)
    (row,) = agreed(
        units(right, [f"s{n:02}" for n in sets]), choices(h=said.tolist()), seeds=3
    ).to_dicts()
    same = np.where(said == 1, right, 3 - right)
    number = len(np.unique(sets))
    sums, sizes = (np.bincount(sets, weights) for weights in (same, np.full(120, 3)))
    share = sums.sum() / sizes.sum()
    variance = number / (number - 1) * ((sums - share * sizes) ** 2).sum() / sizes.sum() ** 2
    half = stats.t.ppf(0.975, number - 1) * math.sqrt(variance)
    assert row["agreement"] == pytest.approx(share)
    assert (row["low"], row["high"]) == pytest.approx((share - half, share + half))
    assert row["where_wrong"] == pytest.approx(1 - right[said == 0].mean() / 3)


QUESTIONS = [
    ("Will the man who the boy did see leave?", "Did the man who the boy see will leave?"),
    ("Did the girl who the king will see run?", "Will the girl who the king see did run?"),
    ("Can the boy who the queen must help swim?", "Must the boy who the queen help can swim?"),
    ("Must the wife who the pilot can call eat?", "Can the wife who the pilot call must eat?"),
]


def test_from_files_to_a_table(tmp_path):
    """Two seeds front *did*; counted baselines are heuristics here, no models."""
    rows = [
        {"item_id": f"q{i}", "category": "question-formation", "lexical_set": f"s{i}",
         "good": good, "bad": bad}
        for i, (good, bad) in enumerate(QUESTIONS)
    ]  # fmt: skip
    made = Folder(tmp_path, items(rows))
    did = [1 if good.startswith("Did") else -1 for good, _ in QUESTIONS]
    for seed in (1, 2):
        made.add(f"baby/10M/gpt2/packed/none/seed{seed}", {None: did})
    counted = "baby/10M/unigram/counted/none/seed0"
    made.add(counted, {None: [0] * 4}).add(counted.replace("unigram", "ngram"), {None: [1] * 4})
    # "did" was heard twice, "will" and "can" once, "must" never
    heard = ["did you see it ?", "did he ?", "will you ?", "can she ?"]
    text = write_condition(tmp_path / "text", train=heard) / "train.parquet"
    count(text, tmp_path / "models" / counted, order=1)
    table.write(made.tables, tmp_path / "heuristics")
    tables = {"posh": tmp_path / "heuristics/posh.parquet"}

    def judged(models):
        accuracy.accuracy(
            made.spec(), tmp_path / "scores", made.tables, None, tmp_path / "out", tables,
            models=models,
        )  # fmt: skip
        return read_table(tmp_path / "out/heuristic_agreement.parquet", HEURISTIC_AGREEMENT)

    rows = judged(tmp_path / "models")
    assert rows["model"].unique().to_list() == ["gpt2"]
    numbers = ("pairs", "sets", "right", "agreement", "where_wrong")
    assert {row[0]: row[1:] for row in rows.select("heuristic", *numbers).iter_rows()} == {
        "finite-clauses": (4, 4, 1, 0.25, None),
        "first-auxiliary": (4, 4, 0, 0.75, 0.75),
        "frequent-word": (4, 4, 0.5, 0.75, 1),
        "front-do": (2, 2, 0.5, 1, 1),
        "local-bigram": (4, 4, 0.5, 0.75, 1),
        "main-auxiliary": (4, 4, 1, 0.25, None),
        "ngram": (4, 4, 1, 0.25, None),
    }
    assert "frequent-word" not in set(judged(None)["heuristic"])  # nobody counted words


JOINT = [
    # item, set, joint, the heuristic's choice, margins of two seeds
    ("a", "one", True, 1, (3, 1)),  # together 2 and -1: right, wrong
    ("b", "one", True, 1, (-1, -2)),
    ("c", "two", True, 1, (5, 1)),  # 3 and -1; the heuristic: bad, by two to one
    ("d", "two", True, 0, (-1, -2)),
    ("e", "two", True, 0, (-1, 0)),
    ("f", "three", True, 1, (1, 1)),  # as often good as bad: no decision
    ("g", "three", True, 0, (1, 1)),
    ("h", "four", False, 0, (-1, 1)),  # alone: wrong, right
    ("i", "four", True, None, (-1, 1)),  # right twice; the heuristic: good, by the second pair
    ("j", "four", True, 1, (2, 1)),
]


def test_joint_pairs_are_one_choice_of_models_and_of_heuristics(tmp_path):
    """Of eight choices of two seeds on one, two, h and four, 1 + 1 + 1 + 2 are the heuristic's."""
    rows = [
        {"item_id": item, "lexical_set": of, "cell": item, "joint": joint}
        for item, of, joint, *_ in JOINT
    ]
    made = Folder(tmp_path, items(rows))
    made.words("baby/10M", 10_000_000)
    for number in (0, 1):
        margins = [both[number] for *_, both in JOINT]
        made.add(f"baby/10M/gpt2/packed/none/seed{number}", {None: margins})
    said = [(item, "h", False, choice) for item, _, _, choice, _ in JOINT]
    made.judge(heuristics={"posh": chosen(tmp_path / "heuristics/posh.parquet", said)})
    agreed_with = read_table(tmp_path / "out/heuristic_agreement.parquet", HEURISTIC_AGREEMENT)
    row = only(agreed_with, heuristic="h")
    assert (row["pairs"], row["sets"], row["right"]) == (4, 3, 0.5)
    assert (row["agreement"], row["where_wrong"]) == (5 / 8, 2 / 4)
