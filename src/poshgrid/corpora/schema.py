"""Columns of the tables that this stage writes."""

from __future__ import annotations

import hashlib

import polars as pl

from poshgrid.config.sizes import words
from poshgrid.core.files import Schema

SOURCE: Schema = {
    "document": pl.String,  # transcript, book, article: what is kept together
    "position": pl.UInt32,  # order in the document, from 0
    "text": pl.String,  # one sentence, cleaned
    "n_words": pl.UInt32,  # words, separated by white space
}
"""``sources/{source}/sentences.parquet``: a source, in the order of its files."""

SENTENCES: Schema = {
    "sent_id": pl.UInt32,  # number of the row, from 0
    "source": pl.String,  # name of the source
    "document": pl.String,  # as in the source's table
    "position": pl.UInt32,  # as in the source's table
    "text": pl.String,  # as in the source's table
    "n_words": pl.UInt32,  # as in the source's table
    "split": pl.String,  # train, dev, test: no text is in two of them
    "rank": pl.UInt32,  # order of choice within its source and split, from 0
    "size": pl.String,  # smallest configured size that includes it, e.g. 10M; "": dev, test, spare
}
"""``corpora/{corpus}/sentences.parquet``: train, dev, test; in each, source by source."""


def digest(seed: int, *words: str) -> int:
    """Return a 64-bit number determined by a seed and words; sorting by it gives a random order."""
    text = "\0".join((str(seed), *words)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest())


def normal(texts: pl.Series) -> pl.Series:
    """Return a digest of each text that ignores case, punctuation and white space."""
    return texts.str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars().hash()


def trains(frame: pl.DataFrame, size: str) -> pl.Series:
    """Return which sentences of a corpus are training sentences of a size (sizes are nested).

    Args:
        frame: columns ``split`` and ``size`` of ``SENTENCES``.
        size: e.g. ``"10M"``.
    """
    names = [name for name in frame["size"].unique().to_list() if name]
    within = [name for name in names if words(name) <= words(size)]
    return (frame["split"] == "train") & frame["size"].is_in(within)
