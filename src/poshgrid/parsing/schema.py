"""The table of parses: one row for each sentence of a corpus."""

from __future__ import annotations

import polars as pl

from poshgrid.files import Schema

PARSES: Schema = {
    "sent_id": pl.UInt32,  # row of the corpus's sentences
    "form": pl.List(pl.String),  # words as the parsers see them: do n't, wan na
    "upos": pl.List(pl.String),  # universal part of speech of each word
    "feats": pl.List(pl.String),  # morphological features, CoNLL-U notation; "_": none
    "head": pl.List(pl.UInt16),  # 1-based place of the governor; 0: root
    "deprel": pl.List(pl.String),  # relation to the governor, with subtype: acl:relcl
}
"""``parses/{corpus}/{parser}/{shard}.parquet``; the five lists of a row are equally long."""
