"""The exposure ledger against numbers worked by hand."""

from __future__ import annotations

from poshgrid.config.runs import Run
from poshgrid.statistics.exposure import ledger


def facts(sentences: int, words: int) -> dict[str, int]:
    return {"sentences": sentences, "words": words}


CONDITION = {
    "base": "baby",
    "whole": facts(12, 60) | {"sources": {"a": facts(8, 50), "b": facts(4, 10)}},
    "splits": {"train": facts(9, 40) | {"sources": {"a": facts(5, 30), "b": facts(4, 10)}}},
}
TOKENS = {
    "train": {
        "distinct": 7, "tokens": 60,
        "sources": {"a": {"distinct": 5, "tokens": 45}, "b": {"distinct": 2, "tokens": 14}},
    }
}  # fmt: skip


def test_a_ledger_worked_by_hand():
    cell = ("f", "60")
    runs = [Run("f", "60", "gpt2", "packed", bias, 1) for bias in ("none", "dyck", "recency")]
    # kept after 2.5 and 4 passes; the third is not trained yet
    statistics = [
        {"best_step": 25, "steps_per_epoch": 10, "copies": 1},
        {"best_step": 20, "steps_per_epoch": 10, "copies": 2},
        {},
    ]
    table = ledger({cell: CONDITION}, {cell: TOKENS}, zip(runs, statistics, strict=True))
    assert table["source"].to_list() == ["all", "a", "b"]
    assert table["base_words"].to_list() == [60, 50, 10]
    assert table["sentences"].to_list() == [9, 5, 4]
    assert table["distinct"].to_list() == [7, 5, 2]
    assert table["words"].to_list() == [40, 30, 10]
    assert set(table["epochs_low"]) == {2.5} and set(table["epochs_high"]) == {4.0}
    assert table["words_seen_low"].to_list() == [100, 75, 25]
    assert table["tokens_seen_high"].to_list() == [240, 180, 56]
