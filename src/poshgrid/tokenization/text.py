"""The sentences of a condition, a batch at a time, so that memory does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import table_batches

BATCH = 20_000  # sentences in memory at once


class Sentences(NamedTuple):
    """A batch: its sentences, and how many words they have together."""

    texts: list[str]
    words: int


def batches(condition: Path, split: str, size: int = BATCH) -> Iterator[Sentences]:
    """Yield the sentences of ``{condition}/{split}.parquet`` in file order.

    Args:
        condition: folder of the condition's tables.
        split: train, dev or test.
        size: sentences in a batch.

    Raises:
        PoshgridError: the table is missing, breaks its schema, is empty or holds a blank sentence.
    """
    path = Path(condition) / f"{split}.parquet"
    row = 0
    for batch in table_batches(path, CONDITION, ["text", "n_words"], size):
        texts = batch["text"].to_list()
        for index, text in enumerate(texts, start=row):
            if not text or text.isspace():
                raise PoshgridError(
                    f"{path}: row {index} has no text; raise cleaning.min_words of its source"
                )
        row += len(texts)
        yield Sentences(texts, int(batch["n_words"].sum()))
    if not row:
        raise PoshgridError(
            f"{path}: no sentence; give its base more words (bases.*.{split}_words or words)"
        )
