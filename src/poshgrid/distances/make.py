"""Stage ``distances``: write how far apart the words of each training sentence are in its tree.

What a distance is: :mod:`poshgrid.distances.measure`. What is written:
:mod:`poshgrid.distances.folder`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import database, logs
from poshgrid.distances.folder import DISTANCES, OFFSETS, STATISTICS, WORDS
from poshgrid.distances.measure import UNUSED, measure
from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import atomic_folder, table_batches, table_height, write_json
from poshgrid.parsing.schema import PARSES
from poshgrid.tokenization import encode
from poshgrid.tokenization import tokenizer as tokenizers

log = logs.get(__name__)

BATCH = 20_000  # sentences in memory at once


def make(
    condition: Path, tokenizer: Path, tokens: Path, parses: list[Path], output: Path
) -> dict[str, Any]:
    """Measure the distances in the trees of a condition's training sentences.

    Args:
        condition: folder that holds ``train.parquet``.
        tokenizer: folder of the tokenizer.
        tokens: folder that :func:`poshgrid.tokenization.encode.encode` wrote with both.
        parses: the shards of the base's parses, in any order.
        output: folder to write to; see :mod:`poshgrid.distances.folder`.

    Returns:
        The content of ``statistics.json``: ``sentences``, ``used`` and ``unused`` (see
        :data:`poshgrid.distances.measure.UNUSED`).

    Raises:
        PoshgridError: tables are missing, broken, or do not fit together, or no sentence is usable.
    """
    table, cutter = Path(condition) / "train.parquet", tokenizers.load(tokenizer)
    stream = encode.load(tokens, "train")
    number = len(stream.offsets) - 1
    if table_height(table) != number:
        raise _other_tokens(tokens, f"they have {number:,} sentences")
    faults = Counter[str | None]()
    offsets = np.zeros((number + 1, 2), np.int64)
    offsets[:, 0] = stream.offsets
    row = 0
    with atomic_folder(Path(output), last=STATISTICS) as temporary:
        with (temporary / DISTANCES).open("wb") as distances, (temporary / WORDS).open("wb") as out:
            out.write(b"\1")
            for batch in logs.progress(
                _with_trees(table, parses, temporary),
                f"measuring trees, {BATCH:,} sentences at a time",
                -(-number // BATCH),
            ):
                pieces = cutter.encode_batch(batch["text"].to_list(), add_special_tokens=False)
                for piece, (text, words, heads) in zip(pieces, batch.iter_rows(), strict=True):
                    first, last = stream.offsets[row : row + 2]
                    if not np.array_equal(stream.ids[first + 1 : last], piece.ids):
                        raise _other_tokens(tokens, f"they differ in sentence {row + 1:,}")
                    # Offsets are those in the text as given, whatever the normaliser makes of it.
                    tree = measure(text, [begin for begin, _ in piece.offsets], words, heads)
                    distances.write(tree.distances.tobytes())
                    out.write(tree.begins.tobytes() + b"\1")
                    offsets[row + 1, 1] = offsets[row, 1] + len(tree.distances)
                    faults[tree.fault] += 1
                    row += 1
        np.save(temporary / OFFSETS, offsets)
        statistics: dict[str, Any] = {
            "sentences": number,
            "used": faults[None],
            "unused": {reason: faults[reason] for reason in UNUSED},
        }
        reasons = ", ".join(f"{faults[word]:,} {word}" for word in UNUSED if faults[word]) or "none"
        if not faults[None]:
            raise PoshgridError(
                f"{table}: no sentence has a usable tree ({reasons}); parse every sentence of the "
                "base (evidence.parse: all) and check the parser"
            )
        write_json(temporary / STATISTICS, statistics)
    log.info("%s of %s sentences have a usable tree; not used: %s",
             f"{faults[None]:,}", f"{number:,}", reasons)  # fmt: skip
    return statistics


def _other_tokens(tokens: Path, why: str) -> PoshgridError:
    return PoshgridError(
        f"{tokens}: not the tokens of this condition by this tokenizer ({why}); "
        "run `poshgrid run -R tokens`"
    )


def _with_trees(table: Path, parses: list[Path], folder: Path) -> Iterator[pl.DataFrame]:
    """Yield ``text``, ``form`` and ``head`` of a condition's sentences, in their order.

    Args:
        table: the condition's sentences.
        parses: the shards of its base's parses.
        folder: for what does not fit into memory.
    """
    columns = ["sent_id", "form", "head"]
    with database.opened(folder) as tables:
        empty = pl.DataFrame(schema={name: PARSES[name] for name in columns})
        shards = (table_batches(path, PARSES, columns) for path in parses)
        tables.load("trees", itertools.chain([empty], *shards))
        tables.load("sentences", table_batches(table, CONDITION, ["sent_id", "text"]))
        yield from tables.pieces(
            "select text, form, head from sentences join trees using (sent_id) "
            "order by sentences.rowid",
            BATCH,
        )
