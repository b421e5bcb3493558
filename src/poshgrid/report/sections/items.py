"""The suites: a pair of each phenomenon, the quality of the suite, and results of given models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config.runs import PRETRAINED
from poshgrid.report.collect import Collected, read_json
from poshgrid.report.parts import Page

TITLE, ORDER, AUDIENCE = "Benchmark", 120, "reviewer"


def write(page: Page) -> dict[str, Any]:
    """Write the accuracies of given models; return the examples and the quality of each suite."""
    collected, layout = page.collected, page.layout
    suites = []
    for suite, items in collected.items.items():
        page.table("given", given(collected, suite), of=suite)
        quality = read_json(
            Path(collected.paths.quality(collected.spec.target, suite), "quality.json")
        )
        suites.append({
            "name": suite, "pairs": items.height,
            "examples": list(examples(items, layout.phenomena[suite])),
            "checked": bool(quality),
            "faults": [check for check in quality.get("checks", []) if check["items"]],
        })  # fmt: skip
    return {"suites": suites}


def examples(
    items: pl.DataFrame, phenomena: list[tuple[str, str]]
) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the first pair of each phenomenon, and its number of pairs."""
    for category, phenomenon in phenomena:
        rows = items.filter(category=category, phenomenon=phenomenon).sort("item_id")
        yield from ((first, rows.height) for first in rows.head(1).iter_rows(named=True))


def given(collected: Collected, suite: str) -> pl.DataFrame:
    """Return the accuracy of the pretrained models on each phenomenon, a column for each model."""
    rows = collected.accuracy.filter(recipe=PRETRAINED, suite=suite, level="phenomenon")
    return rows.pivot("model", index=["category", "phenomenon"], values="mean")
