"""LaTeX of Bayesian models: coefficients as in the paper's Table 12, contrasts."""

from __future__ import annotations

import polars as pl

from poshgrid.statistics.tables import booktabs, escape


def summary_tex(rows: pl.DataFrame, caption: str) -> str:
    """Return LaTeX of a model's common coefficients and group SDs.

    Medians and means both: the paper's Table 12 gives means for the intercept and the group SDs,
    whose posteriors are skewed, and medians for all else.

    Args:
        rows: columns of ``SUMMARY``.
        caption: plain text.
    """
    parts: dict[str, list[list[str]]] = {
        "": [], "Interaction effects": [], "Group-level standard deviations": [],
    }  # fmt: skip
    for row in rows.filter(pl.col("kind") != "group").iter_rows(named=True):
        is_interaction = ":" in row["term"].partition("[")[0]
        part = "Group-level standard deviations" if row["kind"] == "sd" else ""
        parts["Interaction effects" if is_interaction and not part else part].append(
            [
                escape(row["label"]) + (r"$^\dagger$" if row["implicit"] else ""),
                _number(row["median"]),
                _number(row["mean"]),
                _interval(row["low"], row["high"]),
            ]
        )
    lines = []
    for title, found in parts.items():
        lines += [[rf"\emph{{{title}}}", "", "", ""]] if title and found else []
        lines += found
    note = (
        r" Posterior medians, means and 95\,\% credible intervals (quantiles), log odds. "
        r"$^\dagger$: minus the sum of the other levels."
    )
    header = ["Predictor", "Median", "Mean", r"95\,\% CrI"]
    return booktabs(header, lines, escape(caption) + "." + note, right=3)


def contrasts_tex(rows: pl.DataFrame, caption: str) -> str:
    """Return LaTeX of a model's contrasts.

    Args:
        rows: columns of ``CONTRASTS``.
        caption: plain text.
    """
    lines = [
        [
            escape(_difference(row)),
            escape(f"{row['by']}: {row['level']}" if row["by"] else "all"),
            _number(row["median"]),
            _interval(row["low"], row["high"]),
            _number(100 * row["share"], 1),
            _interval(100 * row["share_low"], 100 * row["share_high"], 1),
        ]
        for row in rows.iter_rows(named=True)
    ]
    note = (
        r" Posterior medians and 95\,\% credible intervals (quantiles) of marginal differences: in "
        r"log odds, over the cells that both levels have; in points of accuracy (\%)."
    )
    header = ["Contrast", "Where", "Log odds", r"95\,\% CrI", "Points", r"95\,\% CrI"]
    return booktabs(header, lines, escape(caption) + "." + note, right=4)


def _difference(row: dict[str, str]) -> str:
    levels = f"{row['first']} - {row['less']}"
    return levels if row["contrast"] == levels else f"{row['contrast']} ({levels})"


def _number(value: float, digits: int = 2) -> str:
    return f"${value:.{digits}f}$"


def _interval(low: float, high: float, digits: int = 2) -> str:
    return f"$[{low:.{digits}f}, {high:.{digits}f}]$"
