"""Tables of models beside their nulls, worked by hand."""

from types import SimpleNamespace

import polars as pl
import pytest

from poshgrid.report.sections import items
from poshgrid.statistics.schema import BESIDE_NULLS

LAYOUT = SimpleNamespace(phenomena={"posh": [("island", "island-wh"), ("wanna", "wanna")]})


def rows(*changed):
    usual = {
        "condition": "wiki", "size": "10M", "learner": "mini", "regimen": "packed", "bias": "none",
        "suite": "posh", "category": "wanna", "phenomenon": "wanna", "null": "unigram", "r": 0.2,
        "r_low": 0.1, "r_high": 0.3, "less": "baby", "difference": -0.28, "difference_low": -0.4,
        "difference_high": -0.16, "null_difference": -0.71, "null_difference_low": -0.8,
        "null_difference_high": -0.62,
    }  # fmt: skip
    table = pl.DataFrame([usual | each for each in changed], schema=BESIDE_NULLS)
    return SimpleNamespace(nulls=table)


def test_a_models_register_stands_beside_its_nulls():
    collected = rows(
        {"null": "untrained", "null_difference": 0.01, "null_difference_low": None},
        {},
        {"bias": "dyck"},
        {"condition": "baby", "less": "", "difference": None},
        {"suite": "blimp"},
    )
    table = items.register(collected, LAYOUT, "posh")
    assert [column.title for column in table.columns[5:]] == [
        "Model", "95%, model", "Untrained", "95%, untrained", "Unigram", "95%, unigram",
    ]  # fmt: skip
    assert table.shown() == [
        ["wanna", "wiki − baby", "10M", "mini", "packed", "−28.0", "[−40.0, −16.0]", "+1.0", "–",
         "−71.0", "[−80.0, −62.0]"]
    ]  # fmt: skip
    assert items.register(rows({"less": ""}), LAYOUT, "posh").rows == []


def test_correlations_are_a_median_and_the_highest_with_its_place():
    collected = rows(
        {"phenomenon": "island-wh", "r": 0.83, "r_low": 0.8, "r_high": 0.86, "condition": "baby"},
        {"phenomenon": "island-wh", "r": 0.5},
        {"phenomenon": "island-wh", "r": 0.5, "less": "baby-whole"},  # the same point again
        {"phenomenon": "island-wh", "r": 0.1, "size": "30M"},
        {"r": None},
    )
    table = items.margins(collected, LAYOUT, "posh")
    assert table.rows == [
        ["island-wh", pytest.approx(0.5), 0.83, "baby 10M [0.80, 0.86]"],
        ["wanna", None, None, None],
    ]
    assert items.margins(rows({"suite": "blimp"}), LAYOUT, "posh").rows == []
