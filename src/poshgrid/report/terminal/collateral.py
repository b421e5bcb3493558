"""What was removed, and what went with it, in a terminal: the report's table."""

from __future__ import annotations

from collections.abc import Sequence

from poshgrid.report.sections.collateral.removal import Removal
from poshgrid.report.sections.collateral.tables import table
from poshgrid.report.terminal.view import Cell, Row, View
from poshgrid.tables.words import ABSENT


def view(found: Sequence[Removal]) -> View:
    """Return the table as the terminal draws it.

    What was hit more than its share of the words has a colour.

    Args:
        found: conditions and sizes, in the order of the rows.
    """
    laid = table(found)
    labels = sum(column.text for column in laid.columns)
    titles = [column.title for column in laid.columns]
    words = titles.index("Words (%)")
    last = titles.index("Divergence (bits)")
    rows = []
    for values, texts in zip(laid.rows, laid.shown(), strict=True):
        gone = values[words]
        cells = [
            Cell(
                text,
                # As a multiple of the words' share, so that small removals have their colours, too
                away=None
                if text == ABSENT
                else (1 - value / gone) / 10
                if words < place < last and gone and value > gone
                else 0.0,
            )
            for place, (value, text) in enumerate(zip(values, texts, strict=True))
        ]
        rows.append(Row(tuple(texts[:labels]), cells[labels:]))
    return View(titles[:labels], titles[labels:], rows, [laid.caption])
