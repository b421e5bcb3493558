"""The tables of recall: how much of the evidence in gold trees each parser finds."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.report.collect import Collected
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import count, percent

FEW = 20
"""Sentences with evidence: rows with fewer are marked, since their rates say little."""


def recall(collected: Collected) -> Table | None:
    """Lay out each filter's recall, precision and price behind each parser, by gold trees."""
    found = collected.recall.filter(construction="")
    if found.is_empty():
        return None
    rows = [
        [
            *_head(row), row["sentences"], row["skipped"], row["evidence"], row["right"],
            *_rate(row, "recall"), row["removed"], *_rate(row, "precision"),
            _share(row["removed"], row["sentences"]), _share(row["words_removed"], row["words"]),
        ]
        for row in _sorted(collected, found)
    ]  # fmt: skip
    columns = [
        *_HEAD, Column("Sentences", count), Column("Left out", count), Column("Evidence", count),
        Column("Found", count), *_interval("Recall"), Column("Removed", count),
        *_interval("Precision"), Column("Sentences removed (%)", percent),
        Column("Words removed (%)", percent),
    ]  # fmt: skip
    caption = (
        "How much of the evidence a filter removes behind each parser. Evidence: sentences on "
        "whose gold tree the filter's rule fires. Removed: sentences on whose tree by the parser "
        "it fires; with the backstop, also those that it removes for their words. Found: sentences "
        "that are both. Recall is the share found of the evidence, precision of what is removed. "
        "Intervals: Wilson's, 95%; they take sentences as independent, which those of one "
        "conversation are not quite. Left out: sentences that the parser was trained on, which "
        "count nowhere else. Words are those of the trees, punctuation marks among them."
    )
    return _table("recall", caption, columns, rows, found)


def constructions(collected: Collected) -> Table | None:
    """Lay out the recall of each rule of a filter, over all gold trees together."""
    one = collected.recall["gold"].n_unique() == 1
    found = collected.recall.filter(pl.col("construction") != "", one | (pl.col("gold") == ""))
    if found.is_empty():
        return None
    rows = [
        [*_head(row)[:2], row["construction"], *_head(row)[3:], row["evidence"], row["right"],
         *_rate(row, "recall")]
        for row in _sorted(collected, found)
    ]  # fmt: skip
    columns = [
        *_HEAD[:2], text("Construction"), *_HEAD[3:], Column("Evidence", count),
        Column("Found", count), *_interval("Recall"),
    ]  # fmt: skip
    caption = (
        "The same by construction, over all gold trees together: the rule of the filter that fires "
        "on the gold tree. Found: it is removed, by whatever rule."
    )
    return _table("recall-constructions", caption, columns, rows, found)


def _sorted(collected: Collected, found: pl.DataFrame) -> list[dict[str, Any]]:
    """Return rows with the parsers of a filter side by side, the deciding one first."""
    place = {name: number for number, name in enumerate(collected.spec.parsers)}
    readings = {key: n for n, key in enumerate(found.select("filter", "reading").iter_rows())}
    return sorted(
        found.iter_rows(named=True),
        key=lambda row: (
            row["filter"], readings[row["filter"], row["reading"]], row["construction"],
            row["gold"] == "", row["gold"], place[row["parser"]], row["backstop"],
        ),
    )  # fmt: skip


def _table(
    name: str, caption: str, columns: list[Column], rows: list[list[Any]], found: pl.DataFrame
) -> Table:
    place = next(i for i, column in enumerate(columns) if column.title == "Evidence")
    few = {number: "flag" for number, row in enumerate(rows) if row[place] < FEW}
    if few:
        caption += (
            f" Marked rows: evidence in fewer than {FEW} sentences; read the interval, not the "
            "rate."
        )
    if not found["backstop"].any():
        kept = [i for i, column in enumerate(columns) if column.title != "Backstop"]
        columns = [columns[i] for i in kept]
        rows = [[row[i] for i in kept] for row in rows]
    return Table(name, caption, columns, rows, few)


def _head(row: dict[str, Any]) -> list[Any]:
    return [
        row["filter"], row["reading"], row["gold"] or "all", row["parser"],
        "with" if row["backstop"] else "without",
    ]  # fmt: skip


_HEAD = [text(name) for name in ("Filter", "Reading", "Gold trees", "Parser",
                                              "Backstop")]  # fmt: skip


def _rate(row: dict[str, Any], name: str) -> list[float | None]:
    return [row[name], row[f"{name}_low"], row[f"{name}_high"]]


def _interval(name: str) -> list[Column]:
    return [
        Column(f"{name} (%)", percent), Column(f"{name}, from", percent),
        Column(f"{name}, to", percent),
    ]  # fmt: skip


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
