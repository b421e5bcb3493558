"""The tables that statistics write: columns, types and units.

``results/statistics/{target}/`` has the tables of a target (counts, accuracy). Folders below it
have the tables of a Bayesian model (``regressions/{regression}/``: summary, contrasts, predictive),
of training (``curves/``: curves, training) and of filtering (``deltas/``: deltas,
delta_tests, perplexity).
"""

from __future__ import annotations

import polars as pl

RUN_AXES = ("condition", "size", "model", "recipe", "bias")
"""The axes of the grid without the seed. Their values name a point of the grid."""

YES, NO, CANNOT_TELL, NOT_TESTABLE = "yes", "no", "cannot tell", "not testable"
"""Verdicts on whether a phenomenon is learned."""

COUNTS = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "suite": pl.String,
    "category": pl.String,
    "phenomenon": pl.String,
    "template": pl.String,  # of the items; in some suites, the paradigm
    "correct": pl.Float64,  # pairs judged right, a tie counted as half
    "ties": pl.UInt32,  # pairs whose members score the same
    "n": pl.UInt32,  # pairs
    "words": pl.UInt64,  # words that the run was trained on; 0: a pretrained model
    "source": pl.String,  # the condition's corpus
    # whether evidence was removed and none put back; the condition's key `filtered` overrides it
    "filtered": pl.Boolean,
}
"""``statistics/{target}/counts.parquet``: one row per run, suite and template."""

LEVELS = ("phenomenon", "category", "overall", "average")
"""Levels of accuracy.

``overall`` is the mean of the categories (the paper's Table 3), ``average`` the mean of the
phenomena (its Table 8).
"""

PARTS = ("template", "cell")
"""Levels of accuracy below the phenomenon, if it has several templates or cells."""

ACCURACY = {
    "condition": pl.String,
    "size": pl.String,
    "words": pl.UInt64,  # words that the runs were trained on; 0: a pretrained model
    "model": pl.String,
    "recipe": pl.String,
    "bias": pl.String,
    "suite": pl.String,
    # phenomenon, category, overall, average; template and cell of phenomena that have several
    "level": pl.String,
    "category": pl.String,  # "" for overall and average
    "phenomenon": pl.String,  # "" above level "phenomenon"
    "part": pl.String,  # the template, or cell of a design; "" above them
    "mean": pl.Float64,  # share of pairs, 0-1: mean over seeds of the seed's accuracy
    "sd": pl.Float64,  # the same unit: sample SD over seeds; null with one seed
    "n_seeds": pl.UInt32,
    "n_pairs": pl.UInt32,  # pairs that each seed judged
    # 95% interval of the mean: bootstrap over lexical sets; null if a phenomenon has fewer than two
    # sets
    "low": pl.Float64,
    "high": pl.Float64,
    "mean_sum": pl.Float64,  # accuracy if scores were sums of log-probabilities over tokens
    "mean_mean": pl.Float64,  # accuracy if they were means over tokens; one of both is `mean`
    "p_pooled": pl.Float64,  # chi-square against 50% over all seeds' pairs, uncorrected
    "stars_pooled": pl.String,  # "", "*" < .05, "**" < .01, "***" < .001
    "p_fisher_holm": pl.Float64,  # per-seed chi-squares, Fisher-combined, Holm within a model
    "stars_fisher_holm": pl.String,
    # mean of the untrained runs of the same condition, size and model; null in the rows of
    # baselines, and where the grid has none
    "untrained": pl.Float64,
    "unigram": pl.Float64,  # the unigram baseline of the same condition and size
    "ngram": pl.Float64,  # the n-gram baseline
    "class_ngram": pl.Float64,  # n-grams over function words and word endings
    "far": pl.String,  # the baselines further than 5 points from 50%, joined by ", "
    # the baseline or heuristic with the highest accuracy; "50%" if all are below 50%; null, like
    # the columns below, for baselines and for levels other than "phenomenon"
    "rival": pl.String,
    "rival_mean": pl.Float64,  # accuracy of the rival
    "above_rival": pl.Float64,  # `mean` minus `rival_mean`
    # 95% interval over sets and seeds, seeds pooled over cells; null if no cell has several seeds
    "above_rival_low": pl.Float64,
    "above_rival_high": pl.Float64,
    # "yes": above every baseline and heuristic; "no": less than 5 points above the rival; "cannot
    # tell"; "not testable": a rival is right on 95% of the pairs, or on 95% of those on which a
    # hierarchical heuristic decides. "yes" and "no" are corrected over the whole suite (Holm)
    "learned": pl.String,
}
"""``statistics/{target}/accuracy.parquet``: one row per point of the grid (seeds taken together),
suite and level.

The p values are null for ``overall`` and ``average``, because a mean of shares is not a count.
"""

HEURISTIC_AGREEMENT = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "suite": pl.String,
    "category": pl.String,
    "phenomenon": pl.String,
    "heuristic": pl.String,  # a module of `evaluation/heuristics/choices`, e.g. "first-auxiliary"
    "pairs": pl.UInt32,  # pairs on which the heuristic decides
    "sets": pl.UInt32,  # lexical sets of these pairs
    "right": pl.Float64,  # share of these pairs on which the heuristic is right
    # share of these pairs on which model and heuristic choose the same member, mean over seeds; a
    # tie of the model counts half
    "agreement": pl.Float64,
    # 95% interval over lexical sets (cluster-robust); null with one set; no width if all agree
    "low": pl.Float64,
    "high": pl.Float64,  # upper end
    # `agreement` on the pairs on which the heuristic is wrong: 1 minus the model's accuracy there;
    # null if there are none
    "where_wrong": pl.Float64,
}
"""``statistics/{target}/heuristic_agreement.parquet``: one row per point of the grid (seeds taken
together; without counted baselines), phenomenon and heuristic that decides on one of its pairs or
more.
"""

SUMMARY = {
    "term": pl.String,  # name in posterior.nc, e.g. "S(category)[binding]"
    "label": pl.String,  # name in the report, e.g. "Category (binding)"
    "kind": pl.String,  # "common", "sd" (of a group-level effect), "group" (one of its levels)
    "implicit": pl.Boolean,  # the last level of a sum-coded factor: minus the sum of the others
    "median": pl.Float64,  # log odds, like mean, sd, low and high
    "mean": pl.Float64,
    "sd": pl.Float64,
    "low": pl.Float64,  # 2.5% quantile
    "high": pl.Float64,  # 97.5% quantile
    "r_hat": pl.Float64,  # rank-normalised, split; null with one chain
    "ess_bulk": pl.Float64,  # draws
    "ess_tail": pl.Float64,  # draws
}
"""``statistics/{target}/regressions/{regression}/summary.parquet``: one row per coefficient."""

CONTRASTS = {
    "contrast": pl.String,  # its name, or "{first} - {less}"
    "factor": pl.String,  # e.g. "condition"
    "first": pl.String,  # level
    "less": pl.String,  # level that is subtracted
    "by": pl.String,  # the difference is taken at one level of this factor; "": on all data
    "level": pl.String,  # that level; "": all data
    # points of the grid that both levels have (over all phenomena); the contrast is taken over them
    "cells": pl.UInt32,
    "median": pl.Float64,  # difference of log odds, like mean, sd, low and high
    "mean": pl.Float64,
    "sd": pl.Float64,
    "low": pl.Float64,  # 2.5% quantile
    "high": pl.Float64,  # 97.5% quantile
    "above": pl.Float64,  # posterior probability that the difference is above 0
    "share": pl.Float64,  # the same difference in accuracy (share of pairs): median
    "share_low": pl.Float64,  # 2.5% quantile
    "share_high": pl.Float64,  # 97.5% quantile
    # 95% interval of the difference in accuracy, simultaneous over the rows of a contrast with the
    # same `by` (Bonferroni); a difference is clear if this interval excludes 0
    "joint_low": pl.Float64,
    "joint_high": pl.Float64,  # upper end
    # difference of the observed accuracies (share), over the same cells with the same weights; the
    # model shrinks large differences towards 0
    "raw": pl.Float64,
    "words_first": pl.UInt64,  # words that the first level was trained on, mean over the cells
    "words_less": pl.UInt64,  # words that the other level was trained on
    "r_hat": pl.Float64,  # of the difference of log odds; null with one chain
    "ess_bulk": pl.Float64,
    "ess_tail": pl.Float64,
}
"""``statistics/{target}/regressions/{regression}/contrasts.parquet``: one row per contrast, first
level, and level of ``by``.
"""

PREDICTIVE = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "category": pl.String,
    "phenomenon": pl.String,
    "n_seeds": pl.UInt32,
    "n": pl.UInt64,  # pairs, over seeds
    "observed": pl.Float64,  # share of pairs judged right
    "predicted": pl.Float64,  # the same share in replicated data: median
    "low": pl.Float64,  # 2.5% quantile of the replicated data
    "high": pl.Float64,  # 97.5% quantile of the replicated data
    "p": pl.Float64,  # two-sided posterior predictive p; a tied replication counts as half
}
"""``statistics/{target}/regressions/{regression}/predictive.parquet``: one row per fitted cell
(seeds taken together).
"""

DELTAS = {
    **dict.fromkeys(RUN_AXES, pl.String),  # condition: the filtered one
    "full": pl.String,  # the condition that it is compared with
    "suite": pl.String,
    "level": pl.String,  # as in `accuracy`
    "category": pl.String,  # "" for overall and average
    "phenomenon": pl.String,  # "" but for level "phenomenon"
    "targeted": pl.Boolean,  # a filter of the condition is aimed at the phenomenon
    "n_seeds": pl.UInt32,
    "n_seeds_full": pl.UInt32,
    "accuracy": pl.Float64,  # share of pairs, mean over seeds
    "accuracy_full": pl.Float64,
    "delta": pl.Float64,  # accuracy minus accuracy_full (FiCT, equation 1)
    "delta_sd": pl.Float64,  # over the filtered models' seeds; null with one
    "margin": pl.Float64,  # mean log P(good) - log P(bad), nats, scores averaged over seeds (eq. 2)
    "margin_full": pl.Float64,
    # Pearson's correlation of the pairs' margins before and after filtering (section 5.4)
    "r": pl.Float64,
}
"""``statistics/{target}/deltas/deltas.parquet``: one row per filtered point of the grid, suite and
level.

The margins and r are null for the levels above the phenomenon.
"""

DELTA_TESTS = {
    # "accuracy", "corpus delta" (a condition's mean; full ones have 0), "targeted accuracy",
    # "targeted delta", "targeted margin delta", "suite perplexity" (of good members), "perplexity"
    "measure": pl.String,
    "suite": pl.String,  # "" for perplexity
    "axis": pl.String,  # the axis whose values are compared, e.g. "model"
    "first": pl.String,  # one value of the axis
    "second": pl.String,  # the other value
    "pairs": pl.UInt32,  # conditions, or conditions and phenomena, that both have
    "mean_first": pl.Float64,  # mean over these pairs
    "mean_second": pl.Float64,  # mean over these pairs
    "t": pl.Float64,  # paired t test, first minus second; null with fewer than two pairs
    "df": pl.UInt32,
    "p": pl.Float64,  # two-sided, uncorrected
    "r": pl.Float64,  # Pearson's correlation of the paired values
}
"""``statistics/{target}/deltas/delta_tests.parquet``: one row per measure and pair of models (or
biases, or recipes).
"""

CURVES = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "suite": pl.String,  # of minimal pairs
    # phenomenon, category, overall (mean of the categories), average (mean of the phenomena)
    "level": pl.String,
    "category": pl.String,  # "" for overall and average
    "phenomenon": pl.String,  # "" but for level "phenomenon"
    "step": pl.UInt32,  # training steps before these weights; 0: the untrained baseline
    # passes over the training split before these weights: step / `steps_per_epoch` of the run
    "epoch": pl.Float64,
    # true: the weights that training kept; false: a checkpoint, or the untrained baseline
    "kept": pl.Boolean,
    "accuracy": pl.Float64,  # share of pairs, 0-1; a tie counts as half
    "pairs": pl.UInt32,
    "dev_loss": pl.Float64,  # nats per token; null: not evaluated at this step
}
"""``statistics/{target}/curves/curves.parquet``: one row per trained run, suite, level and step,
and one for the kept weights.

A checkpoint at the step of the kept weights has a row of its own.
"""

TRAINED = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "parameters": pl.UInt64,
    "vocabulary_size": pl.UInt32,  # types
    "steps_per_epoch": pl.UInt32,
    "steps": pl.UInt32,  # number of training steps
    "epochs": pl.Float64,  # passes over the training split
    "best_step": pl.UInt32,  # step whose weights were kept
    "stopped": pl.String,  # why training ended: "steps" or "patience"
    "tokens": pl.UInt64,  # tokens predicted in training
    "tokens_per_second": pl.Float64,
    "initial_dev_loss": pl.Float64,  # nats per token, as all losses
    "dev_loss": pl.Float64,  # of the kept weights, like all numbers below
    "dev_perplexity": pl.Float64,
    "test_loss": pl.Float64,
    "test_perplexity": pl.Float64,
    "device": pl.String,
}
"""``statistics/{target}/curves/training.parquet``: one row per trained run. Losses of different
tokenizers are not comparable.
"""

EXPOSURE = {
    "condition": pl.String,
    "size": pl.String,  # as in the configuration: the words of its corpus, rounded
    "corpus": pl.String,  # corpus of the condition
    "source": pl.String,  # of the corpus; "all": all its sources
    "corpus_sentences": pl.UInt64,  # sentences of the corpus at this size, before filters
    "corpus_words": pl.UInt64,  # words of these sentences
    "sentences": pl.UInt64,  # sentences that the model sees in one pass
    "distinct": pl.UInt64,  # different sentences among them
    "words": pl.UInt64,  # separated by spaces, in one pass
    "tokens": pl.UInt64,  # in one pass, with a boundary for each sentence
    "epochs_low": pl.Float64,  # fewest passes that the kept weights of a run saw; null: no run yet
    "epochs_high": pl.Float64,  # most passes
    "words_seen_low": pl.UInt64,  # `words` times the fewest passes
    "words_seen_high": pl.UInt64,  # `words` times the most passes
    "tokens_seen_low": pl.UInt64,  # `tokens` times the fewest passes
    "tokens_seen_high": pl.UInt64,  # `tokens` times the most passes
    "rewritten": pl.UInt64,  # number of `sentences` that rewriters changed; null: no rewriters
}
"""``report/{target}/exposure.parquet``: the text that models see, compared with their corpus."""

PERPLEXITY = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "tested": pl.String,  # the corpus whose test split was read
    "sentences": pl.UInt32,
    "words": pl.UInt64,  # separated by spaces
    "tokens": pl.UInt64,  # predicted, sentence boundaries included
    "loss": pl.Float64,  # nats per token
    "perplexity": pl.Float64,  # exp(loss): compares models of one tokenizer
    "word_perplexity": pl.Float64,  # exp(nats per word): compares models of different tokenizers
}
"""``statistics/{target}/deltas/perplexity.parquet``: one row per trained run, on unfiltered text.
"""
