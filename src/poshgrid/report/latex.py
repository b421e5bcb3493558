"""The report's tables as LaTeX (booktabs)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from poshgrid.report.cells import FAR, TURNS, Cell
from poshgrid.report.plain import PlainTable
from poshgrid.report.tables import AccuracyTable
from poshgrid.statistics.tables import escape, line

_MARKS = {FAR: r"\ddagger", TURNS: r"\S"}
_PACKAGES = r"% \usepackage{booktabs} \usepackage[T1]{fontenc}"


def accuracy(table: AccuracyTable) -> str:
    """Return an accuracy table as a booktabs tabular; stars are of the pooled chi-square."""
    columns = "r" * len(table.header)
    lines = [_PACKAGES, _comment(table.caption), rf"\begin{{tabular}}{{ll{columns}}}", r"\toprule"]
    if any(group for group, _ in table.header):
        spans, rules, at = [], [], 3
        for group, found in groupby(table.header, key=lambda column: column[0]):
            width = len(list(found))
            spans.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(group)}}}")
            if group:
                rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
            at += width
        lines += [rf" & & {' & '.join(spans)} \\", " ".join(rules)]
    lines += [_tex_line(["", "", *(column for _, column in table.header)]), r"\midrule"]
    for index, (group, found) in enumerate(groupby(table.rows, key=lambda row: row[0])):
        if index:
            lines.append(r"\addlinespace")
        for row, (_, label, cells) in enumerate(found):
            first = escape(group) if row == 0 else ""
            lines.append(line([first, escape(label), *map(_cell, cells)]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _cell(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return escape(cell)
    mean, _, sd = cell.text.partition(" ")
    marks = cell.stars_pooled + "".join(_MARKS.get(mark, "") for mark in cell.marks)
    return f"{mean}{f'$^{{{marks}}}$' if marks else ''} {sd}".rstrip()


def plain(table: PlainTable) -> str:
    """Return a plain table as a booktabs tabular."""
    kinds = "".join("l" if column.text else "r" for column in table.columns)
    return "\n".join([
        _PACKAGES,
        _comment(table.caption),
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        _tex_line([column.title for column in table.columns]),
        r"\midrule",
        *(_tex_line(row) for row in table.shown()),
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ])  # fmt: skip


def _comment(caption: str) -> str:
    """Return a caption as a comment, ready to be put where the table's caption goes."""
    return f"% {escape(caption)}"


def _tex_line(texts: Iterable[str]) -> str:
    return line(map(escape, texts))
