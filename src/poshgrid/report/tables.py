"""The accuracy tables: the paper's Tables 3 and 8 with the nulls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import polars as pl

from poshgrid.config.runs import NULLS, UNTRAINED
from poshgrid.report.cells import (
    APART,
    FAR,
    LEARNED,
    NULL_NAMES,
    TURN,
    TURNS,
    Cell,
    Scores,
    null_cell,
)
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, title
from poshgrid.statistics.schema import ACCURACY
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import percent, points, probability

GROUP = "Nulls"
"""What the nulls' rows (columns) are headed by."""

STARS = (
    "Stars: two-sided χ² against 50% over the pairs of all seeds, uncorrected "
    "(* p < .05, ** p < .01, *** p < .001)."
)

Row = list[Cell | str]  # group, row, cells


def table3(collected: Collected, layout: Layout, suite: str) -> Table:
    """Lay a suite out as the paper's Table 3: sizes and conditions by categories and overall.

    The last rows are the nulls: means over those of the rows above, each null entering once.
    """
    columns = [(title(c), (suite, "category", c)) for c in layout.categories[suite]]
    columns.append((title("overall"), (suite, "overall", "")))
    caption = (
        "Accuracy by category in percent, mean over seeds (SD). "
        "Overall is the mean of the categories."
    )
    name = f"accuracy-{suite}-categories"
    return _by_models(collected, layout, name, caption, columns, _nulls(collected))


def every_suite(collected: Collected, layout: Layout) -> Table:
    """Set the suites beside each other: sizes and conditions by the averages over phenomena."""
    columns = [(suite, (suite, "average")) for suite in collected.spec.suites]
    caption = (
        "Average over the phenomena of every suite in percent, mean over seeds (SD). A suite that "
        "is named after a score holds the pairs of another, by that score of masked models."
    )
    return _by_models(collected, layout, "accuracy-suites", caption, columns, [])


def table8(collected: Collected, layout: Layout, suite: str) -> Table:
    """Lay a suite out as the paper's Table 8: phenomena by sizes and conditions.

    The last columns are the nulls: means over those of the columns before, each entering once.
    """
    rows = [(title(c), p, (suite, "phenomenon", c, p)) for c, p in layout.phenomena[suite]]
    rows.append(("", title("average"), (suite, "average", "", "")))
    caption = (
        "Accuracy by phenomenon in percent, mean over seeds (SD). "
        "Average is the mean of the phenomena."
    )
    header = [text("Category"), text("Phenomenon")]
    name = f"accuracy-{suite}-phenomena"
    return _by_places(collected, layout, name, caption, header, rows, _nulls(collected))


def parts(collected: Collected, layout: Layout, suite: str, level: str) -> Table:
    """Lay out the templates, or the cells of designs, of phenomena that have several.

    Args:
        collected: all results.
        layout: order of phenomena, sizes and conditions.
        suite: of minimal pairs.
        level: ``template`` or ``cell``.
    """
    found = collected.accuracy.filter(suite=suite, level=level)
    known = set(found.select("category", "phenomenon", "part").iter_rows())
    rows = [
        (phenomenon, part, (suite, level, category, phenomenon, part))
        for category, phenomenon in layout.phenomena[suite]
        for part in sorted(part for *of, part in known if of == [category, phenomenon])
    ]
    what = {"template": "template", "cell": "cell of the design"}[level]
    caption = (
        f"Accuracy by {what} in percent, mean over seeds (SD), of phenomena that have several. "
        "A mean over them hides which rule a model follows."
    )
    header = [text("Phenomenon"), text(what.capitalize())]
    return _by_places(collected, layout, f"accuracy-{suite}-{level}s", caption, header, rows, [])


def _by_models(
    collected: Collected, layout: Layout, name: str, caption: str,
    columns: Sequence[tuple[str, tuple[str, ...]]], nulls: list[str],
) -> Table:  # fmt: skip
    """Lay places of suites (title, place) out: a row for each size and condition, then nulls."""
    cells = zip(*_cells(collected, layout, [place for _, place in columns], nulls), strict=True)
    models = _models(layout, nulls)
    rows: list[Row] = [[*model, *found] for model, found in zip(models, cells, strict=True)]
    header = [text("Size"), text("Condition"), *(_column(column) for column, _ in columns)]
    return _captioned(name, caption, header, rows)


def _by_places(
    collected: Collected, layout: Layout, name: str, caption: str, header: list[Column],
    rows: Sequence[tuple[str, str, tuple[str, ...]]], nulls: list[str],
) -> Table:  # fmt: skip
    """Lay places of suites (group, label, place) out by sizes and conditions, then nulls."""
    cells = _cells(collected, layout, [place for *_, place in rows], nulls)
    header = [*header, *(_column(label, group) for group, label in _models(layout, nulls))]
    found: list[Row] = [[*names, *each] for (*names, _), each in zip(rows, cells, strict=True)]
    return _captioned(name, caption, header, found)


def _models(layout: Layout, nulls: list[str]) -> list[tuple[str, str]]:
    """Return the group and the label of each row or column of models, nulls last."""
    models = [(size, arm.label) for size, arm in layout.places]
    return [*models, *((GROUP, NULL_NAMES[null]) for null in nulls)]


def _cells(
    collected: Collected, layout: Layout, places: Sequence[tuple[str, ...]], nulls: list[str]
) -> Iterator[Row]:
    """Yield the cells of each place (suite, level, ...): by sizes and arms, then its nulls."""
    scores = Scores(collected.accuracy)
    for place in places:
        cells = [scores.cell(layout, arm, size, *place) for size, arm in layout.places]
        known = (null_cell(null, list(_distinct(null, layout, cells))) for null in nulls)
        yield [*cells, *known]


def rivals(collected: Collected, layout: Layout, suite: str) -> Table:
    """Set each phenomenon beside its best rival: the null or rule that is right most often."""
    scores = Scores(collected.accuracy)
    rows: list[list[Any]] = []
    totals = {}
    for category, phenomenon in layout.phenomena[suite]:
        for size, arm in layout.places:
            cell = scores.cell(layout, arm, size, suite, "phenomenon", category, phenomenon)
            if not isinstance(cell, Cell) or cell.rival is None:
                continue
            if cell.learned:
                totals[len(rows)] = "total"
            told = {None: None, True: "yes", False: "no"}[cell.learned]
            rows.append([
                phenomenon, arm.label, size, cell.mean, cell.rival_name, cell.rival_mean,
                cell.above_rival, cell.above_rival_low, cell.above_rival_high, told,
                cell.p_apart,
            ])  # fmt: skip
    columns = [
        text("Phenomenon"), text("Models"), text("Size"), Column("Accuracy (%)", percent),
        text("Best rival"), Column("Its accuracy (%)", percent),
        Column("Above it (points)", points), Column("2.5%", points), Column("97.5%", points),
        text("Learned"), Column("Templates alike (p)", probability),
    ]  # fmt: skip
    caption = (
        "Each accuracy beside its best rival: the null or the rule, of those that do not stand for "
        "the hierarchical hypothesis, that is right most often. Intervals (95%) over lexical sets "
        "and seeds. Learned: above 50% and above the rival, Holm-corrected over a model's "
        "phenomena. A dash: one seed, or one template, leaves nothing to compare."
    )
    return Table(f"rivals-{suite}", caption, columns, rows, totals)


def _distinct(null: str, layout: Layout, cells: Sequence[Cell | str]) -> Iterator[Cell]:
    """Yield a cell for each null model: arms that differ in bias or regimen share theirs.

    A null that counts words is that of a condition and size; an untrained one has a learner, too.
    """
    seen = set()
    for (size, arm), cell in zip(layout.places, cells, strict=True):
        point = layout.point(arm, size) or ()
        key = point[:3] if null == UNTRAINED else point[:2]
        if isinstance(cell, Cell) and getattr(cell, null) is not None and key not in seen:
            seen.add(key)
            yield cell


def _nulls(collected: Collected) -> list[str]:
    """Return the nulls that were asked for, or that an accuracy knows, in the order of tables."""
    asked = {UNTRAINED if t.run.regimen == UNTRAINED else t.run.learner for t in collected.trained}
    known = {n for n in NULLS if collected.accuracy[n].null_count() < collected.accuracy.height}
    return [null for null in NULLS if null in asked | known]


def _column(name: str, group: str = "") -> Column:
    return Column(
        name, lambda cell: cell.shown, group=group, tint=lambda cell: cell.tint,
        hint=lambda cell: cell.detail,
    )  # fmt: skip


def _captioned(name: str, caption: str, header: list[Column], rows: list[Row]) -> Table:
    """Return the table; explain its nulls and its marks, if it has any."""
    cells = [cell for row in rows for cell in row if isinstance(cell, Cell)]
    if GROUP in {column.group for column in header} | {row[0] for row in rows}:
        caption += (
            " Nulls know no syntax. Each is a mean over the table's cells and counts once, even "
            "where several regimens or biases share it; hover for the range."
        )
    if any(cell.far for cell in cells):
        caption += (
            f" {FAR} A null of this cell (untrained, unigram or n-gram; hover to see) is far "
            "from 50%: see Nulls under Benchmark."
        )
    if any(cell.turns for cell in cells):
        caption += (
            f" {TURNS} Judged by the sum of the log-probabilities of tokens rather than their mean "
            f"(or the other way round), the cell would change by more than {100 * TURN:.0f} points."
        )
    if any(cell.apart for cell in cells):
        caption += f" {APART} Its templates differ by more than their sets allow."
    if any(cell.learned for cell in cells):
        caption += (
            f" {LEARNED} Learned: above 50% and above the best rival (a null or a rule; named "
            "below the accuracy) over sets and seeds, Holm-corrected over a model's phenomena."
        )
    if any(cell.stars_pooled for cell in cells):
        caption += f" {STARS}"
    return Table(name, caption, header, rows, grouped=True, values=_long(header, rows))


def _long(header: list[Column], rows: list[Row]) -> pl.DataFrame:
    """Return a row for each cell, numbers unrounded, for CSV."""
    names = [f.name for f in fields(Cell)]
    found = [
        {
            "row_group": group,
            "row": label,
            "column_group": column.group,
            "column": column.title,
            "status": "run" if isinstance(cell, Cell) else str(cell),
            **{name: getattr(cell, name, None) for name in names},
        }
        for group, label, *cells in rows
        for column, cell in zip(header[2:], cells, strict=True)
    ]
    own = {"least": pl.Float64, "most": pl.Float64, "n_cells": pl.UInt32}
    kinds = {name: own.get(name) or ACCURACY[name] for name in names}
    texts = dict.fromkeys(("row_group", "row", "column_group", "column", "status"), pl.String)
    return pl.DataFrame(found, schema={**texts, **kinds})
