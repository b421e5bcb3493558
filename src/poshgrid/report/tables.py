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
from poshgrid.report.layout import Arm, Layout, title
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
    scores = Scores(collected.accuracy)
    categories = layout.categories[suite]
    rows: list[Row] = []
    places = _places(layout)
    for size, arm in places:
        cells = [scores.cell(layout, arm, size, suite, "category", c) for c in categories]
        overall = scores.cell(layout, arm, size, suite, "overall")
        rows.append([size, arm.label, *cells, overall])
    columns = list(zip(*(row[2:] for row in rows), strict=True))
    nulls: list[Row] = [
        [
            GROUP,
            NULL_NAMES[null],
            *(null_cell(null, list(_distinct(null, layout, places, column))) for column in columns),
        ]
        for null in _nulls(collected)
    ]
    header = [text("Size"), text("Condition"), *map(_column, map(title, [*categories, "overall"]))]
    caption = (
        "Accuracy by category in percent, mean over seeds (SD). "
        "Overall is the mean of the categories."
    )
    return _captioned(f"accuracy-{suite}-categories", caption, header, [*rows, *nulls])


def table8(collected: Collected, layout: Layout, suite: str) -> Table:
    """Lay a suite out as the paper's Table 8: phenomena by sizes and conditions.

    The last columns are the nulls: means over those of the columns before, each entering once.
    """
    places = [(title(c), p, ("phenomenon", c, p)) for c, p in layout.phenomena[suite]]
    places.append(("", title("average"), ("average", "", "")))
    caption = (
        "Accuracy by phenomenon in percent, mean over seeds (SD). "
        "Average is the mean of the phenomena."
    )
    header = [text("Category"), text("Phenomenon")]
    nulls = _nulls(collected)
    return _by_cell(collected, layout, suite, "phenomena", caption, header, places, nulls)


def every_suite(collected: Collected, layout: Layout) -> Table:
    """Set the suites beside each other: sizes and conditions by the averages over phenomena."""
    scores, suites = Scores(collected.accuracy), collected.spec.suites
    rows: list[Row] = [
        [size, arm.label, *(scores.cell(layout, arm, size, suite, "average") for suite in suites)]
        for size, arm in _places(layout)
    ]
    header = [text("Size"), text("Condition"), *map(_column, suites)]
    caption = (
        "Average over the phenomena of every suite in percent, mean over seeds (SD). A suite that "
        "is named after a score holds the pairs of another, by that score of masked models."
    )
    return _captioned("accuracy-suites", caption, header, rows)


def parts(collected: Collected, layout: Layout, suite: str, level: str) -> Table | None:
    """Lay out the templates, or the cells of designs, of phenomena that have several.

    Args:
        collected: all results.
        layout: order of phenomena, sizes and conditions.
        suite: of minimal pairs.
        level: ``template`` or ``cell``.
    """
    rows = collected.accuracy.filter((pl.col("suite") == suite) & (pl.col("level") == level))
    known = set(rows.select("category", "phenomenon", "part").iter_rows())
    places = [
        (phenomenon, part, (level, category, phenomenon, part))
        for category, phenomenon in layout.phenomena[suite]
        for part in sorted(part for *of, part in known if of == [category, phenomenon])
    ]
    if not places:
        return None
    what = {"template": "template", "cell": "cell of the design"}[level]
    caption = (
        f"Accuracy by {what} in percent, mean over seeds (SD), of phenomena that have several. "
        "A mean over them hides which rule a model follows."
    )
    header = [text("Phenomenon"), text(what.capitalize())]
    return _by_cell(collected, layout, suite, f"{level}s", caption, header, places, [])


def _by_cell(
    collected: Collected, layout: Layout, suite: str, what: str, caption: str,
    header: list[Column], places: Sequence[tuple[str, str, tuple[str, ...]]], nulls: list[str],
) -> Table:  # fmt: skip
    """Lay out places of a suite (group, label, place of the cell) by sizes and conditions."""
    scores = Scores(collected.accuracy)
    columns = _places(layout)
    rows: list[Row] = []
    for group, label, place in places:
        cells = [scores.cell(layout, arm, size, suite, *place) for size, arm in columns]
        known = [null_cell(null, list(_distinct(null, layout, columns, cells))) for null in nulls]
        rows.append([group, label, *cells, *known])
    header = [*header, *(_column(arm.label, size) for size, arm in columns)]
    header += [_column(NULL_NAMES[null], GROUP) for null in nulls]
    return _captioned(f"accuracy-{suite}-{what}", caption, header, rows)


def rivals(collected: Collected, layout: Layout, suite: str) -> Table | None:
    """Set each phenomenon beside its best rival: the null or rule that is right most often."""
    scores = Scores(collected.accuracy)
    rows: list[list[Any]] = []
    totals = {}
    for category, phenomenon in layout.phenomena[suite]:
        for size, arm in _places(layout):
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
    if not rows:
        return None
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
    asked = {UNTRAINED if t.run.regimen == UNTRAINED else t.run.learner for t in collected.trained}
    known = {n for n in NULLS if collected.accuracy[n].null_count() < collected.accuracy.height}
    return [null for null in NULLS if null in asked | known]


def _column(name: str, group: str = "") -> Column:
    return Column(
        name, lambda cell: cell.shown, group=group, tint=lambda cell: cell.tint,
        hint=lambda cell: cell.detail,
    )  # fmt: skip


def _captioned(name: str, caption: str, header: list[Column], rows: Sequence[Row]) -> Table:
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
    rows = list(rows)
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
    kinds = {
        name: pl.String
        if name.startswith("stars") or name in ("far", "rival")
        else pl.Boolean
        if name == "learned"
        else pl.UInt32
        if name.startswith("n_")
        else pl.Float64
        for name in names
    }
    texts = dict.fromkeys(("row_group", "row", "column_group", "column", "status"), pl.String)
    return pl.DataFrame(found, schema={**texts, **kinds})
