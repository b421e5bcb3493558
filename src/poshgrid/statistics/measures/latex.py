"""Measures of runs as LaTeX tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.statistics import tables
from poshgrid.statistics.measures.differences import Convention
from poshgrid.statistics.measures.schema import MEASURES
from poshgrid.statistics.schema import RUN_AXES

_POINT = (*RUN_AXES, "seed")


def paradigms(table: pl.DataFrame, convention: Convention) -> str:
    """Return LaTeX (booktabs): a row for each run, phenomenon and subset.

    Args:
        table: columns of ``PARADIGM_MEASURES``, of one suite.
        convention: as the table was made.
    """
    axes = tables.varying(table, _POINT, always=("condition", "size"))
    header = [
        *axes, "phenomenon", "subset", "$n$", r"$\Delta_{+\mathrm{filler}}$", "DiD",
        r"$\Delta_{+\mathrm{filler}}$", r"$\Delta_{-\mathrm{filler}}$", r"DiD [95\,\% CI]",
        "$t$(df)", "$p$",
    ]  # fmt: skip
    groups: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        key = tuple(row[name] for name in (*_POINT, "category", "phenomenon", "subset"))
        groups.setdefault(key, {})[row["measure"]] = row
    lines = [_differences(found, axes) for found in groups.values()]
    before = len(axes) + 3
    above = (
        f"{' & ' * (before - 1)} & \\multicolumn{{2}}{{c}}{{Accuracy}} "
        "& \\multicolumn{3}{c}{Mean} & & \\\\\n"
        f"\\cmidrule(lr){{{before + 1}-{before + 2}}}\\cmidrule(lr){{{before + 3}-{before + 5}}}"
    )
    lan = convention.sign == "lan2024"
    order = "$S(-$gap$)-S(+$gap$)$" if lan else "$S(+$gap$)-S(-$gap$)$"
    unit = "bits, summed" if convention.reduction == "sum" else "bits per token, averaged"
    caption = (
        rf"{tables.escape(str(table['suite'][0]))}: filler $\times$ gap. $\Delta$ is {order} "
        f"({unit} over the tokens of the critical region), DiD is "
        r"$\Delta_{+\mathrm{filler}}-\Delta_{-\mathrm{filler}}$. Accuracy: share of sets with a "
        rf"value ${'>0' if lan else '<0'}$ in \% [95\,\% Wilson interval]; a tie counts as half. "
        r"$t$ and $p$: one-sample $t$ test of DiD against 0, one-tailed in that direction, "
        "uncorrected."
    )
    right = len(header) - len(axes) - 2
    return tables.booktabs(header, lines, caption, right=right, above=above)


def choices(rows: pl.DataFrame) -> str:
    """Return LaTeX (booktabs) of the measures by category and of the whole suite.

    Args:
        rows: columns of ``CHOICE_MEASURES``.
    """
    kept = rows.filter(pl.col("level") != "phenomenon")
    axes = tables.varying(kept, _POINT)
    guessed, blocks = (kept[column].count() > 0 for column in ("chance", "blocks"))
    header = [*axes, "category", "raw", r"\%", r"95\,\% CI"]
    header += ["chance", "$p$"] * guessed + ["blocks"] * blocks
    lines = []
    for row in kept.iter_rows(named=True):
        cells = [tables.escape(str(row[axis])) for axis in axes]
        cells += [
            tables.escape(row["category"]) if row["level"] == "category" else r"\emph{all}",
            f"{row['raw']:.4g}/{row['n']}",
            f"{100 * row['accuracy']:.1f}",
            f"$[{100 * row['low']:.1f}, {100 * row['high']:.1f}]$",
        ]
        if guessed:
            p = tables.p_value(row["p"])
            cells += [f"{100 * row['chance']:.1f}", f"${p}$" if "<" in p else p]
        if blocks:
            counted = row["blocks"] is not None
            cells.append(f"{row['blocks_passed']}/{row['blocks']}" if counted else "")
        lines.append(cells)
    suite = tables.escape(", ".join(rows["suite"].unique().sort()))
    tests = ", ".join(sorted({test for test in kept["test"] if test}))
    note = f" $p$: two-sided exact test against guessing ({tests}), uncorrected."
    caption = f"{suite}. Wilson intervals over items.{note if guessed else ''}"
    return tables.booktabs(header, lines, caption, right=len(header) - len(axes) - 1)


def _differences(found: dict[str, dict[str, Any]], axes: list[str]) -> list[str]:
    """Return the cells of a run, phenomenon and subset, given the row of each measure."""
    plus, minus, did = (found[measure] for measure in MEASURES)
    interval = ""
    if did["sd"] is not None:
        interval = f" $[{did['mean_low']:.2f}, {did['mean_high']:.2f}]$"
    return [
        *(tables.escape(str(did[axis])) for axis in axes),
        tables.escape(did["phenomenon"]),
        did["subset"],
        str(did["n"]),
        _percent(plus),
        _percent(did),
        f"${plus['mean']:.2f}$",
        f"${minus['mean']:.2f}$",
        f"${did['mean']:.2f}$" + interval,
        "" if did["t"] is None else f"${did['t']:.2f}$({did['df']})",
        "" if did["p_one"] is None else f"${tables.p_value(did['p_one'])}$",
    ]


def _percent(row: dict[str, Any]) -> str:
    return f"{100 * row['accuracy']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
