"""Deltas as LaTeX: what filtering does in each condition, and the means of conditions."""

from __future__ import annotations

import polars as pl

from poshgrid.statistics.deltas.differences import by_condition
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.statistics.tables import booktabs, escape, varying

_NOTE = (
    r"Accuracy deltas in points: filtered models less the mean of the full ones, means over seeds; "
    r"targeted: mean over the phenomena that the condition's filters are aimed at; all: over all "
    r"phenomena of the suite. Margins: $\log P(\mathrm{good}) - \log P(\mathrm{bad})$, nats, over "
    r"targeted phenomena. $r$: Pearson's, of the pairs' margins before and after filtering. Means "
    r"are over conditions."
)
_VALUES = ("targeted", "every", "margin_full", "margin", "r")
_HEADER = (r"$\Delta$ targeted", r"$\Delta$ all", "Margin, full", "filtered", "$r$")


def tables(rows: pl.DataFrame) -> str:
    """Return LaTeX (booktabs): a table for each suite.

    Args:
        rows: columns of ``DELTAS``.
    """
    found = by_condition(rows)
    return "\n".join(
        _table(found.filter(pl.col("suite") == suite), suite)
        for suite in sorted(found["suite"].unique())
    )


def _table(rows: pl.DataFrame, suite: str) -> str:
    axes = varying(rows, RUN_AXES, always=("condition",))
    others = [axis for axis in axes if axis != "condition"]
    lines = [
        [*(escape(row[axis]) for axis in axes), *_cells(row)] for row in rows.iter_rows(named=True)
    ]
    if rows["condition"].n_unique() > 1:
        means = (
            rows.group_by(others or pl.lit("").alias("all"), maintain_order=True)
            .agg(pl.col(value).mean() for value in _VALUES)
        )  # fmt: skip
        lines += [
            ["mean", *(escape(row[axis]) for axis in others), *_cells(row)]
            for row in means.iter_rows(named=True)
        ]
    header = [*map(escape, axes), *_HEADER]
    caption = f"{escape(suite)}: what filtering changes. {_NOTE}"
    return booktabs(header, lines, caption, right=len(_VALUES))


def _cells(row: dict[str, float | None]) -> list[str]:
    units = {"targeted": (100, "+.1f"), "every": (100, "+.1f")}
    cells = []
    for name in _VALUES:
        value = row[name]
        unit, form = units.get(name, (1, ".2f"))
        cells.append("" if value is None else f"${unit * value:{form}}$")
    return cells
