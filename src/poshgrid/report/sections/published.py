"""A study's published numbers, ours beside them: ``studies/STUDY/published/VERSION/numbers.csv``.

Each number says which of our results it is: a table, a column, and ``axis=value`` of its rows. Ours
is the mean of these rows, whatever sizes and seeds they have.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.errors import PoshgridError, check_known
from poshgrid.report.collect import Collected
from poshgrid.report.parts import Page
from poshgrid.statistics import intervals, published
from poshgrid.statistics.measures import subsets

TITLE, ORDER, AUDIENCE = "Beside the published numbers", 15, "reader"
_SHARES = ("%", "points")  # units of published numbers that are shares here


def write(page: Page) -> dict[str, Any] | None:
    """Write the table; ``None``: the target is of no study, or nothing can be compared."""
    study = page.collected.spec.study
    theirs = published.numbers(study.name) if study else pl.DataFrame()
    if study is None or theirs.is_empty():
        return None
    rows = comparison(page.collected, theirs, study.name)
    versions = theirs["version"].unique().to_list()
    one = versions[0] if len(versions) == 1 else None
    source = pl.col("source") if one else pl.format("{} ({})", "source", "version")
    page.table("comparison", rows.with_columns(source), one, rows["margin"].count())
    return {"compared": rows["ours"].count()}


def comparison(collected: Collected, theirs: pl.DataFrame, study: str) -> pl.DataFrame:
    """Set each published number beside the mean of our rows that it names.

    Args:
        collected: the results.
        theirs: :func:`poshgrid.statistics.published.numbers`.
        study: its name, for messages.

    Returns:
        Columns of ``theirs``, ours in the same unit, its margin of error, and our rows.

    Raises:
        PoshgridError: a number names a table, column or axis that no result has.
    """
    measures, tags = list(collected.measures.values()), list(collected.tags.values())
    tables = {
        "accuracy": collected.accuracy,
        "deltas": collected.deltas,
        "delta_tests": collected.delta_tests,
        "perplexity": collected.perplexity,
        "measures": pl.concat(measures, how="diagonal_relaxed") if measures else pl.DataFrame(),
        # Subsets of items cut across suites
        "tags": subsets.pooled(pl.concat(tags)) if tags else pl.DataFrame(),
    }
    rows = []
    for row in theirs.iter_rows(named=True):
        try:
            mine = _mine(tables, row)
        except PoshgridError as error:
            raise PoshgridError(f"studies/{study}: {row['what']}: {error}") from error
        scale = 100 if row["unit"] in _SHARES else 1
        values = mine.get_column("value", default=pl.Series(dtype=pl.Float64)).drop_nulls()
        ours = values.mean()
        rows.append({
            "ours": ours * scale if isinstance(ours, float) else None,
            "margin": _margin(mine, scale) if row["column"] == "mean" else None,
            "rows": len(values) or None,
        })  # fmt: skip
    kinds = {"ours": pl.Float64, "margin": pl.Float64, "rows": pl.UInt32}
    return theirs.hstack(pl.DataFrame(rows, schema=kinds))


def _mine(tables: dict[str, pl.DataFrame], row: dict[str, Any]) -> pl.DataFrame:
    """Return the rows that a number names, with what it is of as the column ``value``."""
    if not row["table"]:  # nothing here is measured so
        return pl.DataFrame()
    check_known("no table", row["table"], tables)
    frame = tables[row["table"]]
    if frame.is_empty():
        return frame
    for part in filter(None, row["where"].split(",")):
        axis, _, value = part.partition("=")
        check_known("no column", axis, frame.columns)
        frame = frame.filter(pl.col(axis).cast(pl.String) == value)
    check_known("no column", row["column"], frame.columns)
    return frame.with_columns(value=pl.col(row["column"]).cast(pl.Float64))


def _margin(mine: pl.DataFrame, scale: float) -> float | None:
    """Return the margin of error of a single row's mean over seeds, where it has their SD."""
    if mine.height != 1 or not {"sd", "n_seeds"} <= set(mine.columns):
        return None
    sd, seeds = mine["sd"][0], mine["n_seeds"][0]
    return None if sd is None else scale * intervals.half_t(sd, seeds)
