"""Write a condition's sentences as token ids, and map them into memory for training.

The stream of a split is ``<eot> s1 <eot> s2 ... sn <eot>``. ``offsets[i]`` is the position of the
boundary before sentence i, and ``offsets[n]`` is that of the last boundary. So sentence i with both
boundaries is ``ids[offsets[i] : offsets[i + 1] + 1]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from poshgrid.config.runs import SPLITS
from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import atomic, read_json, write_json
from poshgrid.core.verification import sha256
from poshgrid.models.tokenization import tokenizer as tokenizers

if TYPE_CHECKING:
    from tokenizers import Tokenizer

log = logs.get(__name__)


@dataclass(frozen=True)
class Tokens:
    """One split: ids of shape [tokens], offsets of shape [sentences + 1]."""

    ids: np.ndarray
    offsets: np.ndarray


def encode(condition: Path, tokenizer: Path, output: Path) -> dict[str, Any]:
    """Encode the three splits of a condition.

    Args:
        condition: folder of ``train.parquet``, ``dev.parquet``, ``test.parquet``.
        tokenizer: folder that :func:`poshgrid.models.tokenization.tokenizer.train` wrote.
        output: folder for ``{split}.bin``, ``{split}.offsets.npy`` and ``statistics.json``.

    Returns:
        The content of ``statistics.json``: ``dtype``, ``vocabulary_size``, ``tokenizer`` (digest)
        and, for each split, ``sentences``, ``distinct`` sentences, ``words``, ``tokens`` (with
        boundaries), ``tokens_per_word`` (without boundaries), ``sha256`` of the ids, ``sources``
        (the first four for each source) and, if words can be unknown, ``unknown`` tokens.

    Raises:
        PoshgridError: a table or the tokenizer is missing or broken.
    """
    cutter = tokenizers.load(tokenizer)
    size = cutter.get_vocab_size()
    dtype = np.dtype(np.uint16 if size <= 2**16 else np.uint32)
    statistics: dict[str, Any] = {
        "dtype": dtype.name,
        "vocabulary_size": size,
        "tokenizer": tokenizers.digest(tokenizer),
    }
    for split in SPLITS:
        statistics[split] = _split(Path(condition), split, cutter, Path(output), dtype)
        counts = statistics[split]
        log.info(
            "%s: %s tokens of %s words", split, f"{counts['tokens']:,}", f"{counts['words']:,}"
        )
    write_json(Path(output) / "statistics.json", statistics)
    return statistics


def load(folder: Path, split: str) -> Tokens:
    """Open a split that :func:`encode` wrote; ids are mapped into memory.

    Raises:
        PoshgridError: a file is missing, or its length is not that of the statistics.
    """
    folder = Path(folder)
    statistics = read_json(folder / "statistics.json")
    path, offsets_path = folder / f"{split}.bin", folder / f"{split}.offsets.npy"
    try:
        dtype, expected = np.dtype(statistics["dtype"]), statistics[split]
        tokens = path.stat().st_size // dtype.itemsize
        offsets = np.load(offsets_path, allow_pickle=False)
    except (OSError, ValueError, EOFError, KeyError, TypeError) as error:
        raise PoshgridError(f"{folder}: cannot read {split} ({error}); encode it again") from error
    if tokens != expected["tokens"] or len(offsets) != expected["sentences"] + 1:
        raise PoshgridError(
            f"{path}: {tokens:,} tokens and {len(offsets) - 1:,} sentences, but statistics.json "
            f"says {expected['tokens']:,} and {expected['sentences']:,}; encode it again"
        )
    return Tokens(np.memmap(path, dtype=dtype, mode="r"), offsets)


def _split(
    condition: Path, split: str, cutter: Tokenizer, output: Path, dtype: np.dtype
) -> dict[str, Any]:
    boundary = np.array([cutter.token_to_id(tokenizers.BOUNDARY)], dtype)
    mark, unknown = cutter.token_to_id(tokenizers.UNKNOWN), 0
    position, pieces, parts = 0, [np.zeros(1, np.int64)], []
    with atomic(output / f"{split}.bin") as temporary:
        with temporary.open("wb") as stream:
            boundary.tofile(stream)
            for batch in tokenizers.batches(condition, split):
                texts = batch["text"].to_list()
                encodings = cutter.encode_batch_fast(texts, add_special_tokens=False)
                rows = [encoding.ids for encoding in encodings]
                flat = [part for row in rows for part in (np.array(row, dtype), boundary)]
                ids = np.concatenate(flat)
                ids.tofile(stream)
                unknown += 0 if mark is None else int((ids == mark).sum())
                lengths = np.array([len(row) + 1 for row in rows], np.int64)  # with a boundary
                pieces.append(position + np.cumsum(lengths))
                position = int(pieces[-1][-1])
                parts.append(
                    batch.with_columns(tokens=pl.Series(lengths))
                    .group_by("source")
                    .agg(
                        sentences=pl.len(),
                        words=pl.col("n_words").cast(pl.Int64).sum(),
                        tokens=pl.col("tokens").sum(),
                        digests=pl.col("text").hash().unique(),
                    )
                )
        digest = sha256(temporary)
    offsets = np.concatenate(pieces)
    with atomic(output / f"{split}.offsets.npy") as temporary, temporary.open("wb") as stream:
        np.save(stream, offsets)
    whole = pl.concat(parts)
    sources = (
        whole.group_by("source")
        .agg(
            pl.col("sentences", "words", "tokens").sum(),
            distinct=pl.col("digests").explode().n_unique(),
        )
        .sort("source")
    )
    sentences, words = len(offsets) - 1, int(whole["words"].sum())
    return {
        "sentences": sentences,
        "distinct": whole["digests"].explode().n_unique(),
        "sources": {row.pop("source"): row for row in sources.iter_rows(named=True)},
        "words": words,
        "tokens": position + 1,
        "tokens_per_word": round((position - sentences) / max(words, 1), 6),
        "sha256": digest,
        **({} if mark is None else {"unknown": unknown}),
    }
