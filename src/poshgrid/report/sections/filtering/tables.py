"""The tables of filtering: deltas by condition and phenomenon, paired tests, perplexities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from poshgrid.statistics.deltas.tables import axes as axes_of
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import count, decimals, percent, points, probability


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


def phenomena(rows: pl.DataFrame, suite: str) -> Table:
    """Return a suite's deltas by phenomenon; of many, those that filters are aimed at.

    Args:
        rows: columns of ``DELTAS``.
        suite: its name.
    """
    axes = axes_of(rows)
    found = rows.filter(level="phenomenon")
    some = found.height > LONG
    if some:
        found = found.filter("targeted")
    two = decimals(2)
    columns = [
        text("Phenomenon"), text("Condition"),
        *(text(a.capitalize()) for a in axes), text("Targeted"),
        Column("Full (%)", percent), Column("Filtered (%)", percent),
        Column("Δ (points)", points), Column("SD", percent),
        Column("Margin, full", two), Column("Margin, filtered", two), Column("r", two),
    ]  # fmt: skip
    values = ("accuracy_full", "accuracy", "delta", "delta_sd", "margin_full", "margin", "r")
    cells = [
        [row["phenomenon"], row["condition"], *(row[axis] for axis in axes),
         "yes" if row["targeted"] else "", *(row[name] for name in values)]
        for row in found.iter_rows(named=True)
    ]  # fmt: skip
    shown = "the phenomena that filters are aimed at" if some else "phenomena"
    caption = (
        f"{suite}: {shown}. Means over seeds, SD of the delta over the filtered models' seeds; "
        "margins in nats, averaged over seeds before they are correlated."
    )
    return Table(f"deltas-{suite}-phenomena", caption, columns, cells)


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
        found = statistics.get((condition, size))
        if found and "removed_sentences" in found:
            mine, whole = (train_tokens(tokens, (name, size)) for name in (condition, full))
            cells.append([
                condition, size, found["removed_sentences"] / found["whole"]["sentences"],
                found["splits"]["train"]["sentences"], mine and whole and mine / whole,
            ])  # fmt: skip
    columns = [
        text("Condition"), text("Size"), Column("Sentences filtered out (%)", percent),
        Column("Sentences to train on", count), Column("Tokens, of the full text’s (%)", percent),
    ]  # fmt: skip
    caption = (
        "What filters take out of the base, before all conditions are cut to one number of "
        "sentences, and the tokens that are left then. Dashes: no tokens of the full text."
    )
    return Table("filtered-out", caption, columns, cells)


def train_tokens(tokens: Mapping[tuple[str, str], Any], cell: tuple[str, str]) -> int | None:
    """Return how many tokens a condition at a size has to train on; none: nobody has counted."""
    found: int | None = (tokens.get(cell) or {}).get("train", {}).get("tokens")
    return found


def tests(rows: pl.DataFrame) -> Table:
    """Return the paired comparisons.

    Args:
        rows: columns of ``DELTA_TESTS``.
    """
    two = decimals(2)
    columns = [
        text("Measure"), text("Suite"), text("First"),
        text("Second"), Column("Pairs", count), Column("Mean, first", two),
        Column("Mean, second", two), Column("t", two), Column("df", count),
        Column("p", probability), Column("r", two),
    ]  # fmt: skip
    cells = []
    for row in rows.iter_rows(named=True):
        title, unit = _MEASURES.get(row["measure"], (row["measure"], 1))
        cells.append(
            [title, row["suite"] or None, row["first"], row["second"], row["pairs"],
             unit * row["mean_first"], unit * row["mean_second"],
             *(row[name] for name in ("t", "df", "p", "r"))]
        )  # fmt: skip
    caption = (
        "Paired comparisons, all else equal: two-sided t tests, uncorrected, and Pearson's r of "
        "the paired values. Pairs are conditions at each size (and each learner, regimen and bias, "
        "save what is compared): one pair each for accuracies of all and of targeted phenomena, "
        "their deltas and perplexities, the full condition among them but where phenomena are "
        "targeted; for the other measures one for each phenomenon. Means over phenomena are taken "
        "within a condition first. Dashes: fewer than two pairs (three for r), or no variance."
    )
    return Table("delta-tests", caption, columns, cells)


def perplexities(rows: pl.DataFrame) -> Table:
    """Return perplexities by condition, over seeds.

    Args:
        rows: columns of ``PERPLEXITY``.
    """
    axes = axes_of(rows)
    found = rows.group_by(*RUN_AXES, "tested", maintain_order=True).agg(
        pl.len().alias("seeds"),
        *(pl.col(n).mean() for n in ("loss", "perplexity", "word_perplexity")),
        perplexity_sd=pl.col("perplexity").std(ddof=1),
        word_sd=pl.col("word_perplexity").std(ddof=1),
    )
    two = decimals(2)
    columns = [
        text("Condition"), *(text(a.capitalize()) for a in axes),
        text("Tested on"), Column("Seeds", count), Column("Loss", decimals(4)),
        Column("Perplexity", two), Column("SD", two), Column("Per word", two),
        Column("SD per word", two),
    ]  # fmt: skip
    values = ("tested", "seeds", "loss", "perplexity", "perplexity_sd", "word_perplexity",
              "word_sd")  # fmt: skip
    cells = [
        [row["condition"], *(row[axis] for axis in axes), *(row[name] for name in values)]
        for row in found.iter_rows(named=True)
    ]
    caption = (
        "Perplexity of the base's held-out test sentences, which nothing was removed from; means "
        "over seeds. Loss in nats per token. Where conditions have tokenizers of their own, "
        "perplexities compare by the word."
    )
    return Table("perplexity", caption, columns, cells)
