"""Children and models on one axis: the paper's Figure 1 and Table 7.

Both are set on the number of words that they have met. What a model has read is known; what a child
has heard is an estimate: the paper (section 3.1) takes 10M words as the lower bound, 30M as the
midrange and 50M as the upper bound of what a child has heard by the age of five, after Hart and
Risley (1992), Gilkerson et al. (2017) and Frank (2023). Spread evenly over five years, these are 2,
6 and 10 million words a year. A child is drawn at the midrange of its age, with a bar from the
lower to the upper bound; a model is drawn at its words and never at an age, so that a grid of other
sizes than the paper's stands where it belongs.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.errors import PoshgridError
from poshgrid.report import figures
from poshgrid.report.accuracies import drawn
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, groups
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics import published

TITLE, ORDER, AUDIENCE = "Children and models", 40, "reader"
A_YEAR = (2_000_000, 6_000_000, 10_000_000)
"""Words that a child hears in a year: lower bound, midrange, upper bound."""


def years(age: str) -> float:
    """Return an age of Table 7 in years; of a range, its middle.

    Args:
        age: years, or years;months, or a range of them: ``3``, ``3-4``, ``3;2-4;7``.

    Raises:
        PoshgridError: something else.
    """
    ends = [end.partition(";") for end in age.split("-")]
    try:
        return sum(int(year) + int(month or 0) / 12 for year, _, month in ends) / len(ends)
    except ValueError as error:
        raise PoshgridError(
            f"{'/'.join(published.POSH)}/table7.csv: {age!r} is no age; write 3, 3-4 or 3;2-4;7"
        ) from error


def heard() -> pl.DataFrame:
    """Return Table 7: a row for each phenomenon and age, with the words that children have heard.

    Returns:
        ``name, panel, group`` (younger, older), ``age``, ``mean`` (share), ``words`` and their
        bounds ``words_low, words_high``.
    """
    rows = []
    for row in published.load(*published.POSH, "table7").iter_rows(named=True):
        for group in ("younger", "older"):
            age = row[f"{group}_age"]
            low, middle, high = (rate * years(age) for rate in A_YEAR)
            panel = row["category"][:1].upper() + row["category"][1:]
            rows.append({"name": row["name"], "panel": panel, "group": group,
                         "age": age.replace("-", "–"), "mean": row[group] / 100,
                         "words_low": low, "words": middle, "words_high": high})  # fmt: skip
    return pl.DataFrame(rows)


def suite_of(layout: Layout, names: set[str]) -> str | None:
    """Return the suite that has most of these phenomena and categories; ``None``: none has any."""
    shared = {
        suite: len(names & ({p for _, p in pairs} | set(layout.categories(suite))))
        for suite, pairs in layout.phenomena.items()
    }
    best = max(shared, key=lambda suite: shared[suite], default=None)
    return best if best is not None and shared[best] else None


def models(collected: Collected, layout: Layout, suite: str, names: pl.DataFrame) -> pl.DataFrame:
    """Return the accuracies of models on what the children were tested on.

    Args:
        collected: all results.
        layout: order of arms and sizes.
        suite: whose phenomena and categories are set beside the children's.
        names: ``name`` of a phenomenon or category, and ``panel``.

    Returns:
        :data:`poshgrid.report.figures.LINES`.
    """
    places = {p: (suite, "phenomenon", c, p, "") for c, p in layout.phenomena[suite]}
    places |= {c: (suite, "category", c, "", "") for c in layout.categories(suite)
               if c not in places}  # fmt: skip
    return drawn(collected, layout, (
        ("", panel, name, arm, places[of])
        for of, panel in names.select("name", "panel").unique(maintain_order=True).iter_rows()
        if of in places
        for name, arm in groups(layout)[0].arms
    ))  # fmt: skip


def write(page: Page) -> dict[str, Any] | None:
    """Write the figure and the table.

    ``None``: no suite has what Table 7 reports of children, or no model has a score on it.
    """
    collected, layout = page.collected, page.layout
    children = heard()
    suite = suite_of(layout, set(children["name"]))
    if suite is None or not layout.arms:
        return None
    judged = models(collected, layout, suite, children)
    # How many words a given model has read is not known: it has no place on the axis
    placed = judged.filter(pl.col("mean").is_not_null(), pl.col("words") > 0)
    if placed.is_empty():
        return None
    both = pl.concat([children.with_columns(facet=pl.lit("")), placed], how="diagonal")
    condition = groups(layout)[0].condition
    caption = say("children_figure", condition, suite, placed["sd"].count(),
                  [rate // 1_000_000 for rate in A_YEAR], figures.baselines_of(placed))  # fmt: skip
    page.picture("children-and-models", figures.children, both, caption)
    ages = children.pivot("group", index="panel", values=["age", "mean"])
    by_size = pl.col("size").replace_strict({s: i for i, s in enumerate(layout.sizes)})
    cells = judged.sort(by_size, maintain_order=True).with_columns(
        cell=pl.format("{} {}", "size", "series")
    )
    shares = cells.pivot("cell", index="panel", values="mean")
    page.table("children", ages.join(shares, on="panel", how="left", maintain_order="left"), suite)
    return {}
