"""A view of the results as rich tables that fit the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from poshgrid.report.terminal.view import (
    ABOVE,
    BELOW,
    FAINT,
    HEAD,
    LABEL,
    LARGE,
    SMALL,
    Cell,
    Row,
    View,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table


def draw(found: View, console: Console) -> list[RenderableType]:
    """Return what is printed: one table, or several of fewer columns where the width is small.

    A table that is too wide is set tight, then turned (points in columns); if no way fits, the one
    that needs the fewest tables is taken.
    """
    from rich.text import Text

    wrapped = ["\n".join(textwrap.wrap(name, HEAD)) for name in found.columns]
    ways = [
        _blocks(each, console, tight=tight)
        for each in (replace(found, columns=wrapped), _turned(found))
        for tight in (False, True)
    ]
    drawn: list[RenderableType] = []
    for table in min(ways, key=len):  # the first, unless another way saves tables
        drawn += [table, Text("")]
    return [*drawn, *(Text(note, style=FAINT) for note in found.notes)]


def _turned(found: View) -> View:
    """Return a view with its points in columns."""
    heads = ["\n".join(filter(None, row.labels)) for row in found.rows]
    rows = [
        Row((name,), [replace(row.cells[i], null=row.null) for row in found.rows])
        for i, name in enumerate(found.columns)
    ]
    return View([""], heads, rows)


def _blocks(found: View, console: Console, *, tight: bool) -> list[Table]:
    """Divide a table's columns into as few tables as the width allows."""
    number = len(found.columns)
    blocks: list[Table] = []
    first = 0
    while first < number:
        last = number
        table = _table(found, range(first, last), tight=tight)
        while last > first + 1 and not fits(table, console):
            last -= 1
            table = _table(found, range(first, last), tight=tight)
        blocks.append(table)
        first = last
    return blocks


def fits(table: Table, console: Console) -> bool:
    """Say whether a table is as wide as the console at most."""
    from rich.measure import Measurement

    options = console.options.update(max_width=10_000)
    return Measurement.get(console, options, table).maximum <= console.width


def _table(found: View, kept: range, *, tight: bool) -> Table:
    """Lay some columns out; a line divides rows with other first labels, if they have several."""
    from rich.text import Text

    labels = [row.labels for row in found.rows]
    table = plain([""] if tight else found.axes, tight=tight)
    for i in kept:
        table.add_column(found.columns[i], justify="right", no_wrap=True)
    marks = [max((len(row.cells[i].marks) for row in found.rows), default=0) for i in kept]
    shown = [(label,) for label in _joined(labels)] if tight else labels
    following = [*labels[1:], labels[-1]]
    for row, names, after in zip(found.rows, shown, following, strict=True):
        texts = [
            Text(cell.text + cell.marks.ljust(width), style=_style(cell, row.null or cell.null))
            for cell, width in zip((row.cells[i] for i in kept), marks, strict=True)
        ]
        end = len(row.labels) > 1 and row.labels[0] != after[0]
        named = [Text(name, style=FAINT if row.null else "") for name in names]
        table.add_row(*named, *texts, end_section=end)
    return table


def _joined(labels: Sequence[tuple[str, ...]]) -> list[str]:
    """Return each row's labels in one: in columns, or on several lines where they are long."""
    widths = [max(map(len, column)) for column in zip(*labels, strict=True)]
    if sum(widths) + len(widths) - 1 > LABEL:
        return ["\n".join(_lines(" ".join(filter(None, names)))) for names in labels]
    return [
        " ".join(n.ljust(w) for n, w in zip(names, widths, strict=True)).rstrip()
        for names in labels
    ]


def _lines(label: str) -> Iterator[str]:
    """Yield a label's lines; only a word that is longer than one is broken, at its hyphens."""
    for line in textwrap.wrap(label, LABEL, break_on_hyphens=False, break_long_words=False):
        yield from textwrap.wrap(line, LABEL)


def plain(axes: Sequence[str], *, tight: bool = False) -> Table:
    """Return an empty table with its first columns, which are text."""
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 0 if tight else 1),
        collapse_padding=True,
        header_style="bold",
    )
    for axis in axes:
        table.add_column(axis, no_wrap=True)
    return table


def _style(cell: Cell, faint: bool) -> str:
    if cell.away is None:
        return FAINT
    if abs(cell.away) < SMALL:
        return FAINT if faint else ""
    strength = "dim " if faint else "bold " if abs(cell.away) >= LARGE else ""
    return strength + (ABOVE if cell.away > 0 else BELOW)
