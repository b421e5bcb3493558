"""Filler x gap, set by set: surprisal in the critical region, and its differences.

In bits, S = -log2 p(region), with the signs of Lan, Chemla & Katzir (2024) and Pistotti et al.
(2025, section 3.1):

    delta(filler) = S(-gap, filler) - S(+gap, filler)
    did           = delta(+filler) - delta(-filler)

A model succeeds on a set if delta(+filler) > 0 (after "who ... __ is likely to upset" the gap is
expected more than an object) and if did > 0 (the filler makes the gap more expected, whatever else
makes it so). The earlier studies (Wilcox, Futrell & Levy 2024) take the difference the other way
round, +gap less -gap, and succeed below 0; and they average over the tokens of the region, not sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from poshgrid.errors import PoshgridError
from poshgrid.statistics.measures import scores as scored

Sign = Literal["lan2024", "earlier"]
Reduction = Literal["sum", "mean"]

_CELLS = {
    "s_plus_filler_gap": (True, True),
    "s_plus_filler": (True, False),
    "s_minus_filler_gap": (False, True),
    "s_minus_filler": (False, False),
}


@dataclass(frozen=True)
class Convention:
    """How surprisals become differences."""

    sign: Sign  # lan2024: -gap less +gap; earlier: the other way round
    reduction: Reduction  # surprisal of a region: sum or mean over its tokens

    @property
    def sense(self) -> int:
        """+1 where success is above 0, -1 where it is below."""
        return 1 if self.sign == "lan2024" else -1

    def towards(self, measure: str) -> int:
        """Return the sense of a measure: without a filler, the object is expected."""
        return -self.sense if measure == "delta_minus_filler" else self.sense


def differences(
    scores: pl.DataFrame,
    items: pl.DataFrame,
    convention: Convention,
    place: str | Path = "scores",
) -> pl.DataFrame:
    """Return surprisals and their differences, one row for each set.

    Args:
        scores: columns of ``PARADIGM_SCORES``; rows of checkpoints (``step`` not null) are left
            out.
        items: columns of ``PARADIGMS``.
        convention: how surprisals become differences.
        place: what messages call the scores.

    Returns:
        item_id, category, phenomenon, lexical_set, ambiguous; the surprisals s_plus_filler_gap,
        s_plus_filler, s_minus_filler_gap, s_minus_filler; delta_plus_filler, delta_minus_filler,
        did (bits, or bits per token), sorted by item.

    Raises:
        PoshgridError: a set lacks a sentence; a sentence has no score, two, or one that is not a
            number.
    """
    _check_sets(items)
    found = scored.matched(scores, items, scored.SENTENCES, place)
    scored.check_numbers(found, scored.SENTENCES, place)
    surprisal = -pl.col("logprob") / math.log(2)
    if convention.reduction == "mean":
        surprisal /= pl.col("tokens")
    wide = (
        found.group_by("item_id")
        .agg(
            pl.first("category", "phenomenon", "lexical_set", "ambiguous"),
            *(
                surprisal.filter((pl.col("filler") == filler) & (pl.col("gap") == gap))
                .first()
                .alias(name)
                for name, (filler, gap) in _CELLS.items()
            ),
        )
        .sort("item_id")
    )
    sense = float(convention.sense)
    return wide.with_columns(
        delta_plus_filler=sense * (pl.col("s_plus_filler") - pl.col("s_plus_filler_gap")),
        delta_minus_filler=sense * (pl.col("s_minus_filler") - pl.col("s_minus_filler_gap")),
    ).with_columns(did=pl.col("delta_plus_filler") - pl.col("delta_minus_filler"))


def _check_sets(items: pl.DataFrame) -> None:
    """Refuse a set without its four sentences."""
    incomplete = (
        items.group_by("item_id")
        .agg(pl.len().alias("n"), pl.struct("filler", "gap").n_unique().alias("cells"))
        .filter((pl.col("n") != len(_CELLS)) | (pl.col("cells") != len(_CELLS)))
    )
    if incomplete.height:
        raise PoshgridError(
            f"items: every set needs its four sentences: {scored.first(incomplete)!r} has not; "
            "make the suite's items again: `poshgrid run -R items`"
        )
