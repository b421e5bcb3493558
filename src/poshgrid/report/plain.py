"""Plain tables, and how numbers are written in tables and sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

NOT_RUN = "not run"
ABSENT = "–"


@dataclass(frozen=True)
class Column:
    """A column of a plain table: its title and how its values are written."""

    title: str
    show: Callable[[Any], str] = str
    text: bool = False  # words, set flush left; numbers are set flush right


@dataclass(frozen=True)
class PlainTable:
    """Rows of values; ``None`` is shown as a dash."""

    name: str
    caption: str
    columns: list[Column]
    rows: list[list[Any]]
    classes: dict[int, str] = field(default_factory=dict)  # row -> CSS class

    def shown(self) -> list[list[str]]:
        """Return the texts of the cells."""
        return [
            [ABSENT if v is None else c.show(v) for v, c in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]


def csv_frame(table: PlainTable) -> pl.DataFrame:
    """Return a plain table's values, unrounded, with its columns' titles made unique."""
    names: list[str] = []
    for column in table.columns:
        name = column.title
        while name in names:
            name += " (again)"
        names.append(name)
    data = {name: [row[i] for row in table.rows] for i, name in enumerate(names)}
    mixed = {
        name: [None if v is None else str(v) for v in values]
        for name, values in data.items()
        if any(isinstance(v, str) for v in values)
    }  # fmt: skip
    return pl.DataFrame({**data, **mixed}, strict=False)


def count(value: float) -> str:
    """Write a whole number with thousands apart: ``12,345``."""
    return f"{value:,.0f}"


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number of things: ``1 model``, ``12 models``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def decimals(places: int, unit: float = 1) -> Callable[[float], str]:
    """Return a writer of numbers, as multiples of a unit, with so many decimals."""
    return lambda value: f"{value / unit:,.{places}f}".replace("-", "−")


def percent(value: float) -> str:
    """Write a share as a percentage with one decimal."""
    return f"{100 * value:.1f}"


def signed(value: float, places: int = 2) -> str:
    """Write a number with its sign, none where it rounds to zero: ``+0.09``, ``0.00``."""
    text = f"{value:+.{places}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")


def points(share: float) -> str:
    """Write a difference of shares in percentage points, without the word: ``−1.2``."""
    return signed(100 * share, 1)


def probability(value: float) -> str:
    """Write a probability without its zero: ``.973``, ``< .001``, ``> .999``."""
    if value < 0.001:
        return "< .001"
    return "> .999" if value > 0.999 else f"{value:.3f}"[1:]


def listed(parts: Sequence[str]) -> str:
    """Join parts as a sentence does: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def duration(seconds: float) -> str:
    """Write seconds as ``42 s``, ``3 min 10 s`` or ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
