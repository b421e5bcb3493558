"""The tables of evidence and of conditions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from poshgrid.config import Filter
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.files import Schema

BY_TREE = (
    "embedded_question",  # a complement or subject clause with a wh-word, whether or if
    "relative",  # a relative clause
    "passive",  # a passive auxiliary or subject
)
"""Columns of the evidence table: what a parsed sentence has."""

CONDITION: Schema = {
    "sent_id": pl.UInt32,  # row of the corpus's sentences
    "source": pl.String,  # corpus: CHILDES, Switchboard ...
    "document": pl.String,  # transcript, book, article
    "position": pl.UInt32,  # place in the document, from 0
    "text": pl.String,  # the sentence
    "n_words": pl.UInt32,  # words between white space
    "replaced": pl.UInt32,  # sent_id of the sentence whose place this evidence took; null: its own
}
"""``conditions/{condition}/{size}/{train,dev,test}.parquet``."""

RECALL: Schema = {
    "parser": pl.String,  # as in the configuration
    "filter": pl.String,
    "reading": pl.String,
    "backstop": pl.Boolean,  # whether the reading's backstop removes, too
    "gold": pl.String,  # gold trees, as `evidence.gold` names them; "": all, if several
    "construction": pl.String,  # rule that fires on the gold tree; "": any
    "sentences": pl.UInt32,  # with gold trees, less those that the parser was trained on
    "skipped": pl.UInt32,  # that the parser was trained on
    "evidence": pl.UInt32,  # sentences on whose gold tree the rule fires
    "right": pl.UInt32,  # of these, how many are removed
    "recall": pl.Float64,  # `right` / `evidence`; null: no evidence
    "recall_low": pl.Float64,  # lower end of its 95% interval (Wilson)
    "recall_high": pl.Float64,  # upper end
    # sentences on whose parse the rule fires, or that the backstop removes; null, as what follows,
    # where ``construction`` names a rule: what is removed wrongly is of none
    "removed": pl.UInt32,
    "precision": pl.Float64,  # `right` / `removed`; null: nothing is removed
    "precision_low": pl.Float64,  # lower end of its 95% interval (Wilson)
    "precision_high": pl.Float64,  # upper end
    "words": pl.UInt32,  # of all sentences: words of the trees, marks among them
    "words_evidence": pl.UInt32,  # of those with evidence
    "words_removed": pl.UInt32,  # of those that are removed
}
"""``recall/{parser}.parquet``."""

SIDE_EFFECTS: Schema = {
    "source": pl.String,  # "all": of the corpus
    # sentences, words, parsed, over_15_words, a construction; rewritten: changed by rewriters
    "measure": pl.String,
    "before": pl.UInt64,  # in the corpus at this size
    "after": pl.UInt64,  # in what the model sees, refilled and re-inserted sentences too
    "removed": pl.UInt64,  # in what the filters, or a control, take out of the corpus at this size
    "removed_by_rule": pl.UInt64,  # of these, by a filter's rule; null: a control has none
    "removed_by_backstop": pl.UInt64,  # the others: for their words alone
}
"""``side_effects/{condition}/{size}/side_effects.parquet``. Null: not known."""

BACKSTOP = "backstop"
TOKENS = "tokens"


def column(word: str, reading: str, kind: str = "") -> str:
    """Return a column of a filter's reading.

    Args:
        word: the filter, e.g. ``"question-formation"``.
        reading: e.g. ``"direct"``.
        kind: "": whether its rule fires; ``"backstop"`` or ``"tokens"``.
    """
    return "_".join(filter(None, (word.replace("-", "_"), reading, kind)))


@dataclass(frozen=True)
class Labels:
    """What `results/evidence/{corpus}/{parser}.parquet` says of each sentence.

    A sentence that was screened out is false in the filters' columns, and null in the others.

    Attributes:
        readings: filter -> its readings.
        backstops: filter -> those of its readings that have a backstop.
    """

    readings: dict[str, tuple[str, ...]]
    backstops: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, columns: Iterable[str]) -> Labels:
        """Return what a table with these columns says."""
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
        """The table's columns: the filters' in sorted order, then the constructions of its tree."""
        schema: Schema = {"sent_id": pl.UInt32}  # row of the corpus's sentences, ascending
        for word in sorted(self.readings):
            for reading in self.readings[word]:
                schema[column(word, reading)] = pl.Boolean  # the rule fires on its tree
                if reading in self.backstops.get(word, ()):
                    schema[column(word, reading, BACKSTOP)] = pl.Boolean  # its words look like it
                schema[column(word, reading, TOKENS)] = pl.List(pl.UInt16)  # that matched, from 1
        for name in BY_TREE:
            schema[name] = pl.Boolean  # null: the sentence was not parsed
        return schema

    def hold(self, filters: Iterable[Filter], path: Path, who: str = "") -> None:
        """Refuse filters that a table has no labels of.

        Args:
            filters: in their readings.
            path: of the table, for the message.
            who: needs them, for the message.

        Raises:
            PoshgridError: one has none.
        """
        for used in filters:
            if used.reading not in self.readings.get(used.name, ()):
                raise PoshgridError(
                    f"{path}: no labels of filter {str(used)!r}{who}"
                    f"{did_you_mean(used.name, self.readings)}; run the stage evidence with it"
                )

    def removing(self, word: str, reading: str, *, backstop: bool) -> list[str]:
        """Return the columns by which a reading removes: its rule, and its backstop if it is on."""
        columns = [column(word, reading)]
        if backstop and reading in self.backstops.get(word, ()):
            columns.append(column(word, reading, BACKSTOP))
        return columns

    def columns(self, filters: Iterable[Filter], *, backstop: bool) -> list[str]:
        """Return the columns by which any of the filters removes, each in its reading.

        Args:
            filters: of a condition.
            backstop: whether readings that have a backstop remove by it, too.
        """
        return [
            name
            for used in filters
            for name in self.removing(used.name, used.reading, backstop=backstop)
        ]
