"""Tokenizers: byte-level BPE (paper, section 4.1 and Table 9), words, or one from a file.

Training and scoring load the same file. The tokenizer adds a space before the text, so that a word
has the same tokens at the start of a sentence as inside it.

Sentences are read in batches, so that memory does not grow with the corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from poshgrid import config
from poshgrid.config.models import SMALLEST
from poshgrid.config.specs import TokenizerSpec
from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import atomic, table_batches, write_json
from poshgrid.core.verification import sha256
from poshgrid.evidence.schema import CONDITION

if TYPE_CHECKING:
    import polars as pl
    from tokenizers import Tokenizer

log = logs.get(__name__)

BATCH = 20_000  # sentences in memory at once
MIN_FREQUENCY = 2  # pairs that are rarer are not merged, words that are rarer are `<unk>`


def batches(condition: Path, split: str) -> Iterator[pl.DataFrame]:
    """Yield the sentences of ``{condition}/{split}.parquet`` in file order.

    Args:
        condition: folder of the condition's tables.
        split: train, dev or test.

    Returns:
        Tables of ``source``, ``text`` and ``n_words``.

    Raises:
        PoshgridError: the table is missing, breaks its schema, is empty, or has a blank sentence.
    """
    path = Path(condition) / f"{split}.parquet"
    row = 0
    for batch in table_batches(path, CONDITION, ["source", "text", "n_words"], BATCH):
        for index, text in enumerate(batch["text"], start=row):
            if not text or text.isspace():
                raise PoshgridError(
                    f"{path}: row {index} has no text; raise cleaning.min_words of its source"
                )
        row += batch.height
        yield batch
    if not row:
        raise PoshgridError(
            f"{path}: no sentence; give its corpus more words (corpora.*.{split}_words or words)"
        )


def texts(conditions: Iterable[Path], seen: dict[str, int]) -> Iterator[list[str]]:
    """Yield the training sentences of conditions in batches.

    Args:
        conditions: folders that hold ``train.parquet``.
        seen: numbers of ``sentences`` and ``words``; those yielded are added here.
    """
    for condition in conditions:
        for batch in batches(condition, "train"):
            seen["sentences"] += batch.height
            seen["words"] += int(batch["n_words"].sum())
            yield batch["text"].to_list()


BOUNDARY = "<|endoftext|>"  # before and after every sentence: both bos and eos
PADDING = "<pad>"
UNKNOWN = "<unk>"  # a word outside the vocabulary, of kind `words`; byte pairs can write any text


class Vocabulary(NamedTuple):
    """The token ids of a tokenizer, as a model needs to know them."""

    size: int
    boundary_id: int
    padding_id: int

    @property
    def settings(self) -> dict[str, Any]:
        """Their keys and values in the configuration of a transformers model."""
        return {
            "vocab_size": self.size,
            "bos_token_id": self.boundary_id,
            "eos_token_id": self.boundary_id,
            "pad_token_id": self.padding_id,
        }


def train(spec: TokenizerSpec, conditions: Sequence[Path], output: Path) -> dict[str, Any]:
    """Train a tokenizer on the training sentences of one or several conditions.

    Args:
        spec: kind, size and case folding.
        conditions: folders that hold ``train.parquet``.
        output: folder for ``tokenizer.json``, ``tokenizer_config.json``, ``statistics.json``.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: the vocabulary is larger than the text supports.
    """
    size, settings = spec.tokenizer.vocabulary_size, spec.tokenizer
    seen = {"sentences": 0, "words": 0}
    tokenizer = learn(settings, size, texts(conditions, seen))
    reached = tokenizer.get_vocab_size()
    if reached < size:
        # Bytes are always types; another condition's text may yield fewer of the others.
        advised = SMALLEST + max(0, reached - SMALLEST) * 4 // 5
        raise PoshgridError(
            f"{', '.join(str(Path(folder) / 'train.parquet') for folder in conditions)}: {size:,} "
            f"types asked of the tokenizer, but {seen['words']:,} words yield only {reached:,}; "
            f"set tokenizer.vocabulary_size to {advised} or less (conditions with less text yield "
            "less), or give more text"
        )
    statistics = {
        "vocabulary_size": reached,
        **seen,
        "lowercase": settings.lowercase,
        "min_frequency": MIN_FREQUENCY,
    }
    _save(tokenizer, Path(output), statistics)
    log.info("tokenizer: %s types from %s words", f"{reached:,}", f"{seen['words']:,}")
    return statistics


def from_file(file: Path, output: Path, *, space_final_mark: bool = False) -> dict[str, Any]:
    """Write the folder of a tokenizer from a file of the library ``tokenizers``.

    Args:
        file: ``.json``; it keeps its settings. Our special tokens are added if it lacks them.
        output: as in :func:`train`.
        space_final_mark: first write a space before final marks, then do what the file says.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: the file is missing or holds no tokenizer.
    """
    from tokenizers import Tokenizer, normalizers

    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises a bare Exception
        raise PoshgridError(f"{file}: no tokenizer ({error}); give a tokenizer.json") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if space_final_mark:
        own = [tokenizer.normalizer] if tokenizer.normalizer else []
        tokenizer.normalizer = normalizers.Sequence([*_spacing(), *own])
    tokenizer.add_special_tokens([BOUNDARY, PADDING])
    statistics = {"vocabulary_size": tokenizer.get_vocab_size(), "file": sha256(file)}
    _save(tokenizer, Path(output), statistics)
    return statistics


_WORD = r"<unk>|\w+(?:['’.-]\w+)*|[^\w\s]"
"""A word, also with marks inside it (*don't*, *ice-cream*), an unknown word, or a mark."""


def pipeline(settings: config.Tokenizer) -> Tokenizer:
    """Return an untrained tokenizer that normalises text and splits it into words."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    words = settings.kind == "words"
    tokenizer = Tokenizer(models.WordLevel(unk_token=UNKNOWN) if words else models.BPE())
    steps: list[Any] = [normalizers.NFC()]
    if settings.lowercase:
        steps.append(normalizers.Lowercase())
    if settings.space_final_mark:
        steps += _spacing()
    tokenizer.normalizer = normalizers.Sequence(steps)
    if words:
        apart = pre_tokenizers.Split(Regex(_WORD), "isolated")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), apart])
        return tokenizer
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _spacing() -> list[Any]:
    """Return normalizers that write a space before a final mark."""
    from tokenizers import Regex, normalizers

    return [normalizers.Replace(Regex(rf"(?<=[^\s.?!])\{mark}\z"), f" {mark}") for mark in ".?!"]


def learn(settings: config.Tokenizer, size: int, texts: Iterable[list[str]]) -> Tokenizer:
    """Learn merges from text, the most frequent pair first (Sennrich et al., 2016).

    With kind ``words``, learn the most frequent words; ties are in alphabetical order.

    Args:
        settings: kind and case folding; their ``vocabulary_size`` is not used.
        size: largest number of types; the text may yield fewer.
        texts: batches of sentences.
    """
    from tokenizers import pre_tokenizers, trainers

    tokenizer = pipeline(settings)
    common: dict[str, Any] = {
        "vocab_size": size, "min_frequency": MIN_FREQUENCY, "show_progress": False,
    }  # fmt: skip
    trainer: trainers.Trainer
    if settings.kind == "words":
        trainer = trainers.WordLevelTrainer(special_tokens=[BOUNDARY, PADDING, UNKNOWN], **common)
    else:
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        trainer = trainers.BpeTrainer(
            special_tokens=[BOUNDARY, PADDING], initial_alphabet=alphabet, **common
        )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def load(folder: Path) -> Tokenizer:
    """Load a tokenizer without transformers, whose import takes seconds.

    A special token that is written in a text is treated as text: it becomes no boundary.

    Raises:
        PoshgridError: the folder holds no tokenizer of ours.
    """
    from tokenizers import Tokenizer

    path = Path(folder) / "tokenizer.json"
    if not path.is_file():
        raise PoshgridError(f"{path}: not found; run the stage tokenizer first")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises a bare Exception
        raise PoshgridError(f"{path}: not a tokenizer ({error}); delete it, run again") from error
    for token in (BOUNDARY, PADDING):
        if tokenizer.token_to_id(token) is None:
            raise PoshgridError(f"{path}: has no token {token}; make it with the stage tokenizer")
    tokenizer.encode_special_tokens = True
    return tokenizer


def vocabulary(folder: Path) -> Vocabulary:
    """Return what a model needs to know about the token ids of a tokenizer's folder.

    Raises:
        PoshgridError: the folder holds no tokenizer of ours.
    """
    tokenizer = load(folder)
    ids = tokenizer.get_vocab()
    return Vocabulary(tokenizer.get_vocab_size(), ids[BOUNDARY], ids[PADDING])


def digest(folder: Path) -> str:
    """Return the SHA-256 digest of a tokenizer."""
    return sha256(Path(folder) / "tokenizer.json")


def _save(tokenizer: Tokenizer, output: Path, statistics: dict[str, Any]) -> None:
    with atomic(output / "tokenizer.json") as temporary:
        temporary.write_text(tokenizer.to_str(pretty=True), encoding="utf-8")
    # The generic class reads everything from tokenizer.json. The class of GPT-2 would rebuild the
    # pre-tokenizer, without the space before the text and the case folding.
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOUNDARY,
        "eos_token": BOUNDARY,
        "pad_token": PADDING,
        "padding_side": "right",
        "clean_up_tokenization_spaces": False,
    }
    if tokenizer.token_to_id(UNKNOWN) is not None:
        config["unk_token"] = UNKNOWN
    write_json(output / "tokenizer_config.json", config)
    write_json(output / "statistics.json", statistics)
