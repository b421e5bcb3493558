"""Read one source into a table of cleaned sentences."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config import Source, specs
from poshgrid.core import files, logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.plugins import READERS
from poshgrid.corpora.clean import UNKNOWN, clean, fault, running
from poshgrid.corpora.report import Report
from poshgrid.corpora.schema import SOURCE, digest
from poshgrid.corpora.split import split

_SAMPLE = 2_000  # characters of a document from which its language is guessed
_SEED = 42  # of the documents that a share takes
_SHOWN = 10  # reasons shown in one line of the log

Row = tuple[str, int, str, int]
"""A row of ``schema.SOURCE``."""

log = logs.get(__name__)


def read_source(spec: specs.SourceSpec, data: Path, output: Path) -> dict[str, Any]:
    """Write a source's sentences (``schema.SOURCE``) and its ``statistics.json``.

    Args:
        spec: the source, its reader and its cleaning.
        data: folder that ``source.path`` is relative to.
        output: ``.../sentences.parquet``.

    Returns:
        The statistics: files, lines, documents, sentences, words, the number of ``<unk>``, and the
        lines and words that were dropped, by reason.

    Raises:
        PoshgridError: a file is missing or is not text, the share draws no document, or all
            sentences were dropped.
    """
    source, report = spec.source, Report()
    path = data / source.path
    options = plugins.options(READERS, source.reader, source.options)
    paths = plugins.load(READERS, source.reader).files(path, options)
    documents: set[str] = set()
    sentences = words = unknown = 0
    rows = logs.progress(_rows(source, path, report), f"reading {source.name}")
    with files.table_writer(output, SOURCE) as append:
        while chunk := list(itertools.islice(rows, files.BATCH)):
            append(pl.DataFrame(chunk, schema=SOURCE, orient="row"))
            documents.update(row[0] for row in chunk)
            sentences += len(chunk)
            words += sum(row[3] for row in chunk)
            unknown += sum(row[2].count(UNKNOWN) for row in chunk)
        if not sentences and not report.lines and source.share < 1:
            raise PoshgridError(
                f"{path}: share {source.share:g} of {source.name!r} draws none of "
                "the documents; give a larger share"
            )
        if not sentences:
            raise PoshgridError(
                f"{path}: no sentence left of {report.lines:,} lines "
                f"({_reasons(report)}); check the reader's options and cleaning of {source.name!r}"
            )
    lost = report.words.total()
    statistics = {
        "source": source.name,
        "reader": source.reader,
        "files": len(paths),
        "lines": report.lines,
        "documents": len(documents),
        "sentences": sentences,
        "words": words,
        "words_per_sentence": round(words / sentences, 3),
        "unknown_words": unknown,
        "dropped": dict(sorted(report.dropped.items())),
        "dropped_words": dict(sorted(report.words.items())),
        "dropped_share": round(lost / (words + lost), 4),
    }
    log.info(
        "%s: %s sentences, %s words, %s of them %s; dropped: %s",
        source.name, f"{sentences:,}", f"{words:,}", f"{unknown:,}", UNKNOWN, _reasons(report),
    )  # fmt: skip
    files.write_json(output.with_name("statistics.json"), statistics)
    return statistics


def _rows(source: Source, path: Path, report: Report) -> Iterator[Row]:
    """Yield the rows that are kept, up to ``source.words``; positions count within a document."""
    positions = Counter[str]()
    words = 0
    sentences = _sentences(source, path, report)
    if source.cleaning.language:
        sentences = _in_language(sentences, source.cleaning.language, report)
    for document, sentence in sentences:
        n_words = sentence.count(" ") + 1
        yield document, positions[document], sentence, n_words
        positions[document] += 1
        words += n_words
        if source.words is not None and words >= source.words:
            return


def _sentences(source: Source, path: Path, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (document, cleaned sentence) without those that have a fault, which are counted.

    Texts are split into sentences if the reader does not do it.
    """
    splits = plugins.load(READERS, source.reader).SPLIT
    for document, raw in _raw(source, path, report):
        text = clean(raw)
        whole = not (splits and text and running(text))
        for sentence in [text] if whole else split(text, source.language):
            if reason := fault(sentence, source.cleaning):
                report.drop(reason, sentence)
            else:
                yield document, sentence


def _raw(source: Source, path: Path, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (document, text) as the source's reader does, of the documents that are drawn.

    The report counts only their lines.
    """
    options = plugins.options(READERS, source.reader, source.options)
    reader = plugins.load(READERS, source.reader)
    if source.share == 1:
        yield from reader.read(path, options, report)
        return
    read = Report()
    limit = source.share * 2**64
    for document, text in reader.read(path, options, read):
        counted = read.take()
        if digest(_SEED, "share", document) < limit:
            report.add(counted)
            yield document, text


def _in_language(
    rows: Iterable[tuple[str, str]], language: str, report: Report
) -> Iterator[tuple[str, str]]:
    """Drop documents whose beginning is in another language (py3langid, after Lui & Baldwin 2012).

    Whole documents are classified, because single sentences are too short.
    """
    import py3langid

    for _, group in itertools.groupby(rows, key=lambda row: row[0]):
        document = list(group)
        sample = " ".join(text for _, text in document)[:_SAMPLE]
        if py3langid.classify(sample)[0] == language:
            yield from document
        else:
            for _, text in document:
                report.drop("another language", text)


def _reasons(report: Report) -> str:
    return (
        ", ".join(f"{reason} {n:,}" for reason, n in report.dropped.most_common(_SHOWN))
        or "nothing"
    )
