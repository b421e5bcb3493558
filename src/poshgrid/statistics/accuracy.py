"""Accuracy of every run: counts, means and SDs over seeds, tests, baselines and heuristics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid.config.runs import BASELINE_RECIPES, COUNTED, SCORED, UNTRAINED, WORD_BASELINES
from poshgrid.config.specs import JudgementSpec
from poshgrid.core import files, formats
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation import judgements
from poshgrid.statistics import intervals, levels, tests, verdicts
from poshgrid.statistics.agreement import agreement
from poshgrid.statistics.schema import ACCURACY, COUNTS, HEURISTIC_AGREEMENT, RUN_AXES
from poshgrid.statistics.tally import count

FAR = 0.05
"""Baselines further than this from 50% are marked in every table."""
POINT = [*RUN_AXES, "suite"]
"""The columns that name a point of the grid on a suite: accuracies are averaged over its seeds."""
ROW = [*POINT, "level", "category", "phenomenon", "part"]
"""The columns that identify a row of the table of accuracies."""


def accuracy(
    spec: JudgementSpec,
    scores: Path,
    items: dict[str, Path],
    conditions: Path | None,
    output: Path,
    tables: dict[str, Path] | None = None,
    sums: bool = True,
    models: Path | None = None,
) -> dict[str, Any]:
    """Judge all runs of a target; write counts, accuracies, and the agreement with heuristics.

    Args:
        spec: the runs (condition/size/model/recipe/bias/seedN) and facts about their cells.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: suite -> its table of pairs.
        conditions: folder of conditions: ``{condition}/{size}/statistics.json`` below it says how
            many words a cell's models were trained on (the name of a size is rounded). None: the
            spec gives the words.
        output: folder for counts.parquet; accuracy and heuristic_agreement, as .parquet and .csv.
        tables: suite -> its table of heuristics (``HEURISTICS``), which are rivals like the
            baselines.
        sums: whether scores are sums over tokens; if they are means, ``mean_sum`` is null.
        models: folder of models; the unigram baselines give the frequencies of words that
            heuristics compare. None: these heuristics do not decide.

    Returns:
        Numbers of judgements and ties.

    Raises:
        PoshgridError: see :func:`judgements.judged`; or the spec lacks a run's cell, or its number
            of words is unknown.
    """
    if not spec.runs or not items:
        raise PoshgridError(
            "job: spec: nothing to judge: give at least one run and one suite of items"
        )
    runs = _columns(spec, conditions)
    counts, tallies = count(runs, Path(scores), items, spec.scoring)
    counts = counts.cast(pl.Schema(COUNTS))
    bounds = pl.concat(intervals.bootstrap(tally.sums) for tally in tallies.values())
    rows = summarise(counts, bounds)
    if not sums:
        rows = rows.with_columns(mean_sum=pl.lit(None, pl.Float64))
    unigrams = {
        (axes["condition"], axes["size"]): models / run
        for run, axes in runs.items()
        if models and (axes["recipe"], axes["model"]) == (COUNTED, "unigram")
    }
    learned = []
    agreements = [pl.DataFrame(schema=HEURISTIC_AGREEMENT)]
    for suite, tally in tallies.items():
        heuristics: dict[str, np.ndarray] = {}
        solved: set[tuple[str, str]] = set()
        if tables and suite in tables:
            pairs = judgements.read_items(items[suite])
            choices, solved = verdicts.read_heuristics(tables[suite], pairs, tally.units)
            heuristics = {name: tally.of(choices[name].to_numpy()) for name in choices.columns}
            agreements.append(agreement(tally, pairs, tables[suite], unigrams))
        learned.append(verdicts.verdicts(tally.sums, heuristics, counts, solved))
    best = pl.concat(learned).with_columns(level=pl.lit("phenomenon"), part=pl.lit(""))
    rows = rows.join(best, on=ROW, how="left", maintain_order="left").select(list(ACCURACY))
    output = Path(output)
    files.write_table(_by_template(counts), output / "counts.parquet", COUNTS)
    formats.write(rows, output, "accuracy", ACCURACY)
    names = "suite", "category", "phenomenon", "heuristic"
    ordered = levels.ordered(pl.concat(agreements), *names)
    formats.write(ordered, output, "heuristic_agreement", HEURISTIC_AGREEMENT)
    return {"judgements": int(counts["n"].sum()), "ties": int(counts["ties"].sum())}


def _columns(spec: JudgementSpec, conditions: Path | None) -> dict[str, dict[str, Any]]:
    """Return run -> the columns that its name and its cell give, such as the words trained on.

    Raises:
        PoshgridError: a run's cell is unknown; a condition's statistics are missing or broken.
    """
    runs = {run: levels.axes(run) for run in spec.runs}
    names = {run: f"{axes['condition']}/{axes['size']}" for run, axes in runs.items()}
    for run, name in names.items():
        if name not in spec.cells:
            raise PoshgridError(
                f"job: spec: cells: nothing on {name}, which run {run!r} belongs to; copy the "
                "command of the job log whole"
            )
    cells = {name: spec.cells[name].model_dump() for name in names.values()}
    if conditions:  # the spec gives the words of models that were not trained here
        for name in {names[run] for run, axes in runs.items() if axes["recipe"] not in SCORED}:
            path = conditions / name / "statistics.json"
            facts = files.read_json(path)
            with files.written_by_stage(path):
                cells[name]["words"] = int(facts["splits"]["train"]["words"])
    return {run: {**axes, **cells[names[run]]} for run, axes in runs.items()}


def _by_template(counts: pl.DataFrame) -> pl.DataFrame:
    """Return counts by template (``COUNTS``)."""
    key = [name for name in COUNTS if name not in ("correct", "ties", "n")]
    names = ["suite", "category", "phenomenon", "template"]
    return (
        counts.group_by(key)
        .agg(pl.col("correct", "ties", "n").sum())
        .select(list(COUNTS))
        .sort("condition", "words", *RUN_AXES[1:], "seed", *names)
    )


def summarise(counts: pl.DataFrame, bounds: pl.DataFrame) -> pl.DataFrame:
    """Return accuracies over seeds at every level.

    Args:
        counts: columns of ``COUNTS``, and ``by_sum`` and ``by_mean``: the pairs that are right if
            scores are sums, or means, over tokens.
        bounds: columns of ``ROW``, and low and high: the interval of each mean.

    Returns:
        Columns of ``ACCURACY`` without those of ``VERDICTS``, sorted by condition, words, the other
        axes, suite and level.
    """
    also = list(judgements.REDUCTIONS)
    rows = levels.over_seeds(
        levels.by_level(levels.divided(counts, "suite"), [*POINT, "seed"], also), ROW,
        n_pairs=pl.max("n").cast(pl.UInt32), mean_sum=pl.mean("by_sum"),
        mean_mean=pl.mean("by_mean"), each_correct="correct", each_n="n",
    )  # fmt: skip
    rows = _with_baselines(_with_tests(rows).join(bounds, on=ROW, how="left"))
    words = counts.select("condition", "size", "words").unique()
    return (
        rows.join(words, on=["condition", "size"])
        .sort(
            "condition", "words", *RUN_AXES[1:], "suite", levels.rank(), "category", "phenomenon",
            "part",
        )
        .select(name for name in ACCURACY if name not in verdicts.VERDICTS)
    )  # fmt: skip


def _with_baselines(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the means of the baselines of the same condition and size, and which are far from 50%."""
    cell = ["condition", "size", "suite", "level", "category", "phenomenon", "part"]
    untrained = (pl.col("recipe") == UNTRAINED) & (pl.col("bias") == "none")
    counted = pl.col("recipe") == COUNTED
    of_baselines = {
        UNTRAINED: (untrained, [*cell, "model"]),
        **{name: (counted & (pl.col("model") == name), cell) for name in WORD_BASELINES},
    }
    for baseline, (its_rows, key) in of_baselines.items():
        means = rows.filter(its_rows).select(*key, pl.col("mean").alias(baseline))
        rows = rows.join(means, on=key, how="left")
    compared = ~pl.col("recipe").is_in(BASELINE_RECIPES)
    rows = rows.with_columns(pl.when(compared).then(pl.col(*of_baselines)))
    # 1e-9: rounding errors must not put 55% further than 5 points from 50%.
    is_far = [
        pl.when((pl.col(baseline) - tests.CHANCE).abs() > FAR + 1e-9).then(pl.lit(baseline))
        for baseline in of_baselines
    ]
    return rows.with_columns(far=pl.concat_str(is_far, separator=", ", ignore_nulls=True))


def _with_tests(rows: pl.DataFrame) -> pl.DataFrame:
    """Add both tests against 50%. Rows have each seed's counts as lists: each_correct, each_n."""
    pooled: list[float | None] = []
    combined: list[float | None] = []
    for level, correct, n in rows.select("level", "each_correct", "each_n").iter_rows():
        countable = level in ("phenomenon", "category")
        pooled.append(tests.chi_square(sum(correct), sum(n)) if countable else None)
        combined.append(tests.combine_seeds(correct, n) if countable else None)
    # A column of the paper's tables is one point of the grid: Holm's method corrects for its rows.
    corrected = pl.col("p_fisher_holm").map_batches(
        lambda p: pl.Series(tests.holm(p.to_list())), return_dtype=pl.Float64
    )
    stars = pl.col("p_pooled", "p_fisher_holm").map_elements(
        tests.stars, return_dtype=pl.String, skip_nulls=False
    )
    return (
        rows.with_columns(
            pl.Series("p_pooled", pooled, dtype=pl.Float64),
            pl.Series("p_fisher_holm", combined, dtype=pl.Float64),
        )
        .with_columns(corrected.over(*POINT, "level").fill_nan(None))
        .with_columns(stars.name.replace("^p_", "stars_"))
    )
