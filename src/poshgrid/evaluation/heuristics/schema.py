"""Tables of the stages of heuristics: column -> type."""

import polars as pl

from poshgrid.config.runs import AXES
from poshgrid.core.files import Schema

HEURISTICS: Schema = {
    "item_id": pl.String,  # as in the suite's items
    "heuristic": pl.String,  # a module of `evaluation/heuristics/choices`, e.g. "first-auxiliary"
    "hierarchical": pl.Boolean,  # whether it stands for the hierarchical hypothesis: then no rival
    "prefers": pl.Float64,  # 1 the good member, 0 the bad one, .5 a tie; null: no decision
}
"""``heuristics/{suite}.parquet``: choices of the heuristics that only need words, for each pair."""

_PHENOMENON: Schema = dict.fromkeys(("suite", "category", "phenomenon"), pl.String)
_CELL: Schema = dict.fromkeys(AXES[:-1], pl.String)  # all axes without the seed

MIXTURE: Schema = {
    **_CELL,
    **_PHENOMENON,
    # heuristics that disagree on fewer than ten sets are one: "a = b"; other choices: "guessing"
    "heuristic": pl.String,
    # share of choices that follow the heuristic, of those on which it decides; mean over seeds
    "weight": pl.Float64,
    "low": pl.Float64,  # 95% bootstrap interval over lexical sets and seeds; null with one set
    "high": pl.Float64,
    "least": pl.Float64,  # smallest weight of a seed
    "most": pl.Float64,  # largest weight of a seed
}
"""``statistics/{target}/heuristics/mixture.parquet``: the mixture of heuristics in a model's
choices in a phenomenon; weights are fitted for each seed.
"""

NONE, DIFFER, UNCLEAR = "no listed heuristic", "seeds differ", "cannot tell"
VERDICTS: Schema = {
    **_CELL,
    **_PHENOMENON,
    # a heuristic, or a group "a = b"; or "guessing", "no listed heuristic", "seeds differ",
    # "cannot tell"
    "verdict": pl.String,
    # whether all heuristics of the verdict are hierarchical; null: the verdict names no heuristic
    "hierarchical": pl.Boolean,
    "best": pl.String,  # the heuristic that explains most choices; null: none decides on any pair
    # share of the choices that the best heuristic explains: its weight times the share of pairs on
    # which it decides
    "explained": pl.Float64,
    "low": pl.Float64,  # 95% bootstrap interval over lexical sets and seeds; null with one set
    "high": pl.Float64,
    "unexplained": pl.Float64,  # share of the choices that no listed heuristic explains
    # share of the choices that seeds make alike for an unlisted reason; null with one seed
    "shared": pl.Float64,
    "shared_low": pl.Float64,  # 95% interval over lexical sets
    "shared_high": pl.Float64,
    # p value of the hypothesis that all choices are coin tosses: seeds do not agree more often, and
    # no words are preferred
    "coin": pl.Float64,
    "right": pl.Float64,  # share of choices of the good member
    # the verdicts on single seeds: "2 front-do, 1 no listed heuristic"
    "seed_verdicts": pl.String,
    "seeds": pl.UInt32,  # number of seeds of the model
    "sets": pl.UInt32,  # number of lexical sets of the phenomenon
}
"""``statistics/{target}/heuristics/verdicts.parquet``: which heuristic a model follows in a
phenomenon, if any.
"""
