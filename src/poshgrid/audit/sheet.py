"""Sheets of sentences as CSV: written for spreadsheets, read back as spreadsheets save them."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.files import write_text
from poshgrid.tables.formats import guarded, unguarded

WEIGHTS = ("stratum", "weight")
"""Columns that a sheet of an earlier version lacks: its sentences all weigh the same."""

COLUMNS = ("number", "sent_id", "source", "document", "text", "words", *WEIGHTS, "label", "note")
"""Columns of ``{filter}.{kind}.csv``: place in the sample from 1, row of the base, where the
sentence is from, its text, the words that made it a candidate, its stratum and the number of
sentences that it stands for; ``label`` and ``note`` are blank."""

LABELS = ("yes", "no", "unsure")
"""What a person may write in the column ``label``; blank: not labelled yet."""

Kind = Literal["leakage", "precision"]
KINDS: tuple[Kind, ...] = ("leakage", "precision")
"""Leakage: sentences that a filter left in. Precision: sentences that it removed."""


def sheet_name(word: str, kind: Kind) -> str:
    """Return the name that a filter's sheet has without its ending: ``binding.leakage``."""
    return f"{word}.{kind}"


BYTE_ORDER_MARK = "\ufeff"  # without it Excel takes UTF-8 for the computer's old encoding
BETWEEN_WORDS = " | "


@dataclass(frozen=True)
class Row:
    """A sentence of a sample."""

    sent_id: int
    source: str
    document: str
    text: str
    words: tuple[str, ...] = ()  # all words of the text
    places: tuple[int, ...] = ()  # of the words that made it a candidate, from 1
    stratum: int = 1  # the higher, the more it looks like evidence to a detector
    weight: float = 1.0  # sentences of the stratum that it stands for

    @property
    def matched(self) -> str:
        """The words that made it a candidate."""
        return BETWEEN_WORDS.join(self.words[place - 1] for place in self.places)


@dataclass(frozen=True)
class Entry:
    """A line of a sheet that a person has filled in."""

    number: int
    sent_id: int
    text: str
    label: str  # one of LABELS; "": none yet
    note: str
    stratum: int = 1
    weight: float | None = None  # None: the sheet tells none, and all of them weigh the same


def cells(rows: Iterable[Row]) -> list[list[str]]:
    """Return the lines of a sheet, blank label and note included; see ``schema.COLUMNS``."""
    return [
        [
            str(number), str(row.sent_id),
            *map(guarded, (row.source, row.document, row.text, row.matched)),
            str(row.stratum), f"{row.weight:.6f}", "", "",
        ]
        for number, row in enumerate(rows, start=1)
    ]  # fmt: skip


def write(rows: Sequence[Row], path: Path) -> None:
    """Write a sheet of sentences; see :func:`write_cells`."""
    write_cells(COLUMNS, cells(rows), path)


def write_cells(columns: Sequence[str], rows: Iterable[Sequence[str]], path: Path) -> None:
    """Write a sheet for a spreadsheet: UTF-8 with a byte order mark, every cell in quotes."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows([columns, *rows])
    write_text(path, BYTE_ORDER_MARK + stream.getvalue())


def digest(sentences: Iterable[tuple[int, int, str]]) -> str:
    """Return a name for a sample, by which a sheet is known again whatever its file is called.

    Of a sentence the unaccented letters and the digits decide: spreadsheets may spoil the rest.

    Args:
        sentences: (number, sent_id, text) of each line, in any order.
    """
    text = "\n".join(
        f"{number} {sent_id} {re.sub('[^0-9a-z]', '', sentence.lower())}"
        for number, sent_id, sentence in sorted(sentences)
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(path: Path) -> list[Entry]:
    """Read a sheet that a person has filled in, in the order of the file.

    Commas, semicolons and tabs between cells, all line ends, capital letters and spaces around a
    label are understood; so are UTF-8, UTF-16 and the Western encoding that Excel falls back to.

    Raises:
        PoshgridError: no such file, no sheet of an audit, an unknown label, a number that is no
            number or stands twice; the message names the line.
    """
    entries: list[Entry] = []
    first: dict[int, int] = {}  # number -> its line
    for line, cell in read_cells(path, COLUMNS, optional=WEIGHTS):
        number, sent_id = (whole(path, line, name, cell[name]) for name in ("number", "sent_id"))
        weighted = set(WEIGHTS) <= cell.keys()
        stratum = whole(path, line, "stratum", cell["stratum"]) if weighted else 1
        weight = _weight(path, line, cell["weight"]) if weighted else None
        once(path, line, number, first)
        label = labelled(path, line, number, cell["label"], LABELS)
        text, note = unguarded(cell["text"]), unguarded(cell["note"])
        entries.append(Entry(number, sent_id, text, label, note, stratum, weight))
    return entries


def read_cells(
    path: Path, columns: Sequence[str], *, optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line and the cells, by column, of each row that is not blank; see :func:`read`.

    Args:
        path: a sheet that a person has filled in.
        columns: those that it must have, in lower case.
        optional: those of them that may be missing together.

    Raises:
        PoshgridError: no such file, no CSV, a column is missing, or a row is too short.
    """
    lines = _lines(path)
    header = _header(path, lines, columns, optional)
    for line, values in lines[1:]:
        if not any(value.strip() for value in values):
            continue
        if len(values) < len(header):
            raise PoshgridError(
                f"{path}: line {line}: {len(values)} cells, and the first line has {len(header)}; "
                "is a quotation mark missing?"
            )
        yield line, dict(zip(header, values, strict=False))


def once(path: Path, line: int, number: int, first: dict[int, int]) -> None:
    """Note the line of a number of the sample, and refuse a number that was there before."""
    if number in first:
        raise PoshgridError(
            f"{path}: line {line}: number {number} stands on line {first[number]} already; "
            "delete one of them"
        )
    first[number] = line


def labelled(path: Path, line: int, number: int, written: str, labels: Sequence[str]) -> str:
    """Return the label that somebody wrote, in lower case, or refuse what is none."""
    label = written.strip().lower()
    if label and label not in labels:
        raise PoshgridError(
            f"{path}: line {line} (number {number}): label {written.strip()!r}; "
            f"write {', '.join(labels[:-1])} or {labels[-1]}, or leave it blank"
        )
    return label


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """Return the rows of a file of comma-separated values with the line that each begins on."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PoshgridError(f"{path}: cannot read: {error.strerror or error}") from error
    text = _decoded(data)
    first = text.split("\n", 1)[0]
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True
    )
    rows, begin = [], 1
    try:
        for values in reader:
            rows.append((begin, values))
            begin = reader.line_num + 1
    except csv.Error as error:
        raise PoshgridError(
            f"{path}: line {begin}: not CSV ({error}); save the sheet as 'CSV UTF-8'"
        ) from error
    return rows


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:  # labels and numbers are ASCII: only the look of texts is at stake
        return data.decode("cp1252", errors="replace")


def _header(
    path: Path,
    lines: list[tuple[int, list[str]]],
    columns: Sequence[str],
    optional: Sequence[str],
) -> list[str]:
    header = [name.strip().lower() for name in lines[0][1]] if lines else []
    for name in columns:
        old = name in optional and not set(optional) & set(header)
        if header.count(name) != 1 and not old:
            fault = "twice" if name in header else "missing"
            hint = "" if name in header else did_you_mean(name, filter(None, header))
            raise PoshgridError(
                f"{path}: column {name!r} is {fault}{hint}; give a sheet that poshgrid wrote, "
                "saved as 'CSV UTF-8'"
            )
    return header


def whole(path: Path, line: int, name: str, value: str) -> int:
    """Return the whole number of a cell, or refuse what is none."""
    if not re.fullmatch(r"\s*[0-9]{1,18}\s*", value):
        raise PoshgridError(
            f"{path}: line {line}: {name} {value!r} is not a whole number; restore it from the "
            "sheet that poshgrid audit wrote"
        )
    return int(value)


def _weight(path: Path, line: int, value: str) -> float:
    try:
        weight = float(value.strip().replace(",", "."))  # as spreadsheets write it in some tongues
    except ValueError:
        weight = 0.0
    if not 1 <= weight < float("inf"):
        raise PoshgridError(
            f"{path}: line {line}: weight {value!r} is not a number from 1 on; restore it from the "
            "sheet that poshgrid audit wrote"
        )
    return weight
