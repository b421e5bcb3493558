"""Children and models on one axis: the words that they have met (``studies/STUDY/children.csv``).

The words that a model has read are known; the words that a child has heard are estimated. By the
age of five a child has heard 10M words (lower bound), 30M (midrange) or 50M (upper bound), after
Hart and Risley (1992), Gilkerson et al. (2017) and Frank (2023). Spread evenly over five years,
these are 2, 6 and 10 million words a year. A child is drawn at the midrange of its age, with a bar
from the lower to the upper bound; a model is drawn at its words, never at an age.

Tests with norms give a model's score an age equivalent, and compare it with children of each age
(:mod:`poshgrid.statistics.measures.norms`).
"""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.config.runs import BASELINE_RECIPES
from poshgrid.report import figures
from poshgrid.report.accuracies import drawn
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, groups, model_names
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics.measures import norms
from poshgrid.tables.words import span

TITLE, ORDER, AUDIENCE = "Children and models", 40, "reader"
A_YEAR = (2_000_000, 6_000_000, 10_000_000)
"""Words that a child hears in a year: lower bound, midrange, upper bound."""


def write(page: Page) -> dict[str, Any] | None:
    """Write the figure and the tables.

    Return None if there are no norms, and no phenomenon has accuracies of children and of models.
    """
    for kind, frame in normed(page.collected).items():
        page.table(kind, frame)
    compared = _write_accuracies(page)
    return {} if page.collected.norms or compared else None


def normed(collected: Collected) -> dict[str, pl.DataFrame]:
    """Return the tables that compare scores with norms: name -> rows, without baselines."""
    if not collected.norms:
        return {}
    rows = pl.concat(collected.norms.values()).filter(~pl.col("recipe").is_in(BASELINE_RECIPES))
    ends = rows.select("typical_from", "typical_to").iter_rows()
    reached = [span(first, last, lambda month: norms.age(int(month))) for first, last in ends]
    rows = rows.with_columns(
        pl.Series("series", model_names(rows, seeds=True), pl.String),
        pl.Series("typical", reached, pl.String),
        age=pl.col("age_equivalent").replace("", None),
        ages=pl.format("{}–{}", "age_from", "age_to"),
    )
    of = ["suite", "category", "score", "series", "excluded_right"]
    near = pl.col("z").abs() <= 1 + norms.SLACK
    within = pl.when(near).then(pl.lit("yes")).otherwise(pl.lit("no"))
    return {
        "norms": rows.unique(of, keep="first", maintain_order=True),
        "norms-by-age": rows.drop_nulls("z").with_columns(typical=within),
    }


def _write_accuracies(page: Page) -> bool:
    """Write the accuracies of children and models; return whether there are any to compare."""
    collected, layout = page.collected, page.layout
    children = collected.children.drop_nulls("accuracy")
    suite = suite_of(layout, set(children["name"]))
    if suite is None or not layout.arms:
        return False
    judged = models(collected, layout, suite, children)
    # The words that a given model has read are unknown: it cannot be drawn
    placed = judged.filter(pl.col("mean").is_not_null(), pl.col("words") > 0)
    if placed.is_empty():
        return False
    low, words, high = (rate * pl.col("years") for rate in A_YEAR)
    stars = children.select(
        "age", facet=pl.lit(""), panel="name", mean="accuracy", words_low=low, words=words,
        words_high=high,
    )  # fmt: skip
    both = pl.concat([stars, placed], how="diagonal")
    condition = groups(layout)[0].condition
    caption = say("children_figure", condition, suite, placed["sd"].count(),
                  [rate // 1_000_000 for rate in A_YEAR], figures.baselines_of(placed))  # fmt: skip
    page.picture("children-and-models", figures.children, both, caption)
    by_size = pl.col("size").replace_strict({s: i for i, s in enumerate(layout.sizes)})
    cells = judged.sort(by_size, maintain_order=True).with_columns(
        cell=pl.format("{} {}", "size", "series")
    )
    shares = cells.pivot("cell", index="panel", values="mean")
    rows = children.select("name", "age", children="accuracy").join(
        shares, left_on="name", right_on="panel", how="left", maintain_order="left"
    )
    page.table("children", rows, suite)
    return True


def suite_of(layout: Layout, names: set[str]) -> str | None:
    """Return the suite with most of these phenomena and categories; None if no suite has any."""
    shared = {
        suite: len(names & ({p for _, p in pairs} | set(layout.categories(suite))))
        for suite, pairs in layout.phenomena.items()
    }
    best = max(shared, key=lambda suite: shared[suite], default=None)
    return best if best is not None and shared[best] else None


def models(
    collected: Collected, layout: Layout, suite: str, children: pl.DataFrame
) -> pl.DataFrame:
    """Return the accuracies of models on the phenomena that children were tested on.

    Args:
        collected: all results.
        layout: order of arms and sizes.
        suite: with these phenomena and categories.
        children: column ``name``: a phenomenon or category.

    Returns:
        :data:`poshgrid.report.figures.LINES`.
    """
    places = {c: (suite, "category", c, "", "") for c in layout.categories(suite)}
    places |= {p: (suite, "phenomenon", c, p, "") for c, p in layout.phenomena[suite]}
    return drawn(collected, layout, (
        ("", name, series, arm, places[name])
        for name in children["name"].unique(maintain_order=True)
        if name in places
        for series, arm in groups(layout)[0].arms
    ))  # fmt: skip
