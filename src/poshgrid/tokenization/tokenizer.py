"""A byte-level BPE tokenizer for one condition and size (paper, section 4.1 and Table 9).

It is written once and loaded by training and scoring alike. The prefix space is part of it, so that
a word is cut the same at the start of a sentence as inside one (FACTS, section 1: first word).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid import logs
from poshgrid.errors import PoshgridError
from poshgrid.files import atomic, sha256, write_json
from poshgrid.specs import TokenizerSpec
from poshgrid.tokenization.text import batches

if TYPE_CHECKING:
    from tokenizers import Tokenizer

log = logs.get(__name__)

BOUNDARY = "<|endoftext|>"  # precedes and follows every sentence: bos and eos in one
PADDING = "<pad>"
SMALLEST = 256 + 2  # every byte and the two special tokens


def train(spec: TokenizerSpec, condition: Path, output: Path) -> dict[str, Any]:
    """Train a tokenizer on a condition's training sentences.

    Args:
        spec: size, case folding, least frequency of a merge.
        condition: folder that holds ``train.parquet``.
        output: folder for ``tokenizer.json``, ``tokenizer_config.json``, ``statistics.json``.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: the vocabulary is too small for the bytes or larger than the text supports.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    asked, settings = spec.tokenizer.vocabulary_size, spec.tokenizer
    if asked < SMALLEST:
        raise PoshgridError(
            f"tokenizer.vocabulary_size: {asked} is below {SMALLEST}, "
            "which the bytes and the special tokens take; raise it"
        )
    tokenizer = Tokenizer(models.BPE())
    steps: list[Any] = [normalizers.NFC()]
    if settings.lowercase:
        steps.append(normalizers.Lowercase())
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    seen = {"sentences": 0, "words": 0}

    def texts() -> Iterator[list[str]]:
        for batch in batches(condition, "train"):
            seen["sentences"] += len(batch.texts)
            seen["words"] += batch.words
            yield batch.texts

    tokenizer.train_from_iterator(
        texts(),
        trainers.BpeTrainer(
            vocab_size=asked,
            min_frequency=settings.min_frequency,
            special_tokens=[BOUNDARY, PADDING],
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    reached = tokenizer.get_vocab_size()
    if reached < asked:
        raise PoshgridError(
            f"{Path(condition) / 'train.parquet'}: {asked:,} types asked of the tokenizer, but "
            f"{seen['words']:,} words yield only {reached:,}; set tokenizer.vocabulary_size to "
            f"{reached} or less, lower tokenizer.min_frequency, or give more text"
        )
    statistics = {"vocabulary_size": reached, **seen, **settings.model_dump()}
    _save(tokenizer, Path(output), statistics)
    log.info("tokenizer: %s types from %s words", f"{reached:,}", f"{seen['words']:,}")
    return statistics


def load(folder: Path) -> Tokenizer:
    """Load a tokenizer without transformers, whose import takes seconds.

    Text that spells a special token is cut like any other text: it cannot forge a boundary.

    Raises:
        PoshgridError: the folder holds no tokenizer of ours.
    """
    from tokenizers import Tokenizer

    path = Path(folder) / "tokenizer.json"
    if not path.is_file():
        raise PoshgridError(f"{path}: not found; run `poshgrid tokenizer` first")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises a bare Exception
        raise PoshgridError(f"{path}: not a tokenizer ({error}); delete it, run again") from error
    for token in (BOUNDARY, PADDING):
        if tokenizer.token_to_id(token) is None:
            raise PoshgridError(f"{path}: has no token {token}; make it with `poshgrid tokenizer`")
    tokenizer.encode_special_tokens = True
    return tokenizer


def digest(folder: Path) -> str:
    """Return the SHA-256 digest that tells one tokenizer from another."""
    return sha256(Path(folder) / "tokenizer.json")


def _save(tokenizer: Tokenizer, output: Path, statistics: dict[str, Any]) -> None:
    with atomic(output / "tokenizer.json") as temporary:
        tokenizer.save(str(temporary), pretty=True)
    # The generic class takes everything from tokenizer.json; GPT-2's own would rebuild the
    # pre-tokenizer and lose the prefix space and the case folding.
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOUNDARY,
        "eos_token": BOUNDARY,
        "pad_token": PADDING,
        "padding_side": "right",
        "clean_up_tokenization_spaces": False,
    }
    write_json(output / "tokenizer_config.json", config)
    write_json(output / "statistics.json", statistics)
