"""Table of the heuristics' choices: column -> type."""

import polars as pl

from poshgrid.core.files import Schema

HEURISTICS: Schema = {
    "item_id": pl.String,  # as in the suite's items
    "heuristic": pl.String,  # a module of `evaluation/heuristics/choices`, e.g. "first-auxiliary"
    "hierarchical": pl.Boolean,  # whether it stands for the hierarchical hypothesis: then no rival
    "prefers": pl.Float64,  # 1 the good member, 0 the bad one, .5 a tie; null: no decision
}
"""``heuristics/{suite}.parquet``: choices of the heuristics that only need words, for each pair."""
