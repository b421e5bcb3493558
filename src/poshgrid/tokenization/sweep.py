"""Training tokens of a condition by the size of the vocabulary (paper, section 4.1 and Table 9).

The merges are learned once, for the largest size; a smaller vocabulary has the first of them. Words
are cut alike wherever they stand, so each distinct word is cut once a size and counted as often as
it occurs: the numbers are those of the whole text. Memory grows with the distinct words, as it does
in learning the merges, and not with the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid import logs
from poshgrid.config.specs import TokenizerSpec
from poshgrid.files import write_json
from poshgrid.tokenization import tokenizer as tokenizers

if TYPE_CHECKING:
    from tokenizers import Tokenizer

log = logs.get(__name__)

SIZES = (8_192, 16_384, 32_768, 49_152, 65_536)  # Table 9, and 16,384, which it leaves out
_WORDS = 50_000  # distinct words cut at once


def sweep(spec: TokenizerSpec, condition: Path, output: Path) -> dict[str, Any]:
    """Count a condition's training tokens for each vocabulary size.

    Args:
        spec: ``sweep`` is the list of sizes (empty: :data:`SIZES`); case folding and least
            frequency of a merge are the tokenizer's; ``vocabulary_size`` is not read.
        condition: folder that holds ``train.parquet``.
        output: file to write, ``sweep.json``.

    Returns:
        The content of the file: ``sentences``, ``words``, ``distinct_words`` (as the
        tokenizer cuts text into words), ``lowercase``, ``min_frequency``, and ``vocabularies``, a
        list by rising ``vocabulary_size``: ``reached`` (its types; fewer than asked where the text
        yields no more), ``tokens_without_boundaries``, ``tokens_with_boundaries`` (one before
        and after every sentence, as in the token folders) and ``tokens_per_word`` (without).

    Raises:
        PoshgridError: the table is missing or broken.
    """
    settings = spec.tokenizer
    sizes = sorted(set(settings.sweep or SIZES))
    cutter = tokenizers.pipeline(settings)
    counts: Counter[str] = Counter()
    seen = {"sentences": 0, "words": 0}

    def texts() -> Iterator[list[str]]:
        for part in tokenizers.texts([condition], seen):
            for text in part:
                counts.update(_words(cutter, text))
            yield part

    largest = tokenizers.learn(settings, sizes[-1], texts())
    vocabularies = []
    for size in sizes:
        smaller = tokenizers.truncate(largest, size)
        tokens = _tokens(smaller, counts)
        vocabularies.append(
            {
                "vocabulary_size": size,
                "reached": smaller.get_vocab_size(),
                "tokens_without_boundaries": tokens,
                "tokens_with_boundaries": tokens + seen["sentences"] + 1,
                "tokens_per_word": round(tokens / max(seen["words"], 1), 6),
            }
        )
        log.info("%s types: %s tokens", f"{smaller.get_vocab_size():,}", f"{tokens:,}")
    found = {
        **seen,
        "distinct_words": len(counts),
        "lowercase": settings.lowercase,
        "min_frequency": settings.min_frequency,
        "vocabularies": vocabularies,
    }
    write_json(output, found)
    return found


def _words(cutter: Tokenizer, text: str) -> Iterator[str]:
    """Cut a sentence into words of bytes, which no merge crosses."""
    normal = cutter.normalizer.normalize_str(text)
    return (word for word, _ in cutter.pre_tokenizer.pre_tokenize_str(normal))


def _tokens(tokenizer: Tokenizer, counts: Counter[str]) -> int:
    """Return the tokens of all words, each distinct one cut once."""
    from tokenizers import Tokenizer

    bare = Tokenizer(tokenizer.model)  # the words are normalised and cut already
    rest, total = iter(counts.items()), 0
    while part := dict(islice(rest, _WORDS)):
        cut = bare.encode_batch_fast(list(part), add_special_tokens=False)
        total += sum(len(c.ids) * n for c, n in zip(cut, part.values(), strict=True))
    return total
