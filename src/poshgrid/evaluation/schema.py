"""Tables of scores, one for each task: column -> type."""

import polars as pl

from poshgrid.core.files import Schema

_STEP = {
    "step": pl.UInt32,  # optimiser step of a checkpoint; null: the kept model
}

SCORES: Schema = {
    "item_id": pl.String,  # as in the suite's items
    **_STEP,
    "good_logprob": pl.Float64,  # sum over the scored tokens, nats
    "bad_logprob": pl.Float64,  # sum over the scored tokens, nats
    "good_tokens": pl.UInt32,  # number of scored tokens
    "bad_tokens": pl.UInt32,  # number of scored tokens
}
"""``scores/{run}/{suite}.parquet`` of pairs."""

PARADIGM_SCORES: Schema = {
    "item_id": pl.String,
    **_STEP,
    "filler": pl.Boolean,
    "gap": pl.Boolean,
    "logprob": pl.Float64,  # sum over the tokens of the critical region, nats
    "tokens": pl.UInt32,  # tokens of the critical region
}
"""``scores/{run}/{suite}.parquet`` of paradigms: four rows for each item."""

CHOICE_SCORES: Schema = {
    "item_id": pl.String,
    **_STEP,
    "option": pl.UInt32,
    "logprob": pl.Float64,  # sum over the scored tokens of the whole text, nats
    "tokens": pl.UInt32,
}
"""``scores/{run}/{suite}.parquet`` of choices: a row for each option."""

COMPLETION_SCORES: Schema = {
    "item_id": pl.String,
    **_STEP,
    "completion": pl.String,  # text that the model generated
    "correct": pl.Boolean,  # whether an accepted continuation is in it
}
"""``scores/{run}/{suite}.parquet`` of completions."""

TASKS: dict[str, Schema] = {
    "pairs": SCORES,
    "paradigms": PARADIGM_SCORES,
    "choices": CHOICE_SCORES,
    "completions": COMPLETION_SCORES,
}
"""Task of a suite -> columns of its scores."""
