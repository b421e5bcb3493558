"""Tables for a paper: LaTeX's parts, and the layouts of the paper's Tables 3, 8 and 12."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import category

import polars as pl

from poshgrid.statistics import levels

_AXES = ("size", "condition", "learner", "regimen", "bias")
_SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "|": r"\textbar{}", "·": r"\textperiodcentered{}", "…": r"\ldots{}", "§": r"\S{}",
    "–": "--", "’": "'", "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "²": "$^2$",
    "≥": r"$\geq$", "≤": r"$\leq$", "→": r"$\to$", "Δ": r"$\Delta$", "χ": r"$\chi$",
    "†": r"$\dagger$", "‡": r"$\ddagger$", "[": "{[}",  # a \\ before it would take it for its own
}  # fmt: skip
_TESTS = (
    r"Stars: two-sided $\chi^2$ against 50\,\% over all seeds' pairs, uncorrected "
    r"(* $p<.05$, ** $p<.01$, *** $p<.001$); daggers: the same levels for one $\chi^2$ per seed, "
    r"Fisher-combined, Holm-corrected within a row ($p=1$ where seeds disagree in direction). "
    r"$\ddagger$: a null of this cell (untrained, unigram or n-gram) is far from 50\,\%. "
    r"\S: by the sum and by the mean over tokens the accuracies differ by more than 5 points, so "
    r"that it matters how words are cut into tokens. "
    r"Mean and sample SD over seeds in \%. Rows marked untrained or counted are the nulls, rows "
    r"marked pretrained models of others."
)

_APART = 0.05  # accuracies by sum and by mean further apart than this (share) are marked


def escape(text: str) -> str:
    """Return text with what TeX would take for a command escaped, and symbols as commands."""
    return "".join(" " if category(c) == "Cc" else _SPECIAL.get(c, c) for c in text)


def line(cells: Iterable[str]) -> str:
    """Return a line of a table.

    Args:
        cells: LaTeX.
    """
    found = " & ".join(cells)
    if found.lstrip().startswith("*"):  # the \\ of the line before would take the star for its own
        found = f"{{}}{found}"
    return rf"{found} \\"


def p_value(p: float) -> str:
    """Return a p value for math mode: ``.042``, ``<.001``."""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def varying(rows: pl.DataFrame, axes: Sequence[str], always: Sequence[str] = ()) -> list[str]:
    """Return the axes with more than one value: the others would only widen a table.

    Args:
        rows: a table with the axes as columns.
        axes: in the order of the table's columns.
        always: those that stand even with one value.
    """
    return [axis for axis in axes if axis in always or rows[axis].n_unique() > 1]


def booktabs(
    header: Sequence[str],
    lines: Sequence[Sequence[str]],
    caption: str,
    *,
    right: int = 0,
    above: str = "",
) -> str:
    """Return a LaTeX table (booktabs).

    Args:
        header: LaTeX of the columns' names.
        lines: LaTeX of the cells, row by row.
        caption: LaTeX.
        right: how many columns, the last ones, are aligned to the right.
        above: LaTeX lines between the upper rule and the header, which group columns.
    """
    kinds = "l" * (len(header) - right) + "r" * right
    first, *rest = map(line, (header, *lines))
    return "\n".join(
        [
            r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{kinds}}}", r"\toprule",
            *above.splitlines(), first, r"\midrule", *rest, r"\bottomrule", r"\end{tabular}",
            rf"\caption{{{caption}}}", r"\end{table}", "",
        ]
    )  # fmt: skip


def accuracy_tex(rows: pl.DataFrame) -> str:
    """Return LaTeX (booktabs) of accuracies: two tables per suite.

    Args:
        rows: columns of ``ACCURACY``.
    """
    blocks = []
    for suite in sorted(rows["suite"].unique()):
        found = rows.filter(pl.col("suite") == suite)
        blocks.append(_wide(found, "category", "overall", f"{suite}: by category"))
        blocks.append(_wide(found, "phenomenon", "average", f"{suite}: by phenomenon"))
    return "\n".join(blocks)


def _wide(rows: pl.DataFrame, level: str, mean: str, caption: str) -> str:
    columns = rows.filter(pl.col("level") == level).sort("category", "phenomenon")
    names = columns[level].unique(maintain_order=True).to_list()
    axes = varying(rows, _AXES, always=("size", "condition"))
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    kept = rows.filter(pl.col("level").is_in([level, mean])).sort(
        levels.words(), "size", "condition", "learner", "regimen", "bias"
    )
    for row in kept.iter_rows(named=True):
        key = tuple(row[axis] for axis in _AXES)
        cells.setdefault(key, {})[row[level] if row["level"] == level else mean] = _cell(row)
    lines = [
        [escape(key[_AXES.index(axis)]) for axis in axes]
        + [found.get(name, "") for name in (*names, mean)]
        for key, found in cells.items()
    ]
    header = [escape(text) for text in (*axes, *names, mean)]
    return booktabs(header, lines, escape(caption) + ". " + _TESTS, right=len(names) + 1)


def _cell(row: dict[str, Any]) -> str:
    daggers = str(row["stars_fisher_holm"]).replace("*", r"\dagger")
    marks = f"{row['stars_pooled']}{daggers}" + (r"\ddagger" if row["far"] else "")
    marks += r"\S" if _depends_on_tokens(row) else ""
    sd = "" if row["sd"] is None else f" ({100 * row['sd']:.1f})"
    return f"{100 * row['mean']:.1f}" + (f"$^{{{marks}}}$" if marks else "") + sd


def _depends_on_tokens(row: dict[str, Any]) -> bool:
    either = row["mean_sum"], row["mean_mean"]
    # The last bits of a mean are no difference.
    return None not in either and abs(either[0] - either[1]) > _APART + 1e-9
