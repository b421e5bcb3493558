"""The sheet of what a filter removed from the base at this size, by its trees or its words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from poshgrid import logs
from poshgrid.audit.labels import Removed, words
from poshgrid.audit.rows import Drawn, placed, row_of
from poshgrid.audit.sample import Sample
from poshgrid.audit.schema import sheet_name
from poshgrid.audit.sheet import Row
from poshgrid.corpora.schema import SENTENCES, trains
from poshgrid.files import table_batches
from poshgrid.grid.specs import AuditSpec


def draw(spec: AuditSpec, sentences: Path, removed: Removed) -> tuple[dict[str, Drawn], int]:
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
                each.offer(int(ids[i]), lambda i=i, batch=batch: row_of(batch, i))
    drawn = {}
    for word, each in samples.items():
        rows = _with_places(each.result(), removed, word)
        counts = {"backstop": each.offered - by_tree[word]}
        drawn[word] = Drawn.of([(row, 1) for row in rows], {1: each.offered}, counts)
    return drawn, n_base


def _with_places(rows: list[Row], removed: Removed, word: str) -> list[Row]:
    """Add the words that a filter matched."""
    chosen = [row.sent_id for row in rows]
    found: dict[int, list[int]] = {}
    for batch in table_batches(removed.path, removed.schema, ["sent_id", *removed.tokens[word]]):
        for sent_id, *places in batch.filter(pl.col("sent_id").is_in(chosen)).iter_rows():
            found[sent_id] = sorted({place for each in places for place in each})
    where, remedy = f"{removed.path}: filter {word!r}", "run poshgrid evidence again"
    return [placed(row, tuple(found[row.sent_id]), where, remedy) for row in rows]
