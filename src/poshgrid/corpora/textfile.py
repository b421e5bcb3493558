"""List and read the text files of a source, compressed or not."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.core.errors import PoshgridError, reason, similar_file

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FREE = 100_000_000
"""Bytes that any packed file may unpack to."""

_BLOCK = 1 << 16  # bytes read at a time
_LONGEST = 10_000_000  # characters of a line, or a cell; csv's own limit is 131,072
_PACKED: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
_ENDING = re.compile(r"\.[^./]+(?:\.gz|\.bz2)?$")


def listed_below(path: Path, *suffixes: str) -> list[Path]:
    """Return a file, or the files at any depth below a folder that end in one of ``suffixes``.

    Hidden files and folders are skipped, links to folders are followed. If both ``x.xml`` and
    ``x.xml.gz`` (or ``.bz2``) exist, only the first is returned: they are the same text.

    Args:
        path: a file (whatever its name) or a folder.
        suffixes: endings of names, e.g. ``".xml", ".xml.gz"``.

    Returns:
        The files, sorted by their path.

    Raises:
        PoshgridError: the path is missing, or there is no such file.
        OSError: a folder cannot be read.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise not_found(path)
    files: set[Path] = set()
    for folder, inner, names in os.walk(path, onerror=_raise, followlinks=True):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        files.update(
            Path(folder, name)
            for name in names
            if name.endswith(suffixes) and not name.startswith(".")
        )
    kept = [p for p in files if p.suffix not in _PACKED or p.with_suffix("") not in files]
    if not kept:
        raise PoshgridError(f"{path}: no file ends in {', '.join(suffixes)}; check the path")
    return sorted(kept)


def label(file: Path, path: Path) -> str:
    """Return a file's name without its ending, with the folders between it and ``path``.

    Args:
        file: one of the files of ``path``.
        path: the source's path.
    """
    name = file.relative_to(path).as_posix() if path.is_dir() else file.name
    return _ENDING.sub("", name)


def not_found(path: Path) -> PoshgridError:
    """Return the error for a source whose path does not exist."""
    remedy = "check the path, and `data` in the configuration"
    return PoshgridError(f"{path}: not found{similar_file(path)}; {remedy}")


def _raise(error: OSError) -> None:
    raise error


def unpacked_limit(path: Path) -> int:
    """Return how many bytes a packed file may unpack to.

    A "zip bomb" of a megabyte holds terabytes; text is packed to a third or a twentieth of its
    size.
    """
    return FREE + 200 * path.stat().st_size


class _Counted(io.RawIOBase):
    """The unpacked bytes of a file, up to the limit."""

    def __init__(self, stream: Any, path: Path) -> None:  # noqa: ANN401 - each library has its own
        self._stream, self._path = stream, path
        self._left = unpacked_limit(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - as the library's own
        number: int = self._stream.readinto(buffer)
        self._left -= number
        if self._left < 0:
            raise PoshgridError(
                f"{self._path}: unpacks to more than 200 times its size, as no text does; "
                "unpack it by hand if you trust it"
            )
        return number


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file as bytes, unpacked if its name ends in ``.gz`` or ``.bz2``.

    Raises:
        PoshgridError: the file is missing or empty, or its compression is broken; while reading: it
            unpacks to more than text can.
        OSError: the disk cannot be read.
    """
    if not path.is_file():
        raise not_found(path)
    unpacked = _PACKED.get(path.suffix)
    try:
        with unpacked(path) if unpacked else path.open("rb", buffering=0) as raw:
            stream = io.BufferedReader(_Counted(raw, path) if unpacked else raw, _BLOCK)
            if not stream.peek(1):
                raise PoshgridError(f"{path}: empty file; replace it or remove it")
            yield stream
    except (EOFError, OSError, zlib.error) as error:
        # Errors of the disk have a number; errors of the unpacking libraries have none.
        if getattr(error, "errno", None) is not None:
            raise
        raise PoshgridError(
            f"{path}: broken {path.suffix} file ({reason(error)}); download or pack it again"
        ) from error


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, packed or not, with their line ends, without byte order mark.

    Raises:
        PoshgridError: as :func:`opened`; a NUL byte, bytes that are not UTF-8, or a line of more
            than ten million characters.
    """
    with opened(path) as stream:
        number = 0
        try:
            text = io.TextIOWrapper(stream, "utf-8-sig", newline="\n")
            while line := text.readline(_LONGEST):
                number += 1
                where = f"{path}: line {number:,}"
                if "\0" in line:
                    raise PoshgridError(f"{where}: binary file (a NUL byte); give a text file")
                if len(line) == _LONGEST and not line.endswith("\n"):
                    raise PoshgridError(
                        f"{where}: {_LONGEST:,} characters without a line end; cut it into lines"
                    )
                yield line
        except UnicodeDecodeError as error:
            marked = error.object[:2] in (b"\xff\xfe", b"\xfe\xff")  # UTF-16's byte order mark
            encoding = "utf-16" if marked and not number else "latin1"
            raise PoshgridError(
                f"{path}: line {number + 1:,} or soon after: not UTF-8 "
                f"({reason(error)}); convert it, e.g. `iconv -f {encoding} -t utf-8 OLD > NEW`"
            ) from error


def rows(path: Path, columns: list[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file with a header line.

    Args:
        path: the file; quoted fields may hold commas and line ends.
        columns: columns that the caller needs.

    Raises:
        PoshgridError: a column is missing, a row is broken, or :func:`lines` refuses the file.
    """
    csv.field_size_limit(_LONGEST)
    reader = csv.DictReader(lines(path), strict=True, restval="")
    try:
        header = list(reader.fieldnames or [])
        if missing := [name for name in columns if name not in header]:
            raise PoshgridError(
                f"{path}: line 1: no column {', '.join(missing)}; found {', '.join(header)}"
            )
        yield from reader
    except csv.Error as error:
        raise PoshgridError(
            f"{path}: line {reader.reader.line_num}: broken CSV ({error}); correct its quotes"
        ) from error


def elements(path: Path, root: str, *names: str) -> Iterator[tuple[tuple[Element, ...], Element]]:
    """Yield the elements of an XML file that have a name, each with its ancestors, root first.

    Only one such element is in memory at a time. Tags are without their namespaces. The parser is
    the standard library's expat: it loads no external files, and rejects entities that grow without
    bounds.

    Args:
        path: the file, packed or not.
        root: name that the root element must have.
        names: elements to yield; one inside another is part of the outer.

    Raises:
        PoshgridError: the file is not XML, is incomplete, or has another root; or as
            :func:`opened`.
    """
    from xml.etree import ElementTree

    ancestors: list[Element] = []
    whole: Element | None = None  # the element to yield that is being read
    with opened(path) as stream:
        try:
            for event, element in ElementTree.iterparse(stream, ("start", "end")):
                if event == "start":
                    element.tag = element.tag.rpartition("}")[2]
                    if not ancestors and element.tag != root:
                        raise PoshgridError(
                            f"{path}: line 1: root element <{element.tag}>, not <{root}>; remove "
                            "the file, or give the source another reader"
                        )
                    ancestors.append(element)
                    if whole is None and element.tag in names:
                        whole = element
                    continue
                ancestors.pop()
                if whole is not None and element is whole:
                    yield tuple(ancestors), whole
                    whole = None
                if whole is None and ancestors:
                    del ancestors[-1][:]  # frees what has been read
        # LookupError, ValueError: an encoding that expat does not know
        except (ElementTree.ParseError, LookupError, ValueError) as error:
            raise PoshgridError(
                f"{path}: broken XML ({error}); download it again, or convert it to UTF-8"
            ) from error
