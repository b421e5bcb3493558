"""Counts of correct judgements from a CSV file, for the Bayesian models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, model_validator

from poshgrid.benchmark.reading import csvfile
from poshgrid.config.runs import RELEASED, words_of
from poshgrid.errors import PoshgridError
from poshgrid.statistics.design import CELL
from poshgrid.statistics.schema import COUNTS

NEEDED = ("condition", "size", "seed", "category", "phenomenon", "correct", "n")
_Name = Annotated[str, Field(min_length=1)]
_Whole = Annotated[int, Field(ge=0, le=2**32 - 1)]


class Counted(BaseModel):
    """A row of a CSV of counts; what it leaves out has a default."""

    model_config = ConfigDict(allow_inf_nan=False)

    condition: _Name
    size: _Name
    model: _Name = "model"
    recipe: _Name = RELEASED
    bias: _Name = "none"
    seed: _Whole
    suite: _Name = "suite"
    category: _Name
    phenomenon: _Name
    template: str = ""  # default: the phenomenon
    correct: float
    ties: _Whole = 0
    n: _Whole
    words: int = Field(-1, ge=0)  # default: what the size names
    source: str = ""  # default: the condition
    filtered: bool = False

    @model_validator(mode="after")
    def _filled(self) -> Counted:
        self.template = self.template or self.phenomenon
        self.source = self.source or self.condition
        if self.words < 0:
            self.words = words_of(self.size)
        if not 0 <= self.correct <= self.n or (2 * self.correct) % 1:
            raise ValueError(
                f"correct is {self.correct:g} of {self.n} pairs; write how many were right, a tie "
                "as a half"
            )
        return self


def read(path: Path) -> pl.DataFrame:
    """Return the counts of a CSV.

    Args:
        path: a row for each run (condition, size, seed) and phenomenon; columns of ``COUNTS``, of
            which those in :data:`NEEDED` must be there. ``words`` are those that the size names,
            ``source`` is the condition, ``filtered`` no; there is no bias.

    Returns:
        Columns of ``COUNTS``.

    Raises:
        PoshgridError: the file cannot be read, lacks a column or has an unknown one, a cell is
            empty or not of its column's type, a phenomenon is in two categories, or no run can have
            such counts.
    """
    rows = []
    first: dict[tuple[str, ...], str] = {}  # what was said before of a phenomenon, a run
    for line in csvfile.table(path, NEEDED, [name for name in COUNTS if name not in NEEDED]):
        row = line.read_as(Counted)
        rows.append(row.model_dump())
        run = ("line", *(str(rows[-1][name]) for name in ("suite", *CELL)))
        if (before := first.setdefault(run, line.line)) != line.line:
            raise line.fault(f"of the same run and phenomenon as {before}; write one")
        home = first.setdefault(("category", row.suite, row.phenomenon), row.category)
        if home != row.category:
            raise line.fault(f"{row.phenomenon!r} is in category {home!r} before; give it one")
    if not any(row["n"] for row in rows):
        raise PoshgridError(f"{path}: no counts below the header; give some")
    return pl.DataFrame(rows, schema=COUNTS)
