"""What the stages of the heuristics write: column -> type."""

import polars as pl

from poshgrid.config.runs import AXES
from poshgrid.files import Schema

HEURISTICS: Schema = {
    "item_id": pl.String,  # as in the suite's items
    "heuristic": pl.String,  # a module of `src/poshgrid/heuristics/choices`, e.g. "first-auxiliary"
    "hierarchical": pl.Boolean,  # stands for the hierarchical hypothesis: no rival of it
    "prefers": pl.Float64,  # 1 the good member, 0 the bad one, .5 a tie; null: no say
}
"""``heuristics/{suite}.parquet``: what heuristics that only need words say of each pair."""

_PHENOMENON: Schema = dict.fromkeys(("suite", "category", "phenomenon"), pl.String)
_CELL: Schema = dict.fromkeys(AXES[:-1], pl.String)  # a model's: all axes but the seed

MIXTURE: Schema = {
    **_CELL,
    **_PHENOMENON,
    # heuristics that fewer than ten sets tell apart are one: "a = b"; "guessing": what follows none
    "heuristic": pl.String,
    "weight": pl.Float64,  # share of the choices that follow it where it has a say; mean of seeds
    "low": pl.Float64,  # 95% bootstrap interval over lexical sets and seeds; null with one set
    "high": pl.Float64,
    "least": pl.Float64,  # the smallest weight of a seed
    "most": pl.Float64,  # the largest
}
"""``statistics/{target}/heuristics/mixture.parquet``: which heuristics a model's choices in a
phenomenon are a mixture of; the weights are fitted seed by seed.
"""

NONE, DIFFER, UNCLEAR = "no listed heuristic", "seeds differ", "cannot tell"
VERDICTS: Schema = {
    **_CELL,
    **_PHENOMENON,
    # a heuristic, or a group "a = b"; or "guessing", "no listed heuristic", "seeds differ",
    # "cannot tell"
    "verdict": pl.String,
    "hierarchical": pl.Boolean,  # all heuristics of the verdict are; null: it names none
    "best": pl.String,  # the heuristic that explains most; null: none has a say
    # share of the choices that the best one explains: its weight, times the share of pairs that it
    # has a say on
    "explained": pl.Float64,
    "low": pl.Float64,  # 95% bootstrap interval over lexical sets and seeds; null with one set
    "high": pl.Float64,
    "unexplained": pl.Float64,  # share of the choices that all listed heuristics leave to guessing
    # share of the choices that seeds make alike for a reason that is not listed; null with one seed
    "shared": pl.Float64,
    "shared_low": pl.Float64,  # 95% interval over lexical sets
    "shared_high": pl.Float64,
    # p value: coin tosses would agree so well between seeds, or prefer single words so much
    "coin": pl.Float64,
    "right": pl.Float64,  # share of the choices that are the good member
    # what the seeds follow, each by itself: "2 front-do, 1 no listed heuristic"
    "seed_verdicts": pl.String,
    "seeds": pl.UInt32,  # of the model
    "sets": pl.UInt32,  # lexical sets of the phenomenon
}
"""``statistics/{target}/heuristics/verdicts.parquet``: which heuristic a model follows in a
phenomenon, if any.
"""

IDENTIFIABILITY: Schema = {
    **_PHENOMENON,
    "heuristic": pl.String,
    "other": pl.String,  # another heuristic
    # lexical sets on which both have a say; of the condition and size with the fewest
    "both": pl.UInt32,
    # lexical sets on which they disagree; of the condition and size with the fewest
    "apart": pl.UInt32,
    # the same, of those with the most: what counting heuristics say depends on the text
    "apart_most": pl.UInt32,
}
"""``statistics/{target}/heuristics/identifiability.parquet``: are two heuristics distinct?"""
