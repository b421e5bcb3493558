"""The tables that statistics write: columns, types and units.

Tables of one target lie in ``results/statistics/{target}/`` (counts, accuracy) and those of a
Bayesian model in ``results/statistics/{target}/{model}/`` (summary); those of training in
``results/statistics/{target}/curves/`` (curves, curves_mean, training).
"""

from __future__ import annotations

import polars as pl

RUN_AXES = ("condition", "size", "learner", "regimen", "bias")
"""The axes of the grid but for the seed: what an average over seeds is an average of."""

COUNTS = {
    "condition": pl.String,
    "size": pl.String,  # as in the config, e.g. "10M"
    "learner": pl.String,
    "regimen": pl.String,  # "untrained", "counted": nulls; "pretrained": somebody else's model
    "bias": pl.String,  # "none": no inductive bias
    "seed": pl.UInt32,
    "suite": pl.String,
    "category": pl.String,
    "phenomenon": pl.String,
    "correct": pl.Float64,  # pairs judged right, a tie counted as half
    "ties": pl.UInt32,  # pairs whose members score the same
    "n": pl.UInt32,  # pairs
    "words": pl.UInt64,  # words that the size names
    "source": pl.String,  # the condition's base
    "filtered": pl.Boolean,  # evidence removed and none put back
}
"""``counts.parquet``: one row per run, suite and phenomenon."""

LEVELS = ("phenomenon", "category", "overall", "average")
"""What an accuracy is an accuracy of.

``overall`` is the mean of the categories (the paper's Table 3), ``average`` the mean of the
phenomena (its Table 8).
"""

ACCURACY = {
    "condition": pl.String,
    "size": pl.String,
    "words": pl.UInt64,  # words that the size names
    "learner": pl.String,
    "regimen": pl.String,
    "bias": pl.String,
    "suite": pl.String,
    "level": pl.String,  # one of LEVELS
    "category": pl.String,  # "" for overall and average
    "phenomenon": pl.String,  # "" but for level "phenomenon"
    "mean": pl.Float64,  # share of pairs, 0-1: mean over seeds of the seed's accuracy
    "sd": pl.Float64,  # the same unit: sample SD over seeds; null with one seed
    "n_seeds": pl.UInt32,
    "n_pairs": pl.UInt32,  # pairs that each seed judged
    "low": pl.Float64,  # 95% interval of the mean, pairs clustered by lexical set; null when a
    "high": pl.Float64,  # phenomenon has fewer than two sets
    "p_pooled": pl.Float64,  # chi-square against 50% over all seeds' pairs, uncorrected
    "stars_pooled": pl.String,  # "", "*" < .05, "**" < .01, "***" < .001
    "p_fisher_holm": pl.Float64,  # per-seed chi-squares, Fisher-combined, Holm within the column
    "stars_fisher_holm": pl.String,
    # Means of the nulls; null in their own rows and where the grid has none:
    "untrained": pl.Float64,  # untrained runs of the same condition, size and learner
    "unigram": pl.Float64,  # counted on the same condition and size
    "ngram": pl.Float64,
    "far": pl.String,  # the nulls further than quality.tolerance from 50%, joined by ", "
}
"""``accuracy.parquet``: one row per point of the grid but for the seed, suite and level.

The p values are null for ``overall`` and ``average``: a mean of shares is no count of pairs.
"""

SUMMARY = {
    "term": pl.String,  # name in posterior.nc, e.g. "S(category)[binding]"
    "label": pl.String,  # for people, e.g. "Category (binding)"
    "kind": pl.String,  # "common", "sd" (of a group-level effect), "group" (one of its levels)
    "implicit": pl.Boolean,  # the last level of a sum-coded factor: minus the sum of the others
    "median": pl.Float64,  # log odds, as all that follows
    "mean": pl.Float64,
    "sd": pl.Float64,
    "low": pl.Float64,  # 2.5% quantile
    "high": pl.Float64,  # 97.5% quantile
    "r_hat": pl.Float64,  # rank-normalised, split; null with one chain
    "ess_bulk": pl.Float64,  # draws
    "ess_tail": pl.Float64,  # draws
}
"""``summary.parquet``: one row per coefficient of a Bayesian model."""

CURVES = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "suite": pl.String,  # of minimal pairs
    "level": pl.String,  # one of LEVELS
    "category": pl.String,  # "" for overall and average
    "phenomenon": pl.String,  # "" but for level "phenomenon"
    "step": pl.UInt32,  # steps taken before the weights were put aside; 0: the untrained null
    "epoch": pl.Float64,  # passes over the training split by then
    "kept": pl.Boolean,  # the weights that training kept; false: a checkpoint, or the null
    "accuracy": pl.Float64,  # share of pairs, 0-1; a tie counts as half
    "pairs": pl.UInt32,
    "dev_loss": pl.Float64,  # nats per token; null: not evaluated at this step
}
"""``curves.parquet``: one row per trained run, suite, level and step, and one for what was kept.

A checkpoint at the step whose weights were kept has a row beside theirs.
"""

CURVES_MEAN = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "suite": pl.String,
    "level": pl.String,  # as in CURVES, with category and phenomenon
    "category": pl.String,
    "phenomenon": pl.String,
    "kept": pl.Boolean,
    "step": pl.UInt32,  # null for what was kept: each seed has its own best step
    "epoch": pl.Float64,  # mean over seeds
    "mean": pl.Float64,  # share of pairs: mean over seeds of the seed's accuracy
    "sd": pl.Float64,  # the same unit: sample SD over seeds; null with one seed
    "n_seeds": pl.UInt32,  # those that have the step: a run that stopped early has no later ones
    "pairs": pl.UInt32,  # that each seed judged
    "dev_loss": pl.Float64,  # nats per token, mean over seeds; null unless all were evaluated here
}
"""``curves_mean.parquet``: the same over seeds."""

TRAINED = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "parameters": pl.UInt64,
    "vocabulary_size": pl.UInt32,  # types
    "steps_per_epoch": pl.UInt32,
    "steps": pl.UInt32,  # taken
    "epochs": pl.Float64,
    "best_step": pl.UInt32,  # whose weights were kept
    "stopped": pl.String,  # by "steps" or "patience"
    "tokens": pl.UInt64,  # predicted in training
    "tokens_per_second": pl.Float64,
    "initial_dev_loss": pl.Float64,  # nats per token, as all losses
    "dev_loss": pl.Float64,  # of the weights that were kept
    "dev_perplexity": pl.Float64,
    "test_loss": pl.Float64,
    "test_perplexity": pl.Float64,
    "device": pl.String,
}
"""``training.parquet``: one row per trained run. Losses of different tokenizers do not compare."""
