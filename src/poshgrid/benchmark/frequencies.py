"""What items are made from: word frequencies, n-gram models and sentences of the corpora."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from poshgrid.benchmark import lexicon
from poshgrid.benchmark.schema import Baseline, Context
from poshgrid.core.errors import PoshgridError
from poshgrid.models.ngram import NGram, texts


def context(corpora: dict[str, Path], ngrams: dict[str, Path], top_k: int) -> Context:
    """Return what a reader may use from the corpora.

    Args:
        corpora: corpus -> ``sentences.parquet``, or a condition's ``train.parquet``.
        ngrams: "corpus/size" -> the folder of its n-gram model.
        top_k: how many types of a corpus count as frequent.

    Raises:
        PoshgridError: a table cannot be read or has no training sentence, or a model is broken.
    """
    counts = {corpus: count(path) for corpus, path in sorted(corpora.items())}
    return Context(
        vocabulary=lexicon.usable(counts, top_k),
        baselines={name: _baseline(path) for name, path in sorted(ngrams.items())},
        heard=lambda sentences: heard(sentences, corpora.values()),
    )


def _baseline(path: Path) -> Baseline:
    """Return a baseline whose model (gigabytes for a large corpus) is loaded at its first use."""
    model = functools.cache(lambda: NGram.load(path))
    return lambda sentences: model().score(sentences)


def count(path: Path) -> Counter[str]:
    """Count the words of a table's training sentences, without spare ones (which have no size).

    Args:
        path: ``sentences.parquet`` of a corpus, ``train.parquet`` of a condition, or a plain text.

    Returns:
        Lower-cased alphabetic token -> how often it occurs.

    Raises:
        PoshgridError: not a table with a column ``text``, or no training rows.
    """
    counts: Counter[str] = Counter()
    for batch in texts(path):
        for text in batch:
            counts.update(lexicon.tokens(text))
    if not counts:
        raise PoshgridError(f"{path}: no training sentence has a word; make the corpus again")
    return counts


def heard(sentences: Iterable[str], tables: Iterable[Path]) -> set[str]:
    """Return the sentences that occur in training rows, ignoring case, punctuation and spaces.

    Spare rows are included: they may refill a condition.

    Raises:
        PoshgridError: a table is missing or broken.
    """
    key = pl.col("text").str.to_lowercase().str.replace_all(r"[\W_]+", "").alias("key")
    wanted = pl.DataFrame({"text": sorted(sentences)}, schema={"text": pl.String})
    wanted = wanted.with_columns(key).filter(pl.col("key") != "")
    known: set[str] = set()
    for path in tables:
        for batch in texts(path, spare=True):
            held = batch.to_frame("text").select(key)
            known.update(wanted.join(held, on="key", how="semi")["text"])
    return known
