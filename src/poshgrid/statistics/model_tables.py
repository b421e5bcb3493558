"""Tables of Bayesian models: coefficients as in the paper's Table 12, contrasts."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import decimals

_PARTS = ("", "Interaction effects", "Group-level standard deviations")


def summary(rows: pl.DataFrame, caption: str) -> Table:
    """Lay a model's common coefficients and group SDs out.

    Medians and means both: the paper's Table 12 gives means for the intercept and the group SDs,
    whose posteriors are skewed, and medians for all else.

    Args:
        rows: columns of ``SUMMARY``.
        caption: what was fitted.
    """
    parts: dict[str, list[list[Any]]] = {part: [] for part in _PARTS}
    for row in rows.filter(pl.col("kind") != "group").iter_rows(named=True):
        interaction = ":" in row["term"].partition("[")[0]
        part = _PARTS[2] if row["kind"] == "sd" else _PARTS[1] if interaction else ""
        parts[part].append([
            row["label"] + (" †" if row["implicit"] else ""), row["median"], row["mean"],
            _interval(row["low"], row["high"]),
        ])  # fmt: skip
    lines: list[list[Any]] = []
    classes = {}
    for title, found in parts.items():
        if title and found:
            classes[len(lines)] = "total"
            lines.append([title, "", "", ""])
        lines += found
    note = (
        "Posterior medians, means and 95% credible intervals (quantiles), log odds. †: minus the "
        "sum of the other levels."
    )
    two = decimals(2)
    header = [text("Predictor"), Column("Median", two), Column("Mean", two), Column("95% CrI")]
    return Table("summary", f"{caption}. {note}", header, lines, classes)


def contrasts(rows: pl.DataFrame, caption: str) -> Table:
    """Lay a model's contrasts out.

    Args:
        rows: columns of ``CONTRASTS``.
        caption: what was fitted.
    """
    lines = [
        [
            _difference(row), f"{row['by']}: {row['level']}" if row["by"] else "all",
            row["median"], _interval(row["low"], row["high"]),
            100 * row["share"], _interval(100 * row["joint_low"], 100 * row["joint_high"], 1),
        ]
        for row in rows.iter_rows(named=True)
    ]  # fmt: skip
    note = (
        "Posterior medians and 95% credible intervals (quantiles) of marginal differences: in "
        "log odds, over the cells that both levels have; in points of accuracy (%), with intervals "
        "that are simultaneous over the levels of one factor (Bonferroni)."
    )
    header = [
        text("Contrast"), text("Where"), Column("Log odds", decimals(2)), Column("95% CrI"),
        Column("Points", decimals(1)), Column("95% CrI"),
    ]  # fmt: skip
    return Table("contrasts", f"{caption}. {note}", header, lines)


def _difference(row: dict[str, str]) -> str:
    levels = f"{row['first']} - {row['less']}"
    return levels if row["contrast"] == levels else f"{row['contrast']} ({levels})"


def _interval(low: float, high: float, places: int = 2) -> str:
    write = decimals(places)
    return f"[{write(low)}, {write(high)}]"
