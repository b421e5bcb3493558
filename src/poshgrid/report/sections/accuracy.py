"""Accuracies by category and phenomenon, in the course of training, beside the published ones."""

from __future__ import annotations

import polars as pl

from poshgrid.report import curves, frames, published, tables
from poshgrid.report.blocks import Block, Fold, Heading, Note, Page, drawer

TITLE, ORDER, AUDIENCE = "Accuracy", 20, "reader"
_TESTS = (
    "Pooled: one χ² test over the pairs of all seeds, uncorrected. Per seed: one χ² test for each "
    "seed, combined by Fisher's method, Holm-corrected over the categories (or phenomena) of one "
    "model; p = 1 where seeds disagree in direction. Chance is not always 50% for a model that has "
    "learned nothing: compare with the nulls. Hover over a cell for its 95% interval, a bootstrap "
    "over lexical sets."
)


def blocks(page: Page) -> list[Block] | None:
    """Return the tables and figures of each suite, and the curves of all; ``None``: no suite."""
    if not page.collected.spec.suites:
        return None
    found = [block for suite in page.collected.spec.suites for block in _suite(page, suite)]
    averages = curves.average_picture(page.collected, page.layout, page.shelf.picture)
    if averages:
        found += [Heading("Suites in the course of training"), averages]
    return found


def _suite(page: Page, suite: str) -> list[Block]:
    collected, layout, shelf = page.collected, page.layout, page.shelf
    rows = collected.accuracy.filter(pl.col("suite") == suite)
    by_category = shelf.table(tables.table3(collected, layout, suite))
    by_phenomenon = shelf.table(tables.table8(collected, layout, suite))
    found: list[Block] = [Heading(f"{suite}, by category")]
    if rows.is_empty() and collected.items[suite].is_empty():
        return [*found, "Not run: the suite has no items and no accuracies yet."]
    found.append(by_category)
    if suite in collected.suites[1:]:  # the figure of the first stands in the findings
        found.append(frames.picture(page, suite))
    found += [Heading(f"{suite}, by phenomenon"), by_phenomenon, Note(_TESTS)]
    found += [
        drawer("Beside the best rival", shelf.table(tables.rivals(collected, layout, suite))),
        drawer("By template", shelf.table(tables.parts(collected, layout, suite, "template"))),
        drawer(
            "By cell of the design", shelf.table(tables.parts(collected, layout, suite, "cell"))
        ),
    ]
    if pictures := curves.pictures(collected, layout, suite, shelf.picture):
        found += [Heading(f"{suite}, in the course of training"), *pictures]
    found.append(Heading(f"{suite}, beside the published numbers"))
    theirs = shelf.table(published.published(collected, layout, suite)) if rows.height else None
    if theirs is None:
        return [
            *found,
            "Not compared: no cell that was run has a condition and a size of the paper’s and "
            "items of its phenomena (or the folder studies is not there).",
        ]
    found.append(theirs)
    if more := shelf.table(published.published(collected, layout, suite, table=8)):
        found.append(Fold("By phenomenon", f"({len(more.rows)} cells)", [more]))
    return found
