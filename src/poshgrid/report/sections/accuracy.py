"""Accuracies by category, phenomenon and part, and in the course of training."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from poshgrid.report import figures
from poshgrid.report.accuracies import Place, cells, drawn, of_level, wide
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, groups, title
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics.schema import RUN_AXES, YES

TITLE, ORDER, AUDIENCE = "Accuracy", 20, "reader"
FEW = 24
"""A suite with at most so many phenomena has a panel for each; a larger one, for each category."""
BOXES, BOXES_OF = 24, 2
"""Largest number of boxes in a panel; a box of so few values says no more than their mean."""
_CURVES = partial(figures.lines, x="epoch", columns=4)


def write(page: Page) -> dict[str, Any] | None:
    """Write the tables and figures of each suite, and the curves of all; None without a suite."""
    collected, layout = page.collected, page.layout
    suites = [s for s in collected.spec.suites if layout.phenomena[s]]
    averages = [("", suite, (suite, "average", "", "", "")) for suite in suites]
    if len(suites) > 1:
        frame = cells(collected, layout, averages, baselines=False)
        page.put(wide("accuracy-suites", "every_suite", frame))
    if len(suites) > 1 or len(groups(layout)) > 1:  # otherwise it is the figure of the findings
        _figures(page, suites)
    for suite in suites:
        _suite(page, suite)
    curves = trajectories(collected, layout, averages)
    page.picture("curves-average", _CURVES, curves, say("curves", "", "average"))
    return {"suites": suites} if suites else None


def _figures(page: Page, suites: list[str]) -> None:
    """Draw the categories of every suite."""
    layout = page.layout
    for condition, arms in groups(layout):
        tail = f"-{condition}" if condition else ""
        marks = [
            (suite if len(suites) > 1 else "", panel, name, models, where)
            for suite in suites
            for _, panel, where in of_level(layout, suite, "category")
            for name, models in arms
        ]
        frame = drawn(page.collected, layout, marks)
        spread, baselines = frame["sd"].count(), figures.baselines_of(frame)
        caption = say("accuracy", condition, spread, baselines)
        page.picture(f"accuracy{tail}", figures.lines, frame, caption)


def _suite(page: Page, suite: str) -> None:
    collected, layout = page.collected, page.layout
    categories, phenomena = (of_level(layout, suite, n) for n in ("category", "phenomenon"))
    frame = cells(collected, layout, categories, baselines=True)
    page.put(wide(f"accuracy-{suite}-categories", "table3", frame))
    frame = cells(collected, layout, phenomena, baselines=True)
    heads = ("Category", "Phenomenon")
    page.put(wide(f"accuracy-{suite}-phenomena", "table8", frame, heads))
    page.picture(f"spread-{suite}", figures.boxes, spread(collected, layout, suite),
                 say("spread", suite))  # fmt: skip
    page.table("rivals", rivals(frame), of=suite)
    page.table("children", children(collected, layout, suite), suite, of=suite)
    for level, head in (("template", "Template"), ("cell", "Cell of the design")):
        frame = cells(collected, layout, parts(collected, layout, suite, level), baselines=False)
        heads = ("Phenomenon", head)
        page.put(wide(f"accuracy-{suite}-{level}s", f"by_{level}", frame, heads))
    curves = {"category": categories[:-1]}
    if len(layout.categories(suite)) < len(layout.phenomena[suite]) <= FEW:
        curves["phenomenon"] = phenomena[:-1]
    for level, places in curves.items():
        caption = say("curves", suite, level)
        frame = trajectories(collected, layout, places)
        page.picture(f"curves-{suite}-{level}", _CURVES, frame, caption)


def spread(collected: Collected, layout: Layout, suite: str) -> pl.DataFrame:
    """Return the accuracy of each seed on each template (:func:`poshgrid.report.figures.boxes`).

    There is none if the boxes are too many, or a point has few values.
    """
    panels = {category: title(category) for category in layout.categories(suite)}
    rows = layout.points.drop("words").join(
        collected.table("counts").filter(suite=suite), on=RUN_AXES, maintain_order="left_right"
    )
    frame = rows.select(
        pl.col("category").replace(panels).alias("panel"), "size", "phenomenon", "template",
        "seed", facet=pl.lit(""), series="models", share=pl.col("correct") / pl.col("n"),
    )  # fmt: skip
    values = frame.group_by("panel", "size", "series").len()
    fit = layout.points.height <= BOXES and max(values["len"].to_list(), default=0) > BOXES_OF
    return frame if fit else frame.clear()


def children(collected: Collected, layout: Layout, suite: str) -> pl.DataFrame:
    """Return the accuracies of children, and those of models on the same phenomena.

    Children did other tasks than models, so that their numbers are not directly comparable.

    Args:
        collected: all results.
        layout: order of arms and sizes.
        suite: of pairs; phenomena and categories that it lacks are left out.
    """
    rows = collected.children
    places = {c: (suite, "category", c, "", "") for c in layout.categories(suite)}
    places |= {p: (suite, "phenomenon", c, p, "") for c, p in layout.phenomena[suite]}
    judged = drawn(collected, layout, (
        ("", name, series, models, places[name])
        for name in rows["name"].unique(maintain_order=True)
        if name in places
        for series, models in groups(layout)[0][1]
    ))  # fmt: skip
    order = pl.col("size").cast(pl.Enum(layout.sizes))
    cell = pl.format("{} {}", "size", "series")
    cells = judged.sort(order, maintain_order=True).with_columns(cell=cell)
    shares = cells.pivot("cell", index="panel", values="mean")
    ages = rows.select("name", "age", children="accuracy")
    return ages.join(shares, left_on="name", right_on="panel", maintain_order="left")


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
    """Return the data of a figure of learning curves (:func:`poshgrid.report.figures.lines`).

    Args:
        collected: all results.
        layout: order of arms and sizes.
        panels: group, name and place of each panel.
    """
    places = ("suite", "level", "category", "phenomenon")
    schema = dict.fromkeys(("panel", *places), pl.String)
    panels_of = [(name, *where[:4]) for _, name, where in panels]
    named = pl.DataFrame(panels_of, schema=schema, orient="row")
    points = layout.points.select("series", *RUN_AXES)
    # Leave out runs without checkpoints, and steps that only some of the seeds reached
    trained = (~pl.col("kept") & (pl.col("step") > 0)).any().over(RUN_AXES)
    whole = pl.col("n_seeds") == pl.col("n_seeds").max().over(RUN_AXES)
    rows = points.join(collected.curves, on=RUN_AXES, maintain_order="left_right").filter(
        trained, whole
    )
    several = rows["size"].n_unique() > 1
    facet = pl.format("{} words", "size") if several else pl.lit("")
    frame = named.join(rows, on=places, maintain_order="left_right").with_columns(facet=facet)
    return frame.select("facet", "panel", "series", "size", "bias", "step", "epoch", "mean", "sd",
                        "n_seeds", "kept")  # fmt: skip
