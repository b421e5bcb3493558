"""Counts of right pairs: by run and template for models, and by lexical set for intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid.config import Scoring
from poshgrid.core import logs
from poshgrid.evaluation import judgements
from poshgrid.statistics import levels
from poshgrid.statistics.intervals import SetSums
from poshgrid.statistics.schema import RUN_AXES

_UNIT = ["category", "phenomenon", "template", "cell", "lexical_set"]
_SET = ["level", "category", "phenomenon", "part", "lexical_set"]


def count(
    runs: Mapping[str, Mapping[str, Any]],
    scores: Path,
    items: Mapping[str, Path],
    scoring: Scoring,
) -> tuple[pl.DataFrame, dict[str, Tally]]:
    """Return counts by template and cell, and a tally of each suite.

    The judgements of one run at a time are in memory; only sums are kept.

    Args:
        runs: name -> the columns that its counts get, including ``RUN_AXES``.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: suite -> its table of pairs.
        scoring: how two scores become a judgement.

    Raises:
        PoshgridError: see :func:`judgements.judged`.
    """
    order = {run: tuple(runs[run][axis] for axis in RUN_AXES) for run in sorted(runs)}
    seeds = Counter(order.values())
    points = pl.DataFrame(list(seeds), schema=list(RUN_AXES), orient="row").with_columns(
        seeds=pl.Series(seeds.values())
    )
    numbers = {point: number for number, point in enumerate(seeds)}
    counts = []
    tallies: dict[str, Tally] = {}
    for suite in sorted(items):
        pairs = judgements.read_items(items[suite])
        for run, point in logs.progress(order.items(), f"judging {suite}", len(order)):
            judged = judgements.judged(scores / run / f"{suite}.parquet", pairs, scoring)
            if suite not in tallies:  # all runs judge the same pairs
                tallies[suite] = Tally(suite, judged, points)
            tallies[suite].add(numbers[point], judged)
            columns = {**runs[run], "suite": suite}
            counts.append(
                judged.with_columns(pl.lit(value).alias(name) for name, value in columns.items())
                .group_by(*columns, *_UNIT[:-1])
                .agg(
                    pl.col("correct", *judgements.REDUCTIONS).sum(),
                    ties=(pl.col("correct") == 0.5).sum(),
                    n=pl.len(),
                )
            )
    return pl.concat(counts), tallies


class Tally:
    """Right pairs and margins of the points of a grid on a suite.

    Args:
        suite: its name.
        judged: the judgements of any run, as all runs judge the same pairs.
        points: the columns of a point, and seeds.

    Attributes:
        units: item_id, category, phenomenon, template, cell and lexical set of each judgement, in
            the order of judgements.
        right: number of seeds that are right on each judgement: rows of ``units`` x points.
        margins: margins, nats, summed over seeds, likewise.
        sums: right pairs of each set, summed over seeds.
    """

    def __init__(self, suite: str, judged: pl.DataFrame, points: pl.DataFrame) -> None:
        self.units = judged.select("item_id", *_UNIT)
        divided = levels.divided(self.units.with_row_index("pair"))
        sets = divided.group_by(_SET).agg(n=pl.len()).sort(_SET)
        codes = divided.join(sets.with_row_index("set"), on=_SET)
        self._pair, self._set = codes["pair"].to_numpy(), codes["set"].to_numpy()
        self.margins = np.zeros((len(judged), len(points)))
        self.right = np.zeros((len(judged), len(points)))
        self.sums = SetSums(suite, sets, points, np.zeros((len(sets), len(points))))

    def of(self, correct: np.ndarray) -> np.ndarray:
        """Return the number of right pairs in each set.

        Args:
            correct: 1, 0 or .5 for each row of ``units``.
        """
        return np.bincount(self._set, correct[self._pair], minlength=len(self.sums.sets))

    def add(self, point: int, judged: pl.DataFrame) -> None:
        """Add the judgements of a run to those of its point."""
        correct = judged["correct"].to_numpy()
        self.right[:, point] += correct
        self.sums.correct[:, point] += self.of(correct)
        self.margins[:, point] += judged["margin"].to_numpy()
