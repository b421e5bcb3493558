"""Stage ``distances``: write how far apart the words of each training sentence are in its tree.

What a distance is: :mod:`poshgrid.distances.measure`. What is written:
:mod:`poshgrid.distances.folder`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from poshgrid import logs
from poshgrid.distances.folder import DISTANCES, FILES, OFFSETS, STATISTICS, WORDS
from poshgrid.distances.measure import UNUSED, Cut, check_ids, measure, other_tokens
from poshgrid.distances.trees import with_trees
from poshgrid.errors import PoshgridError
from poshgrid.files import atomic_folder, read_json, write_json
from poshgrid.tokenization import encode
from poshgrid.tokenization import tokenizer as tokenizers
from poshgrid.verification import sha256

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
        The content of ``statistics.json``: ``sentences``, ``used``, ``unused`` (see
        :data:`poshgrid.distances.measure.UNUSED`), ``tokenizer`` and ``tokens`` (digests of what
        they belong to), ``files`` (digests).

    Raises:
        PoshgridError: tables are missing, broken, or do not fit together, or no sentence is usable.
    """
    condition, tokens, output = Path(condition), Path(tokens), Path(output)
    table, cutter = condition / "train.parquet", tokenizers.load(tokenizer)
    stream = encode.load(tokens, "train")
    boundary = cutter.get_vocab()[tokenizers.BOUNDARY]  # loading makes sure of it
    unused, total = np.zeros(len(UNUSED) + 1, np.int64), 0
    offsets = np.zeros((len(stream.offsets), 2), np.int64)
    offsets[:, 0] = stream.offsets
    with atomic_folder(output, last=STATISTICS) as temporary:
        with (temporary / DISTANCES).open("wb") as distances, (temporary / WORDS).open("wb") as out:
            np.ones(1, np.uint8).tofile(out)
            for batch, trees in logs.progress(
                with_trees(table, parses, BATCH),
                f"measuring trees, {BATCH:,} sentences at a time",
                -(-(len(offsets) - 1) // BATCH),
            ):
                cut = Cut.of(cutter, batch["text"].to_list())
                last = total + batch.height
                check_ids(cut, stream, boundary, slice(total, last), tokens / "train.bin")
                found = measure(batch["text"].to_list(), cut, trees)
                found.distances.tofile(distances)
                found.words.tofile(out)
                offsets[total + 1 : last + 1, 1] = offsets[total, 1] + np.cumsum(found.sizes)
                unused += np.bincount(found.fault, minlength=len(unused))
                total = last
        if total != len(offsets) - 1:
            raise other_tokens(tokens / "train.bin", f"it has {len(offsets) - 1:,} sentences")
        np.save(temporary / OFFSETS, offsets)
        statistics: dict[str, Any] = {
            "sentences": total,
            "used": int(unused[0]),
            "unused": dict(zip(UNUSED, unused[1:].tolist(), strict=True)),
            "tokenizer": tokenizers.digest(tokenizer),
            "tokens": read_json(tokens / "statistics.json")["train"]["sha256"],
            "files": {name: sha256(temporary / name) for name in FILES},
        }
        if not statistics["used"]:
            raise PoshgridError(
                f"{table}: no sentence has a usable tree ({_reasons(statistics)}); parse every "
                "sentence of the base (evidence.parse: all) and check the parser"
            )
        write_json(temporary / STATISTICS, statistics)
    log.info(
        "%s of %s sentences have a usable tree; not used: %s",
        f"{statistics['used']:,}",
        f"{total:,}",
        _reasons(statistics),
    )
    return statistics


def _reasons(statistics: dict[str, Any]) -> str:
    found = {word: count for word, count in statistics["unused"].items() if count}
    return ", ".join(f"{count:,} {word}" for word, count in found.items()) or "none"
