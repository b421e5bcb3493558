"""Drawing the sentences that people read to test a filter (paper, appendix C, "Sanity Check").

Two sheets for each filter of a condition:

* *leakage*: of the training sentences that the filter left in, a sample of the *candidates*, those
  with the words that evidence needs (``candidates`` of the filter's module in
  :mod:`poshgrid.screening.lexical`). The paper drew 1,000 of 5.7k sentences with a reflexive.
* *precision*: of the sentences that the filter, or its backstop, removed from the base at this
  size, a sample.

Evidence that the condition put back is no leakage: it is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl

from poshgrid import logs
from poshgrid.audit import page, sheet
from poshgrid.audit.sample import Sample
from poshgrid.audit.schema import Kind, sheet_name
from poshgrid.audit.sheet import Row
from poshgrid.corpora.schema import SENTENCES, trains
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.evidence.schema import CONDITION, column, evidence_schema, filters_of
from poshgrid.files import (
    Schema,
    read_json,
    read_schema,
    read_table,
    table_batches,
    write_json,
    write_text,
)
from poshgrid.parsing.words import tokenize
from poshgrid.screening.screen import lexical
from poshgrid.specs import AuditSpec

STATISTICS = "statistics.json"
Candidates = Callable[[Sequence[str]], tuple[int, ...] | None]


@dataclass(frozen=True)
class _Sheet:
    """One sheet of one filter, and what is counted beside it."""

    rows: list[Row]
    candidates: int
    counts: dict[str, int]


@dataclass(frozen=True)
class _Labels:
    """What a filter removes, by sent_id."""

    path: Path
    schema: Schema
    by_tree: dict[str, np.ndarray]
    out: dict[str, np.ndarray]  # by tree or, where the condition does so, by words alone


def draw(
    spec: AuditSpec, condition: Path, sentences: Path, evidence: Path, output: Path
) -> dict[str, Any]:
    """Write the sheets of a condition, as CSV and as HTML, and ``statistics.json``.

    A sheet of the same sentences that a person has begun to fill in stays as it is.

    The sample depends on the seed, the filter and the numbers of the candidates; a larger one
    begins with the smaller one. Text is read piece by piece, so that memory does not grow with it.

    Args:
        spec: the condition, its filters, and how many sentences to draw.
        condition: folder of the condition at this size.
        sentences: the base's table.
        evidence: labels of the base, from which the condition was made.
        output: folder to write to.

    Returns:
        The content of ``statistics.json``: ``sentences`` in the condition, ``base_sentences`` at
        this size, and for each filter and sheet ``candidates``, ``sampled`` and the sample's
        ``digest``; for leakage ``reinserted``, the evidence put back; for precision ``backstop``,
        those removed for their words alone. A filter that has no candidates for leakage has
        ``null`` and a ``reason``.

    Raises:
        PoshgridError: a table is missing or not of the others, a filter has no labels, or a sheet
            in the folder holds a person's labels on another sample.
    """
    if not spec.filters:
        raise PoshgridError(
            f"{condition}: condition {spec.condition!r} at {spec.size} has no filters: there is "
            "nothing to audit; name a condition that has"
        )
    labels = _labels(spec, condition, sentences, evidence)
    modules = {word: lexical(word) for word in spec.filters}
    leakage, n_train = _leakage(spec, condition / "train.parquet", labels, modules)
    precision, n_base = _precision(spec, sentences, labels)
    facts: dict[str, dict[str, Any]] = {}
    files: dict[str, tuple[Sequence[Row], str]] = {}
    for word in spec.filters:
        question = getattr(modules[word], "QUESTION", None) or page.general_question(word)
        drawn: dict[Kind, _Sheet | None] = {
            "leakage": leakage.get(word), "precision": precision[word]
        }  # fmt: skip
        facts[word] = {kind: each and _facts(each) for kind, each in drawn.items()}
        if word not in leakage:
            facts[word]["reason"] = _reason(modules[word])
        for kind, each in drawn.items():
            if each is not None:
                html = page.render(spec, word, kind, each.rows, each.candidates, question)
                files[sheet_name(word, kind)] = each.rows, html
    statistics = {
        **spec.model_dump(mode="json", include={"condition", "size", "sample", "seed"}),
        "sentences": n_train, "base_sentences": n_base, "filters": facts,
    }  # fmt: skip
    filled_in = {name for name, (rows, _) in files.items()
                 if _filled_in(output / f"{name}.csv", rows)}  # fmt: skip
    for name, (rows, html) in files.items():
        if name not in filled_in:
            sheet.write(rows, output / f"{name}.csv")
        write_text(output / f"{name}.html", html)
    write_json(output / STATISTICS, statistics)
    logs.get(__name__).info("%s at %s: %d sheets", spec.condition, spec.size, len(files))
    return statistics


def _facts(drawn: _Sheet) -> dict[str, Any]:
    numbered = enumerate((row.sent_id for row in drawn.rows), start=1)
    return {
        "candidates": drawn.candidates,
        "sampled": len(drawn.rows),
        "digest": sheet.digest(numbered),
        **drawn.counts,
    }


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


def _labels(spec: AuditSpec, condition: Path, sentences: Path, evidence: Path) -> _Labels:
    """Read what the filters remove, and hold the labels to the base."""
    known = filters_of(read_schema(evidence))
    schema = evidence_schema(known)
    ids = read_table(evidence, schema, ["sent_id"])["sent_id"]
    for word in spec.filters:
        if word not in known:
            raise PoshgridError(
                f"{evidence}: no labels of filter {word!r}{did_you_mean(word, known)}; "
                "run poshgrid evidence with it"
            )
    base = read_table(sentences, SENTENCES, ["sent_id"])["sent_id"]
    number = pl.int_range(len(base), dtype=pl.UInt32, eager=True)
    for path, found in ((sentences, base), (evidence, ids)):
        if not found.equals(number):
            raise PoshgridError(
                f"{path}: sent_ids are not 0 to {len(number) - 1:,}, one for each sentence of the "
                "base; run the rule that makes it again"
            )
    by_tree, out = {}, {}
    for word in spec.filters:
        kinds = [column(word, kind) for kind in ("removed", "backstop")]
        table = read_table(evidence, schema, kinds)
        by_tree[word] = table[kinds[0]].to_numpy()
        backstop = _backstop(condition, word)
        out[word] = (table[kinds[0]] | table[kinds[1]]).to_numpy() if backstop else by_tree[word]
    return _Labels(evidence, schema, by_tree, out)


def _backstop(condition: Path, word: str) -> bool:
    """Return whether a condition was made with a filter's backstop: its statistics count it."""
    path = condition / STATISTICS
    try:
        return word in read_json(path)["backstop"]["train"]
    except (KeyError, TypeError) as error:
        raise PoshgridError(
            f"{path}: not the statistics of a filtered condition; run poshgrid condition again"
        ) from error


def _reason(module: ModuleType) -> str:
    return f"{module.__name__} has no function candidates"


def _leakage(
    spec: AuditSpec, train: Path, labels: _Labels, modules: dict[str, ModuleType]
) -> tuple[dict[str, _Sheet], int]:
    """Return filter -> its sample of candidates that it left in, and the number of sentences."""
    rules: dict[str, Candidates] = {
        word: module.candidates for word, module in modules.items() if hasattr(module, "candidates")
    }
    samples = {w: Sample[Row](spec.sample, spec.seed, sheet_name(w, "leakage")) for w in rules}
    reinserted = dict.fromkeys(spec.filters, 0)
    n_train = 0
    columns = ("sent_id", "source", "document", "text", "replaced")
    batches = table_batches(train, CONDITION, columns)
    for batch in logs.progress(batches, "looking for candidates, parts"):
        ids = batch["sent_id"].to_numpy()
        n_train += len(ids)
        put_back = {word: _put_back(train, labels, word, batch) for word in spec.filters}
        for word, out in put_back.items():
            reinserted[word] += int(out.sum())
        matches: dict[str, dict[str, tuple[int, ...]]] = {}  # a text that recurs is read once
        for i, text in enumerate(batch["text"]):
            if text not in matches:
                matches[text] = _matches(text, rules)
            for word, places in matches[text].items():
                if not put_back[word][i]:
                    samples[word].offer(
                        int(ids[i]),
                        lambda i=i, batch=batch, places=places: _row(batch, i, places),
                    )
    remedy = "mend its function candidates: places are from 1"
    found = {
        word: [
            _placed(row, row.places, f"{modules[word].__name__}: {word!r}", remedy)
            for row in each.result()
        ]
        for word, each in samples.items()
    }
    return {
        word: _Sheet(rows, samples[word].offered, {"reinserted": reinserted[word]})
        for word, rows in found.items()
    }, n_train


def _put_back(train: Path, labels: _Labels, word: str, batch: pl.DataFrame) -> np.ndarray:
    """Return which of these training sentences are evidence that was put back for a filter."""
    ids, out = batch["sent_id"].to_numpy(), labels.out[word]
    if len(ids) and int(ids.max()) >= len(out):
        raise PoshgridError(
            f"{train}: sent_id {ids.max()} is not in {labels.path}; run poshgrid condition again"
        )
    removed = out[ids]
    wrong = ids[removed & batch["replaced"].is_null().to_numpy()]
    if len(wrong):
        raise PoshgridError(
            f"{train}: sent_id {wrong[0]} is a sentence that filter {word!r} removes, by "
            f"{labels.path}: the one was not made from the other; run poshgrid condition again"
        )
    return removed


def _matches(text: str, rules: dict[str, Candidates]) -> dict[str, tuple[int, ...]]:
    words = tokenize(text)
    found = {word: rule(words) for word, rule in rules.items()}
    return {word: places for word, places in found.items() if places is not None}


def _row(batch: pl.DataFrame, i: int, places: tuple[int, ...] = ()) -> Row:
    cell = batch.row(i, named=True)
    content = {name: cell[name] for name in ("sent_id", "source", "document", "text")}
    return Row(**content, words=tuple(tokenize(cell["text"])), places=places)


def _precision(spec: AuditSpec, sentences: Path, labels: _Labels) -> tuple[dict[str, _Sheet], int]:
    """Return filter -> its sample of what it removed, and the base's sentences at this size."""
    samples = {
        w: Sample[Row](spec.sample, spec.seed, sheet_name(w, "precision")) for w in spec.filters
    }
    n_base = 0
    by_tree = dict.fromkeys(spec.filters, 0)
    columns = ("sent_id", "source", "document", "text", "split", "size")
    batches = table_batches(sentences, SENTENCES, columns)
    for batch in logs.progress(batches, "looking for removed sentences, parts"):
        ids = batch["sent_id"].to_numpy()
        at_size = trains(batch, spec.size).to_numpy()
        n_base += int(at_size.sum())
        for word, each in samples.items():
            by_tree[word] += int((at_size & labels.by_tree[word][ids]).sum())
            for i in np.flatnonzero(at_size & labels.out[word][ids]).tolist():
                each.offer(int(ids[i]), lambda i=i, batch=batch: _row(batch, i))
    return {
        word: _Sheet(
            _with_places(each.result(), labels, word),
            each.offered,
            {"backstop": each.offered - by_tree[word]},
        )
        for word, each in samples.items()
    }, n_base


def _with_places(rows: list[Row], labels: _Labels, word: str) -> list[Row]:
    """Add the words that a filter matched."""
    chosen, tokens = [row.sent_id for row in rows], column(word, "tokens")
    found: dict[int, list[int]] = {}
    for batch in table_batches(labels.path, labels.schema, ["sent_id", tokens]):
        found |= dict(batch.filter(pl.col("sent_id").is_in(chosen)).iter_rows())
    where, remedy = f"{labels.path}: filter {word!r}", "run poshgrid evidence again"
    return [_placed(row, tuple(found[row.sent_id]), where, remedy) for row in rows]


def _placed(row: Row, places: tuple[int, ...], where: str, remedy: str) -> Row:
    """Add the words that made a sentence a candidate, and see that it has them."""
    if any(not 1 <= place <= len(row.words) for place in places):
        raise PoshgridError(
            f"{where} matched words {list(places)} of sent_id {row.sent_id}, which has "
            f"{len(row.words)} words; {remedy}"
        )
    return replace(row, places=places)
