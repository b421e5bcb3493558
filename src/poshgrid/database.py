"""Tables that may be larger than memory, sorted, joined and counted on disk (DuckDB, in SQL)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid import files
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    import duckdb
    import polars as pl

MEMORY = "768MB"
"""What a database keeps in memory; the rest is on disk, uncompressed."""


class Database:
    """Tables of one job. Give every query whose order matters an ``ORDER BY`` without ties."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Hold an open connection; :func:`opened` makes one."""
        self._connection = connection

    def load(self, table: str, frames: Iterable[pl.DataFrame]) -> None:
        """Make a table of frames, one after the other; there is at least one, maybe without rows.

        Args:
            table: its name; another one of that name goes.
            frames: all of one schema.
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
        """Return the rows of a small result."""
        with self._connection.cursor() as own:
            return own.sql(query).fetchall()

    def frame(self, query: str) -> pl.DataFrame:
        """Return a small result as a frame."""
        import polars as pl

        with self._connection.cursor() as own:
            return pl.DataFrame(pl.from_arrow(own.sql(query).to_arrow_table()))

    def pieces(self, query: str, size: int = files.BATCH) -> Iterator[pl.DataFrame]:
        """Yield a result piece by piece; meanwhile, something else may be asked or loaded.

        Args:
            query: with its order.
            size: rows of a piece, in one chunk, so that a file of pieces has the same bytes however
                they came; the last may have fewer, and there is none of an empty result.
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
    """Yield an empty database; what does not fit in memory lies in a folder that goes afterwards.

    One thread, so that a job takes one core.

    Args:
        folder: of the job's output: there, and not in ``TMPDIR``, is room for its size.

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
