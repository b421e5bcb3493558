"""Effects of filtering: accuracy deltas, margins and perplexities (FiCT, Figure 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from poshgrid.core import formats
from poshgrid.report import figures
from poshgrid.report.layout import naming, varied
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics.deltas import by_condition, correlation
from poshgrid.statistics.schema import RUN_AXES

TITLE, ORDER, AUDIENCE = "What filtering changes", 55, "reader"
TARGETED, OTHER, ALL = "targeted phenomena", "other phenomena", "all phenomena"
FEW = 24
"""With more phenomena, a figure has rows for those that filters are aimed at only."""


def write(page: Page) -> dict[str, Any] | None:
    """Write the effects of filtering, suite by suite, the tests, and perplexities.

    Return None if the target has no filtered models with full ones to compare.
    """
    collected = page.collected
    if collected.deltas.is_empty() and collected.perplexity.is_empty():
        return None
    deltas = collected.deltas.with_columns(series=naming(varied(collected.deltas)))
    suites = deltas["suite"].unique(maintain_order=True).to_list()
    for suite in suites:
        _suite(page, deltas.filter(suite=suite), suite)
    page.table("delta-tests", tests(collected.delta_tests))
    page.table("perplexity", perplexities(collected.perplexity))
    return {
        "sentences": list(sentences(deltas, collected.delta_tests)),
        "pairs": dict(sorted(deltas.select("condition", "full").unique().iter_rows())),
        "suites": suites,
        "falling": list(falling(collected.perplexity, collected.tokens)),
    }


def _suite(page: Page, rows: pl.DataFrame, suite: str) -> None:
    several = rows["condition"].n_unique() > 1
    kinds = {True: TARGETED, False: ALL if several else OTHER}
    draw = partial(figures.rows, label="Accuracy delta (points)", kinds=kinds)
    page.picture(f"deltas-{suite}", draw, marks(rows), say("deltas", suite, several))
    page.file(f"deltas-{suite}-all.csv", formats.csv(rows.drop("series")))
    page.table("by-condition", conditions(rows), suite, of=suite)
    aimed = rows.filter("targeted", level="phenomenon")
    page.table("by-phenomenon", _without_common_axes(aimed, rows), suite, of=suite)


def _without_common_axes(frame: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    return frame.drop(set(RUN_AXES[1:]) - set(varied(rows)), strict=False)


# ---- sentences -----------------------------------------------------------------------------------


def sentences(deltas: pl.DataFrame, tested: pl.DataFrame) -> Iterator[str]:
    """Yield sentences on the effects of filtering, suite by suite.

    Args:
        deltas: columns of ``DELTAS``, and series.
        tested: columns of ``DELTA_TESTS``.
    """
    series = deltas.select(*RUN_AXES, "series").unique()
    for (suite,), rows in deltas.group_by("suite", maintain_order=True):
        within = by_condition(rows).join(series, on=RUN_AXES, how="left", maintain_order="left")
        aimed = within.filter(pl.col("targets") > 0)
        if aimed.is_empty():
            yield say("unaimed", suite)
            continue
        means = aimed.group_by("series", maintain_order=True).agg(pl.mean("targeted", "every"))
        known = [
            {name: mean for name, mean in means.select("series", column).iter_rows()
             if mean is not None}
            for column in ("targeted", "every")
        ]  # fmt: skip
        yield say("filtering", suite, aimed["condition"].n_unique(), *known)
        for row in tested.filter(suite=suite, measure="targeted delta").iter_rows(named=True):
            if row["p"] is not None:
                yield say("paired", row)


def falling(perplexity: pl.DataFrame, tokens: Mapping[Any, Any]) -> Iterator[str]:
    """Yield sentences on how perplexity depends on the tokens of conditions (FiCT, section 5.1).

    As in FiCT, each model is a data point, and the logarithm of perplexity is correlated.
    """
    for key, part in perplexity.group_by(RUN_AXES[1:], maintain_order=True):
        cells = list(part.select("condition", "size").iter_rows())
        counts = [tokens.get(cell, {}).get("train", {}).get("tokens") for cell in cells]
        if None in counts:
            continue
        r = correlation(np.array(counts, float), np.log(part["perplexity"].to_numpy()))
        if r is not None:
            models = " · ".join(word for word in map(str, key) if word != "none")
            yield say("correlated", models, len(cells), len(set(cells)), r)


# ---- figures -------------------------------------------------------------------------------------


def marks(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the data of the figure of deltas of a suite, in points (``figures.ROWS``).

    With several conditions, each has a row: the mean over targeted phenomena, with a line from the
    lowest to the highest of them, and the mean over all phenomena. With one condition, each
    phenomenon has a row, targeted ones first, with a line of one SD over seeds to either side. With
    more than ``FEW`` phenomena, one row for all of them replaces those that are not targeted.

    Args:
        rows: columns of ``DELTAS``, and series.
    """
    if rows["condition"].n_unique() > 1:
        by = ["condition", "series"]
        delta = pl.col("delta")
        aimed = rows.filter("targeted", level="phenomenon").group_by(by, maintain_order=True)
        frame = pl.concat([
            aimed.agg(value=delta.mean(), low=delta.min(), high=delta.max(), filled=True),
            rows.filter(level="average").select(*by, value="delta", filled=False),
        ], how="diagonal")  # fmt: skip
        names = pl.Enum(rows["condition"].unique(maintain_order=True))
        by_name = pl.col("row").cast(names)
        frame = frame.rename({"condition": "row"}).sort(by_name, maintain_order=True)
    else:
        single = rows.filter(level="phenomenon").with_columns(label="phenomenon")
        if single["phenomenon"].n_unique() > FEW:
            every = rows.filter(level="average").with_columns(label=pl.lit(ALL))
            single = pl.concat([single.filter("targeted"), every])
        frame = single.sort(~pl.col("targeted"), maintain_order=True).select(
            "series", row="label", value="delta", low=pl.col("delta") - pl.col("delta_sd"),
            high=pl.col("delta") + pl.col("delta_sd"), filled="targeted",
        )  # fmt: skip
    return frame.with_columns(
        pl.col("value", "low", "high") * 100, panel=pl.lit(""), reference=pl.lit(0.0)
    )


# ---- tables --------------------------------------------------------------------------------------


def conditions(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a suite's averages within conditions and, with several conditions, their mean.

    Args:
        rows: columns of ``DELTAS``.
    """
    axes = varied(rows)
    shown = by_condition(rows)
    if shown["condition"].n_unique() > 1:
        averaged = pl.mean("targeted", "every", "margin_full", "margin", "r")
        groups = shown.group_by(axes or pl.lit("").alias("all"), maintain_order=True)
        mean = {"condition": pl.lit("mean"), "class": pl.lit("total")}
        shown = pl.concat([shown, groups.agg(averaged).with_columns(**mean)], how="diagonal")
    return _without_common_axes(shown, rows)


def tests(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the paired comparisons; shares are in percent.

    Args:
        rows: columns of ``DELTA_TESTS``.
    """
    shares = ~pl.col("measure").str.contains("margin|perplexity")
    means = pl.col("mean_first", "mean_second")
    return rows.with_columns(
        pl.when(shares).then(means * 100).otherwise(means), pl.col("suite").replace("", None)
    )


def perplexities(rows: pl.DataFrame) -> pl.DataFrame:
    """Return perplexities by condition, averaged over seeds.

    Args:
        rows: columns of ``PERPLEXITY``.
    """
    means = rows.group_by(*RUN_AXES, "tested", maintain_order=True).agg(
        pl.mean("loss", "perplexity", "word_perplexity"), seeds=pl.len(),
        perplexity_sd=pl.std("perplexity"), word_sd=pl.std("word_perplexity"),
    )  # fmt: skip
    return _without_common_axes(means, rows)
