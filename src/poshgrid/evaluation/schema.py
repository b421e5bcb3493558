"""The table of scores: column -> type."""

import polars as pl

from poshgrid.files import Schema

SCORES: Schema = {
    "item_id": pl.String,  # as in the suite's items
    "good_logprob": pl.Float64,  # sum over the scored tokens, nats
    "bad_logprob": pl.Float64,  # sum over the scored tokens, nats
    "good_tokens": pl.UInt32,  # scored tokens
    "bad_tokens": pl.UInt32,  # scored tokens
}
