"""TinyStories (Eldan & Li 2023): short stories in the words of a small child.

The stories are published as text with ``<|endoftext|>`` between them and as parquet (column
``text``); others pass them on as JSON lines. One story is one document; each of its paragraphs is a
text of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from poshgrid import plugins
from poshgrid.corpora.listing import label, listed_below
from poshgrid.corpora.report import Report
from poshgrid.corpora.split import LONGEST, pieces
from poshgrid.corpora.textfile import blocks, lines, opened
from poshgrid.errors import PoshgridError

SPLIT = True

_NAMES = re.compile(r"\.(?:(txt|jsonl)(?:\.gz)?|(parquet))$")
_ENDINGS = (".txt", ".txt.gz", ".jsonl", ".jsonl.gz", ".parquet")
_BATCH = 1_000  # rows of a parquet file held at a time
# Some stories were read as Windows-1252 once: each of their quotes became three characters.
_MANGLED = {
    "â€œ": "“", "â€\x9d": "”", "â€": "”", "â€™": "’", "â€˜": "‘", "â€¦": "…",
    "â€”": "—", "â€“": "–",
}  # fmt: skip
_MANGLED_ANY = re.compile("|".join(map(re.escape, sorted(_MANGLED, key=len, reverse=True))))


class Options(plugins.Options):
    """Which files of a folder, and where a record holds its story."""

    pattern: str = Field("*", description="Glob of the names of a folder's files, e.g. '*train*'")
    separator: str = Field("<|endoftext|>", min_length=1, description="Between stories of a text")
    column: str | None = Field(
        None, description="Column or key of the story; none: `text`, else `story`"
    )


def files(path: Path, options: Options) -> list[Path]:
    """Return the file, or those of a folder and its folders.

    Raises:
        PoshgridError: there is none, or a folder holds several formats: the same stories twice.
    """
    found = listed_below(path, _ENDINGS)
    if path.is_dir():
        found = [file for file in found if file.match(options.pattern)]
        if not found:
            raise PoshgridError(
                f"{path}: holds no file {options.pattern!r}; check the option `pattern`"
            )
        kinds = sorted({_kind(file) for file in found})
        if len(kinds) > 1:
            raise PoshgridError(
                f"{path}: holds the stories as {' and as '.join(kinds)}; choose one with the "
                f"option `pattern`, e.g. '*.{kinds[0]}'"
            )
    return found


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (story, paragraph). Stories without a word are counted and left out.

    Raises:
        PoshgridError: a file is broken, or a record has no story; the message names the record.
    """
    for file in files(path, options):
        name = label(file, path, _NAMES)
        kind = _kind(file)
        if kind == "txt":
            yield from _texts(file, name, options, report)
            continue
        records = _parquet(file, options) if kind == "parquet" else _json_lines(file, options)
        for number, (place, story) in enumerate(records):
            empty = True
            for line in (story or "").splitlines():
                for text in pieces(mend(line.strip()), place):
                    if text:
                        empty = False
                        report.lines += 1
                        yield f"{name}-{number:07d}", text
            if empty:
                report.lines += 1
                report.drop("empty story")


def mend(text: str) -> str:
    """Return a text whose quotes and dashes are no longer spelt as three characters each.

    ``"â€œHi,â€ he said."`` becomes ``"“Hi,” he said."``.
    """
    return _MANGLED_ANY.sub(lambda m: _MANGLED[m[0]], text) if "â€" in text else text


def _kind(file: Path) -> str:
    """Return txt, jsonl or parquet.

    Raises:
        PoshgridError: the name ends in none of them.
    """
    match = _NAMES.search(file.name)
    if not match:
        raise PoshgridError(f"{file}: no known format; rename it to .txt, .parquet or .jsonl")
    return match[1] or match[2]


def _texts(file: Path, name: str, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (story, paragraph) of a text, whether a story has a line or the file has only one."""
    boundary = re.compile(f"({re.escape(options.separator)}|\n)")
    with opened(file) as raw:
        number, line, rest, empty = 0, 1, "", True
        for block in blocks(raw, str(file)):
            *parts, rest = boundary.split(rest + block)
            # What has no end yet may be long: all but its last piece can go.
            if len(rest) > LONGEST:
                *cut, rest = pieces(rest, f"{file}: line {line:,}")
                parts += cut
            if not block:  # the end
                parts.append(rest)
            for part in parts:
                if part == "\n":
                    line += 1
                elif part == options.separator:
                    if empty:
                        report.lines += 1
                        report.drop("empty story")
                    number, empty = number + 1, True
                else:
                    for text in pieces(part.strip(), f"{file}: line {line:,}"):
                        if text:
                            report.lines += 1
                            empty = False
                            yield f"{name}-{number:07d}", mend(text)


def _parquet(file: Path, options: Options) -> Iterator[tuple[str, str | None]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = 0
    with opened(file):  # its messages, for a file that is missing or empty
        pass
    try:
        with pq.ParquetFile(file, pre_buffer=False) as table:  # as in files.table_batches
            column = _key(table.schema_arrow.names, options, f"{file}: line 1")
            kind = table.schema_arrow.field(column).type
            if str(kind) not in {"string", "large_string", "string_view"}:
                raise PoshgridError(
                    f"{file}: column {column} holds {kind}, not text; check the option `column`"
                )
            for batch in table.iter_batches(_BATCH, columns=[column]):
                for story in batch.column(0):
                    row += 1
                    yield f"{file}: row {row:,}", story.as_py()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise PoshgridError(
            f"{file}: after row {row:,}: broken parquet file ({reason}); fetch it again"
        ) from error


def _json_lines(file: Path, options: Options) -> Iterator[tuple[str, str | None]]:
    for number, line in enumerate(lines(file), 1):
        place = f"{file}: line {number:,}"
        if text := line.strip():
            try:
                record = json.loads(text)
            except (ValueError, RecursionError) as error:
                reason = getattr(error, "msg", "too deep")
                raise PoshgridError(
                    f"{place}: broken JSON ({reason}); correct or delete the line"
                ) from error
            yield place, _story(record, options, place)


def _story(record: Any, options: Options, place: str) -> str | None:  # noqa: ANN401
    if not isinstance(record, dict):
        raise PoshgridError(f'{place}: no record such as {{"story": "One day ..."}}; mend it')
    story = record[_key(list(record), options, place)]
    if story is not None and not isinstance(story, str):
        raise PoshgridError(
            f"{place}: the story is {type(story).__name__}, not text; check the option `column`"
        )
    return story


def _key(known: list[str], options: Options, place: str) -> str:
    for name in [options.column] if options.column else ["text", "story"]:
        if name in known:
            return name
    raise PoshgridError(
        f"{place}: no column {options.column or 'text or story'}; found {', '.join(known)}"
    )
