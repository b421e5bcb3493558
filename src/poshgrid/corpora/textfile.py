"""Text files, packed or not, as a stream of bytes, lines or CSV rows, with errors to act on."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from poshgrid.corpora.listing import not_found
from poshgrid.corpora.split import LONGEST, pieces
from poshgrid.errors import PoshgridError

_BLOCK = 1 << 16  # bytes read at a time
_LONGEST_LINE = 100_000_000  # characters; it must fit in memory
_FREE = 100_000_000  # bytes that any packed file may hold
_RATIO = 200  # bytes unpacked of one packed: text is packed to a third, to a twentieth at most
_PACKED: dict[str, tuple[str, Callable[[Path], Any]]] = {
    ".gz": ("gzip", gzip.open),
    ".bz2": ("bzip2", bz2.open),
}


class Budget:
    """What a packed file may unpack to: a bomb of a megabyte holds terabytes.

    Args:
        path: the file, for its size and for the message.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = _FREE + _RATIO * path.stat().st_size

    def counted(self, stream: Any) -> io.BufferedReader:  # noqa: ANN401 - each library has its own
        """Return a stream whose bytes are taken from the budget."""
        return io.BufferedReader(_Counted(stream, self), _BLOCK)

    def take(self, number: int) -> None:
        """Take bytes from the budget.

        Raises:
            PoshgridError: there are no more.
        """
        self._left -= number
        if self._left < 0:
            raise PoshgridError(
                f"{self._path}: unpacks to more than {_RATIO} times its size, as no text does; "
                "unpack it by hand if you trust it"
            )


class _Counted(io.RawIOBase):
    """A stream that takes what is read of it from a budget."""

    def __init__(self, stream: Any, budget: Budget) -> None:  # noqa: ANN401
        self._stream, self._budget = stream, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - as the library's own
        number: int = self._stream.readinto(buffer)
        self._budget.take(number)
        return number


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file's bytes; those inside it where its name ends in ``.gz`` or ``.bz2``.

    Raises:
        PoshgridError: the file is missing, empty or unreadable, or its compression is broken; or,
            as it is read, it unpacks to more than a text can.
    """
    if not path.is_file():
        raise not_found(path)
    kind, unpacked = _PACKED.get(path.suffix, ("", None))
    place = 0
    try:
        with unpacked(path) if unpacked else path.open("rb", buffering=0) as raw:
            stream = Budget(path).counted(raw) if unpacked else io.BufferedReader(raw, _BLOCK)
            try:
                if not stream.peek(1):
                    raise PoshgridError(
                        f"{path}: empty file; replace it or take it out of the folder"
                    )
                yield stream
            except (EOFError, OSError, zlib.error):
                place = raw.tell()
                raise
    except (EOFError, OSError, zlib.error) as error:
        # What the disk refuses has a number; what the unpacking libraries refuse has none.
        if not kind or getattr(error, "errno", None) is not None:
            reason = getattr(error, "strerror", None) or error
            raise PoshgridError(f"{path}: cannot read: {reason}; check its rights") from error
        reason = "it was cut off" if isinstance(error, EOFError) else error
        raise PoshgridError(
            f"{path}: byte {place:,} of its content: broken {kind} file ({reason}); "
            "download or pack it again"
        ) from error


def blocks(stream: BinaryIO, name: str, encoding: str = "utf-8") -> Iterator[str]:
    """Yield a stream's text, a block at a time and none at its end; no byte order mark.

    Args:
        stream: bytes, already unpacked.
        name: the file, for messages.
        encoding: as Python calls it.

    Raises:
        PoshgridError: a NUL byte, or bytes that are not in the encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    place = 0  # of the block, in unpacked bytes
    last = False
    while not last:
        block = stream.read(_BLOCK)
        last = not block
        if place == 0 and block.startswith(codecs.BOM_UTF8):
            block, place = block[3:], 3
        if b"\0" in block:
            raise PoshgridError(
                f"{name}: byte {place + block.index(0):,}: binary file (a NUL byte); "
                "give a text file in UTF-8"
            )
        kept = len(decoder.getstate()[0])  # bytes of a character that the last block cut
        try:
            text = decoder.decode(block, final=last)
        except UnicodeDecodeError as error:
            raise PoshgridError(
                f"{name}: byte {place - kept + error.start:,}: not {encoding.upper()}; convert it, "
                "e.g. `iconv -f latin1 -t utf-8 OLD > NEW`"
            ) from error
        if text or last:  # a block may hold no more than a part of a character
            yield text
        place += len(block)


def lines(path: Path, encoding: str = "utf-8", *, cut: bool = False) -> Iterator[str]:
    """Yield the lines of a text file, packed or not; see :func:`lines_of`.

    Raises:
        PoshgridError: as :func:`opened` and :func:`lines_of`.
    """
    with opened(path) as stream:
        yield from lines_of(stream, str(path), encoding, cut=cut)


def lines_of(
    stream: BinaryIO, name: str, encoding: str = "utf-8", *, cut: bool = False
) -> Iterator[str]:
    """Yield the lines of a stream, line ends included, a byte order mark left out.

    Args:
        stream: bytes, already unpacked.
        name: the file, for messages.
        encoding: as Python calls it.
        cut: a line that is longer than :data:`poshgrid.corpora.split.LONGEST` comes in pieces,
            and is never held as a whole.

    Raises:
        PoshgridError: as :func:`blocks` and, with ``cut``, :func:`poshgrid.corpora.split.pieces`;
            without, a line is too long for the memory.
    """
    number, rest = 1, ""
    for block in blocks(stream, name, encoding):
        *ended, begun = block.split("\n")
        for text in ended:
            line, rest = f"{rest}{text}\n", ""
            if cut and len(line) > LONGEST:
                yield from pieces(line.rstrip("\r\n"), f"{name}: line {number:,}")
            else:
                yield line
            number += 1
        rest += begun
        if cut and len(rest) > LONGEST:
            *whole, rest = pieces(rest, f"{name}: line {number:,}")
            yield from whole
        if len(rest) > _LONGEST_LINE:
            raise PoshgridError(
                f"{name}: line {number:,}: more than {_LONGEST_LINE:,} characters; "
                "put a sentence or a paragraph in a line"
            )
    if rest:
        yield rest


_LONGEST_FIELD = 10_000_000  # characters; csv's own limit is 131,072


def rows(path: Path, columns: list[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file with a header line.

    Args:
        path: the file; quoted fields may hold commas and line ends.
        columns: columns that the caller needs.

    Raises:
        PoshgridError: a column is missing, a row is broken, or
            :func:`poshgrid.corpora.textfile.lines` refuses the file.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.DictReader(lines(path), strict=True, restval="")
    try:
        found = list(reader.fieldnames or [])
        missing = [name for name in columns if name not in found]
        if missing:
            raise PoshgridError(
                f"{path}: line 1: no column {', '.join(missing)}; found {', '.join(found)}"
            )
        yield from reader
    except csv.Error as error:
        raise PoshgridError(
            f"{path}: line {reader.reader.line_num}: broken CSV ({error}); mend its quotes"
        ) from error
