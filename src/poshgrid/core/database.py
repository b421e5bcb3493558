"""Tables that may be larger than memory: sort, join and count them on disk (DuckDB, in SQL)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.core import files
from poshgrid.core.errors import PoshgridError

if TYPE_CHECKING:
    import duckdb
    import polars as pl

MEMORY = "768MB"
"""Largest size of a database in memory; the rest is on disk, uncompressed."""


class Database:
    """The tables of one job. If the order of a query matters, use an ``ORDER BY`` without ties."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Store an open connection, which :func:`opened` makes."""
        self._connection = connection

    def load(self, table: str, frames: Iterable[pl.DataFrame]) -> None:
        """Make a table from frames, in their order; at least one frame, which may be empty.

        Args:
            table: name of the table; an existing one is replaced.
            frames: frames with the same schema.
        """
        for number, frame in enumerate(frames):
            self._connection.register("_frame", frame.to_arrow())
            verb = f"insert into {table}" if number else f"create or replace table {table} as"
            self.run(f"{verb} from _frame")
            self._connection.unregister("_frame")

    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        self._connection.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query and return all its rows; for small results only."""
        with self._connection.cursor() as own:
            return own.sql(query).fetchall()

    def pieces(self, query: str, size: int = files.BATCH) -> Iterator[pl.DataFrame]:
        """Yield a result in batches; other queries and loads may run meanwhile.

        Args:
            query: SQL with its order.
            size: rows of a batch. Every batch is one chunk, so that a file of batches always has
                the same bytes; the last one may have fewer rows, and an empty result has no batch.
        """
        import polars as pl

        waiting: list[pl.DataFrame] = []
        with self._connection.cursor() as own, own.sql(query).to_arrow_reader(size) as reader:
            for batch in reader:
                waiting.append(pl.DataFrame(pl.from_arrow(batch)))
                while sum(frame.height for frame in waiting) >= size:
                    whole = pl.concat(waiting, rechunk=True)
                    yield whole[:size]
                    waiting = [whole[size:]]
        if any(frame.height for frame in waiting):
            yield pl.concat(waiting, rechunk=True)


@contextmanager
def opened(folder: Path) -> Iterator[Database]:
    """Yield an empty database; data beyond its memory is in a folder that is deleted afterwards.

    It uses one thread, so that a job takes one core.

    Args:
        folder: the job's output folder, which, unlike ``TMPDIR``, has room for the data.

    Raises:
        PoshgridError: the disk is full.
    """
    import duckdb

    with files.atomic_folder(folder) as temporary:
        options: dict[str, Any] = {
            "memory_limit": MEMORY,
            "threads": "1",
            "temp_directory": str(temporary),
        }
        try:
            with duckdb.connect(config=options) as connection:
                yield Database(connection)
        except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
            reason = str(error).splitlines()[0]
            raise PoshgridError(f"{folder}: {reason}; check the space left on the disk") from error
