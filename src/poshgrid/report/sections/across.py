"""Suites beside each other: Figures 2 and 5 of POSH-BENCH.

Suites that test the same thing with other items are the check that a result is not one of the
items. Categories meet where Table 10 groups phenomena alike; phenomena are shown one by one.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import polars as pl

from poshgrid.report import figures
from poshgrid.report.accuracies import BASELINE_NAMES, Place, drawn
from poshgrid.report.collect import Collected
from poshgrid.report.layout import CATEGORY_ORDER, Layout, groups, title
from poshgrid.report.parts import Page
from poshgrid.report.texts import say

TITLE, ORDER, AUDIENCE = "Across benchmarks", 50, "reader"
BOTH = ("island", "binding")
"""The categories that the outside suites have, too (Table 10): those of Figure 5."""

Panels = list[tuple[str, str, Place]]
"""Facet, panel, place."""


def write(page: Page) -> dict[str, Any] | None:
    """Write the figures of categories and of phenomena; ``None``: there is one suite."""
    collected, layout = page.collected, page.layout
    if len(collected.suites) < 2:
        return None
    names = []
    for group in groups(layout):
        frames = [
            drawn(collected, layout, (
                (facet, panel, name, arm, place)
                for facet, panel, place in panels
                for name, arm in group.arms
            ))
            for panels in (categories_of(collected, layout), phenomena_of(collected, layout))
        ]  # fmt: skip
        tail = f"-{group.condition}" if group.condition else ""
        names.append(tail)
        if frames[0]["facet"].n_unique() > 1:
            caption = _caption("across_categories", group.condition, frames[0])
            page.picture(f"across-categories{tail}", figures.lines, frames[0], caption)
        draw = partial(figures.rows, label="Accuracy (%)", percent=True, columns=4)
        caption = _caption("across_phenomena", group.condition, frames[1])
        page.picture(f"across-phenomena{tail}", draw, dots(frames[1]), caption)
    return {"groups": names}


def _caption(kind: str, condition: str, frame: pl.DataFrame) -> str:
    return say(kind, condition, frame["sd"].count(), figures.baselines_of(frame))


def categories_of(collected: Collected, layout: Layout) -> Panels:
    """Return the panels of Figure 2: POSH-BENCH's categories in every suite that has them.

    What most suites have comes first, so that like stands below like without gaps: islands and
    binding before question formation and wanna, posh, which has all four, before the others.
    """
    own = {
        suite: [c for c in CATEGORY_ORDER if c in layout.categories(suite)]
        for suite in collected.spec.suites
    }
    spread = Counter(category for categories in own.values() for category in categories)
    return [
        (suite, title(category), (suite, "category", category, "", ""))
        for suite in sorted(own, key=lambda suite: -len(own[suite]))
        for category in sorted(own[suite], key=lambda category: -spread[category])
    ]


def phenomena_of(collected: Collected, layout: Layout) -> Panels:
    """Return the panels of Figure 5: islands and binding in every suite, one by one."""
    return [
        (f"{title(category)} · {suite}", name, (suite, "phenomenon", category, name, ""))
        for wanted in BOTH
        for suite in collected.spec.suites
        for category, name in layout.phenomena[suite]
        if category == wanted
    ]


def dots(frame: pl.DataFrame) -> pl.DataFrame:
    """Return Figure 5 (:data:`poshgrid.report.figures.ROWS`): a panel for each size.

    Args:
        frame: accuracies of phenomena (:func:`poshgrid.report.accuracies.drawn`).
    """
    mean, sd = pl.col("mean") * 100, pl.col("sd") * 100
    named = frame.with_columns(
        panel=pl.format("Size {}", "size"), row=pl.format("{} · {}", "facet", "panel")
    )
    parts = [named.select("panel", "row", "series", value=mean, low=mean - sd, high=mean + sd)]
    # What baselines make of a phenomenon: means over the models of the row
    for baseline in figures.baselines_of(frame):
        means = named.group_by("panel", "row", maintain_order=True).agg(
            value=pl.mean(baseline) * 100
        )
        name = pl.lit(BASELINE_NAMES[baseline])
        parts.append(means.with_columns(series=name, lane=pl.lit("baselines")))
    return (
        pl.concat(parts, how="diagonal_relaxed").drop_nulls("value").with_columns(
            reference=pl.lit(50.0)
        )
    )  # fmt: skip
