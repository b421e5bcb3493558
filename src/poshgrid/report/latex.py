"""The report's tables as LaTeX (booktabs)."""

from __future__ import annotations

from collections.abc import Iterable

from poshgrid.report.tables import AccuracyTable, Cell, PlainTable

_DAGGER = r"\ddagger"  # the tables' FAR


def accuracy(table: AccuracyTable) -> str:
    """Return an accuracy table as a booktabs tabular; stars are of the pooled chi-square."""
    lines = [r"% booktabs", rf"\begin{{tabular}}{{ll{'r' * len(table.header)}}}", r"\toprule"]
    groups = [group for group, _ in table.header]
    if any(groups):
        spans = []
        for group in dict.fromkeys(groups):
            spans.append(rf"\multicolumn{{{groups.count(group)}}}{{c}}{{{escape(group)}}}")
        lines.append(rf" & & {' & '.join(spans)} \\")
    lines += [_tex_line(["", "", *(column for _, column in table.header)]), r"\midrule"]
    last = None
    for group, label, cells in table.rows:
        if last is not None and group != last:
            lines.append(r"\addlinespace")
        texts = [
            f"{100 * c.mean:.1f}$^{{{c.stars_pooled}{_DAGGER if c.far else ''}}}$"
            + (f" ({100 * c.sd:.1f})" if c.sd is not None else "")
            if isinstance(c, Cell)
            else escape(c)
            for c in cells
        ]
        first = escape(group) if group != last else ""
        lines.append(rf"{first} & {escape(label)} & {' & '.join(texts)} \\")
        last = group
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def plain(table: PlainTable) -> str:
    """Return a plain table as a booktabs tabular."""
    kinds = "".join("l" if column.text else "r" for column in table.columns)
    return "\n".join([
        r"% booktabs",
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        _tex_line([column.title for column in table.columns]),
        r"\midrule",
        *(_tex_line(row) for row in table.shown()),
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ])  # fmt: skip


def _tex_line(texts: Iterable[str]) -> str:
    return " & ".join(escape(text) for text in texts) + r" \\"


def escape(text: str) -> str:
    """Escape what LaTeX would take for a command."""
    special = {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
        "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "–": "--", "−": "$-$", "†": r"$\dagger$", "‡": rf"${_DAGGER}$", "×": r"$\times$",
        "·": r"\textperiodcentered{}", "±": r"$\pm$", "\n": " ",
    }  # fmt: skip
    return "".join(special.get(c, c) for c in text)
