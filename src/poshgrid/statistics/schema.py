"""The tables that statistics write: columns, types and units.

Tables of one target lie in ``results/statistics/{target}/`` (counts, accuracy) and those of a
Bayesian model in ``results/statistics/{target}/regressions/{regression}/`` (summary, contrasts,
predictive); those of training in ``results/statistics/{target}/curves/`` (curves, curves_mean,
training), those of filtering in ``results/statistics/{target}/deltas/`` (deltas, delta_tests).
"""

from __future__ import annotations

import polars as pl

RUN_AXES = ("condition", "size", "model", "recipe", "bias")
"""The axes of the grid but for the seed: what an average over seeds is an average of."""

YES, NO, CANNOT_TELL, NOT_TESTABLE = "yes", "no", "cannot tell", "not testable"
"""Verdicts on whether a phenomenon is learned."""

COUNTS = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "suite": pl.String,
    "category": pl.String,
    "phenomenon": pl.String,
    "template": pl.String,  # or paradigm, as the items have it
    "correct": pl.Float64,  # pairs judged right, a tie counted as half
    "ties": pl.UInt32,  # pairs whose members score the same
    "n": pl.UInt32,  # pairs
    "words": pl.UInt64,  # that the run was trained on; 0: a pretrained model
    "source": pl.String,  # the condition's corpus
    # evidence removed and none put back, or what the condition's `filtered` says
    "filtered": pl.Boolean,
}
"""``statistics/{target}/counts.parquet``: one row per run, suite and template."""

LEVELS = ("phenomenon", "category", "overall", "average")
"""What an accuracy is an accuracy of.

``overall`` is the mean of the categories (the paper's Table 3), ``average`` the mean of the
phenomena (its Table 8).
"""

PARTS = ("template", "cell")
"""What a phenomenon is made of: levels of accuracy below it, where it has several."""

ACCURACY = {
    "condition": pl.String,
    "size": pl.String,
    "words": pl.UInt64,  # that the runs were trained on; 0: a pretrained model
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
    # 95% interval of the mean: bootstrap over lexical sets; null when a phenomenon has fewer than
    # two
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
    # the baseline or heuristic that is right most often; "50%" if all with a say are below; null,
    # as what follows, of other levels than "phenomenon" and of baselines
    "rival": pl.String,
    "rival_mean": pl.Float64,  # its accuracy
    "above_rival": pl.Float64,  # `mean` less `rival_mean`
    # 95% interval over sets and seeds, seeds pooled over cells; null where no cell has several
    "above_rival_low": pl.Float64,
    "above_rival_high": pl.Float64,
    # "yes": above every baseline and heuristic; "no": less than 5 points above the rival; "cannot
    # tell"; "not testable": the rival is right on 95%, or on 95% of what a hierarchical heuristic
    # has a say on. "yes" and "no" hold for the whole suite (Holm)
    "learned": pl.String,
}
"""``statistics/{target}/accuracy.parquet``: one row per point of the grid but for the seed, suite
and level.

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
"""``statistics/{target}/regressions/{regression}/summary.parquet``: one row per coefficient.
"""

CONTRASTS = {
    "contrast": pl.String,  # its name, or "{first} - {less}"
    "factor": pl.String,  # e.g. "condition"
    "first": pl.String,  # level
    "less": pl.String,  # level that is subtracted
    "by": pl.String,  # factor at one level of which the difference is taken; "": all of the data
    "level": pl.String,  # of that factor; "" where there is none
    # points of the grid (phenomena not counted) that both levels have: what the contrast is taken
    # over
    "cells": pl.UInt32,
    "median": pl.Float64,  # difference of log odds, as sd, low, high
    "mean": pl.Float64,
    "sd": pl.Float64,
    "low": pl.Float64,  # 2.5% quantile
    "high": pl.Float64,  # 97.5% quantile
    "above": pl.Float64,  # posterior probability that the difference is above 0
    "share": pl.Float64,  # the same difference in accuracy (share of pairs): median
    "share_low": pl.Float64,
    "share_high": pl.Float64,
    # 95% interval of the difference in accuracy, simultaneous over the rows of a contrast with this
    # `by` (Bonferroni); a difference is clear where it leaves 0 out
    "joint_low": pl.Float64,
    "joint_high": pl.Float64,  # as joint_low
    # observed accuracy of the first level less that of the other, over the same cells with the same
    # weights, seeds alike (share): the model draws large differences towards 0
    "raw": pl.Float64,
    "words_first": pl.UInt64,  # words trained on, mean over these cells
    "words_less": pl.UInt64,  # as words_first
    "r_hat": pl.Float64,  # of the difference of log odds; null with one chain
    "ess_bulk": pl.Float64,
    "ess_tail": pl.Float64,
}
"""``statistics/{target}/regressions/{regression}/contrasts.parquet``: contrasts by level."""

PREDICTIVE = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "category": pl.String,
    "phenomenon": pl.String,
    "n_seeds": pl.UInt32,
    "n": pl.UInt64,  # pairs, over seeds
    "observed": pl.Float64,  # share of pairs judged right
    "predicted": pl.Float64,  # the same of replicated data: median
    "low": pl.Float64,  # 2.5% quantile
    "high": pl.Float64,  # 97.5% quantile
    "p": pl.Float64,  # two-sided posterior predictive p, replications that tie counted as half
}
"""``statistics/{target}/regressions/{regression}/predictive.parquet``: a row per cell that a
model was fitted to, seeds taken together.
"""

DELTAS = {
    **dict.fromkeys(RUN_AXES, pl.String),  # condition: the filtered one
    "full": pl.String,  # the condition that it is set against
    "suite": pl.String,
    "level": pl.String,  # as in `accuracy`
    "category": pl.String,  # "" for overall and average
    "phenomenon": pl.String,  # "" but for level "phenomenon"
    "targeted": pl.Boolean,  # a filter of the condition is aimed at the phenomenon
    "n_seeds": pl.UInt32,
    "n_seeds_full": pl.UInt32,
    "accuracy": pl.Float64,  # share of pairs, mean over seeds
    "accuracy_full": pl.Float64,
    "delta": pl.Float64,  # accuracy less accuracy_full (FiCT, equation 1)
    "delta_sd": pl.Float64,  # over the filtered models' seeds; null with one
    "margin": pl.Float64,  # mean log P(good) - log P(bad), nats, scores averaged over seeds (eq. 2)
    "margin_full": pl.Float64,
    "r": pl.Float64,  # Pearson's, of the pairs' margins before and after filtering (section 5.4)
}
"""``statistics/{target}/deltas/deltas.parquet``: one row per filtered point of the grid, suite and
level.

The margins and r are null for the levels above the phenomenon.
"""

DELTA_TESTS = {
    # "accuracy", "delta", "corpus delta" (a condition's mean; full ones have 0), "targeted
    # accuracy", "targeted delta", "margin", "targeted margin delta", "targeted r" (FiCT, Figure 5B
    # and C), "suite perplexity" (of good members), "perplexity"
    "measure": pl.String,
    "suite": pl.String,  # "" for perplexity
    "axis": pl.String,  # what two values of are compared, e.g. "model"
    "first": pl.String,  # one of them
    "second": pl.String,  # the other
    "pairs": pl.UInt32,  # conditions, or conditions and phenomena, that both have
    "mean_first": pl.Float64,  # over these pairs
    "mean_second": pl.Float64,  # likewise
    "t": pl.Float64,  # paired t test, first less second; null with fewer than two pairs
    "df": pl.UInt32,
    "p": pl.Float64,  # two-sided, uncorrected
    "r": pl.Float64,  # Pearson's, of the paired values
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
    "step": pl.UInt32,  # steps taken before the weights were put aside; 0: the untrained baseline
    # passes over the training split by then: the step divided by the run's `steps_per_epoch`
    "epoch": pl.Float64,
    # the weights that training kept; false: a checkpoint, or the untrained baseline
    "kept": pl.Boolean,
    "accuracy": pl.Float64,  # share of pairs, 0-1; a tie counts as half
    "pairs": pl.UInt32,
    "dev_loss": pl.Float64,  # nats per token; null: not evaluated at this step
}
"""``statistics/{target}/curves/curves.parquet``: one row per trained run, suite, level and step,
and one for what was kept.

A checkpoint at the step whose weights were kept has a row beside theirs.
"""

CURVES_MEAN = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "suite": pl.String,
    "level": pl.String,  # as in `curves`, with category and phenomenon
    "category": pl.String,
    "phenomenon": pl.String,
    "kept": pl.Boolean,  # as in `curves`
    "step": pl.UInt32,  # null for what was kept: each seed has its own best step
    "epoch": pl.Float64,  # mean over seeds
    "mean": pl.Float64,  # share of pairs: mean over seeds of the seed's accuracy
    "sd": pl.Float64,  # the same unit: sample SD over seeds; null with one seed
    "n_seeds": pl.UInt32,  # those that have the step: a run that stopped early has no later ones
    "pairs": pl.UInt32,  # that each seed judged
    "dev_loss": pl.Float64,  # nats per token, mean over seeds; null unless all were evaluated here
}
"""``statistics/{target}/curves/curves_mean.parquet``: the same over seeds."""

TRAINED = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "parameters": pl.UInt64,
    "vocabulary_size": pl.UInt32,  # types
    "steps_per_epoch": pl.UInt32,
    "steps": pl.UInt32,  # taken
    "epochs": pl.Float64,  # passes over the training split
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
"""``statistics/{target}/curves/training.parquet``: one row per trained run. Losses of different
tokenizers do not compare.
"""

DEVELOPMENT = {
    "over": pl.String,  # "sizes": each has models of its own; "checkpoints" of the runs of a size
    **dict.fromkeys(RUN_AXES, pl.String),
    "size": pl.String,  # of the runs whose checkpoints these are; "" over sizes
    "model": pl.String,  # over sizes, those of all sizes, joined by ", "
    "suite": pl.String,
    "category": pl.String,
    "phenomenon": pl.String,
    "points": pl.UInt32,  # sizes or checkpoints
    "first": pl.Float64,  # words of the first
    "last": pl.Float64,  # words of the last
    # words at which the mean first lies above the best rival by 5 points, on straight lines between
    # points (log words), a convention; null: from the first point on, or at none
    "onset": pl.Float64,
    # words with which it is surely not yet learned, a point: lower end of the 95% interval (other
    # seeds, other words); null: open
    "low": pl.Float64,
    "high": pl.Float64,  # words with which it surely is, likewise
    # the ends that are known: "within" (both), "by", "after", "cannot tell" (none); "turns back":
    # surely above, later surely not; "not testable": as in `accuracy`, at every point
    "status": pl.String,
}
"""``report/{target}/development.parquet``: after how many words a phenomenon is first learned; one
row per curve.
"""

RATIOS = {
    "over": pl.String,  # as in `development`, with the axes
    **dict.fromkeys(RUN_AXES, pl.String),
    "suite": pl.String,
    "category": pl.String,
    "phenomenon": pl.String,
    "than": pl.String,  # the condition that `condition` is compared with
    "ratio": pl.Float64,  # words that `condition` needs for each word of `than`, by `onset`
    "low": pl.Float64,  # lower end of its 95% interval; null: open
    "high": pl.Float64,  # upper end
}
"""``report/{target}/ratios.parquet``: conditions that differ in filtering, or in register."""

EXPOSURE = {
    "condition": pl.String,
    "size": pl.String,  # as in the config: the words of its corpus, rounded
    "corpus": pl.String,  # that the condition is made from
    "source": pl.String,  # "all": of the corpus
    "corpus_sentences": pl.UInt64,  # of the corpus at this size, before filters; null: ready files
    "corpus_words": pl.UInt64,  # the same
    "sentences": pl.UInt64,  # that the model sees in one pass
    "distinct": pl.UInt64,  # different ones among them
    "words": pl.UInt64,  # separated by spaces, in one pass
    "tokens": pl.UInt64,  # in one pass, with a boundary for each sentence
    "epochs_low": pl.Float64,  # fewest passes that the kept weights of a run saw; null: no run yet
    "epochs_high": pl.Float64,  # most passes
    "words_seen_low": pl.UInt64,  # `words` times the fewest passes
    "words_seen_high": pl.UInt64,  # `words` times the most passes
    "tokens_seen_low": pl.UInt64,  # `tokens` times the fewest passes
    "tokens_seen_high": pl.UInt64,  # `tokens` times the most passes
}
"""``report/{target}/exposure.parquet``: what the models see, compared with their corpus."""

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
"""``statistics/{target}/deltas/perplexity.parquet``: one row per trained run, on text that nothing
was removed from.
"""
