"""The contract of ``training.jsonl``: one line for each evaluation, in the order of steps."""

from __future__ import annotations

import polars as pl

TRAINING = {
    "step": pl.Int64,  # steps taken before this evaluation; 0: the initial weights
    "epoch": pl.Float64,  # passes over the training split so far
    "tokens": pl.Int64,  # tokens predicted so far, padding only with `padding_in_loss`
    "train_loss": pl.Float64,  # mean NLL per token since the last line, nats; null at step 0
    "bias_loss": pl.Float64,  # what the biases added to it, nats per token; null at step 0
    "dev_loss": pl.Float64,  # mean NLL per token of the dev split, nats
    "learning_rate": pl.Float64,  # of the last step; null at step 0
    "tokens_per_second": pl.Float64,  # of training steps, since the last line; null at step 0
}
"""``models/{...}/seed{seed}/training.jsonl``: a line for each evaluation."""
