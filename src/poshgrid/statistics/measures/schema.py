"""The tables of results on paradigms, choices and completions: columns, types and units.

They are in ``results/statistics/{target}/measures/{suite}/``. A *result* has the numbers of one
run; *measures* are the results of all runs of a target.
"""

from __future__ import annotations

import polars as pl

from poshgrid.core.files import Schema
from poshgrid.statistics.schema import RUN_AXES

RUN: Schema = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "suite": pl.String,
}
"""The columns that name a run and a suite."""

SUBSETS = ("all", "unambiguous", "ambiguous")
"""Subsets of the sets of filler x gap: ambiguous sets have a subject that may be read as a clause.
"""

MEASURES = ("delta_plus_filler", "delta_minus_filler", "did")
"""Measures of a set: see :func:`poshgrid.statistics.measures.paradigms.differences`."""

PARADIGM_RESULT: Schema = {
    "category": pl.String,
    "phenomenon": pl.String,
    "subset": pl.String,  # all, unambiguous, ambiguous: sets whose subject may be read as a clause
    "measure": pl.String,  # delta_plus_filler, delta_minus_filler, did: their difference
    "n": pl.UInt32,  # sets of four sentences
    "correct": pl.Float64,  # sets on the right side of 0, a tie counted as half
    "ties": pl.UInt32,  # sets at 0
    "accuracy": pl.Float64,  # share of sets, 0-1
    "low": pl.Float64,  # 95% Wilson interval of the accuracy
    "high": pl.Float64,
    "low_clustered": pl.Float64,  # 95% interval, clustered by lexical set; null with one
    "high_clustered": pl.Float64,
    "mean": pl.Float64,  # mean of the measure over sets, bits
    "sd": pl.Float64,  # bits, over sets; null, like all columns below, with one set
    "mean_low": pl.Float64,  # 95% t interval of the mean
    "mean_high": pl.Float64,
    "t": pl.Float64,  # one-sample t test against 0; null, like its p values, where sd is 0
    "df": pl.UInt32,  # degrees of freedom of t
    "p_one": pl.Float64,  # one-tailed, in the direction of success
    "p_two": pl.Float64,  # two-tailed
    # a subset's accuracy against the sets outside it, with Yates's correction (df 1); null for
    # "all", and if no set is outside
    "chi_square": pl.Float64,
    "p_chi_square": pl.Float64,  # p value of chi_square
    # a subset's accuracy against all sets, itself included, as in the paper (Pistotti et al.,
    # section 4.1)
    "chi_square_all": pl.Float64,
}
"""A run on paradigms: one row for each phenomenon, subset and measure.

``delta_minus_filler`` is right on the other side of 0: without a filler, the object is expected.
"""

PARADIGM_MEASURES: Schema = {**RUN, **PARADIGM_RESULT}
"""``statistics/{target}/measures/{suite}/measures.parquet`` of paradigms: the results of all runs.
"""

CHOICE_RESULT: Schema = {
    "level": pl.String,  # phenomenon, category, or suite (all its items)
    "category": pl.String,  # "" for the suite
    "phenomenon": pl.String,  # "" but for level "phenomenon"
    "n": pl.UInt32,  # items
    "raw": pl.Float64,  # the raw score: items right, a tie of k options counted as 1/k
    "ties": pl.UInt32,  # items with several options of the lowest perplexity
    "accuracy": pl.Float64,  # share of items, 0-1
    "low": pl.Float64,  # 95% Wilson interval of the share
    "high": pl.Float64,
    "chance": pl.Float64,  # mean of 1 / options; null for completions
    "p": pl.Float64,  # two-sided exact test of raw against chance, uncorrected; null likewise
    # binomial; poisson-binomial if items differ in the number of options; "" for completions
    "test": pl.String,
    # Spearman's correlation over items: the first option's probability among its options, and the
    # share of people who choose it; null without data from people
    "people_rho": pl.Float64,
    "blocks": pl.UInt32,  # blocks of items; null without blocks
    "blocks_passed": pl.UInt32,  # passed blocks; null without blocks
    # blocks that guessing passes on average; null without blocks and for completions
    "blocks_chance": pl.Float64,
}
"""A run on choices or completions: one row for each phenomenon and category, and the suite."""

CHOICE_MEASURES: Schema = {**RUN, **CHOICE_RESULT}
"""``statistics/{target}/measures/{suite}/measures.parquet`` of choices and completions: the results
of all runs.
"""

ANSWERS: Schema = {
    **RUN,
    "item_id": pl.String,
    "category": pl.String,
    "phenomenon": pl.String,
    "block": pl.String,  # "" without blocks
    "answer": pl.String,  # choices: the whole text with the chosen option; else the completion
    "correct": pl.Boolean,  # whether the answer is right
    # choices: the whole text with the target; else the accepted continuations, separated by |
    "right": pl.String,
}
"""``statistics/{target}/measures/{suite}/answers.parquet`` of choices and completions: one row per
run and wrong item, and per right completion; a tie that includes the target is not wrong.
"""

TAGS: Schema = {
    **RUN,
    "tag": pl.String,  # of items, e.g. "negation"
    "other": pl.String,  # second tag: the row is about items with both; "": all with the first
    "n": pl.UInt32,  # items
    "raw": pl.Float64,  # items right, as in measures
    "accuracy": pl.Float64,  # share of items, 0-1
    "low": pl.Float64,  # 95% Wilson interval of the share
    "high": pl.Float64,
    "n_rest": pl.UInt32,  # items without the tag; in rows with two tags: with the first tag only
    "raw_rest": pl.Float64,  # right items among n_rest
    # two-sided, Fisher's exact test of the two shares, uncorrected; null if n_rest is 0
    "p": pl.Float64,
}
"""``statistics/{target}/measures/{suite}/tags.parquet`` of choices and completions whose items have
tags: one row per run, tag, and second tag.
"""

NORMS: Schema = {
    **RUN,
    "category": pl.String,  # of the norm; the suite's name stands for the whole test
    "score": pl.String,  # the normed score: raw or blocks
    # how many of the items that the suite leaves out are counted as right: 0 in one row, all of
    # them in another
    "excluded_right": pl.UInt32,
    "value": pl.Float64,  # the run's score plus excluded_right
    # years;months, or "< 4;0"; "" without a table of ages
    "age_equivalent": pl.String,
    "age_months": pl.UInt32,  # the same in months; null where it is "" or below the table
    # months: start of the first band whose mean is within one SD; null: no band is
    "typical_from": pl.UInt32,
    "typical_to": pl.UInt32,  # months: end of the last such band
    "age_from": pl.String,  # start of the band, years;months; "" without bands
    "age_to": pl.String,  # end of the band
    "own_age": pl.Boolean,  # the age equivalent is in the band
    "mean": pl.Float64,  # of the band's children; null: without bands
    "sd": pl.Float64,  # of the band's children
    "z": pl.Float64,  # (value - mean) / sd
    "standard": pl.Float64,  # standard score: 100 + 15 z
    "percentile": pl.Float64,  # of z in a normal distribution, 0-100
}
"""``statistics/{target}/measures/{suite}/norms.parquet``: one row per run, norm and age band; two
rows if the suite leaves out items of the normed test.
"""
