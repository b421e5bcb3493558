"""Accuracy of every run: counts, means and SDs over seeds, tests against 50%, nulls beside them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import files, logs
from poshgrid.errors import PoshgridError
from poshgrid.runs import COUNTED, PRETRAINED, REFERENCE, UNTRAINED, WORD_NULLS
from poshgrid.specs import JudgementSpec
from poshgrid.statistics import intervals, judgements, levels, runs, tables, tests, writing
from poshgrid.statistics.schema import ACCURACY, COUNTS, RUN_AXES

_POINT = [*RUN_AXES, "suite"]
_ROW = [*_POINT, "level", "category", "phenomenon"]

log = logs.get(__name__)


def accuracy(
    spec: JudgementSpec,
    scores: Path,
    items: dict[str, Path],
    conditions: Path | None,
    output: Path,
) -> dict[str, Any]:
    """Judge all runs of a target and write counts and accuracies.

    Args:
        spec: the runs (condition/size/learner/regimen/bias/seedN) and the facts of their cells.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: suite -> its table of pairs.
        conditions: folder of conditions: ``{condition}/{size}/statistics.json`` below it says how
            many words a cell's models were trained on, which its size may not. None: nobody knows
            better than the spec.
        output: folder for counts.parquet and accuracy.parquet, .csv, .tex.

    Returns:
        Numbers of runs, judgements and ties.

    Raises:
        PoshgridError: see :func:`judgements.judged`; or a run is misnamed, given twice, or its cell
            or the words of it unknown.
    """
    if not spec.runs or not items:
        raise PoshgridError(
            "--spec: nothing to judge: give at least one run and one suite of items"
        )
    trained = _trained(spec, Path(conditions)) if conditions else spec
    counts, sets = _count(trained, Path(scores), items)
    bounds = pl.concat([intervals.bootstrap(of_suite) for of_suite in sets])
    found = summarise(counts, bounds, spec.tolerance)
    output = Path(output)
    files.write_table(counts.select(list(COUNTS)), output / "counts.parquet", COUNTS)
    writing.write(found, output, "accuracy", ACCURACY, tables.accuracy_tex(found))
    facts = {
        "runs": len(spec.runs),
        "suites": sorted(items),
        "judgements": int(counts["n"].sum()),
        "ties": int(counts["ties"].sum()),
        "replicates": intervals.REPLICATES,
    }
    log.info(
        "%d runs, %s judgements, %d ties", facts["runs"], f"{facts['judgements']:,}", facts["ties"]
    )
    return facts


def _trained(spec: JudgementSpec, conditions: Path) -> JudgementSpec:
    """Return the spec with the words that each cell's models were trained on."""
    cells = dict(spec.cells)
    for name in {run.rpartition("/")[0].rsplit("/", 3)[0] for run in spec.runs} & cells.keys():
        if name.partition("/")[0] == PRETRAINED:
            continue  # nobody knows
        path = conditions / name / "statistics.json"
        try:
            words = int(files.read_json(path)["splits"]["train"]["words"])
        except (KeyError, TypeError, ValueError) as error:
            raise PoshgridError(
                f"{path}: not the statistics of a condition; run poshgrid condition again"
            ) from error
        cells[name] = cells[name].model_copy(update={"words": words})
    return spec.model_copy(update={"cells": cells})


def summarise(counts: pl.DataFrame, bounds: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """Return accuracies over seeds at every level.

    Args:
        counts: columns of ``COUNTS``, and ``by_sum`` and ``by_mean``: pairs right if scores were
            sums or means over tokens.
        bounds: of every mean, as :func:`intervals.bootstrap` returns them.
        tolerance: distance of a null from 50% (share) beyond which a row names it.

    Returns:
        Columns of ``ACCURACY``, sorted by condition, words, the other axes, suite and level.
    """
    rows = (
        levels.by_level(counts, [*_POINT, "seed"], tuple(judgements.REDUCTIONS))
        .sort("seed")
        .group_by(_ROW, maintain_order=True)
        .agg(
            mean=pl.col("accuracy").mean(),
            sd=pl.col("accuracy").std(ddof=1),
            n_seeds=pl.len().cast(pl.UInt32),
            n_pairs=pl.max("n").cast(pl.UInt32),
            mean_sum=pl.col("by_sum").mean(),
            mean_mean=pl.col("by_mean").mean(),
            each_correct="correct",
            each_n="n",
        )
    )
    rows = _tested(rows)
    rows = _beside_nulls(rows.join(bounds, on=_ROW, how="left"), tolerance)
    words = counts.select("condition", "size", "words").unique()
    return (
        rows.join(words, on=["condition", "size"])
        .sort(
            "condition", "words", "size", "learner", "regimen", "bias", "suite", levels.rank(),
            "category", "phenomenon",
        )
        .select(list(ACCURACY))
    )  # fmt: skip


def _beside_nulls(rows: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """Add the means of the nulls of the same condition and size, and which are far from 50%."""
    place = ["condition", "size", "suite", "level", "category", "phenomenon"]
    untrained = pl.col("regimen") == UNTRAINED
    of_null = {UNTRAINED: (untrained & (pl.col("bias") == "none"), [*place, "learner"])}
    for null in WORD_NULLS:
        of_null[null] = ((pl.col("regimen") == COUNTED) & (pl.col("learner") == null), place)
    for null, (its_rows, key) in of_null.items():
        means = rows.filter(its_rows).select(*key, pl.col("mean").alias(null))
        rows = rows.join(means, on=key, how="left")
    compared = ~pl.col("regimen").is_in(REFERENCE)
    rows = rows.with_columns(pl.when(compared).then(pl.col(*of_null)))
    # The last bits of a mean are no difference: 55% is not further than 5 points from 50%.
    is_far = [
        pl.when((pl.col(null) - tests.CHANCE).abs() > tolerance + 1e-9).then(pl.lit(null))
        for null in of_null
    ]
    return rows.with_columns(far=pl.concat_str(is_far, separator=", ", ignore_nulls=True))


def _count(
    spec: JudgementSpec, scores: Path, items: dict[str, Path]
) -> tuple[pl.DataFrame, list[intervals.SetSums]]:
    """Return counts by phenomenon, and sums over seeds by lexical set for each suite.

    A run's judgements are counted and forgotten. Of sets, which may be as many as pairs, a number
    for each is kept.
    """
    of_runs = _of_runs(spec)
    points = list(dict.fromkeys(_point(facts) for facts in of_runs.values()))
    seeds = Counter(_point(facts) for facts in of_runs.values())
    columns = pl.DataFrame(points, schema=list(RUN_AXES), orient="row").with_columns(
        seeds=pl.Series([seeds[point] for point in points])
    )
    found, sums = [], []
    for suite in sorted(items):
        pairs = judgements.read_items(items[suite])
        key = ["category", "phenomenon", "lexical_set"]
        sets = pairs.group_by(key).agg(n=pl.len()).sort(key).with_row_index("set")
        set_of_pair = pairs.sort("item_id").join(sets, on=key, maintain_order="left")["set"]
        correct = np.zeros((sets.height, len(points)))
        for run, facts in logs.progress(of_runs.items(), f"judging {suite}", len(of_runs)):
            judged = judgements.judged(scores / run / f"{suite}.parquet", pairs, spec.scoring)
            correct[:, points.index(_point(facts))] += np.bincount(
                set_of_pair, judged["correct"], minlength=sets.height
            )
            found.append(
                judged.group_by("category", "phenomenon")
                .agg(
                    pl.col("correct", *judgements.REDUCTIONS).sum(),
                    ties=(pl.col("correct") == 0.5).sum(),
                    n=pl.len(),
                )
                .with_columns(pl.lit(value).alias(name) for name, value in facts.items())
                .with_columns(suite=pl.lit(suite))
            )
        sums.append(intervals.SetSums(suite, sets.drop("set"), columns, correct))
    counts = (
        pl.concat(found)
        .select(*COUNTS, *judgements.REDUCTIONS)
        .cast(COUNTS)
        .sort("condition", "words", *RUN_AXES[1:], "seed", "suite", "category", "phenomenon")
    )
    return counts, sums


def _point(facts: dict[str, Any]) -> tuple[str, ...]:
    return tuple(facts[axis] for axis in RUN_AXES)


def _of_runs(spec: JudgementSpec) -> dict[str, dict[str, Any]]:
    """Return each run with its columns, sorted by name."""
    found = {run: _facts(spec, run) for run in sorted(spec.runs)}
    twice = [run for run, times in Counter(spec.runs).items() if times > 1]
    if twice:
        raise PoshgridError(
            f"--spec: runs: {twice[0]!r} is given {Counter(spec.runs)[twice[0]]} times, and would "
            "count as so many seeds; copy the command of the job log whole"
        )
    return found


def _facts(spec: JudgementSpec, run: str) -> dict[str, Any]:
    """Return the columns that a run's name and its cell give."""
    axes = runs.axes(run)
    cell = spec.cells.get(f"{axes['condition']}/{axes['size']}")
    if cell is None:
        raise PoshgridError(
            f"--spec: cells: nothing on {axes['condition']}/{axes['size']}, which run {run!r} "
            "belongs to; copy the command of the job log whole"
        )
    return {
        **axes,
        "words": cell.words,
        "source": cell.source,
        "filtered": cell.filtered,
    }


def _tested(rows: pl.DataFrame) -> pl.DataFrame:
    """Add both tests against 50% to rows with lists of each seed's correct and n."""
    pooled: list[float | None] = []
    combined: list[float | None] = []
    for level, correct, n in rows.select("level", "each_correct", "each_n").iter_rows():
        countable = level in ("phenomenon", "category")
        pooled.append(tests.chi_square(sum(correct), sum(n)) if countable else None)
        combined.append(tests.combine_seeds(correct, n) if countable else None)
    rows = rows.with_columns(
        pl.Series("p_pooled", pooled, dtype=pl.Float64),
        pl.Series("combined", combined, dtype=pl.Float64),
    )
    # A column of the paper's tables is one point of the grid: Holm corrects for its rows.
    columns: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(rows.select(*_POINT, "level").iter_rows()):
        columns.setdefault(key, []).append(i)
    corrected: list[float | None] = [None] * rows.height
    for members in columns.values():
        if combined[members[0]] is not None:
            for i, p in zip(members, tests.holm([combined[i] for i in members]), strict=True):
                corrected[i] = p
    return rows.with_columns(
        pl.Series("p_fisher_holm", corrected, dtype=pl.Float64),
        pl.Series("stars_pooled", [tests.stars(p) for p in pooled], dtype=pl.String),
        pl.Series("stars_fisher_holm", [tests.stars(p) for p in corrected], dtype=pl.String),
    )
