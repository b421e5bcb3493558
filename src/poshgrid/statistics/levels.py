"""From the judgements of runs to rows: their columns, accuracies at every level, their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from poshgrid.config.runs import words_of
from poshgrid.statistics.schema import LEVELS, PARTS, RUN_AXES


def axes(run: str) -> dict[str, Any]:
    """Return the columns that a run's name gives: ``RUN_AXES`` and seed.

    Args:
        run: condition/size/model/recipe/bias/seedN.
    """
    *parts, seed = run.split("/")
    return {**dict(zip(RUN_AXES, parts, strict=True)), "seed": int(seed.removeprefix("seed"))}


def divided(units: pl.DataFrame, *within: str) -> pl.DataFrame:
    """Return what was judged by level and part.

    Args:
        units: ``within``, category, phenomenon, template, cell.
        within: columns beside them that name a phenomenon, such as the suite.

    Returns:
        All rows, as ``phenomenon``; and once more for each level of ``PARTS``, those of phenomena
        that have several of its parts: with the columns level and part.
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
        counts: ``by``, category, phenomenon, correct, n; perhaps level and part (:func:`divided`).
        by: the columns that name what was judged: a run, a suite, perhaps a step.
        also: columns of counts that are counts of right pairs, too, by another way of judging.

    Returns:
        ``by``, level (one of ``LEVELS``, or ``PARTS`` of divided counts), category, phenomenon,
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


def ordered(rows: pl.DataFrame, *by: str | pl.Expr) -> pl.DataFrame:
    """Return rows sorted by condition, words, the other axes, and what else is named.

    Words are those that the size names; of a pretrained model, whose size is not known, none.
    """
    words = pl.col("size").map_elements(words_of, return_dtype=pl.Int64)
    condition, *others = RUN_AXES
    return rows.sort(condition, words, *others, *by)


def rank() -> pl.Expr:
    """Return what the levels' rows are sorted by: the order of ``LEVELS``, then ``PARTS``."""
    order = {level: i for i, level in enumerate((*LEVELS, *PARTS))}
    return pl.col("level").replace_strict(order)
