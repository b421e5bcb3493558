"""The exposure ledger: sentences, words and tokens that models see, compared with their corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from poshgrid.config.runs import Run
from poshgrid.statistics.schema import EXPOSURE

ALL = "all"
"""Name of the row for all sources together."""
_Cells = Mapping[tuple[str, str], Mapping[str, Any]]


def ledger(
    conditions: _Cells, tokens: _Cells, trained: Iterable[tuple[Run, Mapping[str, Any]]]
) -> pl.DataFrame:
    """Return a row for each condition, size and source, and one for all sources.

    Args:
        conditions: (condition, size) -> ``statistics.json`` of the condition.
        tokens: (condition, size) -> ``statistics.json`` of its tokens; a cell may have none yet.
        trained: runs, and ``statistics.json`` of their models (empty before training). A masked
            model sees each sentence ``copies`` times in an epoch.

    Returns:
        Columns of ``EXPOSURE``, in the order of the conditions.
    """
    passes: dict[tuple[str, str], list[float]] = {}
    for run, statistics in trained:
        if "best_step" in statistics and statistics.get("steps_per_epoch"):
            epochs = statistics["best_step"] / statistics["steps_per_epoch"]
            seen = epochs * statistics["copies"]
            passes.setdefault((run.condition, run.size), []).append(seen)
    rows = []
    for cell, condition in conditions.items():
        train = condition.get("splits", {}).get("train", {})
        whole, counted = condition.get("whole", {}), tokens.get(cell, {}).get("train", {})
        parts = [(ALL, train, whole, counted)] if train else []
        parts += [
            (name, part, *(facts.get("sources", {}).get(name, {}) for facts in (whole, counted)))
            for name, part in train.get("sources", {}).items()
        ]
        changed = condition.get("rewritten", {})
        by_source = {ALL: changed.get("sentences"), **changed.get("sources", {})}
        for source, seen, corpus, tokenized in parts:
            row = {
                "condition": cell[0], "size": cell[1], "corpus": condition.get("corpus"),
                "source": source,
                "corpus_sentences": corpus.get("sentences"), "corpus_words": corpus.get("words"),
                "sentences": seen.get("sentences"), "words": seen.get("words"),
                "distinct": tokenized.get("distinct"), "tokens": tokenized.get("tokens"),
                "rewritten": by_source.get(source, 0 if changed else None),
            }  # fmt: skip
            epochs = passes.get(cell, [])
            for name, pick in (("low", min), ("high", max)):
                row[f"epochs_{name}"] = times = pick(epochs, default=None)
                for unit in ("words", "tokens"):
                    known = row[unit] is not None and times is not None
                    row[f"{unit}_seen_{name}"] = round(row[unit] * times) if known else None
            rows.append(row)
    return pl.DataFrame(rows, schema=EXPOSURE)
