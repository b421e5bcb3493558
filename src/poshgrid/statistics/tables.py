"""Tables for a paper: accuracies in the layouts of the paper's Tables 3 and 8, and Table 12."""

from __future__ import annotations

import polars as pl

_AXES = ("size", "condition", "learner", "regimen", "bias")
_SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "|": r"\textbar{}",
    "×": r"$\times$",
}
_TESTS = (
    r"Stars: two-sided $\chi^2$ against 50\,\% over all seeds' pairs, uncorrected "
    r"(* $p<.05$, ** $p<.01$, *** $p<.001$); daggers: the same levels for one $\chi^2$ per seed, "
    r"Fisher-combined, Holm-corrected within a row ($p=1$ where seeds disagree in direction). "
    r"$\ddagger$: a null of this cell (untrained, unigram or n-gram) is far from 50\,\%. "
    r"Mean and sample SD over seeds in \%. Rows marked untrained or counted are the nulls, rows "
    r"marked pretrained models of others."
)


def escape(text: str) -> str:
    """Return text with TeX's special characters escaped."""
    return "".join(_SPECIAL.get(c, c) for c in text)


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


def summary_tex(rows: pl.DataFrame, caption: str) -> str:
    """Return LaTeX of a model's common coefficients and group SDs.

    Args:
        rows: columns of ``SUMMARY``.
        caption: plain text.
    """
    lines = [
        [
            escape(row["label"]) + (r"$^\dagger$" if row["implicit"] else ""),
            f"${row['median']:.2f}$",
            f"$[{row['low']:.2f}, {row['high']:.2f}]$",
        ]
        for row in rows.filter(pl.col("kind") != "group").iter_rows(named=True)
    ]
    note = (
        r" Posterior medians and 95\,\% credible intervals (quantiles), log odds. "
        r"$^\dagger$: minus the sum of the other levels."
    )
    return _booktabs(["Predictor", "Estimate", r"95\,\% CrI"], lines, escape(caption) + "." + note)


def _wide(rows: pl.DataFrame, level: str, mean: str, caption: str) -> str:
    columns = rows.filter(pl.col("level") == level).sort("category", "phenomenon")
    names = columns[level].unique(maintain_order=True).to_list()
    # Axes with one value would only widen the table.
    axes = [a for a in _AXES if a in ("size", "condition") or rows[a].n_unique() > 1]
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    kept = rows.filter(pl.col("level").is_in([level, mean])).sort(
        "words", "size", "condition", "learner", "regimen", "bias"
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
    return _booktabs(header, lines, escape(caption) + ". " + _TESTS)


def _cell(row: dict[str, object]) -> str:
    daggers = str(row["stars_fisher_holm"]).replace("*", r"\dagger")
    marks = f"{row['stars_pooled']}{daggers}" + (r"\ddagger" if row["far"] else "")
    sd = "" if row["sd"] is None else f" ({100 * row['sd']:.1f})"
    return f"{100 * row['mean']:.1f}" + (f"$^{{{marks}}}$" if marks else "") + sd


def _booktabs(header: list[str], lines: list[list[str]], caption: str) -> str:
    body = "\n".join(" & ".join(line) + r" \\" for line in [header, *lines])
    first, rest = body.split("\n", 1)
    return (
        "\\begin{table}\n\\centering\n"
        f"\\begin{{tabular}}{{{'l' * len(header)}}}\n\\toprule\n{first}\n\\midrule\n{rest}\n"
        f"\\bottomrule\n\\end{{tabular}}\n\\caption{{{caption}}}\n\\end{{table}}\n"
    )
