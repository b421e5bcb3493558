"""What the filters of a condition remove, held to its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl

from poshgrid.config import Filter
from poshgrid.config.specs import AuditSpec
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import TOKENS, Labels, column
from poshgrid.files import Schema, read_json, read_schema, read_table

STATISTICS = "statistics.json"


@dataclass(frozen=True)
class Removed:
    """What a filter removes in the condition's reading of it, by sent_id.

    Attributes:
        path: the table of evidence.
        schema: its columns.
        tokens: filter -> columns of the words that it matched.
        by_tree: filter -> sentences that its rule removes.
        out: filter -> those, and what the condition drops for its words alone.
    """

    path: Path
    schema: Schema
    tokens: dict[str, list[str]]
    by_tree: dict[str, np.ndarray]
    out: dict[str, np.ndarray]


def words(spec: AuditSpec) -> list[str]:
    """Return the words of the filters that sheets are drawn for, each once, sorted."""
    return sorted({each.name for each in spec.filters})


def read(spec: AuditSpec, condition: Path, sentences: Path, evidence: Path) -> Removed:
    """Read what the filters remove, and hold the labels to the base.

    Args:
        spec: the filters.
        condition: folder of the condition: its statistics tell whether backstops are on.
        sentences: the base's table.
        evidence: labels of the base.

    Raises:
        PoshgridError: a filter has no labels, or the tables are not of one base.
    """
    known = Labels.of(read_schema(evidence))
    schema = known.schema
    ids = read_table(evidence, schema, ["sent_id"])["sent_id"]
    known.hold(spec.filters, evidence)
    base = read_table(sentences, SENTENCES, ["sent_id"])["sent_id"]
    number = pl.int_range(len(base), dtype=pl.UInt32, eager=True)
    for path, found in ((sentences, base), (evidence, ids)):
        if not found.equals(number):
            raise PoshgridError(
                f"{path}: sent_ids are not 0 to {len(number) - 1:,}, one for each sentence of the "
                "base; run the rule that makes it again"
            )
    backstop = _backstop(condition)
    table = read_table(evidence, schema, [n for n, kind in schema.items() if kind == pl.Boolean])
    removed = Removed(evidence, schema, {}, {}, {})
    for word in words(spec):
        mine = [each for each in spec.filters if each.name == word]
        for gone, on in ((removed.by_tree, False), (removed.out, backstop)):
            test = pl.any_horizontal(known.columns(mine, backstop=on))
            gone[word] = table.select(test).to_series().to_numpy()
        removed.tokens[word] = [column(each.name, each.reading, TOKENS) for each in mine]
    return removed


def _backstop(condition: Path) -> bool:
    """Return whether a condition was made with backstops, by its statistics."""
    path = condition / STATISTICS
    try:
        return bool(read_json(path)["backstop"])
    except (KeyError, TypeError) as error:
        raise PoshgridError(
            f"{path}: not the statistics of a filtered condition; run poshgrid condition again"
        ) from error


def put_back(train: Path, removed: Removed, word: str, batch: pl.DataFrame) -> np.ndarray:
    """Return which of a condition's training sentences are evidence that was put back for a filter.

    Args:
        train: their table, for messages.
        removed: what the filters remove.
        word: the filter.
        batch: the sentences.

    Raises:
        PoshgridError: one is not in the base, or is evidence and was not put back.
    """
    ids = batch["sent_id"].to_numpy()
    known = removed.out[word]
    if len(ids) and int(ids.max()) >= len(known):
        raise PoshgridError(
            f"{train}: sent_id {ids.max()} is not in {removed.path}; run poshgrid condition again"
        )
    gone = known[ids]
    wrong = ids[gone & batch["replaced"].is_null().to_numpy()]
    if len(wrong):
        raise PoshgridError(
            f"{train}: sent_id {wrong[0]} is a sentence that filter {word!r} removes, by "
            f"{removed.path}: the one was not made from the other; run poshgrid condition again"
        )
    return gone


def question_of(module: ModuleType, filters: Sequence[Filter]) -> str:
    """Return what the sheets of a filter ask: the question of the condition's reading of it.

    Args:
        module: the filter's lexical tests; ``QUESTIONS`` has the question of each reading.
        filters: the filter in each of the condition's readings, mostly one.
    """
    known: dict[str, str] = getattr(module, "QUESTIONS", {})
    found = [known.get(each.reading) or general_question(each.name) for each in filters]
    return " Or: ".join(dict.fromkeys(found))


def general_question(word: str) -> str:
    """Return the question of a filter whose module asks none of its own."""
    return (
        f"Is this sentence direct evidence for {word.replace('-', ' ')}: would it tell a learner "
        "that the rule depends on structure, and not on the order of words?"
    )
