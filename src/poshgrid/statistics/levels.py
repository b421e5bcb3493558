"""Tables of accuracies: the columns of a run, accuracies at every level, the order of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from poshgrid.config.runs import REFERENCE, Run, words_of
from poshgrid.statistics.schema import LEVELS, PARTS, RUN_AXES


def axes(run: str) -> dict[str, Any]:
    """Return the columns that are in a run's name: ``RUN_AXES`` and seed.

    Args:
        run: condition/size/model/recipe/bias/seedN.
    """
    return asdict(Run.parse(run))


def trained(names: Iterable[str]) -> list[str]:
    """Return the trained runs, without baselines and given models; smaller sizes come first."""
    runs = sorted(map(Run.parse, names), key=lambda run: (run.condition, words_of(run.size), run))
    return [run.name for run in runs if run.recipe not in REFERENCE]


def divided(units: pl.DataFrame, *within: str) -> pl.DataFrame:
    """Return judgements with the columns level and part; a judgement has a row for each level.

    Args:
        units: ``within``, category, phenomenon, template, cell.
        within: further columns that name a phenomenon, such as the suite.

    Returns:
        All rows with level ``phenomenon``; then, for each level of ``PARTS``, the rows of phenomena
        that have several parts of this kind.
    """
    parts = [units.with_columns(level=pl.lit("phenomenon"), part=pl.lit(""))]
    for level in PARTS:
        named = pl.col(level) != ""
        several = pl.col(level).filter(named).n_unique().over(*within, "category", "phenomenon") > 1
        parts.append(units.filter(several & named).with_columns(level=pl.lit(level), part=level))
    return pl.concat(parts)


def by_level(counts: pl.DataFrame, by: list[str], also: Sequence[str] = ()) -> pl.DataFrame:
    """Return accuracies at every level.

    A category's accuracy is that of all its pairs; ``overall`` is the mean of the categories,
    ``average`` the mean of the phenomena.

    Args:
        counts: ``by``, category, phenomenon, correct, n; optionally level and part
            (:func:`divided`).
        by: the columns that name the judged run, suite and, with checkpoints, step.
        also: further columns with counts of right pairs, judged in another way.

    Returns:
        ``by``, level (of ``LEVELS``; with divided counts, of ``PARTS``, too), category, phenomenon,
        part, accuracy (share), correct, n; and ``also``, as shares.
    """
    if "level" not in counts.columns:
        counts = counts.with_columns(level=pl.lit("phenomenon"), part=pl.lit(""))
    sums = pl.col("correct", "n", *also).sum()
    shares = [(pl.col("correct") / pl.col("n")).alias("accuracy"), pl.col(also) / pl.col("n")]
    columns = ["level", "category", "phenomenon", "part"]
    units = counts.group_by(*by, *columns).agg(sums).with_columns(shares)
    phenomena = units.filter(level="phenomenon")
    whole = counts.filter(level="phenomenon")
    categories = whole.group_by(*by, "category").agg(sums).with_columns(shares)
    # Sums of floats depend on the order of rows, which group_by does not keep.
    means = [pl.col("accuracy", *also).sort().mean(), pl.col("correct", "n").sum()]
    tables = {
        "category": categories,
        "overall": categories.group_by(by).agg(means),
        "average": phenomena.group_by(by).agg(means),
    }
    rows = [units, *(rows.with_columns(level=pl.lit(level)) for level, rows in tables.items())]
    return pl.concat(rows, how="diagonal").with_columns(pl.col(columns[1:]).fill_null(""))


def over_seeds(
    rows: pl.DataFrame, by: Sequence[str], value: str = "accuracy", **more: pl.Expr | str
) -> pl.DataFrame:
    """Return means over seeds: a row for each point, in the order of the first seeds.

    Args:
        rows: ``by``, seed and value: a row for each seed.
        by: the columns that name a point.
        value: the column to average.
        more: further columns of the result, computed over the seeds.

    Returns:
        ``by``; mean; sd, the sample SD, null with one seed; n_seeds; and ``more``.
    """
    by_seed = rows.sort("seed").group_by(
        by, maintain_order=True
    )  # the order decides the last digit
    return by_seed.agg(
        mean=pl.mean(value), sd=pl.std(value, ddof=1), n_seeds=pl.len().cast(pl.UInt32), **more
    )


def ordered(rows: pl.DataFrame, *by: str | pl.Expr) -> pl.DataFrame:
    """Return rows sorted by condition, words, the other axes, then ``by``.

    The size names the words; a pretrained model, whose size is unknown, counts as having 0.
    """
    words = pl.col("size").map_elements(words_of, return_dtype=pl.Int64)
    condition, *others = RUN_AXES
    return rows.sort(condition, words, *others, *by)


def rank() -> pl.Expr:
    """Return the sort key of the column level: the order of ``LEVELS``, then of ``PARTS``."""
    return pl.col("level").cast(pl.Enum((*LEVELS, *PARTS)))
