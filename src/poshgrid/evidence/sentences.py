"""The sentences of a corpus and their labels in a database, for planning its conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid.config import Condition, Filter
from poshgrid.config.sizes import words
from poshgrid.core.database import Database
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import table_batches
from poshgrid.corpora.schema import SENTENCES
from poshgrid.evidence.constructions import BY_WORDS
from poshgrid.evidence.schema import Labels

QUESTION = "question"


def side_by_side(
    sentences: Path, columns: Sequence[str], evidence: Path, labels: Labels, tests: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """Yield the sentences of a corpus with their labels, in batches.

    Args:
        sentences: the corpus's table.
        columns: columns of it, including ``sent_id``.
        evidence: labels of its sentences.
        labels: description of the labels.
        tests: columns of the labels.

    Raises:
        PoshgridError: the labels do not have exactly one row for each sentence.
    """
    nothing = pl.DataFrame(schema={"sent_id": pl.UInt32})
    corpus = table_batches(sentences, SENTENCES, columns)
    labelled = table_batches(evidence, labels.schema, ["sent_id", *tests])
    for rows, labelled_rows in zip_longest(corpus, labelled, fillvalue=nothing):
        if not rows["sent_id"].equals(labelled_rows["sent_id"]):
            raise PoshgridError(
                f"{evidence}: not one row for each sentence of {sentences}, in its order; "
                "run `poshgrid run -R evidence`"
            )
        yield rows.hstack(labelled_rows.drop("sent_id"))


def summary(counted: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Return sentences, words and words per sentence, in total and by source.

    Args:
        counted: source -> number of sentences and words.
    """

    def facts(sentences: int, words: int) -> dict[str, Any]:
        mean = round(words / sentences, 4) if sentences else None
        return {"sentences": sentences, "words": words, "words_per_sentence": mean}

    counts = counted.values()
    return {
        **facts(sum(number for number, _ in counts), sum(words for _, words in counts)),
        "sources": {source: facts(*own) for source, own in counted.items()},
    }


def any_of(tests: Iterable[str]) -> str:
    """Return an SQL test that is true if any test is."""
    return f"({' or '.join(['false', *tests])})"


@dataclass(frozen=True)
class Corpus:
    """A corpus in a database: table ``corpus``, and ``train``, its training sentences.

    Attributes:
        database: the database with the tables.
        labels: the labels of its sentences, which are columns of the tables.
    """

    database: Database
    labels: Labels

    def read(
        self,
        sentences: Path,
        evidence: Path | None,
        condition: Condition,
        done: Callable[[Iterator[pl.DataFrame]], Iterator[pl.DataFrame]] | None = None,
    ) -> None:
        """Make the tables of a corpus.

        Args:
            sentences: its table.
            evidence: labels of its sentences, or None.
            condition: the condition to plan; if it is matched by ``question``, questions are marked
                in all sentences, parsed or not.
            done: function that rewrites the sentences, or only adds columns about rewriting
                (:func:`poshgrid.evidence.rewriting.rewritten`).

        Raises:
            PoshgridError: the labels do not have exactly one row for each sentence.
        """
        if evidence is None:
            pieces = table_batches(sentences, SENTENCES)
        else:
            tests = [name for name, kind in self.labels.schema.items() if kind == pl.Boolean]
            pieces = side_by_side(sentences, list(SENTENCES), evidence, self.labels, tests)
        if QUESTION in condition.match:
            question = BY_WORDS[QUESTION].alias(QUESTION)
            pieces = (piece.with_columns(question) for piece in pieces)
        self.load(done(pieces) if done else pieces, condition.seed)

    def load(self, pieces: Iterable[pl.DataFrame], seed: int) -> None:
        """Make the tables from batches of sentences; ``before``: a sentence's words in its corpus.

        Args:
            pieces: the sentences, in their order.
            seed: seed of down-sampling: each sentence gets a random number, ``draw``.
        """
        generator = np.random.default_rng(seed)
        drawn = (
            piece.with_columns(
                pl.Series("draw", generator.random(piece.height)),
                before=pl.col("before" if "before" in piece.columns else "n_words"),
            )
            for piece in pieces
        )
        self.database.load("corpus", drawn)
        self.database.run("create view train as from corpus where split = 'train'")

    def count(self, test: str) -> int:
        """Return the number of training sentences for which a test is true."""
        return int(self.database.rows(f"select count(*) from train where {test}")[0][0])

    def by_source(self, rows: str, words: str = "n_words") -> dict[str, tuple[int, int]]:
        """Return source -> sentences and words, sorted.

        Args:
            rows: e.g. ``"train where rank < 5"``.
            words: the column that is counted: ``"before"``, words in the corpus.
        """
        query = f"select source, count(*), sum({words}) from {rows} group by source order by source"
        return {source: (number, length) for source, number, length in self.database.rows(query)}

    def sizes(self, largest: str = "") -> list[str]:
        """Return the sizes up to ``largest`` that add training sentences, ascending."""
        rows = self.database.rows("select distinct size from train where size <> ''")
        names = sorted((name for (name,) in rows), key=words)
        return [name for name in names if not largest or words(name) <= words(largest)]

    def out(self, filters: Iterable[Filter]) -> str:
        """Return an SQL test for the sentences that any of the filters, in its reading, removes."""
        return any_of(f'"{name}"' for name in self.labels.columns(filters))
