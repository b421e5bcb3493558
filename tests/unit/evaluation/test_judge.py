"""Judgements, worked by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest

from poshgrid.config import Scoring
from poshgrid.evaluation.judgements import judge, ties
from poshgrid.evaluation.schema import SCORES

ROWS = [
    # good sum, bad sum, good tokens, bad tokens, correct by mean, by sum
    (-8.0, -9.0, 4, 4, 1.0, 1.0),
    (-9.0, -8.0, 4, 4, 0.0, 0.0),
    (-9.0, -8.0, 6, 4, 1.0, 0.0),  # longer, but less surprising a token
    (-8.0, -9.0, 4, 6, 0.0, 1.0),
    (-8.0, -8.0, 4, 4, 0.5, 0.5),
    (-8.0, -4.0, 4, 2, 0.5, 0.0),  # the same mean, not the same sum
    (-8.0, -8.0 - 1e-8, 4, 4, 0.5, 0.5),  # equal but for rounding
    (-8.0, -8.0 - 1e-4, 4, 4, 1.0, 1.0),
]


@pytest.fixture
def scores():
    return pl.DataFrame(
        {
            "item_id": [str(i) for i in range(len(ROWS))],
            "good_logprob": [row[0] for row in ROWS],
            "bad_logprob": [row[1] for row in ROWS],
            "step": [None] * len(ROWS),
            "good_tokens": [row[2] for row in ROWS],
            "bad_tokens": [row[3] for row in ROWS],
        },
        schema=SCORES,
    )


def test_the_lower_perplexity_wins_and_ties_count_half(scores):
    judged = judge(scores, Scoring(reduction="mean"))
    assert judged["correct"].to_list() == [row[4] for row in ROWS]
    assert ties(judged) == 3
    assert judged["good_score"][2] == pytest.approx(math.exp(9 / 6))
    assert judged["bad_score"][2] == pytest.approx(math.exp(8 / 4))
    assert judged.select(list(SCORES)).equals(scores.select(list(SCORES)))


def test_the_higher_log_probability_wins(scores):
    judged = judge(scores, Scoring(reduction="sum"))
    assert judged["correct"].to_list() == [row[5] for row in ROWS]
    assert judged["good_score"].to_list() == [row[0] for row in ROWS]


def test_permutations_under_a_uniform_model_are_ties():
    logprob = -math.log(32_768)
    scores = pl.DataFrame(
        [["a", None, 9 * logprob, 7 * logprob, 9, 7]], schema=SCORES, orient="row"
    )  # fmt: skip
    assert judge(scores, Scoring())["correct"].to_list() == [0.5]
    assert judge(scores, Scoring(reduction="sum"))["correct"].to_list() == [0.0]
