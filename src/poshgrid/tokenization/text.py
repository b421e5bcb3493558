"""The sentences of a condition, a batch at a time, so that memory does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import check_schema

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
    import pyarrow
    import pyarrow.parquet

    path = Path(condition) / f"{split}.parquet"
    try:
        check_schema(pl.read_parquet_schema(path), CONDITION, path)
        file = pyarrow.parquet.ParquetFile(path)
    except FileNotFoundError as error:
        raise PoshgridError(f"{path}: not found; run `poshgrid condition` first") from error
    except (pl.exceptions.PolarsError, pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise PoshgridError(
            f"{path}: not a parquet table ({reason}); delete it and run again"
        ) from error
    row = 0
    with file:
        for batch in file.iter_batches(batch_size=size, columns=["text", "n_words"]):
            found = batch.to_pydict()
            for index, text in enumerate(found["text"], start=row):
                if not text or text.isspace():
                    raise PoshgridError(
                        f"{path}: row {index} has no text; raise cleaning.min_words of its source"
                    )
            row += batch.num_rows
            yield Sentences(found["text"], sum(found["n_words"]))
    if not row:
        raise PoshgridError(
            f"{path}: no sentence; give its base more words (bases.*.{split}_words or words)"
        )
