"""Accuracies by category and phenomenon, in the course of training, beside the published ones.

The published ones are the paper's Tables 3 and 8, where condition, size and items are the paper's.
"""

from __future__ import annotations

import itertools
from typing import Any

from poshgrid.report import curves, figures, tables
from poshgrid.report.blocks import Block, Fold, Heading, Note, Page, drawer
from poshgrid.report.cells import CHANCE, Cell, Scores
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, groups, title
from poshgrid.report.texts import say
from poshgrid.tables.table import Column, Table, text, texts
from poshgrid.tables.words import percent, points

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
    known = {
        (r["condition"], r["size"], r["level"], r["category"], r["phenomenon"]): r
        for r in theirs.iter_rows(named=True)
    }
    if not {p for _, p in layout.phenomena[suite]} & set(theirs["phenomenon"]):
        return None  # other items, whose categories may bear the same names
    places: dict[tuple[str, str, str], list[str | None]]
    if table == 3:
        places = {("category", c, ""): [title(c)] for c in layout.categories[suite]}
        places["overall", "", ""] = [title("overall")]
    else:
        places = {("phenomenon", c, p): [title(c), p] for c, p in layout.phenomena[suite]}
        places["average", "", ""] = [None, title("average")]
    scores = Scores(collected.accuracy)
    rows: list[list[Any]] = []
    absent, pairs = [], []
    for (size, arm), (place, names) in itertools.product(layout.places, places.items()):
        cell = scores.cell(layout, arm, size, suite, *place)
        row = known.get((arm.condition, size, *place))
        if row is None or arm.bias != "none":
            continue
        if not isinstance(cell, Cell):
            absent.append(f"{arm.label} {size}")
            continue
        pairs.append((cell, row))
        rows.append([
            size, arm.label, *names, cell.mean, cell.stars_pooled or None, row["mean"],
            row["stars"] or None, cell.mean - row["mean"],
        ])  # fmt: skip
    if not rows:
        return None
    columns = [
        *texts("Size", "Condition", *["Category", "Phenomenon"][: 1 if table == 3 else 2]),
        Column("Ours", percent), text("Stars"), Column("Paper", percent), text("Paper’s stars"),
        Column("Difference", points),
    ]  # fmt: skip
    differences = [cell.mean - row["mean"] for cell, row in pairs]
    tested = [(cell, row) for cell, row in pairs if cell.p_pooled is not None]
    agree = sum(
        bool(cell.stars_pooled) == bool(row["stars"])
        and (not row["stars"] or (cell.mean > CHANCE) == (row["mean"] > CHANCE))
        for cell, row in tested
    )
    caption = say(
        "published", len(pairs), table, sum(d > 0 for d in differences),
        sum(d < 0 for d in differences), sum(map(abs, differences)) / len(differences), agree,
        len(tested), list(dict.fromkeys(absent)),
    )  # fmt: skip
    name = f"published-{suite}" + ("" if table == 3 else "-phenomena")
    return Table(name, caption, columns, rows)


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
        drawer("Beside the best rival", page.table(tables.rivals(collected, layout, suite))),
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
