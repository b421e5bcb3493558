"""The accuracy tables: the paper's Tables 3 and 8 with the nulls, for page, CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import polars as pl

from poshgrid.grid.runs import NULLS, UNTRAINED
from poshgrid.report.cells import FAR, NULL_NAMES, TURN, TURNS, Cell, Scores, null_cell
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Arm, Layout, title

GROUP = "Nulls"
"""What the nulls' rows (columns) are headed by."""

Row = tuple[str, str, list[Cell | str]]  # group, row, cells


@dataclass(frozen=True)
class AccuracyTable:
    """Accuracies in rows and columns; a cell is a :class:`Cell`, ``NOT_RUN``, or ``ABSENT``."""

    name: str
    caption: str
    header: list[tuple[str, str]]  # group ("" for none), column
    rows: list[Row]


def table3(collected: Collected, layout: Layout, suite: str) -> AccuracyTable:
    """Lay a suite out as the paper's Table 3: sizes and conditions by categories and overall.

    The last rows are the nulls: means over those of the rows above, each null entering once.
    """
    scores = Scores(collected.accuracy)
    categories = layout.categories[suite]
    rows: list[Row] = []
    places = _places(layout)
    for size, arm in places:
        cells = [scores.cell(layout, arm, size, suite, "category", c) for c in categories]
        overall = scores.cell(layout, arm, size, suite, "overall")
        rows.append((size, arm.label, [*cells, overall]))
    columns = list(zip(*(cells for *_, cells in rows), strict=True))
    nulls: list[Row] = [
        (
            GROUP,
            NULL_NAMES[null],
            [null_cell(null, list(_distinct(null, layout, places, column))) for column in columns],
        )
        for null in _nulls(collected)
    ]
    header = [("", title(c)) for c in categories] + [("", title("overall"))]
    caption = (
        "Accuracy by category in percent, mean over seeds (SD). "
        "Overall is the mean of the categories."
    )
    return _captioned(f"accuracy-{suite}-categories", caption, header, [*rows, *nulls])


def table8(collected: Collected, layout: Layout, suite: str) -> AccuracyTable:
    """Lay a suite out as the paper's Table 8: phenomena by sizes and conditions.

    The last columns are the nulls: means over those of the columns before, each entering once.
    """
    scores = Scores(collected.accuracy)
    columns = _places(layout)
    places = [(title(c), p, ("phenomenon", c, p)) for c, p in layout.phenomena[suite]]
    places.append(("", title("average"), ("average", "", "")))
    nulls = _nulls(collected)
    rows: list[Row] = []
    for group, label, place in places:
        cells = [scores.cell(layout, arm, size, suite, *place) for size, arm in columns]
        known = [null_cell(null, list(_distinct(null, layout, columns, cells))) for null in nulls]
        rows.append((group, label, [*cells, *known]))
    header = [(size, arm.label) for size, arm in columns]
    header += [(GROUP, NULL_NAMES[null]) for null in nulls]
    caption = (
        "Accuracy by phenomenon in percent, mean over seeds (SD). "
        "Average is the mean of the phenomena."
    )
    return _captioned(f"accuracy-{suite}-phenomena", caption, header, rows)


def _places(layout: Layout) -> list[tuple[str, Arm]]:
    return [(s, arm) for s in layout.sizes for arm in layout.arms if layout.learner(arm, s)]


def _distinct(
    null: str, layout: Layout, places: Sequence[tuple[str, Arm]], cells: Sequence[Cell | str]
) -> Iterator[Cell]:
    """Yield a cell for each null model: arms that differ in bias or regimen share theirs.

    A null that counts words is that of a condition and size; an untrained one has a learner, too.
    """
    seen = set()
    for (size, arm), cell in zip(places, cells, strict=True):
        learner = layout.learner(arm, size) if null == UNTRAINED else None
        key = (arm.condition, size, learner)
        if isinstance(cell, Cell) and getattr(cell, null) is not None and key not in seen:
            seen.add(key)
            yield cell


def _nulls(collected: Collected) -> list[str]:
    """Return the nulls that were asked for, or that an accuracy knows, in the order of tables."""
    asked = {
        UNTRAINED if t.run.regimen == UNTRAINED else t.run.learner for t in collected.trained
    }  # fmt: skip
    known = {n for n in NULLS if collected.accuracy[n].null_count() < collected.accuracy.height}
    return [null for null in NULLS if null in asked | known]


def _captioned(
    name: str, caption: str, header: list[tuple[str, str]], rows: Sequence[Row]
) -> AccuracyTable:
    """Explain the nulls and the marks, if the table has any."""
    cells = [cell for *_, found in rows for cell in found if isinstance(cell, Cell)]
    if GROUP in {group for group, _ in header} | {group for group, *_ in rows}:
        caption += (
            " Nulls know no syntax: means over the nulls of the table's cells, each null once, "
            "however many regimens and biases share it (point at one for the least and the most)."
        )
    if any(cell.far for cell in cells):
        caption += (
            f" {FAR} A null of this cell (untrained, unigram or n-gram; point at it) is far from "
            "50%: see Nulls under Benchmark."
        )
    if any(cell.turns for cell in cells):
        caption += (
            f" {TURNS} Judged by the sum of the log-probabilities of tokens rather than their mean "
            f"(or the other way round), the cell would change by more than {100 * TURN:.0f} points."
        )
    return AccuracyTable(name, caption, header, list(rows))


def long(table: AccuracyTable) -> pl.DataFrame:
    """Return an accuracy table with one row per cell, numbers unrounded, for CSV."""
    names = [f.name for f in fields(Cell)]
    rows = [
        {
            "row_group": group,
            "row": label,
            "column_group": column_group,
            "column": column,
            "status": "run" if isinstance(cell, Cell) else str(cell),
            **{name: getattr(cell, name, None) for name in names},
        }
        for group, label, cells in table.rows
        for (column_group, column), cell in zip(table.header, cells, strict=True)
    ]
    kinds = {
        name: pl.String
        if name.startswith("stars") or name == "far"
        else pl.UInt32
        if name.startswith("n_")
        else pl.Float64
        for name in names
    }
    texts = dict.fromkeys(("row_group", "row", "column_group", "column", "status"), pl.String)
    return pl.DataFrame(rows, schema={**texts, **kinds})
