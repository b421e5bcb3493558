"""Read one source into a table of cleaned sentences."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, logs, plugins
from poshgrid.config import specs
from poshgrid.config.corpora import Cleaning
from poshgrid.corpora.clean import UNKNOWN, clean, fault, running
from poshgrid.corpora.report import Report
from poshgrid.corpora.schema import SOURCE, digest
from poshgrid.corpora.split import split
from poshgrid.errors import PoshgridError
from poshgrid.plugins import READERS
from poshgrid.processes import mapped

_SAMPLE = 2_000  # characters of a document from which its language is guessed
_SHOWN = 10  # reasons shown in one line of the log
_PIECE = 100_000  # characters that a process cleans in one batch

Row = tuple[str, int, str, int]
"""A row of ``schema.SOURCE``."""

log = logs.get(__name__)


_Raw = tuple[str, str, Report]
"""Document and text of a reader, and what it has counted since the previous text."""
_Cut = tuple[str, Report, list[tuple[str, str | None]]]
"""A text's document, its counts, and its sentences with the reason why each is dropped, or None."""


def read_source(
    spec: specs.SourceSpec, data: Path, output: Path, threads: int = 1
) -> dict[str, Any]:
    """Write a source's sentences (``schema.SOURCE``) and its ``statistics.json``.

    Args:
        spec: the source, its reader and its cleaning.
        data: folder that ``source.path`` is relative to.
        output: ``.../sentences.parquet``.
        threads: processes that clean and split the text; the table does not depend on their number.

    Returns:
        The statistics: files, lines, documents, sentences, words, the number of ``<unk>``, and the
        lines and words that were dropped, by reason.

    Raises:
        PoshgridError: a file is missing or is not text, or all sentences were dropped.
    """
    source, report = spec.source, Report()
    reader = plugins.load(READERS, source.reader)
    options = plugins.options(READERS, source.reader, source.options)
    paths = reader.files(data / source.path, options)
    documents: set[str] = set()
    sentences = words = unknown = 0
    rows = logs.progress(_sentences(spec, data, report, threads), f"reading {source.name}")
    with files.table_writer(output, SOURCE) as append:
        while chunk := list(itertools.islice(rows, files.BATCH)):
            append(pl.DataFrame(chunk, schema=SOURCE, orient="row"))
            documents.update(row[0] for row in chunk)
            sentences += len(chunk)
            words += sum(row[3] for row in chunk)
            unknown += sum(row[2].count(UNKNOWN) for row in chunk)
        if not sentences:
            raise PoshgridError(
                f"{data / source.path}: no sentence left of {report.lines:,} lines "
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


def _sentences(spec: specs.SourceSpec, data: Path, report: Report, threads: int) -> Iterator[Row]:
    """Yield the rows that are kept, up to ``source.words``; positions count within a document."""
    source = spec.source
    if source.sample is None:
        sentences = _kept(_texts(spec, data, report, threads), source.cleaning, report)
    else:
        sentences = _sampled(spec, data, report, threads)
    positions: dict[str, int] = {}
    words = 0
    # A sample consists of whole documents and has the requested length already
    enough = math.inf if source.words is None or source.sample is not None else source.words
    for document, sentence in sentences:
        position = positions.get(document, 0)
        positions[document] = position + 1
        n_words = sentence.count(" ") + 1
        yield document, position, sentence, n_words
        words += n_words
        if words >= enough:
            return


def _texts(
    spec: specs.SourceSpec,
    data: Path,
    report: Report,
    threads: int,
    wanted: Callable[[str], bool] = bool,
) -> Iterator[_Cut]:
    """Yield the texts of a source, cleaned and split.

    The reader runs ahead of the cleaning, so each text comes with the counts up to it; ``report``
    gets the counts after the last text. Documents for which ``wanted`` is false are not cleaned.
    """
    source = spec.source
    reader = plugins.load(READERS, source.reader)
    options = plugins.options(READERS, source.reader, source.options)
    cut = partial(_cut, splits=reader.SPLIT, cleaning=source.cleaning, language=source.language)
    ahead = Report()
    raw = reader.read(data / source.path, options, ahead)
    for piece in mapped(cut, _pieces(raw, ahead, wanted), threads):
        yield from piece
    report.add(ahead)


def _kept(texts: Iterable[_Cut], cleaning: Cleaning, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (document, sentence) without faults and in the right language, and count the others."""
    sentences = _faultless(texts, report)
    return _in_language(sentences, cleaning.language, report) if cleaning.language else sentences


def _faultless(texts: Iterable[_Cut], report: Report) -> Iterator[tuple[str, str]]:
    for document, counted, sentences in texts:
        report.add(counted)
        for sentence, reason in sentences:
            if reason:
                report.drop(reason, sentence)
            else:
                yield document, sentence


def _sampled(
    spec: specs.SourceSpec, data: Path, report: Report, threads: int
) -> Iterator[tuple[str, str]]:
    """Yield a sample of whole documents with ``source.words`` words, in the order of the files.

    The sample consists of the documents with the smallest digests, so that each document is equally
    likely. Only these are in memory; a document whose digest is already too large is not cleaned.
    The report counts only the sampled documents.
    """
    source = spec.source
    wanted, seed = source.words or 0, source.sample or 0
    held: list[tuple[int, int, int, str, str, Report]] = []  # the largest digest first
    words, largest = 0, 1 << 64

    def digest_of(document: str) -> int:
        return digest(seed, "sample", document)

    texts = _texts(spec, data, report, threads, lambda document: digest_of(document) <= largest)
    for number, (document, own) in enumerate(itertools.groupby(texts, key=itemgetter(0))):
        counted = Report()
        sentences = [text for _, text in _kept(own, source.cleaning, counted)]
        length = sum(text.count(" ") + 1 for text in sentences)
        entry = (-digest_of(document), number, length, document, "\n".join(sentences), counted)
        heapq.heappush(held, entry)
        words += length
        while words - held[0][2] >= wanted:
            words -= heapq.heappop(held)[2]
        if words >= wanted:
            largest = -held[0][0]
    for _, _, _, document, joined, counted in sorted(held, key=itemgetter(1)):
        report.add(counted)
        yield from ((document, sentence) for sentence in joined.split("\n") if sentence)


def _pieces(
    raw: Iterable[tuple[str, str]], counts: Report, wanted: Callable[[str], bool]
) -> Iterator[list[_Raw]]:
    """Yield a reader's texts in batches; only wanted documents."""
    rows: list[_Raw] = []
    size = 0
    try:
        for document, text in raw:
            counted = counts.take()
            if not wanted(document):
                continue
            rows.append((document, text, counted))
            size += len(text)
            if size >= _PIECE:
                yield rows
                rows, size = [], 0
    except PoshgridError:  # the earlier texts may suffice
        yield rows
        raise
    yield rows


def _cut(rows: list[_Raw], *, splits: bool, cleaning: Cleaning, language: str) -> list[_Cut]:
    """Clean texts, and split them into sentences if the reader does not."""
    cut: list[_Cut] = []
    for document, raw, counted in rows:
        text = clean(raw)
        sentences = split(text, language) if splits and text and running(text) else [text]
        reasons = [(sentence, fault(sentence, cleaning)) for sentence in sentences]
        cut.append((document, counted, reasons))
    return cut


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
