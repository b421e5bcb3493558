"""The sentences of a base and their labels in a database: what its conditions are planned with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid.config import Filter
from poshgrid.config.sizes import words
from poshgrid.corpora.schema import SENTENCES
from poshgrid.database import Database
from poshgrid.evidence.constructions import BY_WORDS
from poshgrid.evidence.label import cover
from poshgrid.evidence.schema import Labels
from poshgrid.files import Schema, read_table, table_batches

QUESTION = "question"
_PLAN = ("sent_id", "source", "n_words", "split", "rank", "size")


def labelled(
    sentences: Path, evidence: Path | None, labels: Labels, *, questions: bool
) -> Iterator[pl.DataFrame]:
    """Yield the sentences of a base piece by piece, without text, the first piece without rows.

    Args:
        sentences: the base's table.
        evidence: labels of its sentences, if there are any.
        labels: what they say.
        questions: tell which sentences ask, known of all, parsed or not.

    Raises:
        PoshgridError: there is not one row of labels for each sentence.
    """
    asks = [BY_WORDS[QUESTION].alias(QUESTION)] if questions else []
    tests = [name for name, kind in labels.schema.items() if kind == pl.Boolean]
    base, told = [*_PLAN, *(["text"] if asks else [])], ["sent_id", *tests]
    first = _empty(SENTENCES, base)
    if evidence is None:
        pieces = chain([first], table_batches(sentences, SENTENCES, base))
        yield from (rows.select(*_PLAN, *asks) for rows in pieces)
        return
    both = side_by_side(sentences, base, evidence, labels, told)
    for rows, beside in chain([(first, _empty(labels.schema, told))], both):
        if not rows["sent_id"].equals(beside["sent_id"]):
            whole, found = (
                read_table(path, schema, ["sent_id"])["sent_id"]
                for path, schema in ((sentences, SENTENCES), (evidence, labels.schema))
            )
            cover(whole, found, evidence, "a label", f"label {sentences} again")
        yield rows.hstack(beside.drop("sent_id")).select(*_PLAN, *tests, *asks)


def _empty(schema: Schema, columns: list[str]) -> pl.DataFrame:
    return pl.DataFrame(schema={name: schema[name] for name in columns})


def side_by_side(
    sentences: Path, columns: Sequence[str], evidence: Path, labels: Labels, told: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield a base and its labels piece by piece; where one has ended, pieces without rows.

    Args:
        sentences: the base's table.
        columns: of it.
        evidence: labels of its sentences.
        labels: what they say.
        told: columns of the labels.
    """
    nothing = _empty(SENTENCES, ["sent_id"])
    base = table_batches(sentences, SENTENCES, columns)
    beside = table_batches(evidence, labels.schema, told)
    return zip_longest(base, beside, fillvalue=nothing)


def any_of(tests: Iterable[str]) -> str:
    """Return the SQL of whether any test holds."""
    return f"({' or '.join(['false', *tests])})"


@dataclass(frozen=True)
class Base:
    """A base in a database: table ``base``, and ``train``, the part that is trained on.

    Attributes:
        database: has the tables.
        labels: what the evidence table says: columns of theirs.
    """

    database: Database
    labels: Labels

    def load(self, pieces: Iterable[pl.DataFrame], seeds: Iterable[int]) -> None:
        """Make the tables.

        Args:
            pieces: the sentences, in their order.
            seeds: of down-sampling: for each, a sentence has a random number, ``drawn{seed}``.
        """
        generators = {f"drawn{seed}": np.random.default_rng(seed) for seed in sorted(seeds)}
        drawn = (
            piece.with_columns(
                pl.Series(name, generator.random(piece.height))
                for name, generator in generators.items()
            )
            for piece in pieces
        )
        self.database.load("base", drawn)
        self.database.run("create view train as from base where split = 'train'")

    def count(self, test: str) -> int:
        """Return how many training sentences a test holds of."""
        return int(self.database.rows(f"select count(*) from train where {test}")[0][0])

    def by_source(self, rows: str) -> dict[str, tuple[int, int]]:
        """Return source -> sentences and words, sorted; of e.g. ``"train where rank < 5"``."""
        query = f"select source, count(*), sum(n_words) from {rows} group by source order by source"
        return {source: (number, length) for source, number, length in self.database.rows(query)}

    def sizes(self, largest: str = "") -> list[str]:
        """Return the sizes that have training sentences of their own, ascending, up to one."""
        found = self.database.rows("select distinct size from train where size <> ''")
        names = sorted((name for (name,) in found), key=words)
        return [name for name in names if not largest or words(name) <= words(largest)]

    def out(self, filters: Iterable[Filter], *, backstop: bool) -> str:
        """Return the test of whether any of the filters, in its reading, removes a sentence.

        Args:
            filters: of a condition.
            backstop: whether readings that have a backstop remove by it, too.
        """
        return any_of(f'"{name}"' for name in self.labels.columns(filters, backstop=backstop))
