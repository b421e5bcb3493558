"""The tables of filtering: deltas by condition and phenomenon, paired tests, perplexities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from poshgrid.report.texts import say
from poshgrid.statistics.deltas.differences import by_condition
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, of_frame, text, varying
from poshgrid.tables.words import count, decimals, percent, points, probability


def axes_of(rows: pl.DataFrame) -> list[str]:
    """Return the axes but the condition that vary; no learner where the size tells it.

    Args:
        rows: columns of ``RUN_AXES`` and any others.
    """
    found = varying(rows, RUN_AXES[1:])
    others = [axis for axis in found if axis != "learner"]
    if "learner" in found and others:
        points_of = rows.select(others).unique().height
        if points_of == rows.select(*others, "learner").unique().height:
            return others
    return found


def named(rows: pl.DataFrame) -> pl.DataFrame:
    """Add row, the condition's short name, and series, the other axes that vary.

    Args:
        rows: columns of ``RUN_AXES`` and any others.
    """
    names = rows["condition"].unique().to_list()
    bases = {name.partition("~")[0] for name in names if "~" in name}
    short = len(bases) == 1 and all("~" in name for name in names)
    row = pl.col("condition").str.replace(r"^[^~]*~", "") if short else pl.col("condition")
    bias = pl.col("bias").replace("none", "no bias")
    parts = [bias if axis == "bias" else pl.col(axis) for axis in axes_of(rows)]
    series = pl.concat_str(parts, separator=" · ") if parts else pl.lit("")
    return rows.with_columns(row=row, series=series)


LONG = 200
"""Rows that a table of phenomena may have on the page; of more, the targeted ones are shown."""

_MEASURES = {
    "accuracy": ("Accuracy (%)", 100),
    "delta": ("Accuracy delta (points)", 100),
    "corpus delta": ("Accuracy delta of all phenomena (points)", 100),
    "targeted accuracy": ("Targeted accuracy (%)", 100),
    "targeted delta": ("Targeted accuracy delta (points)", 100),
    "margin": ("Margin of the full models (nats)", 1),
    "targeted margin delta": ("Targeted margin delta (nats)", 1),
    "targeted r": ("Targeted r of margins", 1),
    "suite perplexity": ("Perplexity of good members", 1),
    "perplexity": ("Perplexity", 1),
}


def conditions(rows: pl.DataFrame, suite: str) -> Table:
    """Return a suite's averages within conditions, and over them if there are several.

    Args:
        rows: columns of ``DELTAS``.
        suite: its name.
    """
    axes = axes_of(rows)
    shown = within = by_condition(rows)
    if within["condition"].n_unique() > 1:
        averaged = pl.col("targeted", "every", "margin_full", "margin", "r").mean()
        groups = within.group_by(axes or pl.lit("").alias("all"), maintain_order=True)
        means = groups.agg(averaged).with_columns(condition=pl.lit("mean"))
        shown = pl.concat([within, means], how="diagonal")
    two = decimals(2)
    columns = {
        "condition": text("Condition"), **{axis: text(axis.capitalize()) for axis in axes},
        "targets": Column("Targeted phenomena", count), "targeted": Column("Δ targeted", points),
        "every": Column("Δ all", points), "every_sd": Column("SD", percent),
        "margin_full": Column("Margin, full", two), "margin": Column("Margin, filtered", two),
        "r": Column("r", two),
    }  # fmt: skip
    totals = dict.fromkeys(range(within.height, shown.height), "total")
    return of_frame(f"deltas-{suite}", say("by_condition", suite), shown, columns, totals)


def phenomena(rows: pl.DataFrame, suite: str) -> Table:
    """Return a suite's deltas by phenomenon; of many, those that filters are aimed at.

    Args:
        rows: columns of ``DELTAS``.
        suite: its name.
    """
    shown = rows.filter(level="phenomenon")
    some = shown.height > LONG
    if some:
        shown = shown.filter("targeted")
    two = decimals(2)
    columns = {
        "phenomenon": text("Phenomenon"), "condition": text("Condition"),
        **{axis: text(axis.capitalize()) for axis in axes_of(rows)},
        "targeted": text("Targeted"), "accuracy_full": Column("Full (%)", percent),
        "accuracy": Column("Filtered (%)", percent), "delta": Column("Δ (points)", points),
        "delta_sd": Column("SD", percent), "margin_full": Column("Margin, full", two),
        "margin": Column("Margin, filtered", two), "r": Column("r", two),
    }  # fmt: skip
    yes = pl.when("targeted").then(pl.lit("yes")).otherwise(pl.lit(""))
    caption = say("by_phenomenon", suite, some)
    shown = shown.with_columns(targeted=yes)
    return of_frame(f"deltas-{suite}-phenomena", caption, shown, columns)


def taken(
    rows: pl.DataFrame,
    statistics: Mapping[tuple[str, str], Any],
    tokens: Mapping[tuple[str, str], Any],
) -> Table:
    """Return what filters take out of their corpora (FiCT, Table 1), where it was counted.

    Args:
        rows: columns of ``DELTAS``.
        statistics: condition and size -> its statistics.
        tokens: condition and size -> the statistics of its tokens.
    """
    cells: list[list[Any]] = []
    for condition, size, full in (
        rows.select("condition", "size", "full").unique(maintain_order=True).iter_rows()
    ):
        facts = statistics.get((condition, size))
        if facts and "removed_sentences" in facts:
            mine, whole = (train_tokens(tokens, (name, size)) for name in (condition, full))
            cells.append([
                condition, size, facts["removed_sentences"] / facts["whole"]["sentences"],
                facts["splits"]["train"]["sentences"], mine and whole and mine / whole,
            ])  # fmt: skip
    columns = [
        text("Condition"), text("Size"), Column("Sentences filtered out (%)", percent),
        Column("Sentences to train on", count), Column("Tokens, of the full text’s (%)", percent),
    ]  # fmt: skip
    return Table("filtered-out", say("filtered_out"), columns, cells)


def train_tokens(tokens: Mapping[tuple[str, str], Any], cell: tuple[str, str]) -> int | None:
    """Return how many tokens a condition at a size has to train on; none: nobody has counted."""
    number: int | None = (tokens.get(cell) or {}).get("train", {}).get("tokens")
    return number


def tests(rows: pl.DataFrame) -> Table:
    """Return the paired comparisons.

    Args:
        rows: columns of ``DELTA_TESTS``.
    """
    two = decimals(2)
    columns = {
        "title": text("Measure"), "suite": text("Suite"), "first": text("First"),
        "second": text("Second"), "pairs": Column("Pairs", count),
        "mean_first": Column("Mean, first", two), "mean_second": Column("Mean, second", two),
        "t": Column("t", two), "df": Column("df", count), "p": Column("p", probability),
        "r": Column("r", two),
    }  # fmt: skip
    titles = {measure: title for measure, (title, _) in _MEASURES.items()}
    units = {measure: unit for measure, (_, unit) in _MEASURES.items()}
    shown = rows.with_columns(
        pl.col("mean_first", "mean_second")
        * pl.col("measure").replace_strict(units, default=1, return_dtype=pl.Int64),
        title=pl.col("measure").replace(titles),
        suite=pl.when(pl.col("suite") != "").then("suite"),
    )
    return of_frame("delta-tests", say("delta_tests"), shown, columns)


def perplexities(rows: pl.DataFrame) -> Table:
    """Return perplexities by condition, over seeds.

    Args:
        rows: columns of ``PERPLEXITY``.
    """
    means = rows.group_by(*RUN_AXES, "tested", maintain_order=True).agg(
        pl.len().alias("seeds"),
        *(pl.col(n).mean() for n in ("loss", "perplexity", "word_perplexity")),
        perplexity_sd=pl.col("perplexity").std(ddof=1),
        word_sd=pl.col("word_perplexity").std(ddof=1),
    )
    two = decimals(2)
    columns = {
        "condition": text("Condition"), **{axis: text(axis.capitalize()) for axis in axes_of(rows)},
        "tested": text("Tested on"), "seeds": Column("Seeds", count),
        "loss": Column("Loss", decimals(4)), "perplexity": Column("Perplexity", two),
        "perplexity_sd": Column("SD", two), "word_perplexity": Column("Per word", two),
        "word_sd": Column("SD per word", two),
    }  # fmt: skip
    return of_frame("perplexity", say("perplexity"), means, columns)
