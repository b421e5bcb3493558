"""A table: values, and how they are shown to people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import polars as pl

from poshgrid.core.writing import ABSENT, WRITERS

CLASS = "class"
"""The column of a frame that marks rows: ``total`` or ``flag``; it is not shown."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, and how its values are written."""

    title: str
    show: Callable[[Any], str] = str
    text: bool = False  # text, aligned left; numbers are aligned right
    group: str = ""  # heading of this column and its neighbours of the same group
    graded: bool = False  # accuracies, coloured by their distance from chance

    def write(self, value: object) -> str:
        """Return the text of a cell: a dash for ``None``, a text unchanged."""
        return ABSENT if value is None else value if isinstance(value, str) else self.show(value)


@dataclass(frozen=True)
class Table:
    """Rows of values, a caption, and the name of the table's files."""

    name: str
    caption: str
    columns: list[Column]
    rows: list[list[Any]]
    classes: dict[int, str] = field(default_factory=dict)  # row -> "flag" or "total"
    grouped: bool = False  # rows with the same first cell are grouped under it
    values: pl.DataFrame = field(default_factory=pl.DataFrame)  # the contents of the CSV file

    def shown(self) -> list[list[str]]:
        """Return the texts of the cells."""
        return [[c.write(v) for v, c in zip(row, self.columns, strict=True)] for row in self.rows]

    @property
    def spans(self) -> list[tuple[str, int]]:
        """Column groups and their numbers of columns; [] if no column has a group."""
        spans = [(g, len(list(c))) for g, c in groupby(self.columns, key=lambda c: c.group)]
        return spans if any(group for group, _ in spans) else []

    @property
    def bodies(self) -> list[tuple[str, list[tuple[int, list[Any]]]]]:
        """Row groups as (first cell, numbered rows); one without a name if rows are not grouped."""
        numbered = list(enumerate(self.rows))
        if not self.grouped:
            return [("", numbered)]
        return [(name, list(rows)) for name, rows in groupby(numbered, key=lambda row: row[1][0])]


def of_frame(
    name: str, caption: str, frame: pl.DataFrame, titles: Mapping[str, str] | None = None
) -> Table:
    """Return a frame as a table.

    Args:
        name: name of the table's files.
        caption: what the table shows.
        frame: the rows; column ``class`` marks rows (:data:`CLASS`).
        titles: column -> ``Title | writer`` (:data:`poshgrid.core.writing.WRITERS`), in the order
            of the table. A column that the frame lacks is left out; so is an empty one whose key
            ends in ``?``. Key ``*`` stands for all other columns, ``{}`` for their names. Default:
            all columns, with their names as titles.
    """
    kept = dict(_columns(frame, titles or {"*": "{}"}))
    values = frame.drop(CLASS, strict=False)
    classes = frame[CLASS].to_list() if CLASS in frame.columns else []
    return Table(
        name, caption, list(kept.values()), [list(row) for row in frame.select(*kept).iter_rows()],
        {i: mark for i, mark in enumerate(classes) if mark}, values=values,
    )  # fmt: skip


def _columns(frame: pl.DataFrame, titles: Mapping[str, str]) -> Iterator[tuple[str, Column]]:
    named = {key.removesuffix("?") for key in titles}
    for key, words in titles.items():
        title, _, writer = (part.strip() for part in words.partition("|"))
        column = key.removesuffix("?")
        others = [name for name in frame.columns if name not in named and name != CLASS]
        for name in others if key == "*" else [column]:
            if name not in frame.columns or (key != column and frame[name].is_null().all()):
                continue
            kind = frame.schema[name]
            shown = title.format(name.replace("_", " ") if named == {"*"} else name)
            show = WRITERS[writer or ("3" if kind.is_float() else "text")]
            yield name, Column(shown, show, text=kind == pl.String)


def varying(rows: pl.DataFrame, axes: Sequence[str], always: Sequence[str] = ()) -> list[str]:
    """Return the axes with more than one value; the others would only make a table wider.

    Args:
        rows: a table with the axes as columns.
        axes: in the order of the table's columns.
        always: axes to return even with one value.
    """
    return [axis for axis in axes if axis in always or rows[axis].n_unique() > 1]
