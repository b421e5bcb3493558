"""The figure and tables of language tests, from hand-made measures."""

from __future__ import annotations

import math
from types import SimpleNamespace

import polars as pl
import pytest

from poshgrid.report.layout import model_names
from poshgrid.report.sections import battery
from poshgrid.statistics.measures.schema import CHOICE_MEASURES, NORMS, TAGS
from poshgrid.statistics.schema import ACCURACY

RUN = {"condition": "wiki", "size": "60K", "learner": "gpt2", "regimen": "packed", "bias": "none"}
NULL = {**RUN, "regimen": "untrained"}


def frame(schema, *rows):
    return pl.DataFrame([{**RUN, **row} for row in rows], schema=schema)


@pytest.fixture
def collected():
    trog = {"level": "suite", "suite": "trog", "n": 80, "chance": 0.25, "blocks": 20}
    words = {"level": "suite", "suite": "words", "n": 14}
    tag = {"tag": "neg", "other": "", "n": 4, "raw": 1.0, "n_rest": 10, "raw_rest": 6.0}
    two = {"tag": "neg", "other": "pas", "n": 1, "raw": 1.0, "n_rest": 3, "raw_rest": 0.0}
    return SimpleNamespace(
        spec=SimpleNamespace(
            measured={"gaps": "paradigms", "trog": "choices", "words": "completions"}
        ),
        measures={
            "trog": frame(
                CHOICE_MEASURES,
                {**trog, **NULL, "seed": 42, "raw": 20.0, "blocks_passed": 1},
                {**trog, "seed": 42, "raw": 30.0, "blocks_passed": 5},
                {**trog, "seed": 53, "raw": 38.0, "blocks_passed": 8},
                {**trog, "level": "category", "category": "c", "seed": 42, "raw": 30.0},
            ),
            "words": frame(CHOICE_MEASURES, {**words, "seed": 42, "raw": 6.0}),
        },
        accuracy=frame(
            ACCURACY,
            {"suite": "pairs", "level": "phenomenon", "n_pairs": 10, "mean": 0.9},
            {"suite": "pairs", "level": "phenomenon", "n_pairs": 8, "mean": 1.0},
            {"suite": "pairs", "level": "average", "mean": 0.95},
        ),
        norms={
            "trog": frame(
                NORMS,
                *({"suite": "trog", "seed": s, "category": "trog", "score": "blocks",
                   "age_equivalent": age, "age_from": "4;0"}
                  for s, age in ((42, "4;1"), (42, "4;1"), (53, "4;6"))),
            ),
            "words": pl.DataFrame(schema=NORMS),
        },
        tags={
            "trog": frame(
                TAGS,
                *({"suite": "trog", "seed": 42, **each} for each in (tag, two, {**tag, **NULL})),
            ),
            "words": frame(TAGS, {"suite": "words", "seed": 42, **tag}),
        },
    )  # fmt: skip


def test_a_mark_a_test_and_model_nulls_last(collected):
    found = battery.tests(collected)
    assert found.select("suite", "model", "null", "n", "raw", "chance").rows() == [
        ("trog", "gpt2", False, 80, 34.0, 0.25),  # the mean of both seeds
        ("words", "gpt2", False, 14, 6.0, None),
        ("pairs", "gpt2", False, 18, pytest.approx(17), 0.5),  # phenomena by their pairs
        ("trog", "gpt2 untrained", True, 80, 20.0, 0.25),
    ]
    assert found["accuracy"][0] == 34 / 80
    assert found["low"][0] < 34 / 80 < found["high"][0]


def test_the_table_has_blocks_and_ages(collected):
    table = battery.table(battery.tests(collected), battery.ages(collected))
    rows = {(row[0], row[1]): row for row in table.rows}
    assert rows["trog", "gpt2"][2] == "34/80"
    assert rows["trog", "gpt2"][6:] == ["6.5/20", "4;1, 4;6"]
    assert rows["pairs", "gpt2"][6:] == ["–", "–"]
    bare = battery.table(battery.tests(collected).filter(pl.col("blocks").is_null()), {})
    assert len(bare.columns) == 6


def test_subsets_add_up_over_tests(collected):
    table = battery.tagged(pl.concat(collected.tags.values()))
    (row,) = table.rows
    assert row[:3] == ["gpt2", "neg", "2/8"]  # the null is left out
    assert row[5] == "12/20"
    # 14 of 28 are right, and of 8 drawn at random as many as two, or as six: both ends alike.
    end = sum(math.comb(14, k) * math.comb(14, 8 - k) for k in range(3))
    assert row[6] == pytest.approx(2 * end / math.comb(28, 8))
    (row,) = battery.tagged(pl.concat(collected.tags.values()), crossed=True).rows
    assert [*row[:4], row[6]] == ["gpt2", "neg", "pas", "1/1", "0/3"]


def test_untrained_models_with_a_bias_have_a_row_of_their_own():
    rows = [{**NULL, "seed": 1}, {**NULL, "bias": "dyck", "seed": 1}, {**RUN, "bias": "dyck"}, RUN]
    frame = pl.DataFrame([{"seed": 1, **row} for row in rows])
    assert model_names(frame) == [
        "gpt2 untrained", "gpt2 · dyck untrained", "gpt2 · dyck", "gpt2 · none",
    ]  # fmt: skip
