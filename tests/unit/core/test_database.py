"""Tables on disk: sorted as in memory, whatever fits; nothing is left behind."""

import errno

import numpy as np
import polars as pl
import pytest

from poshgrid.core import database
from poshgrid.core.errors import PoshgridError

ROWS = 600_000


def _frames(seed, step=70_000):
    generator = np.random.default_rng(seed)
    for start in range(0, ROWS, step):
        number = min(step, ROWS - start)
        keys = generator.integers(0, 50, number)
        texts = [f"{key} a text that takes some room in memory, wherever it lies" for key in keys]
        yield pl.DataFrame(
            {"row": np.arange(start, start + number, dtype=np.uint32), "key": keys, "text": texts}
        )


def test_what_does_not_fit_in_memory_is_sorted_on_disk(tmp_path, monkeypatch):
    """36 MB of texts and 32 MB of memory: polars, which holds all of it, says the same."""
    monkeypatch.setattr(database, "MEMORY", "32MB")
    with database.opened(tmp_path) as db:
        db.load("texts", _frames(1))
        pieces = list(db.pieces("select * from texts order by text desc, row", 250_000))
        spilt = [path for path in tmp_path.rglob("*.tmp") if path.stat().st_size]
    assert spilt
    assert [piece.height for piece in pieces] == [250_000, 250_000, 100_000]
    whole = pl.concat(_frames(1)).sort("text", "row", descending=[True, False])
    assert pl.concat(pieces).equals(whole)
    assert list(tmp_path.iterdir()) == []


def test_an_error_leaves_nothing(tmp_path, monkeypatch):
    def full(*_, **__):
        import duckdb

        raise duckdb.IOException(f"could not write: {errno.ENOSPC}\nmore")

    with pytest.raises(PoshgridError, match=rf"{tmp_path}: could not write: 28; check the space"):  # noqa: SIM117
        with database.opened(tmp_path) as db:
            monkeypatch.setattr(db, "load", full)
            db.load("texts", [])
    assert list(tmp_path.iterdir()) == []
