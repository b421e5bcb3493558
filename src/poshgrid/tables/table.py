"""What a table is: rows of values, and how a person reads them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import polars as pl

from poshgrid.tables.words import ABSENT


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, and how its values are written."""

    title: str
    show: Callable[[Any], str] = str
    text: bool = False  # words, set flush left; numbers are set flush right
    group: str = ""  # heading of this column and its neighbours of the same group
    graded: bool = False  # accuracies (report.cells), coloured by their distance from chance
    tex: str = ""  # LaTeX of the title, where text would not do

    def write(self, value: object) -> str:
        """Return the text of a cell; ``None`` is a dash, and a text is what it is."""
        return ABSENT if value is None else value if isinstance(value, str) else self.show(value)


@dataclass(frozen=True)
class Table:
    """Rows of values, a caption, and a name that its files bear."""

    name: str
    caption: str
    columns: list[Column]
    rows: list[list[Any]]
    classes: dict[int, str] = field(default_factory=dict)  # row -> "flag" or "total"
    grouped: bool = False  # rows with the same first cell stand under it
    values: pl.DataFrame | None = None  # what the CSV holds, where it is not the columns

    def shown(self) -> list[list[str]]:
        """Return the texts of the cells."""
        return [[c.write(v) for v, c in zip(row, self.columns, strict=True)] for row in self.rows]

    @property
    def spans(self) -> list[tuple[str, int]]:
        """Groups of columns and how many each has; none where no column is grouped."""
        spans = [(g, len(list(c))) for g, c in groupby(self.columns, key=lambda c: c.group)]
        return spans if any(group for group, _ in spans) else []

    @property
    def bodies(self) -> list[tuple[str, list[tuple[int, list[Any]]]]]:
        """Groups of rows as (first cell, numbered rows); one without a name if none is grouped."""
        numbered = list(enumerate(self.rows))
        if not self.grouped:
            return [("", numbered)]
        return [(name, list(rows)) for name, rows in groupby(numbered, key=lambda row: row[1][0])]

    def frame(self) -> pl.DataFrame:
        """Return the values, unrounded: the columns under titles that are made unique."""
        if self.values is not None:
            return self.values
        names: list[str] = []
        for column in self.columns:
            name = column.title
            while name in names:
                name += " (again)"
            names.append(name)
        data = {name: [row[i] for row in self.rows] for i, name in enumerate(names)}
        for name, values in data.items():
            if any(isinstance(value, str) for value in values):
                data[name] = [None if value is None else str(value) for value in values]
        return pl.DataFrame(data, strict=False)


def text(title: str) -> Column:
    """Return a column of words."""
    return Column(title, text=True)


def texts(*titles: str) -> list[Column]:
    """Return columns of words."""
    return [text(title) for title in titles]


def numbers(show: Callable[[Any], str], *titles: str) -> list[Column]:
    """Return columns of numbers that are written alike."""
    return [Column(title, show) for title in titles]


def of_frame(
    name: str,
    caption: str,
    frame: pl.DataFrame,
    columns: Mapping[str, Column],
    classes: Mapping[int, str] | None = None,
) -> Table:
    """Return the columns of a frame as a table.

    Args:
        name: of the table's files.
        caption: what the table shows.
        frame: a row for each of the table's.
        columns: column of the frame -> its title and how its values are written.
        classes: row -> "flag" or "total".
    """
    rows = [list(row) for row in frame.select(list(columns)).iter_rows()]
    return Table(name, caption, list(columns.values()), rows, dict(classes or {}))


def without(table: Table, titles: Collection[str]) -> Table:
    """Return a table less the columns of these titles."""
    kept = [i for i, column in enumerate(table.columns) if column.title not in titles]
    return replace(
        table,
        columns=[table.columns[i] for i in kept],
        rows=[[row[i] for i in kept] for row in table.rows],
    )


def without_empty(table: Table, titles: Collection[str]) -> Table:
    """Return a table less those of the columns that hold nothing."""
    empty = [
        column.title
        for i, column in enumerate(table.columns)
        if column.title in titles and all(row[i] is None for row in table.rows)
    ]
    return without(table, empty)


def varying(rows: pl.DataFrame, axes: Sequence[str], always: Sequence[str] = ()) -> list[str]:
    """Return the axes with more than one value: the others would only widen a table.

    Args:
        rows: a table with the axes as columns.
        axes: in the order of the table's columns.
        always: those that stand even with one value.
    """
    return [axis for axis in axes if axis in always or rows[axis].n_unique() > 1]
