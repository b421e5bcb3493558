"""The accuracy tables: the paper's Tables 3 and 8 with the nulls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import polars as pl

from poshgrid.config.runs import NULLS, UNTRAINED
from poshgrid.report import cells as marks
from poshgrid.report.cells import NULL_NAMES, Cell, Scores, null_cell
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, title
from poshgrid.report.texts import say
from poshgrid.statistics.schema import ACCURACY, YES
from poshgrid.tables.table import Column, Table, numbers, text, texts
from poshgrid.tables.words import percent, points

GROUP = "Baselines"
"""What the baselines' rows (columns) are headed by."""

Row = list[Cell | str]  # group, row, cells


def table3(collected: Collected, layout: Layout, suite: str) -> Table:
    """Lay a suite out as the paper's Table 3: sizes and conditions by categories and overall.

    The last rows are the nulls: means over those of the rows above, each null entering once.
    """
    columns = [(title(c), (suite, "category", c)) for c in layout.categories[suite]]
    columns.append((title("overall"), (suite, "overall", "")))
    name = f"accuracy-{suite}-categories"
    return _by_models(collected, layout, name, "table3", columns, _nulls(collected))


def every_suite(collected: Collected, layout: Layout) -> Table:
    """Set the suites beside each other: sizes and conditions by the averages over phenomena."""
    columns = [(suite, (suite, "average")) for suite in collected.spec.suites]
    return _by_models(collected, layout, "accuracy-suites", "every_suite", columns, [])


def table8(collected: Collected, layout: Layout, suite: str) -> Table:
    """Lay a suite out as the paper's Table 8: phenomena by sizes and conditions.

    The last columns are the nulls: means over those of the columns before, each entering once.
    """
    rows = [(title(c), p, (suite, "phenomenon", c, p)) for c, p in layout.phenomena[suite]]
    rows.append(("", title("average"), (suite, "average", "", "")))
    header = texts("Category", "Phenomenon")
    name = f"accuracy-{suite}-phenomena"
    return _by_places(collected, layout, name, "table8", header, rows, _nulls(collected))


def parts(collected: Collected, layout: Layout, suite: str, level: str) -> Table:
    """Lay out the templates, or the cells of designs, of phenomena that have several.

    Args:
        collected: all results.
        layout: order of phenomena, sizes and conditions.
        suite: of minimal pairs.
        level: ``template`` or ``cell``.
    """
    known = collected.accuracy.filter(suite=suite, level=level)
    names = set(known.select("category", "phenomenon", "part").iter_rows())
    rows = [
        (phenomenon, part, (suite, level, category, phenomenon, part))
        for category, phenomenon in layout.phenomena[suite]
        for part in sorted(part for *of, part in names if of == [category, phenomenon])
    ]
    what = {"template": "Template", "cell": "Cell of the design"}[level]
    header = texts("Phenomenon", what)
    name = f"accuracy-{suite}-{level}s"
    return _by_places(collected, layout, name, f"by_{level}", header, rows, [])


def _by_models(
    collected: Collected, layout: Layout, name: str, caption: str,
    columns: Sequence[tuple[str, tuple[str, ...]]], nulls: list[str],
) -> Table:  # fmt: skip
    """Lay places of suites (title, place) out: a row for each size and condition, then nulls."""
    cells = zip(*_cells(collected, layout, [place for _, place in columns], nulls), strict=True)
    models = _models(layout, nulls)
    rows: list[Row] = [[*model, *own] for model, own in zip(models, cells, strict=True)]
    header = [text("Size"), text("Condition"), *(_column(column) for column, _ in columns)]
    return _captioned(name, caption, header, rows)


def _by_places(
    collected: Collected, layout: Layout, name: str, caption: str, header: list[Column],
    rows: Sequence[tuple[str, str, tuple[str, ...]]], nulls: list[str],
) -> Table:  # fmt: skip
    """Lay places of suites (group, label, place) out by sizes and conditions, then nulls."""
    cells = _cells(collected, layout, [place for *_, place in rows], nulls)
    header = [*header, *(_column(label, group) for group, label in _models(layout, nulls))]
    laid_out: list[Row] = [[*names, *own] for (*names, _), own in zip(rows, cells, strict=True)]
    return _captioned(name, caption, header, laid_out)


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
    """Compare each phenomenon with its rival: the baseline or heuristic right most often."""
    scores = Scores(collected.accuracy)
    rows: list[list[Any]] = []
    for category, phenomenon in layout.phenomena[suite]:
        for size, arm in layout.places:
            cell = scores.cell(layout, arm, size, suite, "phenomenon", category, phenomenon)
            if isinstance(cell, Cell) and cell.rival is not None:
                rows.append([
                    phenomenon, arm.label, size, cell.mean, cell.rival_name, cell.rival_mean,
                    cell.above_rival, cell.above_rival_low, cell.above_rival_high,
                    cell.learned,
                ])  # fmt: skip
    columns = [
        text("Phenomenon"), text("Models"), text("Size"), Column("Accuracy (%)", percent),
        text("Rival"), Column("Its accuracy (%)", percent),
        *numbers(points, "Above it (points)", "2.5%", "97.5%"),
        text("Learned"),
    ]  # fmt: skip
    totals = {i: "total" for i, row in enumerate(rows) if row[-1] == YES}
    return Table(f"rivals-{suite}", say("rivals"), columns, rows, totals)


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
    return Column(name, lambda cell: cell.shown, group=group, graded=True)


def _captioned(name: str, caption: str, header: list[Column], rows: list[Row]) -> Table:
    """Return the table; its caption, a text's name, explains its nulls and its marks."""
    cells = [cell for row in rows for cell in row if isinstance(cell, Cell)]
    has_nulls = GROUP in {column.group for column in header} | {row[0] for row in rows}
    words = f"{say(caption)} {say('marks', cells, vars(marks), nulls=has_nulls)}".strip()
    return Table(name, words, header, rows, grouped=True, values=_long(header, rows))


def _long(header: list[Column], rows: list[Row]) -> pl.DataFrame:
    """Return a row for each cell, numbers unrounded, for CSV."""
    names = [f.name for f in fields(Cell)]
    records = [
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
    heads = ("row_group", "row", "column_group", "column", "status")
    return pl.DataFrame(records, schema={**dict.fromkeys(heads, pl.String), **kinds})
