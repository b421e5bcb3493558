"""The table of parses: one row for each sentence of a corpus."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from poshgrid.core.files import Schema, table_batches

PARSES: Schema = {
    "sent_id": pl.UInt32,  # row of the corpus's sentences
    "form": pl.List(pl.String),  # words as the parser receives them: do n't, wan na
    "upos": pl.List(pl.String),  # universal part of speech of each word
    "feats": pl.List(pl.String),  # morphological features, CoNLL-U notation; "_": none
    "head": pl.List(pl.UInt16),  # 1-based position of the governor; 0: root
    "deprel": pl.List(pl.String),  # relation to the governor, with subtype: acl:relcl
}
"""``parses/{corpus}/{parser}/{shard}/parses.parquet``; a row has five lists of one length."""


def first_sentence(path: Path) -> int:
    """Return the sent_id of a shard's first tree, for sorting the shards; -1 if it is empty."""
    pieces = table_batches(path, PARSES, ["sent_id"])
    return next((int(piece["sent_id"][0]) for piece in pieces if piece.height), -1)
