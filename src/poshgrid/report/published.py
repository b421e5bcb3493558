"""Accuracies beside the paper's Tables 3 and 8, where condition, size and items are the paper's."""

from __future__ import annotations

from typing import Any

from poshgrid.errors import PoshgridError
from poshgrid.report.cells import CHANCE, Cell, Scores
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, title
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import NOT_RUN, counted, percent, points


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

    try:
        theirs = paper.accuracy()
    except PoshgridError:  # installed without its checkout: a page without the comparison
        return None
    known = {
        (r["condition"], r["size"], r["level"], r["category"], r["phenomenon"]): r
        for r in theirs.iter_rows(named=True)
    }
    if not {p for _, p in layout.phenomena[suite]} & set(theirs["phenomenon"]):
        return None  # other items, whose categories may bear the same names
    places = _places(layout, suite, table)
    scores = Scores(collected.accuracy)
    rows: list[list[Any]] = []
    absent, pairs = [], []
    for size in layout.sizes:
        for arm in layout.arms:
            if arm.bias != "none":
                continue
            here = []
            for place in places:
                cell = scores.cell(layout, arm, size, suite, *place)
                row = known.get((arm.condition, size, *place))
                if row and isinstance(cell, Cell):
                    here.append((place, cell, row))
                elif row and cell == NOT_RUN:
                    absent.append(f"{arm.label} {size}")
            pairs += [(cell, row) for _, cell, row in here]
            rows += [[
                size, arm.label, *_named(place, table),
                cell.mean, cell.stars_pooled or None,
                row["mean"], row["stars"] or None, cell.mean - row["mean"],
            ] for place, cell, row in here]  # fmt: skip
    if not rows:
        return None
    named = ["Category"] if table == 3 else ["Category", "Phenomenon"]
    columns = [
        text("Size"), text("Condition"), *map(text, named),
        Column("Ours", percent), text("Stars"), Column("Paper", percent), text("Paper’s stars"),
        Column("Difference", points),
    ]  # fmt: skip
    caption = f"Accuracy in percent beside the paper’s Table {table}. {_compared(pairs)}"
    if absent:
        caption += f" Not run: {', '.join(dict.fromkeys(absent))}."
    name = f"published-{suite}" + ("" if table == 3 else "-phenomena")
    return Table(name, caption, columns, rows)


def _places(layout: Layout, suite: str, table: int) -> list[tuple[str, str, str]]:
    """Return level, category and phenomenon of the rows of a published table."""
    if table == 3:
        return [*(("category", c, "") for c in layout.categories[suite]), ("overall", "", "")]
    return [*(("phenomenon", c, p) for c, p in layout.phenomena[suite]), ("average", "", "")]


def _named(place: tuple[str, str, str], table: int) -> list[str | None]:
    level, category, phenomenon = place
    if table == 3:
        return [title(category or level)]
    return [title(category) if category else None, phenomenon or title(level)]


def _compared(pairs: list[tuple[Cell, dict[str, Any]]]) -> str:
    """Say how far both are from each other, and how often the tests agree."""
    differences = [cell.mean - row["mean"] for cell, row in pairs]
    higher, lower = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    away = sum(map(abs, differences)) / len(differences)
    tested = [(cell, row) for cell, row in pairs if cell.p_pooled is not None]
    agree = sum(
        bool(cell.stars_pooled) == bool(row["stars"])
        and (not row["stars"] or (cell.mean > CHANCE) == (row["mean"] > CHANCE))
        for cell, row in tested
    )
    return (
        f"Of {counted(len(pairs), 'cell')}, higher than the paper’s: {higher}; lower: {lower}; by "
        f"{100 * away:.1f} points on average. The pooled χ² test against 50% agrees (above, below "
        f"or neither) in {agree} of {len(tested)}. The paper’s items and models are not these."
    )
