"""How often models choose the same member of a pair as a heuristic.

Two heuristics that make the same choices have the same numbers. Agreement does not prove that a
model follows a heuristic: a model that is right on every pair agrees fully with every heuristic
that is right on every pair. Only pairs on which a heuristic is wrong can tell; there, agreement is
1 minus the model's accuracy.

The 95% interval is cluster-robust, with lexical sets over all seeds as the sampled unit: it says
how much the share could change with other words, not with other seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from poshgrid.config.runs import COUNTED
from poshgrid.evaluation.heuristics import table
from poshgrid.models.ngram import NGram
from poshgrid.statistics import intervals
from poshgrid.statistics.schema import HEURISTIC_AGREEMENT, RUN_AXES
from poshgrid.statistics.tally import Tally

_ROW = ["category", "phenomenon", "heuristic"]


def agreement(
    tally: Tally,
    items: pl.DataFrame,
    heuristics: Path,
    unigrams: Mapping[tuple[str, str], Path],
) -> pl.DataFrame:
    """Return how often the models of a suite agree with heuristics (``HEURISTIC_AGREEMENT``).

    The rows of baselines that count words are left out: they are heuristics themselves.

    Args:
        tally: the choices of every point of the grid.
        items: the suite's pairs.
        heuristics: file with the choices of heuristics that need only the words of a pair
            (``HEURISTICS``).
        unigrams: (condition, size) -> folder of the unigram model of its text. Without one,
            heuristics that compare frequencies do not decide there.

    Raises:
        PoshgridError: see :func:`table.read`; or a unigram model is broken.
    """
    of_words = table.of_words(table.read(heuristics, items), items)
    compared = table.comparisons(items)
    points = tally.sums.points.with_row_index("point")
    frames = [pl.DataFrame(schema=HEURISTIC_AGREEMENT)]
    for (condition, size), cell in points.group_by("condition", "size", maintain_order=True):
        counted = pl.col("recipe") == COUNTED
        unigram = unigrams.get((condition, size))
        of_counts = table.of_counts(compared, NGram.load(unigram) if unigram else None)
        baselines = {
            name: tally.units.select("item_id", correct=tally.right[:, point])
            for name, point in cell.filter(counted).select("model", "point").iter_rows()
        }
        choices = pl.concat(
            [of_words, table.of_words(of_counts, items), table.of_baselines(baselines)]
        )
        for point in cell.filter(~counted).to_dicts():
            units = tally.units.with_columns(right=tally.right[:, point["point"]])
            rows = agreed(units, choices, point["seeds"])
            names = {axis: point[axis] for axis in RUN_AXES} | {"suite": tally.sums.suite}
            rows = rows.with_columns(pl.lit(value).alias(name) for name, value in names.items())
            frames.append(
                rows.select(list(HEURISTIC_AGREEMENT)).cast(pl.Schema(HEURISTIC_AGREEMENT))
            )
    return pl.concat(frames)


def agreed(units: pl.DataFrame, choices: pl.DataFrame, seeds: int) -> pl.DataFrame:
    """Return how often the seeds of a model agree with each heuristic in each phenomenon.

    Args:
        units: item_id, category, phenomenon, lexical_set, right: number of seeds that choose the
            good member (a tie is half of one).
        choices: item_id, heuristic, prefers: 1 the good member, 0 the bad one; with .5 the
            heuristic does not decide.
        seeds: number of seeds.

    Returns:
        The columns of ``HEURISTIC_AGREEMENT`` after the suite.
    """
    good = pl.col("prefers") == 1
    same = pl.when(good).then("right").otherwise(seeds - pl.col("right"))
    pairs = units.join(choices.filter(pl.col("prefers") != 0.5), on="item_id").with_columns(
        same=same
    )
    sets = pairs.group_by(*_ROW, "lexical_set").agg(correct=pl.sum("same"), n=seeds * pl.len())
    rows = pairs.group_by(_ROW).agg(
        pairs=pl.len(),
        sets=pl.n_unique("lexical_set"),
        right=good.mean(),
        agreement=pl.sum("same") / (seeds * pl.len()),
        where_wrong=pl.col("same").filter(~good).mean() / seeds,
    )
    share, half = pl.col("agreement"), pl.col("half")
    return (
        rows.join(intervals.clustered(sets, _ROW), on=_ROW)
        .with_columns(low=(share - half).clip(0), high=(share + half).clip(upper_bound=1))
        .drop("half")
        .sort(_ROW)
    )
