"""Which sentences of a base a condition trains on, and how often: a few bytes for each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import read_table


@dataclass(frozen=True)
class Trained:
    """A condition's training sentences.

    Attributes:
        path: of their table.
        own: by sent_id, whether the sentence stands in its own place.
        put: by sent_id, how often it stands in the place of another.
        left: by sent_id, whether it gave way to another.
        words: in all.
    """

    path: Path
    own: np.ndarray
    put: np.ndarray
    left: np.ndarray
    words: int

    @classmethod
    def of(cls, path: Path) -> Trained:
        """Read a condition's ``train.parquet``.

        Raises:
            PoshgridError: the table is missing or broken.
        """
        table = read_table(path, CONDITION, ["sent_id", "replaced", "n_words"])
        if table["sent_id"].has_nulls():
            raise PoshgridError(f"{path}: a sentence has no sent_id; run poshgrid condition again")
        own, put = (
            table.filter(pl.col("replaced").is_null() == mine)["sent_id"].to_numpy()
            for mine in (True, False)
        )
        left = table["replaced"].drop_nulls().to_numpy()
        last = max((int(ids.max()) for ids in (own, put, left) if len(ids)), default=-1)
        found = cls(
            path,
            np.zeros(last + 1, bool),
            np.zeros(last + 1, np.uint32),
            np.zeros(last + 1, bool),
            int(table["n_words"].cast(pl.Int64).sum()),
        )
        found.own[own] = True
        found.left[left] = True
        np.add.at(found.put, put, 1)
        return found

    def rows(self, first: int, number: int) -> tuple[pl.Series, pl.Series, pl.Series]:
        """Return ``own``, ``put`` and ``left`` of some sentences of the base.

        Args:
            first: the first one's sent_id.
            number: how many.
        """
        own, put, left = (
            pl.Series(np.pad(part, (0, number - len(part))))
            for part in (each[first : first + number] for each in (self.own, self.put, self.left))
        )
        return own, put, left
