"""The corpora: the text that models see of them, and tokens."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.core.writing import count, decimals, span
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.parts import Page
from poshgrid.statistics.exposure import ALL

TITLE, ORDER, AUDIENCE = "Corpora", 80, "reviewer"


def write(page: Page) -> dict[str, Any]:
    """Write the tables, if they have rows."""
    page.table("exposure", exposure(page.collected, page.layout))
    page.table("vocabularies", vocabularies(page.collected))
    return {}


def exposure(collected: Collected, layout: Layout) -> pl.DataFrame:
    """Return the text that models see, compared with their corpus."""
    by_size = pl.col("size").cast(pl.Enum(layout.sizes))
    by_condition = pl.col("condition").cast(pl.Enum(collected.spec.conditions))
    single = pl.len().over("size", "condition") == 2  # a single source needs no row of its own
    everything = pl.col("source") == ALL
    rows = (
        collected.exposure.filter(everything | ~single)
        .sort(by_size, by_condition, maintain_order=True)
        .with_columns(
            pl.when(everything).then(pl.lit("total")).alias("class"),
            ratio=pl.when(pl.col("sentences") > 0).then(pl.col("words") / pl.col("sentences")),
        )
    )  # fmt: skip
    for name, show in (("epochs", decimals(2)), ("words_seen", count), ("tokens_seen", count)):
        ends = rows.select(f"{name}_low", f"{name}_high").iter_rows()
        texts = [show(low) if low is not None and low == high else span(low, high, show)
                 for low, high in ends]  # fmt: skip
        rows = rows.with_columns(pl.Series(name, texts, pl.String))
    return rows


def vocabularies(collected: Collected) -> pl.DataFrame:
    """Return training tokens by size of the vocabulary."""
    rows = [
        {"condition": condition, "size": size, **row}
        for (condition, size), sweep in collected.sweeps.items()
        for row in sweep.get("vocabularies", [])
    ]
    if not rows:
        return pl.DataFrame()
    frame = pl.DataFrame(rows, infer_schema_length=None)
    words = {cell.split("/")[1]: facts.words for cell, facts in collected.spec.cells.items()}
    conditions = pl.Enum(frame["condition"].unique(maintain_order=True))
    by_condition = pl.col("condition").cast(conditions)
    return frame.sort("vocabulary_size", pl.col("size").replace_strict(words), by_condition)
