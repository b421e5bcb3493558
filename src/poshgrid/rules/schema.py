"""What the stages of the rules write: column -> type."""

import polars as pl

from poshgrid.files import Schema

RULES: Schema = {
    "item_id": pl.String,
    "rule": pl.String,  # a module of poshgrid.rules.rivals, e.g. "first-auxiliary"
    "hierarchical": pl.Boolean,  # stands for the hierarchical hypothesis: no rival of it
    "prefers": pl.Float64,  # 1 the good member, 0 the bad one, .5 a tie; null: no say
}
"""``rules/{suite}.parquet``: what the rules that need nothing but the words say of each pair."""

_CELL: Schema = {
    "condition": pl.String,
    "size": pl.String,
    "learner": pl.String,
    "regimen": pl.String,
    "bias": pl.String,
}
_PHENOMENON: Schema = {"suite": pl.String, "category": pl.String, "phenomenon": pl.String}

SHARES: Schema = {
    **_CELL,
    **_PHENOMENON,
    "rule": pl.String,
    "scope": pl.String,  # all: where the rule has a say; disputed: where another one disagrees
    "seeds": pl.UInt32,
    "sets": pl.UInt32,  # lexical sets with such pairs
    "pairs": pl.UInt32,  # such pairs; joint ones are one
    "share": pl.Float64,  # of the choices, over all seeds, that are the rule's
    "sd": pl.Float64,  # over seeds; null with one
    "low": pl.Float64,  # 95% bootstrap interval over lexical sets; null with one set
    "high": pl.Float64,
}
"""``shares.parquet``: a row for each rule that has a say in a phenomenon."""

MIXTURE: Schema = {
    **_CELL,
    **_PHENOMENON,
    "rule": pl.String,  # rules that say the same of every pair are one: "a = b"; or "guessing"
    "weight": pl.Float64,  # share of the choices that follow the rule
    "low": pl.Float64,  # 95% bootstrap interval over lexical sets; null with one set
    "high": pl.Float64,
    "largest": pl.Float64,  # share of replicates in which it has the largest weight of all rules
    "named": pl.Boolean,  # one of the fewest whose ``largest`` sum to .95, or hardly told from it
    "seeds": pl.UInt32,
    "sets": pl.UInt32,
    # The mixture's share of good members less the learner's: far from 0 where no rule explains why
    # a learner is above or below 50%
    "off": pl.Float64,
}
"""``mixture.parquet``: which rules a learner's choices in a phenomenon are a mixture of."""

IDENTIFIABILITY: Schema = {
    **_PHENOMENON,
    "rule": pl.String,
    "other": pl.String,
    "both": pl.UInt32,  # lexical sets on which both have a say; the cell with the fewest
    "apart": pl.UInt32,  # lexical sets on which they disagree; the cell with the fewest
    "apart_most": pl.UInt32,  # ... with the most: rules that count words depend on the cell
}
"""``identifiability.parquet``: how well a suite's items tell two rules apart."""
