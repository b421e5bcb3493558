"""The exposure ledger against numbers worked by hand."""

from poshgrid.config.runs import Run
from poshgrid.statistics.exposure import ledger


def facts(sentences: int, words: int) -> dict[str, int]:
    return {"sentences": sentences, "words": words}


CONDITION = {
    "corpus": "baby",
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
    runs = [Run(*cell, "gpt2", "packed", bias, 1) for bias in ("none", "dyck", "recency")]
    # kept after 2.5 and 4 passes; the third is not trained yet
    kept = [
        {"best_step": 25, "steps_per_epoch": 10, "copies": 1},
        {"best_step": 20, "steps_per_epoch": 10, "copies": 2},
        {},
    ]
    table = ledger({cell: CONDITION}, {cell: TOKENS}, zip(runs, kept, strict=True))
    columns = ("source", "corpus_words", "sentences", "distinct", "words", "epochs_low",
               "epochs_high", "words_seen_low", "tokens_seen_high")  # fmt: skip
    assert table.select(columns).rows() == [
        ("all", 60, 9, 7, 40, 2.5, 4.0, 100, 240),
        ("a", 50, 5, 5, 30, 2.5, 4.0, 75, 180),
        ("b", 10, 4, 2, 10, 2.5, 4.0, 25, 56),
    ]
