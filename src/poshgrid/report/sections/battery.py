"""A battery of language tests: the results of models on each test, and on subsets of items.

The figure is Figure 1 of Capone, Suozzi, Lebani and Lenci (2024), the accuracy on every test, with
intervals and the accuracy of guessing.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from poshgrid.config.runs import BASELINE_RECIPES
from poshgrid.report import figures
from poshgrid.report.collect import Collected
from poshgrid.report.layout import model_names
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics import intervals
from poshgrid.statistics.measures import subsets
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.words import percent, span

TITLE, ORDER, AUDIENCE = "Tests of language", 128, "reader"
TASKS = ("choices", "completions")


def write(page: Page) -> dict[str, Any] | None:
    """Write the figure, its table, and the subsets of items; None without such a suite."""
    collected = page.collected
    rows = tests(collected)
    if rows.is_empty():
        return None
    draw = partial(figures.rows, label="Items right (%)", percent=True, columns=4)
    drawn = rows.select(
        panel="suite", row="series", value=pl.col("accuracy") * 100, low=pl.col("low") * 100,
        high=pl.col("high") * 100, filled=~pl.col("baseline"), reference=pl.col("chance") * 100,
    )  # fmt: skip
    page.picture("tests", draw, drawn, say("language_tests"))
    shown = rows.sort("suite", maintain_order=True)
    page.table("tests", shown, shown["rule"].unique(maintain_order=True).to_list())
    page.table("tests-by-category", tests(collected, "phenomenon"))
    if collected.tags:
        for kind, crossed in (("tags", False), ("tags-crossed", True)):
            page.table(kind, tagged(pl.concat(collected.tags.values()), crossed=crossed), crossed)
    return {}


def _in_words(rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``right`` (``12/40``) and ``interval`` to columns raw, n, low and high."""
    ends = [span(low, high, percent) for low, high in rows.select("low", "high").iter_rows()]
    right = [f"{raw:.4g}/{n}" for raw, n in rows.select("raw", "n").iter_rows()]
    return rows.with_columns(
        pl.Series("right", right, pl.String), pl.Series("interval", ends, pl.String)
    )


def tests(collected: Collected, level: str = "suite") -> pl.DataFrame:
    """Return a row for each suite and model; the number of right items is a mean over seeds.

    Args:
        collected: the results.
        level: ``suite``, or ``phenomenon`` for a row for each phenomenon of suites with several.
    """
    frames = [frame.filter(level=level) for suite, frame in collected.measures.items()
              if collected.spec.measured[suite] in TASKS]  # fmt: skip
    if level != "suite":
        frames = [frame for frame in frames if frame["phenomenon"].n_unique() > 1]
    if not frames:
        return pl.DataFrame()
    by = ["suite", "category", "phenomenon", *RUN_AXES]
    means = pl.concat(frames).group_by(by, maintain_order=True).agg(
        pl.first("n", "chance", "blocks", "rule"),
        pl.col("raw", "blocks_passed", "people_rho").mean(),
    )  # fmt: skip
    ends = [intervals.wilson(raw, n) for raw, n in means.select("raw", "n").iter_rows()]
    blocks = means.select("blocks_passed", "blocks").iter_rows()
    passed = [f"{number:.4g}/{of}" if of else None for number, of in blocks]
    rows = means.with_columns(
        pl.Series("series", model_names(means), pl.String),
        pl.Series("low", [low for low, _ in ends], pl.Float64),
        pl.Series("high", [high for _, high in ends], pl.Float64),
        pl.Series("passed", passed, pl.String),
        accuracy=pl.col("raw") / pl.col("n"), baseline=pl.col("recipe").is_in(BASELINE_RECIPES),
    )  # fmt: skip
    return _in_words(rows).sort("baseline", "series", maintain_order=True)


def tagged(tags: pl.DataFrame, *, crossed: bool = False) -> pl.DataFrame:
    """Return results on subsets of items, over all suites and without baselines.

    Args:
        tags: columns of ``TAGS``.
        crossed: whether to return a row for each model and pair of tags, instead of each model and
            tag.
    """
    rows = subsets.pooled(tags.filter(~pl.col("recipe").is_in(BASELINE_RECIPES)))
    rows = rows.filter((pl.col("other") != "") == crossed)
    rest = [f"{raw:.4g}/{n}" for raw, n in rows.select("raw_rest", "n_rest").iter_rows()]
    names = pl.Series("series", model_names(rows, seeds=True), pl.String)
    other = pl.col("other").replace("", None)
    return _in_words(rows).with_columns(names, pl.Series("rest", rest, pl.String), other)
