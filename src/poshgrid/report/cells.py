"""The cells of the accuracy tables: what they rest on, their marks, their nulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from poshgrid import files
from poshgrid.config.runs import NULLS
from poshgrid.report.layout import Arm, Layout
from poshgrid.report.texts import say
from poshgrid.statistics.schema import RUN_AXES, YES
from poshgrid.tables.words import ABSENT, NOT_RUN

CHANCE = 0.5
FAR = "‡"
"""Marks a cell whose null (untrained, or counted) is far from 50%."""
TURNS = "§"
"""Marks a cell that judging by sum instead of mean over tokens would change."""
LEARNED = "✓"
"""Marks a cell that is surely above every rival."""
TURN = 0.05  # share: a change beyond it is marked
NULL_NAMES = {null: null for null in NULLS} | {"ngram": "n-gram", "class_ngram": "class n-gram"}
"""The nulls in words."""


@dataclass(frozen=True)
class Cell:
    """An accuracy as a table shows it; all shares, 0-1."""

    mean: float
    sd: float | None = None
    n_seeds: int | None = None  # null for the mean of a null over cells
    n_pairs: int | None = None
    low: float | None = None
    high: float | None = None
    p_pooled: float | None = None
    stars_pooled: str = ""
    p_fisher_holm: float | None = None
    stars_fisher_holm: str = ""
    untrained: float | None = None
    unigram: float | None = None
    ngram: float | None = None
    class_ngram: float | None = None
    far: str = ""  # the nulls that are far from 50%
    mean_sum: float | None = None  # accuracy if judged by the sum over tokens
    mean_mean: float | None = None  # ... by the mean; one of both is `mean`
    rival: str | None = None  # the null or rule that is right most often; known of phenomena
    rival_mean: float | None = None
    above_rival: float | None = None
    above_rival_low: float | None = None
    above_rival_high: float | None = None
    learned: str | None = None
    least: float | None = None  # of the nulls of one kind of a table
    most: float | None = None
    n_cells: int | None = None  # nulls that the mean is of

    @property
    def turns(self) -> bool:
        """Whether judging by the other reduction would change the cell by more than ``TURN``."""
        if self.mean_sum is None or self.mean_mean is None:
            return False
        # The last bits of a mean are no difference: a change of 5 points is not more than 5.
        return abs(self.mean_sum - self.mean_mean) > TURN + 1e-9

    @property
    def marks(self) -> str:
        """The marks that the table's caption explains."""
        marks = (
            (FAR, self.far),
            (TURNS, self.turns),
            (LEARNED, self.learned == YES),
        )
        return "".join(mark for mark, holds in marks if holds)

    @property
    def rival_name(self) -> str:
        """The best rival in words; "" if none is known."""
        return NULL_NAMES.get(self.rival or "", self.rival or "")

    @property
    def detail(self) -> str:
        """What the cell rests on: interval, seeds, pairs, p values, nulls, the other reduction."""
        return say("cell", self, NULLS)

    @property
    def shown(self) -> str:
        """The cell as files print it: ``72.1***‡ (4.5)``."""
        sd = "" if self.sd is None else f" ({100 * self.sd:.1f})"
        return f"{100 * self.mean:.1f}{self.stars_pooled}{self.marks}{sd}"

    @property
    def weight(self) -> float:
        """Strength of the cell's colour: distance from 50%, 0-1."""
        return round(min(1.0, abs(self.mean - CHANCE) / CHANCE), 3)


class Scores:
    """Looks up cells of ``accuracy.parquet``."""

    def __init__(self, accuracy: pl.DataFrame) -> None:
        axes = (*RUN_AXES, "suite", "level", "category", "phenomenon", "part")
        self._rows = {
            tuple(row[axis] or "" for axis in axes): row for row in accuracy.iter_rows(named=True)
        }

    def cell(
        self, layout: Layout, arm: Arm, size: str, suite: str, level: str,
        category: str = "", phenomenon: str = "", part: str = "",
    ) -> Cell | str:  # fmt: skip
        """Return a cell; ``ABSENT`` if the grid leaves it out, ``NOT_RUN`` if it has no score."""
        point = layout.point(arm, size)
        if point is None:
            return ABSENT
        row = self._rows.get((*point, suite, level, category, phenomenon, part))
        if row is None or row["mean"] is None:
            return NOT_RUN
        fields = {name: row[name] for name in Cell.__dataclass_fields__ if name in row}
        for text in ("stars_pooled", "stars_fisher_holm", "far"):
            fields[text] = fields[text] or ""
        return Cell(**fields)


def null_cell(null: str, cells: Sequence[Cell | str]) -> Cell | str:
    """Return what a null makes of the cells of a row or column: mean, least, most.

    Args:
        null: one of ``poshgrid.grid.grid.NULLS``.
        cells: trained models' cells, one for each null that is to count.

    Returns:
        ``NOT_RUN`` if no cell has the null.
    """
    having = [c for c in cells if isinstance(c, Cell) and getattr(c, null) is not None]
    values = [getattr(cell, null) for cell in having]
    if not values:
        return NOT_RUN
    far = any(null in cell.far.split(", ") for cell in having)
    return Cell(
        sum(values) / len(values), far=null if far else "", least=min(values), most=max(values),
        n_cells=len(values),
    )  # fmt: skip


def known(cell: Cell | str, schema: files.Schema) -> dict[str, Any]:
    """Return what a figure's frame tells of a cell; of one that was not run, nothing."""
    if not isinstance(cell, Cell):
        return {}
    return {name: getattr(cell, name) for name in schema if name in Cell.__dataclass_fields__}
