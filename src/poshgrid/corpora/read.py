"""One source to a table of cleaned sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, logs, plugins, specs
from poshgrid.corpora.clean import clean, fault
from poshgrid.corpora.report import Report
from poshgrid.corpora.schema import SOURCE
from poshgrid.corpora.split import split
from poshgrid.errors import PoshgridError

READERS = "poshgrid.corpora.readers"
_CHUNK = 200_000  # sentences held as Python objects at a time

log = logs.get(__name__)


def input_files(spec: specs.SourceSpec, data: Path) -> list[Path]:
    """Return the files that a source is read from, sorted.

    Args:
        spec: the source.
        data: folder that ``source.path`` is relative to.

    Raises:
        PoshgridError: the path is missing or holds no file that the reader takes.
    """
    reader = plugins.load(READERS, spec.source.reader)
    options = plugins.options(READERS, spec.source.reader, spec.source.options)
    return reader.files(data / spec.source.path, options)


def read_source(spec: specs.SourceSpec, data: Path, output: Path) -> dict[str, Any]:
    """Write a source's sentences (``schema.SOURCE``) and ``statistics.json`` beside them.

    Args:
        spec: the source, its reader and its cleaning.
        data: folder that ``source.path`` is relative to.
        output: ``.../sentences.parquet``.

    Returns:
        The statistics: files, lines, documents, sentences, words, and what was dropped, by reason.

    Raises:
        PoshgridError: a file is missing or no text, or no sentence is left.
    """
    source, report = spec.source, Report()
    frames, rows = [], []
    for row in logs.progress(_sentences(spec, data, report), f"reading {source.name}"):
        rows.append(row)
        if len(rows) == _CHUNK:
            frames.append(_frame(rows))
            rows = []
    frame = pl.concat([*frames, _frame(rows)])
    if frame.is_empty():
        raise PoshgridError(
            f"{data / source.path}: no sentence left of {report.lines:,} lines "
            f"({_reasons(report)}); check the reader's options and cleaning of {source.name!r}"
        )
    statistics = {
        "source": source.name,
        "reader": source.reader,
        "files": len(input_files(spec, data)),
        "lines": report.lines,
        "documents": frame["document"].n_unique(),
        "sentences": frame.height,
        "words": int(frame["n_words"].sum()),
        "words_per_sentence": round(frame["n_words"].sum() / frame.height, 3),
        "dropped": dict(sorted(report.dropped.items())),
    }
    log.info(
        "%s: %s sentences, %s words; dropped: %s",
        source.name, f"{frame.height:,}", f"{statistics['words']:,}", _reasons(report),
    )  # fmt: skip
    files.write_table(frame, output, SOURCE)
    files.write_json(output.with_name("statistics.json"), statistics)
    return statistics


def _sentences(
    spec: specs.SourceSpec, data: Path, report: Report
) -> Iterator[tuple[str, int, str, int]]:
    """Yield rows of ``schema.SOURCE``; positions count within a document."""
    source = spec.source
    reader = plugins.load(READERS, source.reader)
    options = plugins.options(READERS, source.reader, source.options)
    positions: dict[str, int] = {}
    for document, raw in reader.read(data / source.path, options, report):
        text = clean(raw)
        for sentence in split(text) if reader.SPLIT and text else [text]:
            reason = fault(sentence, source.cleaning)
            if reason:
                report.drop(reason)
                continue
            position = positions.get(document, 0)
            positions[document] = position + 1
            yield document, position, sentence, sentence.count(" ") + 1


def _frame(rows: list[tuple[str, int, str, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SOURCE, orient="row")


def _reasons(report: Report) -> str:
    return ", ".join(f"{reason} {n:,}" for reason, n in report.dropped.most_common()) or "nothing"
