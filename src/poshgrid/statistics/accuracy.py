"""Accuracy of every run: counts, means and SDs over seeds, tests against 50%, nulls beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, logs
from poshgrid.errors import PoshgridError
from poshgrid.grid import COUNTED, REFERENCE, UNTRAINED, WORD_NULLS
from poshgrid.specs import JudgementSpec
from poshgrid.statistics import intervals, judgements, levels, runs, tables, tests, writing
from poshgrid.statistics.schema import ACCURACY, COUNTS, RUN_AXES

_POINT = [*RUN_AXES, "suite"]
_ROW = [*_POINT, "level", "category", "phenomenon"]

log = logs.get(__name__)


def accuracy(
    spec: JudgementSpec, scores: Path, items: dict[str, Path], output: Path
) -> dict[str, Any]:
    """Judge all runs of a target and write counts and accuracies.

    Args:
        spec: the runs (condition/size/learner/regimen/bias/seedN) and the facts of their cells.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        items: suite -> its table of pairs.
        output: folder for counts.parquet and accuracy.parquet, .csv, .tex.

    Returns:
        Numbers of runs, judgements and ties.

    Raises:
        PoshgridError: see :func:`judgements.judged`; or a run is misnamed or its cell unknown.
    """
    if not spec.runs or not items:
        raise PoshgridError(
            "--spec: nothing to judge: give at least one run and one suite of items"
        )
    counts, sets = _count(spec, Path(scores), items)
    found = summarise(counts, sets, spec.tolerance)
    output = Path(output)
    files.write_table(counts, output / "counts.parquet", COUNTS)
    writing.write(found, output, "accuracy", ACCURACY, tables.accuracy_tex(found))
    facts = {
        "runs": len(spec.runs),
        "suites": sorted(items),
        "judgements": int(counts["n"].sum()),
        "ties": int(counts["ties"].sum()),
    }
    log.info(
        "%d runs, %s judgements, %d ties", facts["runs"], f"{facts['judgements']:,}", facts["ties"]
    )
    return facts


def summarise(counts: pl.DataFrame, sets: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """Return accuracies over seeds at every level.

    Args:
        counts: columns of ``COUNTS``.
        sets: sums of ``correct`` and ``n`` over seeds by phenomenon and lexical set.
        tolerance: distance of a null from 50% (share) beyond which a row names it.

    Returns:
        Columns of ``ACCURACY``, sorted by condition, words, the other axes, suite and level.
    """
    rows = (
        levels.by_level(counts, [*_POINT, "seed"])
        .sort("seed")
        .group_by(_ROW, maintain_order=True)
        .agg(
            mean=pl.col("accuracy").mean(),
            sd=pl.col("accuracy").std(ddof=1),
            n_seeds=pl.len().cast(pl.UInt32),
            n_pairs=pl.max("n").cast(pl.UInt32),
            each_correct="correct",
            each_n="n",
        )
    )
    rows = _tested(rows)
    rows = rows.join(intervals.clustered(sets, _POINT), on=_ROW, how="left")
    rows = _beside_nulls(rows, tolerance).with_columns(
        low=(pl.col("mean") - pl.col("half")).clip(0, 1),
        high=(pl.col("mean") + pl.col("half")).clip(0, 1),
    )
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
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return counts by phenomenon, and sums over seeds by lexical set."""
    pairs = {suite: judgements.read_items(items[suite]) for suite in sorted(items)}
    phenomena, sets = [], []
    for run in logs.progress(sorted(spec.runs), "judging runs"):
        facts = _facts(spec, run)
        for suite, table in pairs.items():
            found = judgements.judged(scores / run / f"{suite}.parquet", table, spec.scoring)
            found = found.with_columns(pl.lit(v).alias(k) for k, v in facts.items()).with_columns(
                suite=pl.lit(suite)
            )
            phenomena.append(
                found.group_by(*facts, "suite", "category", "phenomenon").agg(
                    correct=pl.col("correct").sum(),
                    ties=(pl.col("correct") == 0.5).sum(),
                    n=pl.len(),
                )
            )
            sets.append(
                found.group_by(*_POINT, "category", "phenomenon", "lexical_set").agg(
                    correct=pl.col("correct").sum(), n=pl.len()
                )
            )
    counts = (
        pl.concat(phenomena)
        .cast(COUNTS)
        .select(list(COUNTS))
        .sort("condition", "words", *RUN_AXES[1:], "seed", "suite", "category", "phenomenon")
    )
    keys = [*_POINT, "category", "phenomenon", "lexical_set"]
    # Sums of floats depend on the order of rows, which group_by does not keep.
    summed = (
        pl.concat(sets).group_by(keys).agg(pl.col("correct").sum(), pl.col("n").sum()).sort(keys)
    )
    return counts, summed


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
