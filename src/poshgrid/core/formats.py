"""Write tables as CSV and LaTeX.

Both are made from one description, :class:`~poshgrid.core.table.Table`, so that they hold the
same numbers: the CSV unrounded, LaTeX rounded as on the page. CSV is written by polars. LaTeX is
written here, because library output breaks on names from suites: pandas' Styler does not escape
headings, symbols, or ``[`` and ``*`` at the beginning of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from unicodedata import category

import polars as pl

from poshgrid.core import files
from poshgrid.core.table import Table

ENDINGS = ("csv", "tex")


def write(rows: pl.DataFrame, folder: Path, name: str, schema: files.Schema) -> None:
    """Write a table of results as {name}.parquet and .csv.

    Args:
        rows: the table.
        folder: folder for the files.
        name: name of the files, without an ending.
        schema: the columns that the table must have.

    Raises:
        PoshgridError: the table does not have these columns.
    """
    files.write_table(rows, folder / f"{name}.parquet", schema)
    files.write_text(folder / f"{name}.csv", csv(rows, places=6))


# ---- CSV -----------------------------------------------------------------------------------------

# Text that a spreadsheet would compute, also in full-width forms; "CSV Injection", OWASP. Leading
# apostrophes are included so that unguarded(guarded(text)) is always the text.
_FORMULA = re.compile("'*(?:[\t\r\n]|[ \u00a0]*[=+\\-@＝＋－＠])")
_NUMBER = r"^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$"  # numbers in a column of texts are harmless


def guarded(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula: ``=+-@`` get an apostrophe."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """Undo :func:`guarded`."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def csv(frame: pl.DataFrame, places: int | None = None) -> str:
    """Return a table as CSV in which no cell and no title is a formula.

    Args:
        frame: the table.
        places: decimals of its numbers; default: all.
    """
    safe = pl.col(pl.String).str.replace(f"^(?:{_FORMULA.pattern})", "'$0")
    numeric = pl.col(pl.String).str.contains(_NUMBER)
    words = frame.select(pl.when(numeric).then(pl.col(pl.String)).otherwise(safe))
    frame = frame.with_columns(words.get_columns()).rename(guarded)
    return frame.write_csv(float_precision=places)


# ---- LaTeX ---------------------------------------------------------------------------------------

_TEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "|": r"\textbar{}", "·": r"\textperiodcentered{}", "…": r"\ldots{}", "§": r"\S{}",
    "–": "--", "’": "'", "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "²": "$^2$",
    "≥": r"$\geq$", "≤": r"$\leq$", "≠": r"$\neq$", "→": r"$\to$", "Δ": r"$\Delta$",
    "χ": r"$\chi$", "†": r"$\dagger$", "‡": r"$\ddagger$", "✓": r"$\surd$",
    "[": "{[}",  # a \\ before it would read it as its argument
}  # fmt: skip
_MARKS = {"*": "*", "†": r"\dagger", "‡": r"\ddagger", "§": r"\S", "≠": r"\neq", "✓": r"\surd"}
_MARKED = re.compile(rf"(−?[\d.]+)([{''.join(_MARKS)}]+)(.*)")


def escape(words: str) -> str:
    """Return text in which TeX's special characters are escaped, and symbols are commands."""
    return "".join(" " if category(c) == "Cc" else _TEX.get(c, c) for c in words)


def latex(table: Table) -> str:
    """Return a table for LaTeX's booktabs, with marks after a number as superscripts.

    Args:
        table: the table; its total rows are emphasised, its caption is a comment.
    """
    columns = table.columns
    kinds = "".join("l" if column.text else "r" for column in columns)
    lines = [
        r"% \usepackage{booktabs} \usepackage[T1]{fontenc}", f"% {escape(table.caption)}",
        rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", *_spans(table),
    ]  # fmt: skip
    lines += [_line(escape(column.title) for column in columns), r"\midrule"]
    for number, (_, rows) in enumerate(table.bodies):
        lines += [r"\addlinespace"] if number else []
        for position, (index, row) in enumerate(rows):
            cells = [
                "" if table.grouped and position and i == 0 else _cell(column.write(value))
                for i, (column, value) in enumerate(zip(columns, row, strict=True))
            ]
            if table.classes.get(index) == "total":
                cells = [
                    rf"\emph{{{cell}}}" if cell and column.text else cell
                    for cell, column in zip(cells, columns, strict=True)
                ]
            lines.append(_line(cells))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _spans(table: Table) -> list[str]:
    cells, rules, at = [], [], 1
    for group, width in table.spans:
        if group:
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(group)}}}")
            rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
        else:
            cells += [""] * width
        at += width
    return [_line(cells), " ".join(rules)] if rules else []


def _cell(words: str) -> str:
    marked = _MARKED.fullmatch(words)
    if marked is None:
        return escape(words)
    marks = "".join(_MARKS[mark] for mark in marked[2])
    return f"{escape(marked[1])}$^{{{marks}}}${escape(marked[3])}"


def _line(cells: Iterable[str]) -> str:
    line = " & ".join(cells)
    if line.lstrip().startswith("*"):  # the \\ of the line above would read the star as its own
        line = f"{{}}{line}"
    return rf"{line} \\"
