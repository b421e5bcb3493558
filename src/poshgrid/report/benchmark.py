"""The tables of the report on the suites themselves: nulls, given models, and the other tasks."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.grid.runs import COUNTED, NULLS, PRETRAINED, UNTRAINED
from poshgrid.report.cells import FAR
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.plain import Column, PlainTable, decimals, percent


def nulls(collected: Collected, layout: Layout, suite: str) -> PlainTable | None:
    """Set what the nulls and the pretrained models make of each phenomenon side by side."""
    rows = collected.accuracy.filter(
        (pl.col("suite") == suite)
        & (pl.col("level") == "phenomenon")
        & pl.col("regimen").is_in([UNTRAINED, COUNTED, PRETRAINED])
    )
    if rows.is_empty():
        return None
    kind = pl.when(pl.col("regimen") == UNTRAINED).then(pl.lit(UNTRAINED)).otherwise("learner")
    found = {
        key: tuple(values)
        for *key_, low, mean, high in rows.group_by("phenomenon", kind.alias("kind"))
        .agg(low=pl.col("mean").min(), mean=pl.col("mean").mean(), high=pl.col("mean").max())
        .select("phenomenon", "kind", "low", "mean", "high")
        .iter_rows()
        for key, values in [(tuple(key_), (low, mean, high))]
    }
    given = sorted(rows.filter(pl.col("regimen") == PRETRAINED)["learner"].unique())
    shown = [null for null in NULLS if any(k == null for _, k in found)]
    far = _far(collected, suite)
    table: list[list[Any]] = []
    classes = {}
    for _, phenomenon in layout.phenomena[suite]:
        if far.get(phenomenon):
            classes[len(table)] = "flag"
        table.append([
            phenomenon + (f" {FAR}" if far.get(phenomenon) else ""),
            *(value for null in shown for value in _mean_and_range(found.get((phenomenon, null)))),
            *(found.get((phenomenon, name), (None, None))[1] for name in given),
            ", ".join(far.get(phenomenon, [])) or None,
        ])  # fmt: skip
    columns = [
        Column("Phenomenon", text=True),
        *(column for null in shown for column in (
            Column(null.capitalize(), percent), Column("Least–most", text=True))),
        *(Column(name, percent) for name in given),
        Column("Far from 50% in some cell", text=True),
    ]  # fmt: skip
    caption = (
        "Accuracy in percent of models that know no syntax, mean over conditions, sizes and seeds "
        "(least–most)" + (", and of pretrained models" if given else "") + ". "
        f"{FAR} A null is far from 50% in some cell, so that an accuracy there says less than it "
        "seems to."
    )
    return PlainTable(f"nulls-{suite}", caption, columns, table, classes)


def _far(collected: Collected, suite: str) -> dict[str, list[str]]:
    """Return phenomenon -> the nulls that are far from 50% in some cell."""
    rows = collected.accuracy.filter(
        (pl.col("suite") == suite) & (pl.col("level") == "phenomenon") & (pl.col("far") != "")
    )
    found: dict[str, set[str]] = {}
    for phenomenon, far in rows.select("phenomenon", "far").iter_rows():
        found.setdefault(phenomenon, set()).update(far.split(", "))
    return {name: [null for null in NULLS if null in far] for name, far in found.items()}


def _mean_and_range(value: tuple[float, float, float] | None) -> tuple[float | None, str | None]:
    if value is None:
        return None, None
    low, mean, high = value
    return mean, f"{percent(low)}–{percent(high)}"


def measures(name: str, caption: str, frame: pl.DataFrame) -> PlainTable:
    """Lay a table of measures out as it is: a column for each of its columns."""
    columns = [
        Column(column.replace("_", " ").capitalize(), decimals(3) if kind.is_float() else str,
               text=kind == pl.String)
        for column, kind in frame.schema.items()
    ]  # fmt: skip
    return PlainTable(name, caption, columns, [list(row) for row in frame.iter_rows()])
