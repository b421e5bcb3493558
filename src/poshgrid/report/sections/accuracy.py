"""Accuracies by category, phenomenon and part, and in the course of training."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from poshgrid.report import figures
from poshgrid.report.accuracies import (
    BASELINE_NAMES,
    Place,
    by_models,
    by_places,
    cells,
    drawn,
    of_level,
)
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Group, Layout, groups
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics.schema import RUN_AXES, YES

TITLE, ORDER, AUDIENCE = "Accuracy", 20, "reader"
FEW = 24
"""A suite with at most so many phenomena has a panel for each; a larger one, for each category."""
_CURVES = partial(figures.lines, x="epoch", columns=4)


def write(page: Page) -> dict[str, Any] | None:
    """Write the tables and figures of each suite, and the curves of all; None without a suite."""
    collected, layout = page.collected, page.layout
    suites = [s for s in collected.spec.suites if layout.phenomena[s]]
    averages = [("", suite, (suite, "average", "", "", "")) for suite in suites]
    if len(suites) > 1:
        frame = cells(collected, layout, averages, baselines=False)
        page.put(by_models("accuracy-suites", "every_suite", frame))
    if len(suites) > 1 or len(groups(layout)) > 1:  # otherwise it is the figure of the findings
        _figures(page, suites)
    for suite in suites:
        _suite(page, suite)
    curves = trajectories(collected, layout, averages)
    page.picture("curves-average", _CURVES, curves, say("curves", "", "average"))
    return {"suites": suites} if suites else None


def _figures(page: Page, suites: list[str]) -> None:
    """Draw the categories of every suite, and the phenomena of categories of several suites."""
    layout = page.layout
    own = [category for suite in suites for category in layout.categories(suite)]
    shared = {category for category in own if own.count(category) > 1}
    for group in groups(layout):
        tail = f"-{group.condition}" if group.condition else ""
        marks = [
            (suite if len(suites) > 1 else "", panel, name, arm, where)
            for suite in suites
            for _, panel, where in of_level(layout, suite, "category")
            for name, arm in group.arms
        ]
        frame = drawn(page.collected, layout, marks)
        page.picture(f"accuracy{tail}", figures.lines, frame, _caption("accuracy", group, frame))
        marks = [
            (suite, phenomenon, name, arm, (suite, "phenomenon", category, phenomenon, ""))
            for category in dict.fromkeys(own)
            for suite in suites
            for of, phenomenon in layout.phenomena[suite]
            if of == category and category in shared
            for name, arm in group.arms
        ]
        frame = drawn(page.collected, layout, marks)
        draw = partial(figures.rows, label="Accuracy (%)", percent=True, columns=4)
        caption = _caption("shared_phenomena", group, frame)
        page.picture(f"accuracy{tail}-shared", draw, dots(frame), caption)


def _caption(kind: str, group: Group, frame: pl.DataFrame) -> str:
    return say(kind, group.condition, frame["sd"].count(), figures.baselines_of(frame))


def dots(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the data of a figure with a row per phenomenon and a panel per size (``ROWS``).

    Args:
        frame: accuracies of phenomena (:func:`poshgrid.report.accuracies.drawn`).
    """
    mean, sd = pl.col("mean") * 100, pl.col("sd") * 100
    named = frame.with_columns(
        panel=pl.format("Size {}", "size"), row=pl.format("{} · {}", "facet", "panel")
    )
    parts = [named.select("panel", "row", "series", value=mean, low=mean - sd, high=mean + sd)]
    # Baselines: means over the models of the row
    for baseline in figures.baselines_of(frame):
        means = named.group_by("panel", "row", maintain_order=True).agg(
            value=pl.mean(baseline) * 100
        )
        name = pl.lit(BASELINE_NAMES[baseline])
        parts.append(means.with_columns(series=name, lane=pl.lit("baselines")))
    every = pl.concat(parts, how="diagonal_relaxed").drop_nulls("value")
    return every.with_columns(reference=pl.lit(50.0))


def _suite(page: Page, suite: str) -> None:
    collected, layout = page.collected, page.layout
    categories, phenomena = (of_level(layout, suite, n) for n in ("category", "phenomenon"))
    frame = cells(collected, layout, categories, baselines=True)
    page.put(by_models(f"accuracy-{suite}-categories", "table3", frame))
    frame = cells(collected, layout, phenomena, baselines=True)
    heads = ("Category", "Phenomenon")
    page.put(by_places(f"accuracy-{suite}-phenomena", "table8", heads, frame))
    page.table("rivals", rivals(frame), of=suite)
    for level, head in (("template", "Template"), ("cell", "Cell of the design")):
        frame = cells(collected, layout, parts(collected, layout, suite, level), baselines=False)
        heads = ("Phenomenon", head)
        page.put(by_places(f"accuracy-{suite}-{level}s", f"by_{level}", heads, frame))
    curves = {"category": categories[:-1]}
    if len(layout.categories(suite)) < len(layout.phenomena[suite]) <= FEW:
        curves["phenomenon"] = phenomena[:-1]
    for level, places in curves.items():
        caption = say("curves", suite, level)
        frame = trajectories(collected, layout, places)
        page.picture(f"curves-{suite}-{level}", _CURVES, frame, caption)


def rivals(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the phenomena that have a rival, the best baseline or heuristic.

    Args:
        frame: :func:`poshgrid.report.accuracies.cells` of phenomena.
    """
    learned = pl.when(learned=YES).then(pl.lit("total"))
    return frame.drop_nulls("rival").with_columns(learned.alias("class"))


def parts(
    collected: Collected, layout: Layout, suite: str, level: str
) -> list[tuple[str, str, Place]]:
    """Return the places of templates, or of cells of designs, of phenomena that have several."""
    known = collected.accuracy.filter(suite=suite, level=level)
    names = set(known.select("category", "phenomenon", "part").iter_rows())
    return [
        (phenomenon, part, (suite, level, category, phenomenon, part))
        for category, phenomenon in layout.phenomena[suite]
        for part in sorted(part for *of, part in names if of == [category, phenomenon])
    ]


def trajectories(
    collected: Collected, layout: Layout, panels: list[tuple[str, str, Place]]
) -> pl.DataFrame:
    """Return the data of a figure of learning curves (:data:`poshgrid.report.figures.LINES`).

    Args:
        collected: all results.
        layout: order of arms and sizes.
        panels: group, name and place of each panel.
    """
    places = ("suite", "level", "category", "phenomenon")
    schema = dict.fromkeys(("panel", *places), pl.String)
    panels_of = [(name, *where[:4]) for _, name, where in panels]
    named = pl.DataFrame(panels_of, schema=schema, orient="row")
    series = {arm.label: layout.series(arm) for arm in layout.arms}
    arms = layout.points.with_columns(series=pl.col("models").replace(series)).drop("words")
    # Leave out runs without checkpoints, and steps that only some of the seeds reached
    trained = (~pl.col("kept") & (pl.col("step") > 0)).any().over(RUN_AXES)
    whole = pl.col("n_seeds") == pl.col("n_seeds").max().over(RUN_AXES)
    rows = arms.join(collected.curves, on=RUN_AXES, maintain_order="left_right").filter(
        trained, whole
    )
    several = rows["size"].n_unique() > 1
    facet = pl.format("{} words", "size") if several else pl.lit("")
    frame = named.join(rows, on=places, maintain_order="left_right").with_columns(facet=facet)
    return frame.select("facet", "panel", "series", "size", "bias", "step", "epoch", "mean", "sd",
                        "n_seeds", "kept")  # fmt: skip
