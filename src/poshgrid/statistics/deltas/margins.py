"""What models of every point of the grid make of each pair: right or wrong, and how clearly."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid import files, logs
from poshgrid.config import Scoring
from poshgrid.evaluation import judgements
from poshgrid.evaluation.schema import SCORES
from poshgrid.statistics import levels
from poshgrid.statistics.schema import RUN_AXES

Point = tuple[str, ...]
"""Values of ``RUN_AXES``: a point of the grid, its seeds taken together."""

_COUNTED = {
    **dict.fromkeys((*RUN_AXES, "suite", "category", "phenomenon"), pl.String),
    "seed": pl.UInt32,
    "correct": pl.Float64,
    "n": pl.UInt32,
}


@dataclass(frozen=True)
class Judged:
    """The judgements of some runs.

    Attributes:
        accuracy: one row per run, suite and level: see :func:`levels.by_level`.
        ids: suite -> item_id of what was judged, sorted: joint pairs have the first one's.
        places: suite -> (category, phenomenon) -> which of ``ids`` are its.
        margins: (point, suite) -> log P(good) - log P(bad) of each of ``ids``, in nats: the mean
            over seeds (FiCT, equation 2 and section 5.4).
        perplexity: ``RUN_AXES``, suite, value: exp(nats per token) of a suite's good members, the
            mean over seeds, of the runs that read unfiltered text, too.
    """

    accuracy: pl.DataFrame
    ids: dict[str, pl.Series]
    places: dict[str, dict[tuple[str, str], np.ndarray]]
    margins: dict[tuple[Point, str], np.ndarray]
    perplexity: pl.DataFrame


def read(
    names: Sequence[str],
    scores: Path,
    items: dict[str, pl.DataFrame],
    scoring: Scoring,
    reading: Collection[str] = (),
) -> Judged:
    """Judge every pair of every run, with the weights that training kept.

    Margins are of sums of log-probabilities whatever ``scoring.reduction`` says, as in FiCT;
    judgements are made as it says.

    Args:
        names: of runs.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: suite -> its pairs, from :func:`judgements.read_items`.
        scoring: how two scores become a judgement.
        reading: the runs whose perplexity is asked for.

    Raises:
        PoshgridError: see :func:`judgements.judged`.
    """
    counts = [pl.DataFrame(schema=_COUNTED)]
    totals: dict[tuple[Point, str], np.ndarray] = {}
    seeds: dict[tuple[Point, str], int] = {}
    read: dict[tuple[Point, str], list[float]] = {}
    units: dict[str, pl.DataFrame] = {}
    # Sums of floats depend on their order.
    for name in logs.progress(sorted(names), "reading scores"):
        axes = levels.axes(name)
        point = tuple(axes[axis] for axis in RUN_AXES)
        for suite, table in items.items():
            judged = judgements.judged(scores / name / f"{suite}.parquet", table, scoring)
            counts.append(levels.counted(judged, {**axes, "suite": suite}, _COUNTED))
            units.setdefault(suite, judged.select("item_id", "category", "phenomenon"))
            key = point, suite
            totals[key] = totals.get(key, 0.0) + judged["margin"].to_numpy()
            seeds[key] = seeds.get(key, 0) + 1
            if name in reading:
                read.setdefault(key, []).append(_perplexity(scores / name / f"{suite}.parquet"))
    return Judged(
        accuracy=levels.by_level(pl.concat(counts), [*RUN_AXES, "seed", "suite"]),
        ids={suite: judged["item_id"] for suite, judged in units.items()},
        places={suite: _places(judged) for suite, judged in units.items()},
        margins={key: total / seeds[key] for key, total in totals.items()},
        perplexity=pl.DataFrame(
            [(*point, suite, float(np.mean(found))) for (point, suite), found in read.items()],
            schema={**dict.fromkeys((*RUN_AXES, "suite"), pl.String), "value": pl.Float64},
            orient="row",
        ),
    )


def _perplexity(path: Path) -> float:
    """Return exp(nats per token) of the good members that a score file holds."""
    kept = files.read_table(path, SCORES).filter(pl.col("step").is_null()).sort("item_id")
    nats, tokens = math.fsum(kept["good_logprob"]), sum(kept["good_tokens"])
    return math.exp(-nats / tokens)


def _places(judged: pl.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    rows = judged.with_row_index("place")
    return {
        (category, phenomenon): np.array(places)
        for category, phenomenon, places in rows.group_by("category", "phenomenon")
        .agg("place")
        .sort("category", "phenomenon")
        .iter_rows()
    }
