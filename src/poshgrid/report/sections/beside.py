"""A study's published numbers, ours beside them: ``studies/STUDY/published/VERSION/numbers.csv``.

Each number says which of our results it is: a table, a column, and ``axis=value`` of its rows. Ours
is the mean of these rows, whatever sizes and seeds they have.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.errors import PoshgridError, check_known
from poshgrid.report.blocks import Block, Fold, Page
from poshgrid.report.collect import Collected
from poshgrid.report.texts import say
from poshgrid.statistics import intervals, published
from poshgrid.statistics.measures import subsets
from poshgrid.tables.table import Column, Table, numbers, text, texts, without_empty
from poshgrid.tables.words import decimals

TITLE, ORDER, AUDIENCE = "Beside the published numbers", 15, "reader"
_SHARES = ("%", "points")  # units of published numbers that are shares here


def blocks(page: Page) -> list[Block] | None:
    """Return the table, in a drawer where nothing can be compared.

    ``None``: the target is of no study, or the study has no such numbers.
    """
    study = page.collected.spec.study
    if study is None:
        return None
    theirs = published.numbers(study.name)
    if theirs.is_empty():
        return None
    table = beside(page.collected, theirs, study.name)
    compared = any(row[3] is not None for row in table.rows)
    shown = page.shelf.table(table)
    return [shown if compared else Fold("Numbers that this grid has none of", "", [shown])]


def beside(collected: Collected, theirs: pl.DataFrame, study: str) -> Table:
    """Set each published number beside the mean of our rows that it names.

    Args:
        collected: the results.
        theirs: :func:`poshgrid.statistics.published.numbers`.
        study: its name, for messages.

    Raises:
        PoshgridError: a number names a table, column or axis that no result has.
    """
    measures = list(collected.measures.values())
    tags = [frame for frame in collected.tags.values() if not frame.is_empty()]
    tables = {
        "accuracy": collected.accuracy,
        "deltas": collected.deltas,
        "delta_tests": collected.delta_tests,
        "perplexity": collected.perplexity,
        "measures": pl.concat(measures, how="diagonal_relaxed") if measures else pl.DataFrame(),
        # Subsets of items cut across suites
        "tags": subsets.pooled(pl.concat(tags)) if tags else pl.DataFrame(),
    }
    versions = theirs["version"].unique().to_list()
    one = versions[0] if len(versions) == 1 else None
    rows: list[list[Any]] = []
    for row in theirs.iter_rows(named=True):
        try:
            mine = _mine(tables, row)
        except PoshgridError as error:
            raise PoshgridError(f"studies/{study}: {row['what']}: {error}") from error
        scale = 100 if row["unit"] in _SHARES else 1
        values = mine.get_column("value", default=pl.Series(dtype=pl.Float64)).drop_nulls()
        ours = values.mean()
        rows.append([
            row["what"], row["unit"], row["value"],
            ours * scale if isinstance(ours, float) else None,
            _margin(mine, scale) if row["column"] == "mean" else None,
            len(values) or None, row["source"] if one else f"{row['source']} ({row['version']})",
        ])  # fmt: skip
    columns = [
        *texts("What", "Unit"), *numbers(decimals(2), "Published", "Ours", "±"),
        Column("Rows", str), text("Printed in"),
    ]  # fmt: skip
    margins = any(row[4] is not None for row in rows)
    table = Table(f"published-{study}", say("beside", one, margins), columns, rows)
    return without_empty(table, ["±"])


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
    """Return the margin of error of a single row's mean over seeds, where it tells their SD."""
    if mine.height != 1 or not {"sd", "n_seeds"} <= set(mine.columns):
        return None
    sd, seeds = mine.row(0, named=True)["sd"], mine["n_seeds"][0]
    return None if sd is None else scale * intervals.half_t(sd, seeds)
