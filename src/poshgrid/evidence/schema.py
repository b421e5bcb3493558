"""The tables of evidence and of conditions."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from poshgrid.files import Schema

CONDITION: Schema = {
    "sent_id": pl.UInt32,  # row of the base's sentences
    "source": pl.String,  # corpus: CHILDES, Switchboard ...
    "document": pl.String,  # transcript, book, article
    "position": pl.UInt32,  # place in the document, from 0
    "text": pl.String,  # the sentence
    "n_words": pl.UInt32,  # words between white space
    "replaced": pl.UInt32,  # sent_id of the sentence whose place this evidence took; null: its own
}
"""`results/conditions/{condition}/{size}/{train,dev,test}.parquet`."""


def column(word: str, kind: str) -> str:
    """Return the column of a filter: ``column("question-formation", "removed")``."""
    return f"{word.replace('-', '_')}_{kind}"


def evidence_schema(filters: Iterable[str]) -> Schema:
    """Return the schema of `results/evidence/{base}/{parser}.parquet`.

    Args:
        filters: the filters' config words; their columns come in sorted order.
    """
    schema: Schema = {"sent_id": pl.UInt32}  # row of the base's sentences, ascending
    for word in sorted(filters):
        schema[column(word, "removed")] = pl.Boolean  # inclusive: a condition drops it
        schema[column(word, "backstop")] = pl.Boolean  # by its words alone: dropped, too
        schema[column(word, "evidence")] = pl.Boolean  # strict: may be put back
        schema[column(word, "tokens")] = pl.List(pl.UInt16)  # 1-based words that matched
    return schema


def filters_of(columns: Iterable[str]) -> list[str]:
    """Return the config words of the filters that a table has columns of, sorted."""
    ending = "_removed"
    return sorted(c.removesuffix(ending).replace("_", "-") for c in columns if c.endswith(ending))
