"""The frames that the report's figures draw, which are their downloads too."""

from __future__ import annotations

import dataclasses

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import figures
from poshgrid.report.blocks import Page
from poshgrid.report.cells import Scores, known
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, groups, title
from poshgrid.report.shelf import Picture
from poshgrid.tables.words import ABSENT, listed

POINTS: Schema = {
    "suite": pl.String,
    "facet": pl.String,  # the condition, where conditions and other axes vary; "" otherwise
    "panel": pl.String,  # a category, or Overall
    "series": pl.String,  # the arm within its facet
    "size": pl.String,
    "words": pl.UInt64,
    "mean": pl.Float64,  # share of pairs; null: not run
    "sd": pl.Float64,  # over seeds; null with one seed
    "low": pl.Float64,  # 95% interval, over lexical sets
    "high": pl.Float64,
    "n_seeds": pl.UInt32,
    "n_pairs": pl.UInt32,  # that each seed judged; null: a mean of shares
    "untrained": pl.Float64,  # mean of the untrained models
    "unigram": pl.Float64,  # of the nulls that count words
    "ngram": pl.Float64,
}
"""The accuracy figure: one row per mark."""

EFFECTS: Schema = {
    "name": pl.String,
    "median": pl.Float64,  # log odds
    "low": pl.Float64,
    "high": pl.Float64,
}
"""The forest plot: one row per effect, from top to bottom."""


def points(collected: Collected, layout: Layout, suite: str) -> pl.DataFrame:
    """Return the marks of a suite's accuracy figure (:data:`POINTS`)."""
    scores = Scores(collected.accuracy)
    one = len({arm.condition for arm in layout.arms}) == 1
    faceted = not one and len({arm.variant for arm in layout.arms}) > 1
    panels = [(title(c), "category", c) for c in layout.categories[suite]]
    rows = []
    for arm in layout.arms:
        series = (arm.variant if one or faceted else arm.label) or arm.condition
        for panel, level, category in [*panels, (title("overall"), "overall", "")]:
            for size in layout.sizes:
                cell = scores.cell(layout, arm, size, suite, level, category)
                if cell == ABSENT:
                    continue
                rows.append({
                    "suite": suite, "facet": arm.condition if faceted else "", "panel": panel,
                    "series": series, "size": size, "words": layout.read(arm.condition, size),
                    **known(cell, POINTS),
                })  # fmt: skip
    return pl.DataFrame(rows, schema=POINTS)


_CAPTION = (
    "Accuracy on {} by words of training text. Lines: means over seeds; bands: ± 1 SD; small "
    "marks: nulls, which know no syntax; dashed: 50%, chance. Hover over a mark for its numbers."
)


def picture(page: Page, suite: str) -> Picture:
    """Draw a suite's accuracy figure."""
    frame = points(page.collected, page.layout, suite)
    return page.shelf.picture(f"accuracy-{suite}", _CAPTION.format(suite), figures.accuracy, frame)


def opening(page: Page, suite: str) -> Picture | None:
    """Draw the first of the grid's comparisons alone; ``None``: there is one, and that is all."""
    first, *others = groups(page.layout)
    if not others:
        return None
    arms = [arm for _, arm in first.arms]
    if len({arm.condition for arm in arms}) == len(arms):  # the condition alone tells them apart
        arms = [dataclasses.replace(arm, variant="") for arm in arms]
    frame = points(page.collected, dataclasses.replace(page.layout, arms=arms), suite)
    names = {c: f"{c} ({without(page.collected, c)})" for c in page.collected.filtered}
    frame = frame.with_columns(pl.col("series").replace(names))
    return page.shelf.picture(f"opening-{suite}", _CAPTION.format(suite), figures.accuracy, frame)


def without(collected: Collected, condition: str) -> str:
    """Say what a filtered condition goes without: what its filters remove, where they are known."""
    filters = list(collected.spec.removed.get(condition, {}))
    return f"without {listed(filters)}" if filters else "filtered"


def effects(summary: pl.DataFrame) -> pl.DataFrame:
    """Return the effects of a fit (:data:`EFFECTS`): all common terms but the intercept."""
    intercept = pl.col("term").str.to_lowercase().str.contains("intercept")
    common = summary.filter(~intercept, kind="common")
    return common.select(name="label", median="median", low="low", high="high").cast(
        pl.Schema(EFFECTS)
    )
