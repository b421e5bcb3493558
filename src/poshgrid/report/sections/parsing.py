"""Parsers: their scores, and how much evidence filters find with them."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.report.collect import Collected
from poshgrid.report.parts import Page

TITLE, ORDER, AUDIENCE = "Parsing and evidence", 90, "reviewer"
FEW = 20
"""Rows with fewer sentences with evidence are marked, because their rates are uncertain."""


def write(page: Page) -> dict[str, Any] | None:
    """Write the tables of parsing; None without a parser."""
    collected = page.collected
    if not collected.spec.parsers:
        return None
    page.table("parsers", parsers(collected))
    rows = recall(collected)
    page.table("recall", rows, bool(rows["class"].count()) and FEW)
    return {}


def parsers(collected: Collected) -> pl.DataFrame:
    """Return the scores of the parsers on gold trees: held-out ones, and those of ``gold``."""
    measured = [(parser, "held out", facts) for parser, facts in collected.parsers.items() if facts]
    measured += [
        (record.name, str(gold), facts)
        for record in collected.records
        if record.kind == "recall"
        for gold, facts in record.content.get("gold", {}).items()
    ]
    decides = collected.spec.evidence_parser
    return pl.DataFrame([
        {"parser": parser, "role": "decides" if parser == decides else "compared", "trees": trees,
         **{key: facts.get(key) for key in ("sentences", "upos", "uas", "las")}}
        for parser, trees, facts in measured
    ], infer_schema_length=None)  # fmt: skip


def recall(collected: Collected) -> pl.DataFrame:
    """Return the recall and precision of each filter with each parser, and how much it removes.

    The rows of ``RECALL`` are sorted by filter and reading, then gold trees, then parser.
    """
    rows = collected.recall
    parsers = {parser: number for number, parser in enumerate(collected.spec.parsers)}
    reading = pl.int_range(pl.len()).last().over("filter", "reading")
    ordered = rows.with_columns(reading_order=reading).sort(
        "filter", "reading_order", pl.col("gold") == "", "gold",
        pl.col("parser").replace_strict(parsers, default=None), "backstop", maintain_order=True,
    )  # fmt: skip
    backstop = pl.when("backstop").then(pl.lit("with")).otherwise(pl.lit("without"))
    return ordered.with_columns(
        gold=pl.col("gold").replace("", "all"),
        backstop=backstop if rows["backstop"].any() else pl.lit(None, pl.String),
        share=pl.when(pl.col("sentences") > 0).then(pl.col("removed") / pl.col("sentences")),
        share_of_words=pl.when(pl.col("words") > 0).then(pl.col("words_removed") / pl.col("words")),
    ).with_columns(pl.when(pl.col("evidence") < FEW).then(pl.lit("flag")).alias("class"))
