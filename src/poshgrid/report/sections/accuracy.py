"""Accuracies by category and phenomenon, in the course of training, beside the published ones.

The published ones are the paper's Tables 3 and 8, where condition, size and items are the paper's.
"""

from __future__ import annotations

import polars as pl

from poshgrid.report import curves, figures, tables
from poshgrid.report.blocks import Block, Fold, Heading, Note, Page, drawer
from poshgrid.report.cells import CHANCE
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, groups, title
from poshgrid.report.texts import say
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, of_frame, text
from poshgrid.tables.words import percent
from poshgrid.tables.words import points as points_of

TITLE, ORDER, AUDIENCE = "Accuracy", 20, "reader"


def published(collected: Collected, layout: Layout, suite: str, table: int = 3) -> Table | None:
    """Set a suite beside the paper's Table 3 or 8 where condition and size are the paper's.

    Args:
        collected: the results.
        layout: order of the rows.
        suite: of minimal pairs; the paper's, if it has one of its phenomena.
        table: 3: categories and overall; 8: phenomena and average.

    Returns:
        Both means and stars (pooled chi-square) and the signed difference; ``None`` where no cell
        that was run is the paper's.
    """
    from poshgrid.statistics import published as paper

    theirs = paper.accuracy()
    if not {p for _, p in layout.phenomena[suite]} & set(theirs["phenomenon"]):
        return None  # other items, whose categories may bear the same names
    places: list[tuple[str | None, ...]]
    if table == 3:
        places = [("category", c, "", title(c), None) for c in layout.categories[suite]]
        places.append(("overall", "", "", title("overall"), None))
    else:
        places = [("phenomenon", c, p, title(c), p) for c, p in layout.phenomena[suite]]
        places.append(("average", "", "", None, title("average")))
    key = ["level", "category", "phenomenon"]
    points = [
        (*(layout.point(arm, size) or ()), arm.label)
        for size, arm in layout.places
        if arm.bias == "none"
    ]
    ours = collected.accuracy.filter(suite=suite).select(
        *RUN_AXES, *key, "mean", "p_pooled", stars="stars_pooled"
    )
    cells = (
        pl.DataFrame(points, schema=[*RUN_AXES, "label"], orient="row")
        .join(pl.DataFrame(places, schema=[*key, "of", "name"], orient="row"), how="cross")
        .join(theirs.rename({"mean": "paper", "stars": "paper_stars"}),
              on=["condition", "size", *key], maintain_order="left")
        .join(ours, on=[*RUN_AXES, *key], how="left", maintain_order="left")
        .with_columns(difference=pl.col("mean") - pl.col("paper"))
    )  # fmt: skip
    rows = cells.drop_nulls("mean")
    if rows.is_empty():
        return None
    sure, paper_sure = pl.col("stars") != "", pl.col("paper_stars") != ""
    alike = (pl.col("mean") > CHANCE) == (pl.col("paper") > CHANCE)
    tested = rows.drop_nulls("p_pooled")
    agree = tested.filter(sure == paper_sure, ~paper_sure | alike).height
    absent = cells.filter(pl.col("mean").is_null()).select(pl.format("{} {}", "label", "size"))
    difference = rows["difference"]
    caption = say(
        "published", rows.height, table, (difference > 0).sum(), (difference < 0).sum(),
        difference.abs().mean(), agree, tested.height,
        absent.to_series().unique(maintain_order=True).to_list(),
    )  # fmt: skip
    columns = {
        "size": text("Size"), "label": text("Condition"), "of": text("Category"),
        **({} if table == 3 else {"name": text("Phenomenon")}),
        "mean": Column("Ours", percent), "stars": text("Stars"), "paper": Column("Paper", percent),
        "paper_stars": text("Paper’s stars"), "difference": Column("Difference", points_of),
    }  # fmt: skip
    shown = rows.with_columns(pl.col("stars", "paper_stars").replace("", None))
    name = f"published-{suite}" + ("" if table == 3 else "-phenomena")
    return of_frame(name, caption, shown, columns)


def blocks(page: Page) -> list[Block] | None:
    """Return the tables and figures of each suite, and the curves of all; ``None``: no suite."""
    if not page.collected.spec.suites:
        return None
    found: list[Block] = []
    if len(page.collected.spec.suites) > 1:
        beside = page.shelf.table(tables.every_suite(page.collected, page.layout))
        found += [Heading("Suites beside each other"), beside]
    found += [block for suite in page.collected.spec.suites for block in _suite(page, suite)]
    averages = curves.average_picture(page)
    if averages:
        found += [Heading("Suites in the course of training"), averages]
    return found


def _suite(page: Page, suite: str) -> list[Block]:
    collected, layout, shelf = page.collected, page.layout, page.shelf
    rows = collected.accuracy.filter(suite=suite)
    by_category = shelf.table(tables.table3(collected, layout, suite))
    by_phenomenon = shelf.table(tables.table8(collected, layout, suite))
    found: list[Block] = [Heading(f"{suite}, by category")]
    if rows.is_empty() and collected.items[suite].is_empty():
        return [*found, "Not run: the suite has no items and no accuracies yet."]
    found.append(by_category)
    # The figure of the first suite stands in the findings, unless that shows one comparison alone
    if suite in collected.suites[1:] or len(groups(layout)) > 1:
        found.append(figures.picture(page, suite))
    found += [Heading(f"{suite}, by phenomenon"), by_phenomenon, Note(say("tests"))]
    found += [
        drawer("Compared with the rival", page.table(tables.rivals(collected, layout, suite))),
        drawer("By template", page.table(tables.parts(collected, layout, suite, "template"))),
        drawer("By cell of the design", page.table(tables.parts(collected, layout, suite, "cell"))),
    ]
    if pictures := curves.pictures(page, suite):
        found += [Heading(f"{suite}, in the course of training"), *pictures]
    found.append(Heading(f"{suite}, beside the published numbers"))
    theirs = shelf.table(published(collected, layout, suite)) if rows.height else None
    if theirs is None:
        return [
            *found,
            "Not compared: no cell that was run has a condition and a size of the paper’s and "
            "items of its phenomena (or the folder studies is not there).",
        ]
    found.append(theirs)
    if more := shelf.table(published(collected, layout, suite, table=8)):
        found.append(Fold("By phenomenon", f"({len(more.rows)} cells)", [more]))
    return found
