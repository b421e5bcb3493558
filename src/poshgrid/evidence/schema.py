"""The tables of evidence and of conditions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from poshgrid.config import Filter
from poshgrid.core.errors import PoshgridError, did_you_mean
from poshgrid.core.files import Schema
from poshgrid.evidence.constructions import BY_TREE

CONDITION: Schema = {
    "sent_id": pl.UInt32,  # row of the corpus's sentences
    "source": pl.String,  # corpus: CHILDES, Switchboard ...
    "document": pl.String,  # transcript, book, article
    "position": pl.UInt32,  # position in the document, from 0
    "text": pl.String,  # the sentence
    "n_words": pl.UInt32,  # words between white space
    "replaced": pl.UInt32,  # sent_id of the sentence that this one replaces; null: not re-inserted
}
"""``conditions/{condition}/{size}/{train,dev,test}.parquet``."""

RECALL: Schema = {
    "parser": pl.String,  # as in the configuration
    "filter": pl.String,
    "reading": pl.String,
    "backstop": pl.Boolean,  # whether the backstop also removes sentences
    # Gold trees, by their name in `evidence.gold`; "": all, if there are several
    "gold": pl.String,
    "sentences": pl.UInt32,  # sentences with gold trees that the parser was not trained on
    "skipped": pl.UInt32,  # sentences that the parser was trained on
    "evidence": pl.UInt32,  # sentences whose gold tree the rule matches
    "right": pl.UInt32,  # of these, how many are removed
    "recall": pl.Float64,  # `right` / `evidence`; null: no evidence
    "recall_low": pl.Float64,  # lower end of its 95% interval (Wilson)
    "recall_high": pl.Float64,  # upper end
    # sentences whose parse the rule matches, or that the backstop removes
    "removed": pl.UInt32,
    "precision": pl.Float64,  # `right` / `removed`; null: nothing is removed
    "precision_low": pl.Float64,  # lower end of its 95% interval (Wilson)
    "precision_high": pl.Float64,  # upper end
    "words": pl.UInt32,  # words in all sentences, including punctuation
    "words_evidence": pl.UInt32,  # words in sentences with evidence
    "words_removed": pl.UInt32,  # words in removed sentences
}
"""``recall/{parser}/recall.parquet``."""

SIDE_EFFECTS: Schema = {
    "source": pl.String,  # source; "all": the whole corpus
    # sentences, words, over_15_words, a construction; rewritten: changed by rewriters
    "measure": pl.String,
    "before": pl.UInt64,  # in the corpus at this size
    "after": pl.UInt64,  # in the training text, including refilled and re-inserted sentences
    # In sentences that the filters, or a control, remove from the corpus at this size
    "removed": pl.UInt64,
}
"""``side_effects/{condition}/{size}/side_effects.parquet``. Null: unknown."""

BACKSTOP = "backstop"
TOKENS = "tokens"


def column(word: str, reading: str, kind: str = "") -> str:
    """Return the name of a column for a filter's reading.

    Args:
        word: the filter, e.g. ``"question-formation"``.
        reading: e.g. ``"direct"``.
        kind: "": whether its rule matches; ``"backstop"`` or ``"tokens"``.
    """
    return "_".join(filter(None, (word.replace("-", "_"), reading, kind)))


@dataclass(frozen=True)
class Labels:
    """The labels in `results/evidence/{corpus}/{parser}/evidence.parquet`.

    Attributes:
        readings: filter -> its readings.
        backstops: filter -> its readings that have a backstop.
    """

    readings: dict[str, tuple[str, ...]]
    backstops: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, columns: Iterable[str]) -> Labels:
        """Return the labels of a table with these columns."""
        readings: dict[str, tuple[str, ...]] = {}
        backstops: dict[str, tuple[str, ...]] = {}
        for name in columns:
            for kind, labelled in ((TOKENS, readings), (BACKSTOP, backstops)):
                if name.endswith(f"_{kind}"):
                    word, _, reading = name.removesuffix(f"_{kind}").rpartition("_")
                    word = word.replace("_", "-")
                    labelled[word] = (*labelled.get(word, ()), reading)
        return cls(readings, backstops)

    @property
    def schema(self) -> Schema:
        """The table's columns: those of the filters, sorted, then the constructions."""
        schema: Schema = {"sent_id": pl.UInt32}  # row of the corpus's sentences, ascending
        for word in sorted(self.readings):
            for reading in self.readings[word]:
                schema[column(word, reading)] = pl.Boolean  # whether the rule matches its tree
                if reading in self.backstops.get(word, ()):
                    # Whether the backstop matches
                    schema[column(word, reading, BACKSTOP)] = pl.Boolean
                # Positions of the matched words, from 1
                schema[column(word, reading, TOKENS)] = pl.List(pl.UInt16)
        for name in BY_TREE:
            schema[name] = pl.Boolean  # whether its tree has the construction
        return schema

    def check(self, filters: Iterable[Filter], path: Path, who: str = "") -> None:
        """Raise if a table has no labels for a filter.

        Args:
            filters: filters with their readings.
            path: the table, for the message.
            who: who needs the labels, for the message.

        Raises:
            PoshgridError: the labels of a filter are missing.
        """
        for used in filters:
            if used.reading not in self.readings.get(used.name, ()):
                raise PoshgridError(
                    f"{path}: no labels of filter {str(used)!r}{who}"
                    f"{did_you_mean(used.name, self.readings)}; run the stage evidence with it"
                )

    def columns(self, filters: Iterable[Filter]) -> list[str]:
        """Return the columns by which any of the filters, in its reading, removes sentences."""
        columns = []
        for used in filters:
            columns.append(column(used.name, used.reading))
            if used.reading in self.backstops.get(used.name, ()):
                columns.append(column(used.name, used.reading, BACKSTOP))
        return columns
