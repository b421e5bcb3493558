"""Paradigms: the differences of filler x gap, with accuracies, means, intervals and t tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import logs
from poshgrid.benchmark.schema import PARADIGMS
from poshgrid.evaluation.judgements import TIE
from poshgrid.evaluation.schema import PARADIGM_SCORES
from poshgrid.statistics import intervals
from poshgrid.statistics.measures import scores as scored
from poshgrid.statistics.measures.differences import Convention, Reduction, Sign, differences
from poshgrid.statistics.measures.schema import (
    MEASURES,
    PARADIGM_MEASURES,
    PARADIGM_RESULT,
    SUBSETS,
)
from poshgrid.tables import formats

log = logs.get(__name__)


def write(
    runs: Sequence[str],
    scores: Path,
    suite: str,
    items: Path,
    output: Path,
    *,
    sign: Sign,
    reduction: Reduction,
) -> dict[str, Any]:
    """Measure all runs of a target on a suite of filler x gap.

    Args:
        runs: condition/size/learner/regimen/bias/seedN of each.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it (``PARADIGM_SCORES``).
        suite: the suite's name.
        items: its sets (``PARADIGMS``).
        output: folder for measures.parquet and .csv.
        sign: ``lan2024``: -gap less +gap; ``earlier``: the other way round.
        reduction: surprisal of a region: ``sum`` or ``mean`` over its tokens.

    Returns:
        Numbers of runs, sets and ties, scores of checkpoints left out, and the conventions.

    Raises:
        PoshgridError: no run, or a file that is missing or does not fit.
    """
    convention = Convention(sign, reduction)
    sets = scored.read_items(items, PARADIGMS)
    parts, checkpoints = [], 0
    for each in scored.of_runs(runs, scores, suite, PARADIGM_SCORES):
        checkpoints += each.rows["step"].count()
        found = differences(each.rows, sets, convention, each.path)
        parts.append(each.named(measures(found, convention)))
    table = pl.concat(parts)
    formats.write(table, Path(output), "measures", PARADIGM_MEASURES)
    whole = table.filter(pl.col("subset") == "all")
    facts = {
        "runs": len(runs),
        "sets": sets["item_id"].n_unique(),
        "ties": int(whole["ties"].sum()),
        "checkpoint_scores_left_out": checkpoints,
        "sign": sign,
        "reduction": reduction,
    }
    log.info("%s: %d runs, %s sets", suite, facts["runs"], f"{facts['sets']:,}")
    return facts


def measures(found: pl.DataFrame, convention: Convention) -> pl.DataFrame:
    """Return the measures of one run.

    Args:
        found: its :func:`~poshgrid.statistics.measures.differences.differences`.
        convention: how surprisals became differences.

    Returns:
        Columns of ``PARADIGM_RESULT``, sorted by category, phenomenon, subset and measure.
    """
    long = found.unpivot(
        MEASURES,
        index=["item_id", "category", "phenomenon", "lexical_set", "ambiguous"],
        variable_name="measure",
        value_name="value",
    )
    marked = pl.col("ambiguous")
    subsets = {"all": pl.lit(value=True), "unambiguous": ~marked, "ambiguous": marked}
    long = pl.concat(
        long.filter(chosen).with_columns(subset=pl.lit(subset))
        for subset, chosen in subsets.items()
    )
    tie = TIE / math.log(2)
    towards = pl.col("value") * pl.col("measure").replace_strict(
        {measure: float(convention.towards(measure)) for measure in MEASURES}
    )
    long = long.with_columns(
        correct=pl.when(pl.col("value").abs() <= tie).then(0.5).otherwise((towards > 0).cast(float))
    )
    key = ["category", "phenomenon", "subset", "measure"]
    rows = (
        long.sort(*key, "item_id")
        .group_by(key, maintain_order=True)
        .agg(
            pl.col("correct").sum(),
            pl.len().alias("n"),
            (pl.col("correct") == 0.5).sum().alias("ties"),
            pl.col("value").alias("values"),
        )
    )
    frame = pl.DataFrame(
        [_described(row, convention) for row in rows.iter_rows(named=True)],
        schema={
            name: kind
            for name, kind in PARADIGM_RESULT.items()
            if "clustered" not in name and "chi_square" not in name
        },
    )
    sets = long.group_by(*key, "lexical_set").agg(pl.col("correct").sum(), pl.len().alias("n"))
    return (
        _compared(frame)
        .join(intervals.clustered(sets, key), on=key, how="left")
        .with_columns(
            low_clustered=(pl.col("accuracy") - pl.col("half")).clip(0, 1),
            high_clustered=(pl.col("accuracy") + pl.col("half")).clip(0, 1),
        )
        .sort("category", "phenomenon", _rank("subset", SUBSETS), _rank("measure", MEASURES))
        .select(list(PARADIGM_RESULT))
    )


def p_values(t: float, df: float, direction: int) -> tuple[float, float]:
    """Return the one-tailed and the two-tailed p of a t statistic.

    Args:
        t: the statistic.
        df: degrees of freedom.
        direction: +1: success is above 0; -1: below.
    """
    from scipy import stats

    return float(stats.t.sf(direction * t, df)), float(2 * stats.t.sf(abs(t), df))


def _described(row: dict[str, Any], convention: Convention) -> dict[str, Any]:
    """Return a row with what its values come to: accuracy, mean, intervals and test."""
    values, n = row.pop("values"), row["n"]
    low, high = intervals.wilson(row["correct"], n)
    mean = math.fsum(values) / n
    found = {**row, "accuracy": row["correct"] / n, "low": low, "high": high, "mean": mean}
    if n < 2:
        return found
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = intervals.half_t(sd, n)
    found |= {"sd": sd, "mean_low": mean - half, "mean_high": mean + half, "df": n - 1}
    # Values that differ in their last bits only are one value, and say nothing of their spread.
    if sd > 1e-12 * max(1.0, abs(mean)):
        t = mean / (sd / math.sqrt(n))
        one, two = p_values(t, n - 1, convention.towards(row["measure"]))
        found |= {"t": t, "p_one": one, "p_two": two}
    return found


def _compared(frame: pl.DataFrame) -> pl.DataFrame:
    """Set each subset's accuracy beside the other sets', and beside all sets', as was published.

    Subset and all sets overlap, so that the second chi-square has no p here: it is no test.
    """
    key = ["category", "phenomenon", "measure"]
    whole = frame.filter(pl.col("subset") == "all").select(*key, whole="correct", whole_n="n")
    rows = []
    for row in frame.join(whole, on=key, how="left").iter_rows(named=True):
        whole_n, right = row.pop("whole_n"), row.pop("whole")
        if row["subset"] != "all":
            rest = right - row["correct"], whole_n - row["n"]
            row["chi_square"], row["p_chi_square"] = yates(row["correct"], row["n"], *rest)
            row["chi_square_all"], _ = yates(row["correct"], row["n"], right, whole_n)
        rows.append(row)
    new = {name: kind for name, kind in PARADIGM_RESULT.items() if "chi_square" in name}
    return pl.DataFrame(rows, schema={**frame.schema, **new})


def yates(a: float, n: int, b: float, m: int) -> tuple[float | None, float | None]:
    """Return chi-square (df 1, with Yates's correction) of two shares, and its two-sided p.

    Args:
        a: right ones of ``n``.
        n: of how many.
        b: right ones of ``m``.
        m: of how many.

    Returns:
        Null where a row or a column of the table is empty.
    """
    from scipy import stats

    table = [[a, n - a], [b, m - b]]
    if not n or not m or not a + b or a + b == n + m:
        return None, None
    found = stats.chi2_contingency(table, correction=True)
    return float(found.statistic), float(found.pvalue)


def _rank(column: str, order: Sequence[str]) -> pl.Expr:
    return pl.col(column).replace_strict({name: i for i, name in enumerate(order)})
