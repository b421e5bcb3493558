"""Measures of runs as tables for a paper."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.statistics.measures.differences import Convention
from poshgrid.statistics.measures.schema import MEASURES
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, text, varying
from poshgrid.tables.words import decimals, percent, probability

_POINT = (*RUN_AXES, "seed")
_PLUS, _MINUS = (rf"$\Delta_{{{sign}\mathrm{{filler}}}}$" for sign in "+-")


def paradigms(table: pl.DataFrame, convention: Convention) -> Table:
    """Return a row for each run, phenomenon and subset.

    Args:
        table: columns of ``PARADIGM_MEASURES``, of one suite.
        convention: as the table was made.
    """
    axes = varying(table, _POINT, always=("condition", "size"))
    two = decimals(2)
    columns = [
        *map(text, axes), text("phenomenon"), text("subset"), Column("n", tex="$n$"),
        Column("Δ+filler", tex=_PLUS, group="Accuracy"), Column("DiD", group="Accuracy"),
        Column("Δ+filler", two, tex=_PLUS, group="Mean"),
        Column("Δ−filler", two, tex=_MINUS, group="Mean"),
        Column("DiD [95% CI]", group="Mean"), Column("t(df)", tex="$t$(df)"),
        Column("p", probability, tex="$p$"),
    ]  # fmt: skip
    groups: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        key = tuple(row[name] for name in (*_POINT, "category", "phenomenon", "subset"))
        groups.setdefault(key, {})[row["measure"]] = row
    lan = convention.sign == "lan2024"
    order = "S(−gap) − S(+gap)" if lan else "S(+gap) − S(−gap)"
    unit = "bits, summed" if convention.reduction == "sum" else "bits per token, averaged"
    caption = (
        f"{table['suite'][0]}: filler × gap. Δ is {order} ({unit} over the tokens of the critical "
        "region), DiD is Δ+filler − Δ−filler. Accuracy: share of sets with a value "
        f"{'> 0' if lan else '< 0'} in % [95% Wilson interval]; a tie counts as half. t and p: "
        "one-sample t test of DiD against 0, one-tailed in that direction, uncorrected."
    )
    rows = [_differences(found, axes) for found in groups.values()]
    return Table("measures", caption, columns, rows)


def choices(rows: pl.DataFrame) -> Table:
    """Return the measures by category and of the whole suite.

    Args:
        rows: columns of ``CHOICE_MEASURES``.
    """
    kept = rows.filter(pl.col("level") != "phenomenon")
    axes = varying(kept, _POINT)
    guessed, blocks = (kept[column].count() > 0 for column in ("chance", "blocks"))
    columns = [*map(text, axes), text("category"), *map(Column, ("raw", "%", "95% CI"))]
    if guessed:
        columns += [Column("chance", percent), Column("p", probability, tex="$p$")]
    columns += [Column("blocks")] * blocks
    lines: list[list[Any]] = []
    totals = {}
    for row in kept.iter_rows(named=True):
        if row["level"] != "category":
            totals[len(lines)] = "total"
        line = [
            *(str(row[axis]) for axis in axes),
            row["category"] if row["level"] == "category" else "all",
            f"{row['raw']:.4g}/{row['n']}",
            percent(row["accuracy"]),
            f"[{percent(row['low'])}, {percent(row['high'])}]",
        ]
        line += [row["chance"], row["p"]] if guessed else []
        if blocks:
            counted = row["blocks"] is not None
            line.append(f"{row['blocks_passed']}/{row['blocks']}" if counted else "")
        lines.append(line)
    suite = ", ".join(rows["suite"].unique().sort())
    tests = ", ".join(sorted({test for test in kept["test"] if test}))
    note = f" p: two-sided exact test against guessing ({tests}), uncorrected."
    caption = f"{suite}. Wilson intervals over items.{note if guessed else ''}"
    return Table("measures", caption, columns, lines, totals)


def _differences(found: dict[str, dict[str, Any]], axes: list[str]) -> list[Any]:
    """Return the cells of a run, phenomenon and subset, given the row of each measure."""
    plus, minus, did = (found[measure] for measure in MEASURES)
    two = decimals(2)
    interval = "" if did["sd"] is None else f" [{two(did['mean_low'])}, {two(did['mean_high'])}]"
    return [
        *(str(did[axis]) for axis in axes), did["phenomenon"], did["subset"], did["n"],
        _percent(plus), _percent(did), plus["mean"], minus["mean"], two(did["mean"]) + interval,
        "" if did["t"] is None else f"{two(did['t'])}({did['df']})",
        "" if did["p_one"] is None else did["p_one"],
    ]  # fmt: skip


def _percent(row: dict[str, Any]) -> str:
    return f"{percent(row['accuracy'])} [{percent(row['low'])}, {percent(row['high'])}]"
