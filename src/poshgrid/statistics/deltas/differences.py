"""From judgements to deltas: filtered models minus full models that are otherwise alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid import files
from poshgrid.benchmark.reading.table10 import key
from poshgrid.config.specs import DeltasSpec
from poshgrid.evaluation.schema import SCORES
from poshgrid.statistics import levels, tally
from poshgrid.statistics.deltas.paired import correlation
from poshgrid.statistics.schema import DELTAS, RUN_AXES

Point = tuple[str, ...]
"""Values of ``RUN_AXES``: a point of the grid. Its seeds are taken together."""

_LEVEL_KEY = ["suite", "level", "category", "phenomenon"]
_SHARED_AXES = RUN_AXES[1:]  # a filtered model and its full ones are the same in these
_MARGINS = {
    **dict.fromkeys((*RUN_AXES, *_LEVEL_KEY), pl.String),
    **dict.fromkeys(("margin", "margin_full", "r"), pl.Float64),
}
_PERPLEXITY = {**dict.fromkeys((*RUN_AXES, "suite"), pl.String), "value": pl.Float64}

BY_CONDITION = {
    **dict.fromkeys(RUN_AXES, pl.String),  # condition: the filtered one
    "full": pl.String,  # the condition that it is compared with
    "suite": pl.String,
    "targets": pl.UInt32,  # phenomena that its filters are aimed at
    "targeted": pl.Float64,  # mean of their accuracy deltas (share of pairs); null without targets
    "margin_full": pl.Float64,  # mean margin of the full models over the targets, nats
    "margin": pl.Float64,  # mean margin of the filtered models over the targets, nats
    "r": pl.Float64,  # mean correlation over the targets
    "every": pl.Float64,  # accuracy delta of the mean of all phenomena
    "every_sd": pl.Float64,  # over the filtered models' seeds
}
"""Averages within a condition: one row for each filtered point of the grid and suite."""


@dataclass(frozen=True)
class Judged:
    """The judgements of some runs.

    Attributes:
        accuracy: one row per run, suite and level: see :func:`levels.by_level`.
        units: suite -> item_id, category and phenomenon of each judgement, sorted by item_id.
        margins: suite -> point -> log P(good) - log P(bad) of each row of ``units``, in nats: the
            mean over seeds (FiCT, equation 2 and section 5.4).
        perplexity: ``RUN_AXES``, suite, value: exp(nats per token) of a suite's good members, the
            mean over seeds; only of runs whose perplexity on unfiltered text is measured, too.
    """

    accuracy: pl.DataFrame
    units: dict[str, pl.DataFrame] = field(default_factory=dict)
    margins: dict[str, dict[Point, np.ndarray]] = field(default_factory=dict)
    perplexity: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_PERPLEXITY))

    def phenomena(self, suite: str) -> list[tuple[tuple[str, str], np.ndarray]]:
        """Return (category, phenomenon) and the row numbers of its units, for each phenomenon."""
        key = ["category", "phenomenon"]
        units = self.units[suite].select(key).with_row_index("unit")
        members = units.group_by(key).agg("unit").sort(key)
        return [((c, p), np.array(numbers)) for c, p, numbers in members.iter_rows()]


def read(names: Sequence[str], scores: Path, items: Mapping[str, Path], spec: DeltasSpec) -> Judged:
    """Judge every pair of every run, with the weights that training kept.

    ``scoring.reduction`` decides judgements. Margins are always differences of sums of
    log-probabilities, as in FiCT.

    Args:
        names: of runs.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: suite -> its table of pairs.
        spec: how two scores become a judgement, and the runs whose perplexity is needed.

    Raises:
        PoshgridError: see :func:`judgements.judged`.
    """
    runs = {name: levels.axes(name) for name in sorted(names)}
    counts, tallies = tally.count(runs, scores, items, spec.scoring)
    points = {name: tuple(axes[axis] for axis in RUN_AXES) for name, axes in runs.items()}
    nats = [
        (*point, suite, _perplexity(scores / name / f"{suite}.parquet"))
        for suite in tallies
        for name, point in points.items()
        if name in spec.perplexity
    ]
    table = pl.DataFrame(nats, schema=_PERPLEXITY, orient="row")
    return Judged(
        levels.by_level(counts, [*RUN_AXES, "seed", "suite"]),
        {suite: of_suite.units for suite, of_suite in tallies.items()},
        {
            suite: dict(zip(dict.fromkeys(points.values()), of_suite.margins.T, strict=True))
            for suite, of_suite in tallies.items()
        },
        table.group_by(*RUN_AXES, "suite", maintain_order=True).agg(pl.col("value").mean()),
    )


def _perplexity(path: Path) -> float:
    """Return exp(nats per token) of the good members in a score file."""
    kept = files.read_table(path, SCORES).filter(pl.col("step").is_null()).sort("item_id")
    nats, tokens = math.fsum(kept["good_logprob"]), sum(kept["good_tokens"])
    return math.exp(-nats / tokens)


def deltas(judged: Judged, spec: DeltasSpec) -> pl.DataFrame:
    """Return the table of deltas (``DELTAS``).

    The mean accuracy of the filtered models over seeds is compared with that of the full models of
    the same size, model, recipe and bias (FiCT, equation 1). Margins are averaged over seeds
    pair by pair before they are correlated (section 5.4).

    Args:
        judged: the judgements.
        spec: the full condition of each filtered one, and the phenomena that filters are aimed at.
    """
    by_point = (
        judged.accuracy.sort("seed")
        .group_by(*RUN_AXES, *_LEVEL_KEY, maintain_order=True)
        .agg(
            accuracy=pl.col("accuracy").mean(),
            # The delta subtracts a constant, which does not change the SD.
            delta_sd=pl.col("accuracy").std(ddof=1),
            n_seeds=pl.len().cast(pl.UInt32),
        )
    )
    full = by_point.select(
        *_SHARED_AXES, *_LEVEL_KEY,
        full="condition", accuracy_full="accuracy", n_seeds_full="n_seeds",
    )  # fmt: skip
    names = dict.fromkeys(("condition", "full"), pl.String)
    against = pl.DataFrame(sorted(spec.full.items()), schema=names, orient="row")
    aims = _aims(spec)
    targeted = pl.struct("condition", "phenomenon").map_elements(
        lambda row: (row["condition"], key(row["phenomenon"])) in aims, return_dtype=pl.Boolean
    )
    rows = (
        by_point.join(against, on="condition")
        .join(full, on=["full", *_SHARED_AXES, *_LEVEL_KEY])
        .join(_margins(judged, spec), on=[*RUN_AXES, *_LEVEL_KEY], how="left")
        .with_columns(
            delta=pl.col("accuracy") - pl.col("accuracy_full"),
            targeted=targeted if by_point.height else pl.lit(value=False),
        )
        .select(list(DELTAS))
        .cast(pl.Schema(DELTAS))
    )
    return levels.ordered(rows, "suite", levels.rank(), "category", "phenomenon")


def _aims(spec: DeltasSpec) -> set[tuple[str, str]]:
    """Return pairs of a condition and the key of a phenomenon that its filters are aimed at."""
    return {(c, key(name)) for c, names in spec.targets.items() for name in names}


def alone(judged: Judged, spec: DeltasSpec) -> list[str]:
    """Return the names of the filtered points without a full model that is otherwise alike."""
    points = {point for margins in judged.margins.values() for point in margins}
    return sorted(
        "/".join(point)
        for point in points
        if point[0] in spec.full and (spec.full[point[0]], *point[1:]) not in points
    )


def by_condition(rows: pl.DataFrame) -> pl.DataFrame:
    """Return averages within each condition (``BY_CONDITION``).

    Average these rows to get an average over conditions: a filter that is aimed at four phenomena
    then has the same weight as one that is aimed at a single phenomenon.

    Args:
        rows: columns of ``DELTAS``.
    """
    point = [*RUN_AXES, "full", "suite"]
    aimed = (pl.col("level") == "phenomenon") & pl.col("targeted")
    every = rows.filter(pl.col("level") == "average").select(
        *point, every="delta", every_sd="delta_sd"
    )
    within = (
        rows.filter(aimed)
        .group_by(point, maintain_order=True)
        .agg(
            targets=pl.len().cast(pl.UInt32),
            targeted=pl.col("delta").mean(),
            margin_full=pl.col("margin_full").mean(),
            margin=pl.col("margin").mean(),
            r=pl.col("r").mean(),
        )
    )
    return (
        every.join(within, on=point, how="left", maintain_order="left")
        .with_columns(pl.col("targets").fill_null(0))
        .select(list(BY_CONDITION))
        .cast(pl.Schema(BY_CONDITION))
    )


def _margins(judged: Judged, spec: DeltasSpec) -> pl.DataFrame:
    """Return margins and their correlation by phenomenon, for filtered points (``_MARGINS``)."""
    rows = [
        {
            **named, "level": "phenomenon", "margin": float(after.mean()),
            "margin_full": float(before.mean()), "r": correlation(before, after),
        }
        for named, _, after, before in _compared(judged, spec)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=_MARGINS)


def _compared(
    judged: Judged, spec: DeltasSpec
) -> Iterator[tuple[dict[str, str], np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the margins of each phenomenon of the filtered points that have a full point.

    Yields:
        The columns that name the point and the phenomenon; the row numbers of its units; the
        margins of the filtered models; those of the full models.
    """
    for point in sorted({point for margins in judged.margins.values() for point in margins}):
        for suite, margins in sorted(judged.margins.items()):
            full = margins.get((spec.full.get(point[0], ""), *point[1:]))
            if full is None:
                continue
            for (category, phenomenon), units in judged.phenomena(suite):
                named = dict(zip(RUN_AXES, point, strict=True)) | {
                    "suite": suite, "category": category, "phenomenon": phenomenon,
                }  # fmt: skip
                yield named, units, margins[point][units], full[units]
