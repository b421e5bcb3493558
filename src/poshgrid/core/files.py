"""Complete files or none: atomic writes, and tables checked against their schemas."""

from __future__ import annotations

import errno
import glob
import json
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.core import verification
from poshgrid.core.errors import PoshgridError, place

if TYPE_CHECKING:  # the configuration imports this module through plug-ins, so it must load fast
    import polars as pl

Schema = dict[str, Any]
"""Column name -> polars data type: the contract of a table (docs/data.md)."""
BATCH = 100_000  # rows in memory at a time, for tables that may be larger than memory
REMEDY = "delete it and run again"


def sync(path: Path) -> None:
    """Force a file or folder to the disk: after a power cut it could be empty otherwise."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot do that with folders
            raise
    finally:
        os.close(descriptor)


def cannot_write(path: Path, error: Exception) -> PoshgridError:
    """Return the error that says why a path cannot be written, and what to do."""
    remedy = "check the folder's permissions and the space left on the disk, then run again"
    return PoshgridError(f"{path}: cannot write: {system_reason(error)}; {remedy}")


def system_reason(error: Exception) -> str:
    """Return the operating system's reason, also from safetensors: ``... (os error 28)``."""
    wrapped = re.search(r"\(os error (\d+)\)", str(error))
    if wrapped:
        return os.strerror(int(wrapped[1]))
    return getattr(error, "strerror", None) or str(error).partition("\n")[0]


@contextmanager
def atomic(path: str | os.PathLike[str], *, lasting: bool = False) -> Iterator[Path]:
    """Yield a temporary path next to ``path``; rename it to ``path`` if the block succeeds.

    The block may write a file or a folder. An existing file stays until then. If the block fails,
    nothing incomplete is left; leftovers of killed processes on this machine are removed by the
    next attempt. Parent folders are created.

    Args:
        path: the file or folder.
        lasting: force the file and its name to the disk.

    Raises:
        PoshgridError: the path cannot be written.
    """
    final = Path(path)
    if not final.name:
        raise PoshgridError(f"{final}: a folder; name a file")
    prefix = f".{final.name}.{socket.gethostname()}-"
    temporary = final.with_name(f"{prefix}{os.getpid()}.tmp")
    old = aside(final)
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        clear(*_leftovers(final.parent, prefix, ".tmp"), old)
        yield temporary
        if lasting:
            sync(temporary)
        if final.is_dir() and temporary.is_dir():  # a rename cannot replace a folder
            final.rename(old)
        temporary.replace(final)
        if lasting:
            sync(final.parent)
    except Exception as error:
        from safetensors import SafetensorError  # not an OSError, even if the disk is full

        if not isinstance(error, OSError | SafetensorError):
            raise
        # An error of the temporary file is reported for the final name
        other = place(error) if isinstance(error, OSError) else ""
        named = Path(other) if other else final
        named = final if named.is_relative_to(temporary) else named
        raise cannot_write(named, error) from error
    finally:
        with suppress(OSError):
            if old.exists() and not final.exists():
                old.rename(final)
        clear(temporary, old)


def aside(path: Path) -> Path:
    """Return the hidden name of a folder while it is removed."""
    return path.with_name(f".{path.name}.{os.getpid()}.old.tmp")


def clear(*paths: Path) -> None:
    """Remove files and folders if they exist."""
    for path in paths:
        with suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def discard(folder: Path) -> None:
    """Remove a folder; it never exists under its name with only a part of its files."""
    with suppress(OSError):
        folder.rename(aside(folder))
    clear(aside(folder))


@contextmanager
def atomic_folder(folder: Path, *, last: str = "") -> Iterator[Path]:
    """Yield a temporary folder; move its entries into ``folder`` if the block succeeds.

    Other entries of ``folder`` stay. If it was created and stays empty, it is removed again.

    Args:
        folder: created with its parents.
        last: the entry that is moved last: if it exists, so do all others.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    from safetensors import SafetensorError  # raised by its writer if the disk is full

    prefix = f".writing-{socket.gethostname()}-"
    temporary = folder / f"{prefix}{os.getpid()}"
    old = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        clear(*_leftovers(folder, prefix))
        temporary.mkdir()
        yield temporary
        entries = sorted(temporary.iterdir())
        for entry in sorted(entries, key=lambda entry: entry.name == last):
            if entry.is_dir():
                shutil.rmtree(folder / entry.name, ignore_errors=True)
            else:
                entry.chmod(0o644)
            entry.replace(folder / entry.name)
    except (OSError, SafetensorError) as error:
        raise cannot_write(folder, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if not old:
            with suppress(OSError):
                folder.rmdir()


def _leftovers(folder: Path, prefix: str, suffix: str = "") -> list[Path]:
    """Return what killed processes of this machine have left behind: prefix, process, suffix.

    A leftover with the number of this process is from an earlier process with the same number.
    """
    numbers = {
        path: path.name.removeprefix(prefix).removesuffix(suffix)
        for path in folder.glob(f"{glob.escape(prefix)}*{suffix}")
    }
    own = str(os.getpid())
    return [path for path, number in numbers.items() if number == own or not _alive(number)]


def _alive(pid: str) -> bool:
    """Return whether a process of this machine runs; true if the name is not a number."""
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OSError):
        return True
    return True


def write_text(path: str | os.PathLike[str], text: str, *, lasting: bool = False) -> None:
    """Write UTF-8 text atomically."""
    with atomic(path, lasting=lasting) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | os.PathLike[str], value: object, *, lasting: bool = False) -> None:
    """Write indented JSON with sorted keys atomically: the same value gives the same bytes."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    write_text(path, f"{text}\n", lasting=lasting)


def read_json(path: str | os.PathLike[str]) -> Any:  # noqa: ANN401 - JSON is what it is
    """Read a JSON file.

    Raises:
        PoshgridError: the file is missing or is not JSON.
    """
    verification.check([path])
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PoshgridError(f"{path}: not found; run the rule that makes it first") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise PoshgridError(f"{path}: not JSON ({error}); delete it and run again") from error


@contextmanager
def written_by_stage(path: Path) -> Iterator[None]:
    """Raise if the block finds that a file does not hold what its stage writes."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise PoshgridError(
            f"{path}: not what its stage writes ({error!r}); delete it and run again"
        ) from error


def write_table(frame: pl.DataFrame, path: str | os.PathLike[str], schema: Schema) -> None:
    """Write a parquet table atomically after checking it against its schema."""
    import polars as pl

    check_schema(frame.schema, schema, path)
    with atomic(path) as temporary:
        try:
            frame.select(list(schema)).write_parquet(temporary, compression="zstd")
        except pl.exceptions.PolarsError as error:  # contains the operating system's message
            raise cannot_write(Path(path), error) from error


@contextmanager
def table_writer(
    path: str | os.PathLike[str], schema: Schema
) -> Iterator[Callable[[pl.DataFrame], None]]:
    """Yield a function that appends a frame to a parquet table, for tables larger than memory.

    The table appears when the block succeeds; each frame becomes a row group.
    """
    import polars as pl
    import pyarrow.parquet

    def arrow(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - pyarrow has no types
        return frame.select(list(schema)).to_arrow(compat_level=pl.CompatLevel.oldest())

    empty = arrow(pl.DataFrame(schema=schema))
    with (
        atomic(path) as temporary,
        pyarrow.parquet.ParquetWriter(temporary, empty.schema, compression="zstd") as writer,
    ):

        def append(frame: pl.DataFrame) -> None:
            check_schema(frame.schema, schema, path)
            if frame.height:
                writer.write_table(arrow(frame), row_group_size=frame.height)

        yield append


def table_batches(
    path: str | os.PathLike[str],
    schema: Schema,
    columns: Sequence[str] | None = None,
    size: int = BATCH,
    part: tuple[int, int] = (0, 1),
) -> Iterator[pl.DataFrame]:
    """Yield a parquet table in batches, in its order, after checking it against its schema.

    All batches but the last have the same number of rows, so that tables can be read side by side.

    Args:
        path: the table.
        schema: its columns and types.
        columns: columns to read; None: all.
        size: number of rows in a batch.
        part: (number of the part, from 0; number of equal parts): only this part of the rows is
            yielded.

    Raises:
        PoshgridError: the file is missing, is not parquet, does not match the schema, or has an
            empty cell in column ``text``.
    """
    import polars as pl
    import pyarrow.parquet

    wanted = list(columns or schema)
    types = pl.Schema({name: schema[name] for name in wanted})
    with _readable(path):
        check_schema(pl.scan_parquet(Path(path), glob=False).collect_schema(), schema, path)
        # pyarrow raises an error for a damaged table, where polars may crash. With pre_buffer all
        # data would stay in memory (pyarrow issue 39808).
        with pyarrow.parquet.ParquetFile(path, pre_buffer=False) as file:
            rows, row = file.metadata.num_rows, 0
            first, last = (rows * (part[0] + end) // part[1] for end in (0, 1))
            for batch in file.iter_batches(size, columns=wanted):
                frame = pl.DataFrame(pl.from_arrow(batch)).select(wanted).cast(types)
                frame = frame[max(0, first - row) : max(0, last - row)]
                row += batch.num_rows
                if "text" in wanted and frame["text"].has_nulls():
                    raise PoshgridError(f"{path}: a row has no text; {REMEDY}")
                yield frame


def read_table(
    path: str | os.PathLike[str],
    schema: Schema,
    columns: Sequence[str] | None = None,
    only: tuple[str, Any] | None = None,
    part: tuple[int, int] = (0, 1),
) -> pl.DataFrame:
    """Return a parquet table, or a part of it, as one frame; see :func:`table_batches`.

    With ``only``, a column and a value (which may be null), all rows with this value are read.
    """
    import polars as pl
    import pyarrow.parquet
    from pyarrow import compute

    wanted = list(columns or schema)
    empty = pl.DataFrame(schema={name: schema[name] for name in wanted})
    if only is None:
        batches = table_batches(path, schema, wanted, part=part)
        return pl.concat([empty, *batches], rechunk=True)
    field, value = compute.field(only[0]), only[1]
    rows = field.is_null() if value is None else field == value
    with _readable(path):
        check_schema(pl.scan_parquet(Path(path), glob=False).collect_schema(), schema, path)
        table = pyarrow.parquet.read_table(path, columns=wanted, filters=rows, use_threads=False)
        frame = pl.DataFrame(pl.from_arrow(table)).select(wanted).cast(empty.schema)
        if "text" in wanted and frame["text"].has_nulls():
            raise PoshgridError(f"{path}: a row has no text; {REMEDY}")
        return pl.concat([empty, frame], rechunk=True)


def table_height(path: str | os.PathLike[str]) -> int:
    """Return how many rows a parquet table has."""
    import pyarrow.parquet

    with _readable(path):
        return int(pyarrow.parquet.read_metadata(path).num_rows)


def foreign_table(path: str | os.PathLike[str], remedy: str) -> pl.DataFrame:
    """Read a parquet table from outside poshgrid, without a schema.

    Raises:
        PoshgridError: the file is missing or is not parquet; ``remedy`` says what to do.
    """
    import polars as pl
    import pyarrow.parquet

    with _readable(path, remedy), pyarrow.parquet.ParquetFile(path) as file:
        return pl.DataFrame(pl.from_arrow(file.read()))


@contextmanager
def _readable(path: str | os.PathLike[str], remedy: str = REMEDY) -> Iterator[None]:
    """Turn errors of reading a table into a PoshgridError."""
    import polars as pl
    import pyarrow

    verification.check([path])
    try:
        yield
    except FileNotFoundError as error:
        raise PoshgridError(f"{path}: not found; run the rule that makes it first") from error
    # A panic (e.g. after a flipped bit) is not an Exception, so it must be caught by name.
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        pyarrow.ArrowException,
        OSError,
        ValueError,  # e.g. a text that is not UTF-8
    ) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise PoshgridError(f"{path}: not a parquet table ({reason}); {remedy}") from error


def read_schema(path: str | os.PathLike[str]) -> pl.Schema:
    """Return the columns and types of a parquet table.

    Raises:
        PoshgridError: the file is missing or is not parquet.
    """
    import polars as pl

    with _readable(path):
        return pl.scan_parquet(Path(path), glob=False).collect_schema()


def check_schema(columns: pl.Schema, schema: Schema, path: str | os.PathLike[str]) -> None:
    """Raise :class:`PoshgridError` if a table's columns or types differ from a schema."""
    faults = [f"column {name!r} is missing" for name in schema if name not in columns]
    faults += [f"column {name!r} is not in the schema" for name in columns if name not in schema]
    faults += [
        f"{name} is {columns[name]}, not {kind}"
        for name, kind in schema.items()
        if name in columns and columns[name] != kind
    ]
    if faults:
        raise PoshgridError(f"{path}: {'; '.join(faults)}; see docs/data.md")
