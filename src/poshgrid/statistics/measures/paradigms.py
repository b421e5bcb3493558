"""Paradigms, filler x gap: surprisal in the critical region, its differences, and tests of them.

In bits, S = -log2 p(region), with the signs of Lan, Chemla & Katzir (2024) and Pistotti et al.
(2025, section 3.1):

    delta(filler) = S(-gap, filler) - S(+gap, filler)
    did           = delta(+filler) - delta(-filler)

Each difference is right or wrong on a set. delta(+filler) > 0 is right: after "who ... __ is likely
to upset" a gap is more expected than an object. delta(-filler) < 0 is right: without a filler, the
object is more expected. did > 0 is right: the filler makes the gap more expected than without it.
Earlier studies (Wilcox, Futrell & Levy 2024) subtract in the other order, +gap minus -gap, so that
success is below 0; and they average over the tokens of the region, which are summed here.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
from scipy import stats

from poshgrid.benchmark.schema import PARADIGMS
from poshgrid.config.specs import MeasuresSpec
from poshgrid.core import files, formats
from poshgrid.evaluation.judgements import TIE, matched
from poshgrid.evaluation.schema import PARADIGM_SCORES
from poshgrid.statistics import intervals
from poshgrid.statistics.measures import scores as scored
from poshgrid.statistics.measures.schema import (
    MEASURES,
    PARADIGM_MEASURES,
    PARADIGM_RESULT,
    SUBSETS,
)

_CELLS = {
    "s_plus_filler_gap": (True, True),
    "s_plus_filler": (True, False),
    "s_minus_filler_gap": (False, True),
    "s_minus_filler": (False, False),
}
_TOWARDS = {"delta_plus_filler": 1, "delta_minus_filler": -1, "did": 1}
"""Measure -> the sign of a right value."""


def write(spec: MeasuresSpec, scores: Path, items: Path, output: Path) -> dict[str, Any]:
    """Measure all runs of a target on a suite of filler x gap.

    Args:
        spec: the suite and the runs.
        scores: folder of score files: ``{run}/{suite}.parquet`` below it (``PARADIGM_SCORES``).
        items: the suite's sets (``PARADIGMS``).
        output: folder for measures.parquet and .csv.

    Returns:
        Numbers of sets and ties.

    Raises:
        PoshgridError: a file is missing or does not match the items.
    """
    sets, parts = files.read_table(items, PARADIGMS), []
    for run, path, rows in scored.of_runs(spec, scores, PARADIGM_SCORES):
        differences_of_run = differences(rows, sets, path)
        parts.append(scored.named(run, spec.suite, measures(differences_of_run)))
    table = pl.concat(parts)
    formats.write(table, Path(output), "measures", PARADIGM_MEASURES)
    whole = table.filter(pl.col("subset") == "all")
    return {"sets": sets["item_id"].n_unique(), "ties": int(whole["ties"].sum())}


def differences(
    scores: pl.DataFrame,
    items: pl.DataFrame,
    where: str | Path = "scores",
) -> pl.DataFrame:
    """Return surprisals and their differences, one row for each set.

    Args:
        scores: columns of ``PARADIGM_SCORES``; rows of checkpoints (``step`` not null) are left
            out.
        items: columns of ``PARADIGMS``, four rows for each set.
        where: name of the scores in messages.

    Returns:
        item_id, category, phenomenon, lexical_set, ambiguous; the surprisals s_plus_filler_gap,
        s_plus_filler, s_minus_filler_gap, s_minus_filler; delta_plus_filler, delta_minus_filler,
        did (all in bits), sorted by item.

    Raises:
        PoshgridError: see :func:`judgements.matched`.
    """
    surprisal = -pl.col("logprob") / math.log(2)
    wide = (
        matched(scores.filter(pl.col("step").is_null()), items, where)
        .group_by("item_id")
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
    return wide.with_columns(
        delta_plus_filler=pl.col("s_plus_filler") - pl.col("s_plus_filler_gap"),
        delta_minus_filler=pl.col("s_minus_filler") - pl.col("s_minus_filler_gap"),
    ).with_columns(did=pl.col("delta_plus_filler") - pl.col("delta_minus_filler"))


def measures(by_set: pl.DataFrame) -> pl.DataFrame:
    """Return the measures of one run.

    Args:
        by_set: its :func:`differences`.

    Returns:
        Columns of ``PARADIGM_RESULT``, sorted by category, phenomenon, subset and measure.
    """
    long = by_set.unpivot(
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
    towards = pl.col("value") * pl.col("measure").replace_strict(_TOWARDS)
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
    whole = {
        (row["category"], row["phenomenon"], row["measure"]): (row["correct"], row["n"])
        for row in rows.filter(subset="all").iter_rows(named=True)
    }
    frame = pl.DataFrame(
        [
            _described(row, *whole[row["category"], row["phenomenon"], row["measure"]])
            for row in rows.iter_rows(named=True)
        ],
        schema={name: kind for name, kind in PARADIGM_RESULT.items() if "clustered" not in name},
    )
    sets = long.group_by(*key, "lexical_set").agg(pl.col("correct").sum(), pl.len().alias("n"))
    subset = pl.col("subset").cast(pl.Enum(SUBSETS))
    measure = pl.col("measure").cast(pl.Enum(MEASURES))
    return (
        frame.join(intervals.clustered(sets, key), on=key, how="left")
        .with_columns(
            low_clustered=(pl.col("accuracy") - pl.col("half")).clip(0, 1),
            high_clustered=(pl.col("accuracy") + pl.col("half")).clip(0, 1),
        )
        .sort("category", "phenomenon", subset, measure)
        .select(list(PARADIGM_RESULT))
    )


def _described(row: dict[str, Any], right: float, whole: int) -> dict[str, Any]:
    """Return a row with accuracy, mean, intervals and tests instead of the list of values.

    A subset's accuracy is compared with that of the other sets, and with that of all sets, as in
    the paper. A subset and all sets overlap, so that the second chi-square is not a test and has no
    p.

    Args:
        row: a row of the table, with the values of its sets.
        right: number of right sets among all sets.
        whole: number of all sets.
    """
    values, correct, n = row.pop("values"), row["correct"], row["n"]
    low, high = intervals.wilson(correct, n)
    mean = math.fsum(values) / n
    columns = {**row, "accuracy": correct / n, "low": low, "high": high, "mean": mean}
    if row["subset"] != "all":
        chi_square, p = yates(correct, n, right - correct, whole - n)
        columns |= {"chi_square": chi_square, "p_chi_square": p}
        columns["chi_square_all"], _ = yates(correct, n, right, whole)
    if n < 2:
        return columns
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = intervals.half_t(sd, n)
    columns |= {"sd": sd, "mean_low": mean - half, "mean_high": mean + half, "df": n - 1}
    # An SD that is only rounding error counts as 0.
    if sd > 1e-12 * max(1.0, abs(mean)):
        t = mean / (sd / math.sqrt(n))
        one = stats.t.sf(_TOWARDS[row["measure"]] * t, n - 1)  # in the direction of success
        two = 2 * stats.t.sf(abs(t), n - 1)
        columns |= {"t": t, "p_one": float(one), "p_two": float(two)}
    return columns


def yates(a: float, n: int, b: float, m: int) -> tuple[float | None, float | None]:
    """Return chi-square (df 1, with Yates's correction) of two shares, and its two-sided p.

    Args:
        a: number of right sets among ``n``.
        n: number of sets on one side.
        b: number of right sets among ``m``.
        m: number of sets on the other side.

    Returns:
        Both are None if a row or a column of the table is empty.
    """
    table = [[a, n - a], [b, m - b]]
    if not n or not m or not a + b or a + b == n + m:
        return None, None
    test = stats.chi2_contingency(table, correction=True)
    return float(test.statistic), float(test.pvalue)
