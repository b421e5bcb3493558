"""Judgements, worked by hand."""

import math

import polars as pl
import pytest

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Scoring
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation.judgements import judge, judged, read_items, steps
from poshgrid.evaluation.schema import SCORES
from tests.unit.evaluation.test_tasks import table

ROWS = [
    # good sum, bad sum, good tokens, bad tokens, correct by mean, by sum
    (-8.0, -9.0, 4, 4, 1.0, 1.0),
    (-9.0, -8.0, 4, 4, 0.0, 0.0),
    (-9.0, -8.0, 6, 4, 1.0, 0.0),  # longer, but less surprising a token
    (-8.0, -9.0, 4, 6, 0.0, 1.0),
    (-8.0, -8.0, 4, 4, 0.5, 0.5),
    (-8.0, -4.0, 4, 2, 0.5, 0.0),  # the same mean, not the same sum
]


@pytest.mark.parametrize(("reduction", "column"), [("mean", 4), ("sum", 5)])
def test_the_lower_perplexity_or_the_higher_log_probability_wins(reduction, column):
    scores = pl.DataFrame([["x", None, *row[:4]] for row in ROWS], schema=SCORES, orient="row")
    judged = judge(scores, Scoring(reduction=reduction))
    assert judged["correct"].to_list() == [row[column] for row in ROWS]
    assert judged.select(list(SCORES)).equals(scores)


@pytest.mark.parametrize(
    ("reduction", "nats", "tokens", "right"),
    [
        ("mean", 3.9e-6, (4, 4), 0.5),  # a millionth a token
        ("mean", 4.1e-6, (4, 4), 1.0),
        ("sum", 3.9e-6, (4, 2), 0.5),  # of the longer member
        ("sum", 3.9e-6, (2, 4), 0.5),
        ("sum", -4.1e-6, (4, 2), 0.0),
    ],
)
def test_a_tie_is_a_millionth_of_a_nat_a_token(reduction, nats, tokens, right):
    scores = pl.DataFrame([["a", None, 0.0, -nats, *tokens]], schema=SCORES, orient="row")
    assert judge(scores, Scoring(reduction=reduction))["correct"].to_list() == [right]


# ---- from files -------------------------------------------------------------------------------

JUDGED = [
    # item, set, joint, then at the end of training and after 20 steps: good, bad, tokens of each
    ("c", "s", False, (-9.0, -8.0, 6, 4), (-8.0, -9.0, 4, 4)),  # right by mean, wrong by sum
    ("b", "s", True, (-9.0, -7.0, 2, 3), (-7.0, -9.0, 2, 3)),  # with d: -12 and -11, of 5 and 4
    ("d", "s", True, (-3.0, -4.0, 3, 1), (-3.0, -4.0, 3, 1)),
    ("a", "t", True, (-5.0, -5.0, 1, 1), (-5.0, -5.0, 1, 1)),  # alone in its set
]


def written(folder, change=lambda frame: frame):
    """Write scores of ``JUDGED``; return their file and the items."""
    rows = [
        (item, step, *scores)
        for item, _, _, *both in JUDGED
        for step, scores in zip((None, 20), both, strict=True)
    ]
    scores = change(pl.DataFrame(rows, schema=SCORES, orient="row"))
    scores.write_parquet(folder / "scores.parquet")
    named = [
        {"item_id": item, "lexical_set": of, "joint": joint, "cell": f"cell {item}"}
        for item, of, joint, *_ in JUDGED
    ]
    table(PAIRS, *named).write_parquet(folder / "items.parquet")
    return folder / "scores.parquet", read_items(folder / "items.parquet")


NAMES = ["item_id", "lexical_set", "cell", "margin", "good_tokens", "bad_tokens"]
RIGHT = ["correct", "by_mean", "by_sum"]


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_joint_pairs_are_judged_as_one(tmp_path, reduction):
    table_judged = judged(*written(tmp_path), Scoring(reduction=reduction))
    assert table_judged.select(NAMES).rows() == [
        ("a", "t", "", 0.0, 1, 1),
        ("b", "s", "", -1.0, 5, 4),
        ("c", "s", "cell c", -1.0, 6, 4),
    ]
    assert table_judged.select("by_mean", "by_sum").rows() == [(0.5, 0.5), (1.0, 0.0), (1.0, 0.0)]
    assert table_judged["correct"].equals(table_judged[f"by_{reduction}"], check_names=False)
    assert set(table_judged.columns) == {*NAMES, *RIGHT, "category", "phenomenon", "template"}


def test_a_checkpoint_has_its_own_judgements(tmp_path):
    path, items = written(tmp_path)
    table_judged = judged(path, items, Scoring(), 20)
    assert table_judged.select("item_id", "margin", "correct").rows() == [
        ("a", 0.0, 0.5), ("b", 3.0, 1.0), ("c", 1.0, 1.0),
    ]  # fmt: skip
    assert steps(path) == [20]
    with pytest.raises(
        PoshgridError, match=r"scores\.parquet: step 30: no such step \(steps: 20\)"
    ):
        judged(path, items, Scoring(), 30)


def _at(item, **values):
    """Return a change of one item's scores."""
    return lambda frame: frame.with_columns(
        pl.when(pl.col("item_id") == item)
        .then(pl.lit(value, SCORES[column]))
        .otherwise(pl.col(column))
        .alias(column)
        for column, value in values.items()
    )


@pytest.mark.parametrize(
    ("change", "first"),
    [
        (_at("d", good_logprob=None), "1 scores are .* first of 'd'"),
        (_at("d", bad_logprob=math.nan), "1 scores are .* first of 'd'"),
        (_at("d", good_logprob=math.inf), "1 scores are .* first of 'd'"),
        (_at("d", bad_logprob=-math.inf), "1 scores are .* first of 'd'"),
        (_at("d", good_tokens=None), "1 scores are .* first of 'd'"),
        (_at("d", bad_tokens=0), "1 scores are .* first of 'd'"),
        (lambda f: f.filter(pl.col("item_id") != "b"), "1 .* first 'b'"),
        (lambda f: pl.concat([f, _at("a", item_id="z")(f.filter(item_id="a"))]), "1 .* first 'z'"),
        (lambda f: pl.concat([f, f.filter(item_id="a")]), "2 .* first 'a'"),
    ],
)
def test_scores_that_are_no_numbers_or_of_other_pairs_are_refused(tmp_path, change, first):
    path, items = written(tmp_path, change)
    with pytest.raises(PoshgridError, match=rf"scores\.parquet: {first}"):
        judged(path, items, Scoring())
