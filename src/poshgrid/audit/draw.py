"""Drawing the sentences that people read to test a filter (paper, appendix C, "Sanity Check").

Two sheets for each filter of a condition: *leakage*, of what it left in
(:mod:`poshgrid.audit.leakage`), and *precision*, of what it, or its backstop, removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import logs
from poshgrid.audit import labels, leakage, sheet
from poshgrid.audit.labels import STATISTICS, Removed, words
from poshgrid.audit.rows import Drawn, Sample, placed, row_of
from poshgrid.audit.sheet import KINDS, Kind, Row, sheet_name
from poshgrid.config.specs import AuditSpec
from poshgrid.corpora.schema import SENTENCES, trains
from poshgrid.errors import PoshgridError
from poshgrid.evidence.screening.screen import lexical
from poshgrid.files import table_batches, write_json


def draw(
    spec: AuditSpec,
    condition: Path,
    sentences: Path,
    evidence: Path,
    output: Path,
    detector: Path | None = None,
) -> dict[str, Any]:
    """Write the sheets of a condition as CSV, and ``statistics.json``.

    A sheet of the same sentences that a person has begun to fill in stays as it is.

    The sample depends on the seed, the filter and the numbers and scores of the sentences; a larger
    one begins with the smaller one. Text is read piece by piece, so that memory does not grow with
    it.

    Args:
        spec: the condition, its filters, and how many sentences to draw.
        condition: folder of the condition at this size.
        sentences: the base's table.
        evidence: labels of the base, from which the condition was made.
        output: folder to write to.
        detector: folder of the detector that the spec asks for; without one, leaks are looked for
            among candidates.

    Returns:
        The content of ``statistics.json``: ``sentences`` in the condition, ``base_sentences`` at
        this size, and for each filter the ``question`` that its sheets ask and for each sheet
        ``candidates``, ``sampled``, the sample's
        ``digest`` and the ``strata``; for leakage ``whole`` (every sentence of the condition could
        be drawn) and ``reinserted``, the evidence put back; for precision ``backstop``, those
        removed for their words alone. A filter that has no sheet for leakage has ``null`` and a
        ``reason``.

    Raises:
        PoshgridError: a table is missing or not of the others, a filter has no labels or is unknown
            to the detector, or a sheet in the folder holds a person's labels on another sample.
    """
    if not spec.filters:
        raise PoshgridError(
            f"{condition}: condition {spec.condition!r} at {spec.size} has no filters: there is "
            "nothing to audit; name a condition that has"
        )
    removed = labels.read(spec, condition, sentences, evidence)
    modules = {word: lexical(word) for word in labels.words(spec)}
    scores = _scores(spec, detector)
    left, n_train = leakage.draw(spec, condition / "train.parquet", removed, modules, scores)
    taken, n_base = removed_sheets(spec, sentences, removed)
    facts: dict[str, dict[str, Any]] = {}
    rows_of: dict[str, Sequence[Row]] = {}
    for word, module in modules.items():
        drawn: dict[Kind, Drawn | None] = {"leakage": left.get(word), "precision": taken[word]}
        facts[word] = {kind: each and each.facts() for kind, each in drawn.items()}
        mine = [reading for reading in spec.filters if reading.name == word]
        facts[word]["question"] = labels.question_of(module, mine)
        if facts[word]["leakage"] is None:
            facts[word]["reason"] = f"{module.__name__} has no function candidates"
        else:
            facts[word]["leakage"]["whole"] = scores is not None
        for kind in KINDS:
            if (each := drawn[kind]) is not None:
                rows_of[sheet_name(word, kind)] = each.rows
    statistics = {
        **spec.model_dump(mode="json", include={"condition", "size", "sample", "seed"}),
        "sentences": n_train,
        "base_sentences": n_base,
        "filters": facts,
    }
    filled_in = {name for name, rows in rows_of.items() if _filled_in(output / f"{name}.csv", rows)}
    for name, rows in rows_of.items():
        if name not in filled_in:
            sheet.write(rows, output / f"{name}.csv")
    write_json(output / STATISTICS, statistics)
    logs.get(__name__).info("%s at %s: %d sheets", spec.condition, spec.size, len(rows_of))
    return statistics


def _scores(spec: AuditSpec, folder: Path | None) -> leakage.Scores | None:
    """Return a detector that knows the filters, if the audit draws by one."""
    if not spec.detector:
        return None
    if folder is None:
        raise PoshgridError(
            f"condition {spec.condition!r}: the audit draws by a detector; name its folder with "
            "--detector"
        )
    from poshgrid.evidence.screening.detector import Detector

    detector = Detector.load(folder)
    if unknown := sorted(set(labels.words(spec)) - detector.weights.keys()):
        raise PoshgridError(
            f"{folder}: the detector knows {', '.join(sorted(detector.weights))}, not "
            f"{', '.join(unknown)}; run poshgrid detector with the filters of "
            f"condition {spec.condition!r}"
        )
    return detector.scores


def _filled_in(path: Path, rows: Sequence[Row]) -> bool:
    """Return whether a sheet holds a person's labels; refuse if they are of another sample."""
    entries = sheet.read(path) if path.exists() else []
    if not any(entry.label or entry.note for entry in entries):
        return False
    found = sorted((entry.number, entry.sent_id, entry.text) for entry in entries)
    if found != [(number, row.sent_id, row.text) for number, row in enumerate(rows, start=1)]:
        raise PoshgridError(
            f"{path}: holds labels or notes on another sample, which would be lost; move it to "
            "another folder first"
        )
    return True


def removed_sheets(
    spec: AuditSpec, sentences: Path, removed: Removed
) -> tuple[dict[str, Drawn], int]:
    """Return filter -> its sample of what it removed, and the base's sentences at this size.

    Args:
        spec: the condition, its filters, and how many sentences to draw.
        sentences: the base's table.
        removed: what the filters remove.

    Raises:
        PoshgridError: a filter matched a word that a sentence does not have.
    """
    samples = {
        w: Sample[Row](spec.sample, spec.seed, sheet_name(w, "precision")) for w in words(spec)
    }
    n_base = 0
    by_tree = dict.fromkeys(words(spec), 0)
    columns = ("sent_id", "source", "document", "text", "split", "size")
    batches = table_batches(sentences, SENTENCES, columns)
    for batch in logs.progress(batches, "looking for removed sentences, parts"):
        ids = batch["sent_id"].to_numpy()
        at_size = trains(batch, spec.size).to_numpy()
        n_base += int(at_size.sum())
        for word, each in samples.items():
            by_tree[word] += int((at_size & removed.by_tree[word][ids]).sum())
            for i in np.flatnonzero(at_size & removed.out[word][ids]).tolist():
                each.offer(int(ids[i]), partial(row_of, batch, i))
    drawn = {}
    for word, each in samples.items():
        rows = _placed(each.result(), removed, word)
        counts = {"backstop": each.offered - by_tree[word]}
        drawn[word] = Drawn.of([(row, 1) for row in rows], {1: each.offered}, counts)
    return drawn, n_base


def _placed(rows: list[Row], removed: Removed, word: str) -> list[Row]:
    """Add the words that a filter matched."""
    chosen = [row.sent_id for row in rows]
    found: dict[int, list[int]] = {}
    for batch in table_batches(removed.path, removed.schema, ["sent_id", *removed.tokens[word]]):
        for sent_id, *places in batch.filter(pl.col("sent_id").is_in(chosen)).iter_rows():
            found[sent_id] = sorted({place for each in places for place in each})
    where, remedy = f"{removed.path}: filter {word!r}", "run poshgrid evidence again"
    return [placed(row, tuple(found[row.sent_id]), where, remedy) for row in rows]
