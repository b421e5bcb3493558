"""Accuracies by category and phenomenon, in the course of training, beside the published ones.

The published ones are the paper's Tables 3 and 8, where condition, size and items are the paper's.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from poshgrid.report import figures
from poshgrid.report.accuracies import Place, by_category, by_models, by_places, cells, of_level
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, groups
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics.schema import RUN_AXES, YES

TITLE, ORDER, AUDIENCE = "Accuracy", 20, "reader"
FEW = 24
"""Phenomena of a suite that have a panel each; of a larger suite, its categories have."""
_CURVES = partial(figures.lines, x="epoch", columns=4)


def write(page: Page) -> dict[str, Any] | None:
    """Write the tables and figures of each suite, and the curves of all; ``None``: no suite."""
    collected, layout = page.collected, page.layout
    suites = [s for s in collected.spec.suites if layout.phenomena[s]]
    averages = [("", suite, (suite, "average", "", "", "")) for suite in suites]
    if len(suites) > 1:
        frame = cells(collected, layout, averages, baselines=False)
        page.put(by_models("accuracy-suites", "every_suite", frame))
    for suite in suites:
        _suite(page, suite)
    curves = trajectories(collected, layout, averages)
    page.picture("curves-average", _CURVES, curves, say("curves", "", "average"))
    return {"suites": suites} if suites else None


def _suite(page: Page, suite: str) -> None:
    collected, layout = page.collected, page.layout
    categories, phenomena = (of_level(layout, suite, n) for n in ("category", "phenomenon"))
    frame = cells(collected, layout, categories, baselines=True)
    page.put(by_models(f"accuracy-{suite}-categories", "table3", frame))
    # The figure of the first suite stands in the findings, unless that shows one comparison alone
    if suite in collected.suites[1:] or len(groups(layout)) > 1:
        frame = by_category(collected, layout, suite)
        page.picture(f"accuracy-{suite}", figures.lines, frame, say("accuracy", suite))
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
        drawn = trajectories(collected, layout, places)
        page.picture(f"curves-{suite}-{level}", _CURVES, drawn, caption)
    for kind, places in (("published", categories), ("published-phenomena", phenomena)):
        rows, facts = published(collected, layout, suite, places)
        page.table(kind, rows, *facts, of=suite)


def rivals(frame: pl.DataFrame) -> pl.DataFrame:
    """Return phenomena with their best rival, the baseline or heuristic that is right most often.

    Args:
        frame: :func:`poshgrid.report.accuracies.cells` of phenomena.
    """
    learned = pl.when(learned=YES).then(pl.lit("total"))
    return frame.drop_nulls("rival").with_columns(learned.alias("class"))


def parts(
    collected: Collected, layout: Layout, suite: str, level: str
) -> list[tuple[str, str, Place]]:
    """Return the templates, or the cells of designs, of phenomena that have several."""
    known = collected.accuracy.filter(suite=suite, level=level)
    names = set(known.select("category", "phenomenon", "part").iter_rows())
    return [
        (phenomenon, part, (suite, level, category, phenomenon, part))
        for category, phenomenon in layout.phenomena[suite]
        for part in sorted(part for *of, part in names if of == [category, phenomenon])
    ]


def published(
    collected: Collected, layout: Layout, suite: str, places: list[tuple[str, str, Place]]
) -> tuple[pl.DataFrame, tuple[Any, ...]]:
    """Set a suite beside the paper's Table 3 or 8 where condition and size are the paper's.

    Args:
        collected: the results.
        layout: order of the rows.
        suite: of minimal pairs; the paper's, if it has one of its phenomena.
        places: categories and their mean, or phenomena and theirs.

    Returns:
        Both means and stars (pooled chi-square) and the signed difference, and the facts of the
        caption; no rows where no cell that was run is the paper's.
    """
    from poshgrid.statistics import published as paper

    theirs = paper.accuracy().drop("sd").rename({"mean": "paper", "stars": "paper_stars"})
    if not {p for _, p in layout.phenomena[suite]} & set(theirs["phenomenon"]):
        return pl.DataFrame(), ()  # other items, whose categories may bear the same names
    key = ["condition", "size", "level", "category", "phenomenon"]
    both = (
        cells(collected, layout, places, baselines=False)
        .filter(bias="none")
        .join(theirs, on=key, maintain_order="left")
    )
    rows = both.drop_nulls("mean").with_columns(difference=pl.col("mean") - pl.col("paper"))
    if rows.is_empty():
        return rows, ()
    rows = pl.concat(rows.partition_by("size", "models", maintain_order=True))
    sure, paper_sure = pl.col("stars_pooled") != "", pl.col("paper_stars") != ""
    alike = (pl.col("mean") > 0.5) == (pl.col("paper") > 0.5)
    tested = rows.drop_nulls("p_pooled")
    agree = tested.filter(sure == paper_sure, ~paper_sure | alike).height
    absent = both.filter(pl.col("mean").is_null()).select(pl.format("{} {}", "models", "size"))
    change = rows["difference"]
    table = 3 if places[0][2][1] == "category" else 8
    facts = (rows.height, table, (change > 0).sum(), (change < 0).sum(), change.abs().mean(), agree,
             tested.height, absent.to_series().unique(maintain_order=True).to_list())  # fmt: skip
    blank = pl.col("group", "stars_pooled", "paper_stars").replace("", None)
    return rows.with_columns(blank), facts


def trajectories(
    collected: Collected, layout: Layout, panels: list[tuple[str, str, Place]]
) -> pl.DataFrame:
    """Return learning curves (Figure 4) as a figure (:data:`poshgrid.report.figures.LINES`).

    Args:
        collected: all results.
        layout: order of arms and sizes.
        panels: group, name and place of each.
    """
    places = ("suite", "level", "category", "phenomenon")
    schema = dict.fromkeys(("panel", *places), pl.String)
    panels_of = [(name, *place[:4]) for _, name, place in panels]
    named = pl.DataFrame(panels_of, schema=schema, orient="row")
    series = {arm.label: layout.series(arm) for arm in layout.arms}
    arms = layout.points.with_columns(series=pl.col("models").replace(series)).drop("words")
    # A baseline at step 0 is no curve; a mean of other seeds than the rest is no point of it
    trained = (~pl.col("kept") & (pl.col("step") > 0)).any().over(RUN_AXES)
    whole = pl.col("n_seeds") == pl.col("n_seeds").max().over(RUN_AXES)
    rows = arms.join(collected.curves, on=RUN_AXES, maintain_order="left_right").filter(
        trained, whole
    )
    several = rows["size"].n_unique() > 1
    facet = pl.format("{} words", "size") if several else pl.lit("")
    drawn = named.join(rows, on=places, maintain_order="left_right").with_columns(facet=facet)
    return drawn.select("facet", "panel", "series", "size", "bias", "step", "epoch", "mean", "sd",
                        "n_seeds", "kept")  # fmt: skip
