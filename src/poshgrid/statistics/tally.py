"""What runs of a grid judged right: counts for models, and tallies of sets for intervals."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import files, logs
from poshgrid.config.runs import SCORED
from poshgrid.config.specs import JudgementSpec
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import judgements
from poshgrid.statistics import intervals, levels, parts
from poshgrid.statistics.schema import COUNTS, PARTS, RUN_AXES

POINT = [*RUN_AXES, "suite"]
"""What an accuracy over seeds is an accuracy of."""
ROW = [*POINT, "level", "category", "phenomenon", "part"]
"""What a row of the table of accuracies is known by."""
_UNIT = ["category", "phenomenon", "template", "cell", "lexical_set"]


def trained(spec: JudgementSpec, conditions: Path) -> JudgementSpec:
    """Return the spec with the words that each cell's models were trained on.

    Raises:
        PoshgridError: a condition's statistics are missing or broken.
    """
    cells = dict(spec.cells)
    axes = [run.split("/") for run in spec.runs]
    ours = [run for run in axes if not {*run[3:4]} & {*SCORED}]  # of others', the spec says it
    for name in {"/".join(run[:2]) for run in ours} & cells.keys():
        path = conditions / name / "statistics.json"
        try:
            words = int(files.read_json(path)["splits"]["train"]["words"])
        except (KeyError, TypeError, ValueError) as error:
            raise PoshgridError(
                f"{path}: not the statistics of a condition; run `poshgrid run -R condition`"
            ) from error
        cells[name] = cells[name].model_copy(update={"words": words})
    return spec.model_copy(update={"cells": cells})


def count(
    spec: JudgementSpec, scores: Path, items: dict[str, Path]
) -> tuple[pl.DataFrame, dict[str, dict[str, Tally]]]:
    """Return counts by template, cell and, where asked for, set; and tallies of each suite.

    A run's judgements are counted and forgotten. Of sets, which may be as many as pairs, some
    numbers for each are kept.

    Raises:
        PoshgridError: see :func:`judgements.judged`; or a run's cell is
            unknown.
    """
    of_runs = {run: _facts(spec, run) for run in sorted(set(spec.runs))}
    points = list(dict.fromkeys(_point(facts) for facts in of_runs.values()))
    seeds = Counter(_point(facts) for facts in of_runs.values())
    columns = pl.DataFrame(points, schema=list(RUN_AXES), orient="row").with_columns(
        seeds=pl.Series([seeds[point] for point in points])
    )
    found = []
    tallies: dict[str, dict[str, Tally]] = {}
    for suite in sorted(items):
        pairs = judgements.read_items(items[suite])
        key = [name for name in _UNIT if name != "lexical_set" or suite in spec.sets]
        for run, facts in logs.progress(of_runs.items(), f"judging {suite}", len(of_runs)):
            judged = judgements.judged(scores / run / f"{suite}.parquet", pairs, spec.scoring)
            if suite not in tallies:  # all runs judge the same pairs
                tallies[suite] = _tallies(suite, judged, columns)
            at = points.index(_point(facts))
            for tally in tallies[suite].values():
                tally.add(at, judged["correct"].to_numpy())
            tallies[suite]["phenomenon"].add_margins(at, judged["margin"].to_numpy())
            found.append(
                judged.group_by(key)
                .agg(
                    pl.col("correct", *judgements.REDUCTIONS).sum(),
                    ties=(pl.col("correct") == 0.5).sum(),
                    n=pl.len(),
                )
                .with_columns(pl.lit(value).alias(name) for name, value in facts.items())
                .with_columns(suite=pl.lit(suite))
            )
    counts = pl.concat(found, how="diagonal")
    if "lexical_set" not in counts.columns:
        counts = counts.with_columns(lexical_set=pl.lit(""))
    counts = (
        counts.with_columns(pl.col("lexical_set").fill_null(""))
        .select(*COUNTS, "cell", *judgements.REDUCTIONS)
        .cast(pl.Schema(COUNTS))
        .sort("condition", "words", *RUN_AXES[1:], "seed", "suite", *_UNIT)
    )
    return counts, tallies


def written(counts: pl.DataFrame, by_set: list[str]) -> pl.DataFrame:
    """Return counts by template, and by lexical set in suites for which a model asks."""
    split = pl.when(pl.col("suite").is_in(by_set)).then(pl.col("lexical_set")).otherwise(pl.lit(""))
    key = [name for name in COUNTS if name not in ("correct", "ties", "n")]
    return (
        counts.with_columns(lexical_set=split)
        .group_by(key, maintain_order=True)
        .agg(pl.col("correct", "ties", "n").sum())
        .select(list(COUNTS))
        .cast(pl.Schema(COUNTS))
    )


class Tally:
    """What points of a grid got right, set by set, of one way to divide a suite.

    Args:
        suite: its name.
        units: what is judged, in the order of judgements: category, phenomenon, lexical_set, and
            part where a level below the phenomenon is meant; rows that do not enter have a null.
        points: the columns of a point, and seeds.
    """

    def __init__(self, suite: str, units: pl.DataFrame, points: pl.DataFrame) -> None:
        self._suite, self._points = suite, points
        kept = units.drop_nulls()
        self._sets = kept.group_by(kept.columns).agg(n=pl.len()).sort(kept.columns)
        codes = self._sets.drop("n").with_row_index("set")
        joined = units.join(codes, on=kept.columns, how="left", maintain_order="left")
        known = joined["set"].is_not_null().to_numpy()
        self._at, self._of = np.flatnonzero(known), joined["set"].drop_nulls().to_numpy()
        self.places = units
        self._margins = np.zeros((0, points.height))
        self._correct = np.zeros((self._sets.height, points.height))
        self._whole = np.zeros_like(self._correct)

    def of(self, correct: np.ndarray) -> np.ndarray:
        """Return how many of each set's pairs are right."""
        return np.bincount(self._of, correct[self._at], minlength=self._sets.height)

    def add(self, point: int, correct: np.ndarray) -> None:
        """Count a run. A set is as right as its worst pair: a tie is half."""
        self._correct[:, point] += self.of(correct)
        worst = np.ones(self._sets.height)
        np.minimum.at(worst, self._of, correct[self._at])
        self._whole[:, point] += worst

    def add_margins(self, point: int, margins: np.ndarray) -> None:
        """Add up a run's margins, in nats, one for each judgement."""
        if not len(self._margins):
            self._margins = np.zeros((len(margins), self._points.height))
        self._margins[:, point] += margins

    @property
    def margins(self) -> np.ndarray:
        """Judgements (rows of ``places``) x points: mean margin over seeds, nats."""
        return self._margins / self._points["seeds"].to_numpy()

    def sums(self, *, whole: bool = False) -> intervals.SetSums:
        """Return sums over seeds; ``whole``: of sets, each of which counts as one."""
        if not whole:
            return intervals.SetSums(self._suite, self._sets, self._points, self._correct)
        one = self._sets.with_columns(n=pl.lit(1, dtype=pl.UInt32))
        return intervals.SetSums(self._suite, one, self._points, self._whole)

    def shares(self, level: str) -> pl.DataFrame:
        """Return ``n_sets`` and ``by_set`` at every level that this division has."""
        by = [*POINT, "seeds"]
        place = [name for name in ("category", "phenomenon", "part") if name in self._sets.columns]
        rows = pl.concat(
            self._sets.select(place).with_columns(
                *(pl.lit(value).alias(name) for name, value in point.items()),
                suite=pl.lit(self._suite),
                correct=pl.Series(self._whole[:, i]) / point["seeds"],
                n=pl.lit(1),
            )
            for i, point in enumerate(self._points.iter_rows(named=True))
        )
        if level == "phenomenon":
            found = levels.by_level(rows, by).with_columns(part=pl.lit(""))
        else:
            found = rows.group_by(*by, *place).agg(pl.col("correct", "n").sum())
            found = found.with_columns(accuracy=pl.col("correct") / pl.col("n"))
            found = found.with_columns(level=pl.lit(level))
        return found.select(*ROW, by_set="accuracy", n_sets=pl.col("n").cast(pl.UInt32))


def _tallies(suite: str, judged: pl.DataFrame, points: pl.DataFrame) -> dict[str, Tally]:
    """Return a tally of phenomena, and one of each level below that has several parts."""
    units = judged.select("item_id", *_UNIT)
    key = ["category", "phenomenon", "lexical_set"]
    found = {"phenomenon": Tally(suite, units.select(key), points)}
    for level in PARTS:
        divided = parts.divided(units, level).select("item_id", "part")
        if divided.height:
            joined = units.join(divided, on="item_id", how="left", maintain_order="left")
            found[level] = Tally(suite, joined.select(*key, "part"), points)
    return found


def _point(facts: dict[str, Any]) -> tuple[str, ...]:
    return tuple(facts[axis] for axis in RUN_AXES)


def _facts(spec: JudgementSpec, run: str) -> dict[str, Any]:
    """Return the columns that a run's name and its cell give."""
    axes = levels.axes(run)
    cell = spec.cells.get(f"{axes['condition']}/{axes['size']}")
    if cell is None:
        raise PoshgridError(
            f"job: spec: cells: nothing on {axes['condition']}/{axes['size']}, which run {run!r} "
            "belongs to; copy the command of the job log whole"
        )
    return {**axes, **cell.model_dump()}
