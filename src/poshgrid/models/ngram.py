"""The baselines that know only sequences: unigram and n-gram models, of words or of classes.

A model's folder holds ``config.json``, ``model.safetensors`` and ``statistics.json``; reading it
runs no code. The same sentences in any order give the same bytes. To score a sentence, in nats::

    NGram.load(folder).score(["Who did the girl say that John likes?"])
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid.core import files
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora import textfile
from poshgrid.corpora.schema import trains
from poshgrid.corpora.words import fold, words
from poshgrid.models.classes import ending, mapped
from poshgrid.models.kneser_ney import (
    END,
    SPECIALS,
    START,
    UNKNOWN,
    Encoded,
    Tables,
    encode,
    estimate,
)

MODEL_TYPE = "poshgrid-ngram"
_CONFIG, _TENSORS = "config.json", "model.safetensors"
_BATCH = 20_000  # sentences in memory at once


class NGram:
    """An n-gram model of words; see :mod:`poshgrid.corpora.words` for what a word is.

    A model of classes first replaces each word by its class, unless the word itself is in the
    vocabulary. The first word is predicted from ``<s>``; the end of the sentence, ``</s>``, is
    predicted, too. A word that was never seen is ``<unk>``.

    Args:
        tables: estimated, or read from a folder.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        known = enumerate(tables.vocabulary[len(SPECIALS) :], start=len(SPECIALS))
        self._numbers = {word: number for number, word in known}

    @classmethod
    def load(cls, path: Path) -> NGram:
        """Read a model from its folder.

        Raises:
            PoshgridError: the folder holds no complete n-gram model.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        config = files.read_json(Path(path) / _CONFIG)
        weights = Path(path) / _TENSORS
        try:
            tensors = load_file(weights)
            order = int(config["order"])
            vocabulary = tensors.pop("vocabulary").tobytes().decode().split("\n")
            tables = Tables(order, vocabulary, classes=bool(config.get("classes")))
            tables.logprobs = {n: tensors.pop(f"logprobs.{n}") for n in range(1, order + 1)}
            tables.keys = {n: tensors.pop(f"keys.{n}") for n in range(2, order + 1)}
            tables.backoffs = {n: tensors.pop(f"backoffs.{n}") for n in range(1, order)}
            kinds = [name.removesuffix(".counts") for name in tensors if name.endswith(".counts")]
            tables.pairs = {k: (tensors[f"{k}.keys"], tensors[f"{k}.counts"]) for k in kinds}
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            reason = " ".join(repr(error).split())[:200]
            raise PoshgridError(
                f"{weights}: broken, or of another version ({reason}); delete the folder and "
                "count again"
            ) from error
        return cls(tables)

    def __contains__(self, word: str) -> bool:
        """Return whether a word, folded, is in the training text."""
        return fold(word) in self._numbers

    def each(self, sentences: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the log-probability (nats) of each word of each sentence, and of ``</s>``.

        Args:
            sentences: the words of each; see :func:`poshgrid.corpora.words.words`.
        """
        scores: list[list[float]] = []
        for first in range(0, len(sentences), _BATCH):
            batch = sentences[first : first + _BATCH]
            ids: list[int] = []
            for tokens in batch:
                ids.append(START)
                ids.extend(self._number(fold(word)) for word in tokens)
                ids.append(END)
            values = iter(self._predict(np.array(ids, np.uint32)).tolist())
            for tokens in batch:
                next(values)  # <s> is not predicted
                scores.append(list(islice(values, len(tokens) + 1)))
        return scores

    def score(self, sentences: Sequence[str]) -> list[float]:
        """Return the log-probability (nats) of each sentence, ``</s>`` included.

        Only the exact sum is rounded: under a unigram model, the same words in any order have
        exactly the same score.
        """
        return [math.fsum(row) for row in self.each([words(text) for text in sentences])]

    def times(self, sequences: Sequence[str]) -> list[int]:
        """Return how often pairs of words were seen: neighbours, ``a b``, or with a gap, ``a … b``.

        Gaps are counted only after a word of :data:`poshgrid.models.kneser_ney.SKIPS`. Sentences
        begin with ``<s>`` and end with ``</s>``. A model of an order above 1 has no counts: all 0.
        """
        numbers = self._numbers | {SPECIALS[START]: START, SPECIALS[END]: END}
        times = []
        for sequence in sequences:
            one, *skip, other = sequence.split()
            keys, counts = self.tables.pairs.get("skip" if skip else "next", ([], []))
            first, second = (numbers.get(fold(word), UNKNOWN) for word in (one, other))
            key = np.uint64(first * len(self.tables.vocabulary) + second)
            row = int(np.searchsorted(keys, key))
            seen = row < len(keys) and keys[row] == key
            times.append(int(counts[row]) if seen else 0)
        return times

    def _number(self, word: str) -> int:
        number = self._numbers.get(word)
        if number is None and self.tables.classes:
            number = self._numbers.get(ending(word))
        return UNKNOWN if number is None else number

    def _predict(self, ids: np.ndarray) -> np.ndarray:
        """Return the log-probability of each word given the order-1 words before it.

        No n-gram continues after ``</s>``, so none is found across the border of two sentences.
        """
        tables = self.tables
        logprobs = tables.logprobs[1][ids]
        numbers = ids.astype(np.int64)  # (n-1)-gram that starts at each position; -1: not seen
        for n in range(2, min(tables.order, len(ids)) + 1):
            numbers = numbers[:-1]
            contexts = np.flatnonzero(numbers >= 0)
            known, ends = numbers[contexts], contexts + n - 1
            keys = known.astype(np.uint64) * np.uint64(len(tables.vocabulary)) + ids[ends]
            places = np.searchsorted(tables.keys[n], keys)
            seen = np.zeros(len(keys), bool)
            inside = places < len(tables.keys[n])
            seen[inside] = tables.keys[n][places[inside]] == keys[inside]
            logprobs[ends] += tables.backoffs[n - 1][known]
            logprobs[ends[seen]] = tables.logprobs[n][places[seen]]
            numbers = np.full(len(numbers), -1)
            numbers[contexts[seen]] = places[seen]
        return logprobs


def fit(sentences: Iterable[str], order: int, *, classes: bool = False) -> NGram:
    """Estimate a model from sentences.

    Args:
        sentences: text; their order does not matter.
        order: 1: maximum likelihood; above: interpolated modified Kneser-Ney. See
            :mod:`poshgrid.models.kneser_ney`.
        classes: count classes instead of words; see :mod:`poshgrid.models.classes`.

    Raises:
        PoshgridError: there is no sentence with a word, or the order is not 1 or more.
    """
    texts = iter(sentences)
    batches = iter(lambda: list(islice(texts, _BATCH)), [])
    text = encode(batches)
    if not text.sentences:
        raise PoshgridError("n-grams: no sentence with a word; give some text")
    return NGram(_estimate(text, order, classes=classes))


def count(
    table: Path, output: Path, order: int, size: str | None = None, classes: bool = False
) -> dict[str, Any]:
    """Estimate a model from a table of sentences and write its folder.

    Args:
        table: a corpus (``SENTENCES``), whose training sentences are counted, or the training
            sentences of a condition (``CONDITION``).
        output: the model's folder.
        order: as in :func:`fit`.
        classes: as in :func:`fit`.
        size: size of the corpus to count, e.g. ``"10M"``; None for all training sentences.

    Returns:
        The content of ``statistics.json``, also for the manifest: order, size, sentences, words
        (with punctuation marks, without ``</s>``), types of words, n-grams and discounts of each
        order, and the orders with the fixed fallback discounts.

    Raises:
        PoshgridError: the table is missing, broken, or has no such sentences; or the folder cannot
            be written.
    """
    text = encode(texts(table, size))
    if not text.sentences:
        wanted = f" of size {size}; name a size that the corpus has" if size else "; make it again"
        raise PoshgridError(f"{table}: no training sentences{wanted}")
    tables = _estimate(text, order, classes=classes)
    facts: dict[str, Any] = {
        "order": order,
        "size": size,
        "sentences": text.sentences,
        "words": len(text.ids) - 2 * text.sentences,
        "types": len(text.vocabulary) - len(SPECIALS),
        # In order 1, everything that can be predicted: the types, <unk> and </s>.
        "ngrams": {str(n): len(p) - (n == 1) for n, p in tables.logprobs.items()},
        "discounts": {str(n): list(d) for n, d in tables.discounts.items()},
        "fallback_discounts": tables.fallbacks,
    }
    write(output, tables, facts)
    return facts


def _estimate(text: Encoded, order: int, *, classes: bool) -> Tables:
    tables = estimate(mapped(text) if classes else text, order)
    tables.classes = classes
    return tables


def texts(path: Path, size: str | None = None, *, spare: bool = False) -> Iterator[pl.Series]:
    """Yield the texts of a table's training rows, or the lines of a text file, in batches.

    Args:
        path: a table with a column ``text``, or a text file, which does not end in ``.parquet``.
        size: size of the corpus to read; None for all sizes.
        spare: include rows without a size.

    Raises:
        PoshgridError: the table cannot be read, or the file is not text.
    """
    if path.suffix != ".parquet":
        lines = (line.strip() for line in textfile.lines(path))
        while batch := list(islice(lines, files.BATCH)):
            yield pl.Series("text", [line for line in batch if line], dtype=pl.String)
        return
    columns = files.read_schema(path)
    training = pl.col("split") == "train" if "split" in columns else pl.lit(True)
    if not spare and "size" in columns:
        training &= pl.col("size") != ""
    wanted = [name for name in columns if name in {"text", "split", "size"}]
    for rows in files.table_batches(path, columns | {"text": pl.String()}, wanted):
        yield rows.filter(trains(rows, size) if size else training)["text"]


def write(output: Path, tables: Tables, statistics: dict[str, Any]) -> None:
    """Write all files into a temporary folder, then rename each into place, ``config.json`` last.

    Args:
        output: the model's folder.
        tables: of the model.
        statistics: see :func:`count`.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    from safetensors.numpy import save_file

    tensors = {"vocabulary": np.frombuffer("\n".join(tables.vocabulary).encode(), np.uint8)}
    for kind in ("keys", "logprobs", "backoffs"):
        tensors |= {f"{kind}.{n}": values for n, values in getattr(tables, kind).items()}
    for kind, (keys, counts) in tables.pairs.items():
        tensors |= {f"{kind}.keys": keys, f"{kind}.counts": counts}
    config = {
        "model_type": MODEL_TYPE,
        "order": tables.order,
        "vocabulary_size": len(tables.vocabulary),
        "ngrams": {str(n): len(values) for n, values in tables.logprobs.items()},
        **({"classes": True} if tables.classes else {}),
    }
    with files.atomic_folder(output, last=_CONFIG) as temporary:
        save_file(tensors, temporary / _TENSORS)
        files.write_json(temporary / "statistics.json", statistics)
        files.write_json(temporary / _CONFIG, config)
