"""What the stages of the rules write: column -> type."""

import polars as pl

from poshgrid.config.runs import AXES
from poshgrid.files import Schema

RULES: Schema = {
    "item_id": pl.String,  # as in the suite's items
    "rule": pl.String,  # a module of `src/poshgrid/rules/rivals`, e.g. "first-auxiliary"
    "hierarchical": pl.Boolean,  # stands for the hierarchical hypothesis: no rival of it
    "prefers": pl.Float64,  # 1 the good member, 0 the bad one, .5 a tie; null: the rule has no say
}
"""``rules/{suite}.parquet``: what the rules that need nothing but the words say of each pair."""

_PHENOMENON: Schema = dict.fromkeys(("suite", "category", "phenomenon"), pl.String)
_CELL: Schema = dict.fromkeys(AXES[:-1], pl.String)  # a learner's: all axes but the seed

SHARES: Schema = {
    **_CELL,
    **_PHENOMENON,
    "rule": pl.String,
    # all: pairs that the rule has a say on; disputed: those where another rule says the opposite
    "scope": pl.String,
    "seeds": pl.UInt32,  # of the learner
    "sets": pl.UInt32,  # lexical sets with such pairs
    "pairs": pl.UInt32,  # such pairs; joint ones are one
    "right": pl.Float64,  # share of them whose good member the rule prefers: its own accuracy
    # of the choices, over all seeds, that are the rule's; a tie is half of one
    "share": pl.Float64,
    "sd": pl.Float64,  # over seeds; null with one
    "low": pl.Float64,  # 95% bootstrap interval over lexical sets; null with one set
    "high": pl.Float64,
}
"""``statistics/{target}/rules/shares.parquet``: a row for each rule that has a say in a
phenomenon.
"""

MIXTURE: Schema = {
    **_CELL,
    **_PHENOMENON,
    # rules that say the same of every pair are one: "a = b"; "guessing": what follows none
    "rule": pl.String,
    "weight": pl.Float64,  # share of the choices that follow the rule
    "low": pl.Float64,  # 95% bootstrap interval over lexical sets; null with one set
    "high": pl.Float64,
    # share of replicates in which the rule has the largest weight; of guessing: in which no rule
    # has more than a tenth
    "largest": pl.Float64,
    # one of the fewest whose `largest` sum to .95, or told from one of these by fewer than ten sets
    "named": pl.Boolean,
    "seeds": pl.UInt32,  # of the learner
    "sets": pl.UInt32,  # lexical sets of the phenomenon
    # share of good members that the mixture expects, less the learner's: far from 0 where no rule
    # explains why it is above or below 50%
    "off": pl.Float64,
}
"""``statistics/{target}/rules/mixture.parquet``: which rules a learner's choices in a phenomenon
are a mixture of.
"""

IDENTIFIABILITY: Schema = {
    **_PHENOMENON,
    "rule": pl.String,
    "other": pl.String,  # another rule
    # lexical sets on which both have a say; of the condition and size with the fewest
    "both": pl.UInt32,
    # lexical sets on which they disagree; of the condition and size with the fewest
    "apart": pl.UInt32,
    # the same, of those with the most: what counting rules say depends on the text
    "apart_most": pl.UInt32,
}
"""``statistics/{target}/rules/identifiability.parquet``: how well a suite's items tell two rules
apart.
"""
