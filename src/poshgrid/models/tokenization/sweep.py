"""Training tokens of a condition by the size of the vocabulary (paper, section 4.1 and Table 9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poshgrid.config.specs import TokenizerSpec
from poshgrid.core import logs
from poshgrid.core.files import write_json
from poshgrid.models.tokenization import tokenizer as tokenizers

log = logs.get(__name__)

SIZES = (8_192, 16_384, 32_768, 49_152, 65_536)  # Table 9, and 16,384, which it leaves out


def sweep(spec: TokenizerSpec, condition: Path, output: Path) -> dict[str, Any]:
    """Count a condition's training tokens for each vocabulary size.

    Args:
        spec: ``sweep`` is the list of sizes (empty: :data:`SIZES`). Its other settings are those
            of the tokenizer; ``vocabulary_size`` is not used.
        condition: folder that holds ``train.parquet``.
        output: file to write, ``sweep.json``.

    Returns:
        The content of the file: ``sentences``, ``words``, ``lowercase``, ``min_frequency``, and
        ``vocabularies``, a list in the order of ``vocabulary_size``. Each entry has ``reached``
        (its types; fewer if the text yields no more), ``tokens_without_boundaries``,
        ``tokens_with_boundaries`` (neighbouring sentences share one, as in the token folders)
        and ``tokens_per_word`` (without boundaries).

    Raises:
        PoshgridError: the table is missing or broken.
    """
    settings = spec.tokenizer
    vocabularies = []
    for size in sorted(set(settings.sweep or SIZES)):
        seen = {"sentences": 0, "words": 0}
        tokenizer = tokenizers.learn(settings, size, tokenizers.texts([condition], seen))
        tokenizer.encode_special_tokens = True
        tokens = sum(
            len(encoding.ids)
            for batch in tokenizers.batches(condition, "train")
            for encoding in tokenizer.encode_batch_fast(
                batch["text"].to_list(), add_special_tokens=False
            )
        )
        vocabularies.append(
            {
                "vocabulary_size": size,
                "reached": tokenizer.get_vocab_size(),
                "tokens_without_boundaries": tokens,
                "tokens_with_boundaries": tokens + seen["sentences"] + 1,
                "tokens_per_word": round(tokens / max(seen["words"], 1), 6),
            }
        )
        log.info("%s types: %s tokens", f"{tokenizer.get_vocab_size():,}", f"{tokens:,}")
    statistics = {
        **seen,
        "lowercase": settings.lowercase,
        "min_frequency": tokenizers.MIN_FREQUENCY,
        "vocabularies": vocabularies,
    }
    write_json(output, statistics)
    return statistics
