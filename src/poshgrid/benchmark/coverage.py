"""The share of a suite's items that a filter would remove.

A filter that removes the sentences about a paradigm from a corpus also removes the paradigm's own
items: Table 1 of FiCT (Patil et al. 2024) gives this share for each filter and its paradigms. Items
are parsed like a corpus, so that the share shows what rule and parser miss together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import polars as pl

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Filter
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import Schema, read_table
from poshgrid.evidence.label import rules_of
from poshgrid.parsing.tree import Tree
from poshgrid.parsing.words import tokenize

COVERAGE: Schema = {
    "phenomenon": pl.String,
    "filter": pl.String,  # with its reading, e.g. "passive.published"
    "target": pl.Boolean,  # whether the phenomenon is one of the filter's TARGETS
    "n": pl.UInt32,  # items
    "good": pl.Float64,  # share of their grammatical members that the filter removes
    "bad": pl.Float64,  # share of their ungrammatical members
}
Words = tuple[str, ...]
Parse = Callable[[Iterable[Words]], dict[Words, Tree]]
"""Takes the words of sentences and returns words -> tree."""


def read(path: Path, remedy: str) -> pl.DataFrame:
    """Read the items of a suite of minimal pairs.

    Args:
        path: ``items.parquet`` of the suite.
        remedy: how to make it, for the message.

    Raises:
        PoshgridError: the file does not exist, or holds no minimal pairs.
    """
    if not path.is_file():
        raise PoshgridError(f"{path}: no items yet; {remedy}")
    return read_table(path, PAIRS)


def coverage(
    items: pl.DataFrame, filters: Sequence[Filter], parse: Parse, *, language: str, backstop: bool
) -> pl.DataFrame:
    """Return the share of each phenomenon's items that each filter removes.

    Args:
        items: table with the columns of ``PAIRS``.
        filters: filters with their readings.
        parse: the parser (:func:`poshgrid.parsing.parse.parse_words`).
        language: language of the items.
        backstop: whether sentences that look like evidence by their words alone are removed, too.

    Returns:
        Table with the columns of ``COVERAGE``, in the order of the items, then of the filters.
    """
    texts = pl.concat([items["good"], items["bad"]]).unique(maintain_order=True)
    words = {text: tuple(tokenize(text, language)) for text in texts}
    trees = parse(filter(None, words.values()))
    parts = [pl.DataFrame(schema=COVERAGE)]
    for asked in filters:
        rules = rules_of(asked.name)
        rule = rules.readings[asked.reading]
        looks = rules.backstops.get(asked.reading) if backstop else None
        gone = {
            form
            for form, tree in trees.items()
            if rule(tree) is not None or (looks is not None and looks(tree.form) is not None)
        }
        removed = [text for text in texts if words[text] in gone]
        parts.append(_shares(items, asked, removed))
    return pl.concat(parts)


def _shares(items: pl.DataFrame, wanted: Filter, removed: list[str]) -> pl.DataFrame:
    gone = pl.Series(removed, dtype=pl.String).implode()
    return (
        items.group_by("phenomenon", maintain_order=True)
        .agg(
            n=pl.len(),
            good=pl.col("good").is_in(gone).mean(),
            bad=pl.col("bad").is_in(gone).mean(),
        )
        .with_columns(
            filter=pl.lit(str(wanted)),
            target=pl.col("phenomenon").is_in(list(wanted.aims)),
        )
        .select(pl.col(name).cast(kind) for name, kind in COVERAGE.items())
    )
