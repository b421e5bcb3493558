"""The tables of results on paradigms, choices and completions: columns, types and units.

They lie in ``results/statistics/{target}/measures/{suite}/``. A *result* is what is measured of one
run; *measures* are the results of all runs of a target.
"""

from __future__ import annotations

import polars as pl

from poshgrid.files import Schema
from poshgrid.statistics.schema import RUN_AXES

RUN: Schema = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "suite": pl.String,
}
"""The columns that name a run and the suite it was measured on."""

SUBSETS = ("all", "unambiguous", "ambiguous")
"""Which sets of filler x gap: those whose subject may be read as a clause are ambiguous."""

MEASURES = ("delta_plus_filler", "delta_minus_filler", "did")
"""What is measured of a set: :func:`poshgrid.statistics.measures.paradigms.differences`."""

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
    "mean": pl.Float64,  # bits, with the sign asked for
    "sd": pl.Float64,  # the same unit, over sets; null, as all that follows, with one set
    "mean_low": pl.Float64,  # 95% t interval of the mean
    "mean_high": pl.Float64,
    "t": pl.Float64,  # one-sample t test against 0; null, as its p values, where sd is 0
    "df": pl.UInt32,  # degrees of freedom of t
    "p_one": pl.Float64,  # one-tailed, in the direction of success
    "p_two": pl.Float64,  # two-tailed
    # of a subset's accuracy against the sets outside it, with Yates's correction (df 1); null for
    # "all", and where there are no others
    "chi_square": pl.Float64,
    "p_chi_square": pl.Float64,  # of it
    # against all sets, it among them, as published (Pistotti et al., section 4.1)
    "chi_square_all": pl.Float64,
}
"""A run on paradigms: one row for each phenomenon, subset and measure.

``delta_minus_filler`` is right on the other side of 0: without a filler, the object is expected.
"""

PARADIGM_MEASURES: Schema = {**RUN, **PARADIGM_RESULT}
"""``statistics/{target}/measures/{suite}/measures.parquet`` of paradigms: the same of every run."""

CHOICE_RESULT: Schema = {
    "level": pl.String,  # phenomenon, category, suite: all items of it
    "category": pl.String,  # "" for the suite
    "phenomenon": pl.String,  # "" but for level "phenomenon"
    "n": pl.UInt32,  # items
    "raw": pl.Float64,  # items right, a tie of k options counted as 1/k: the raw score
    "ties": pl.UInt32,  # items whose lowest perplexity belongs to several options
    "accuracy": pl.Float64,  # share of items, 0-1
    "low": pl.Float64,  # 95% Wilson interval of the share
    "high": pl.Float64,
    "chance": pl.Float64,  # mean of 1 / options; null for completions, as what follows
    "p": pl.Float64,  # two-sided exact test of raw against chance, uncorrected
    "test": pl.String,  # binomial; poisson-binomial: items differ in the number of options
    "blocks": pl.UInt32,  # blocks of items; null without blocks, as what follows
    "blocks_passed": pl.UInt32,  # of these, passed
    "blocks_chance": pl.Float64,  # blocks that guessing passes on average; null for completions
    "rule": pl.String,  # when an item is right, in words
}
"""A run on choices or completions: one row for each phenomenon and category, and the suite."""

CHOICE_MEASURES: Schema = {**RUN, **CHOICE_RESULT}
"""``statistics/{target}/measures/{suite}/measures.parquet`` of choices and completions: the same
of every run.
"""

ANSWERS: Schema = {
    **RUN,
    "item_id": pl.String,
    "category": pl.String,
    "phenomenon": pl.String,
    "block": pl.String,  # "" without blocks
    "answer": pl.String,  # the whole text with the option that was chosen; what was written
    "correct": pl.Boolean,  # whether it is right
    "right": pl.String,  # the whole text with the target; accepted continuations, divided by |
}
"""``statistics/{target}/measures/{suite}/answers.parquet`` of choices and completions: one row per
run and item that it got wrong, and per completion that is right; a tie that holds the target is not
wrong.
"""

TAGS: Schema = {
    **RUN,
    "tag": pl.String,  # of items, e.g. "negation"
    "other": pl.String,  # items that have both tags; "": all that have the first
    "n": pl.UInt32,  # items
    "raw": pl.Float64,  # items right, as in measures
    "accuracy": pl.Float64,  # share of items, 0-1
    "low": pl.Float64,  # 95% Wilson interval of the share
    "high": pl.Float64,
    "n_rest": pl.UInt32,  # items without the tag; with both tags: those of the first alone
    "raw_rest": pl.Float64,  # of these, right
    # two-sided, Fisher's exact test of the two shares, uncorrected; null without a rest
    "p": pl.Float64,
}
"""``statistics/{target}/measures/{suite}/tags.parquet`` of choices and completions whose items have
tags: one row per run, tag, and second tag.
"""

NORMS: Schema = {
    **RUN,
    "category": pl.String,  # of the norm; the suite's name: the test as a whole
    "score": pl.String,  # what is normed: raw, blocks
    # of the items that the suite leaves out of the normed test, those taken as right: a row with
    # none of them, a row with all
    "excluded_right": pl.UInt32,
    "value": pl.Float64,  # the run's, and these
    # years;months, or "< 4;0"; "" without a table of ages
    "age_equivalent": pl.String,
    "age_months": pl.UInt32,  # the same in months; null where it is "" or below the table
    "typical_from": pl.UInt32,  # months: beginning of the first band within one SD; null: none is
    "typical_to": pl.UInt32,  # months: end of the last one
    "age_from": pl.String,  # of the band: years;months; "" without bands
    "age_to": pl.String,  # its end
    "own_age": pl.Boolean,  # the age equivalent lies in the band
    "mean": pl.Float64,  # of the band's children; null: without bands
    "sd": pl.Float64,  # of the band's children
    "z": pl.Float64,  # (value - mean) / sd
    "standard": pl.Float64,  # standard score: 100 + 15 z
    "percentile": pl.Float64,  # of z in a normal distribution, 0-100
}
"""``statistics/{target}/measures/{suite}/norms.parquet``: one row per run, norm and age band, two
where the suite leaves items of the normed test out.
"""
