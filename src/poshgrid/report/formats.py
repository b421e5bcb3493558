"""A table in every format that people take away: CSV, LaTeX, Markdown, and HTML with colour.

One description, :class:`~poshgrid.report.plain.PlainTable` or
:class:`~poshgrid.report.tables.AccuracyTable`, gives all of them, so that they hold the same
numbers. The CSV has them unrounded; the others are what the page shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from poshgrid.report import latex, style
from poshgrid.report.cells import CHANCE, Cell
from poshgrid.report.plain import PlainTable, csv_frame
from poshgrid.report.tables import AccuracyTable, long

if TYPE_CHECKING:
    from markupsafe import Markup

ENDINGS = ("csv", "tex", "md", "html")

STARS = (
    "Stars: two-sided χ² against 50% over the pairs of all seeds, uncorrected "
    "(* p < .05, ** p < .01, *** p < .001)."
)


def plain(table: PlainTable) -> dict[str, str]:
    """Return a plain table's text in each of :data:`ENDINGS`."""
    return {
        "csv": csv_frame(table).write_csv(),
        "tex": latex.plain(table),
        "md": _markdown_plain(table),
        "html": _html_plain(table),
    }


def accuracy(table: AccuracyTable) -> dict[str, str]:
    """Return an accuracy table's text in each of :data:`ENDINGS`; the CSV has a row per cell.

    What its stars mean is added to the caption: a file travels without the page.
    """
    table = replace(table, caption=_explained(table))
    return {
        "csv": long(table).write_csv(),
        "tex": latex.accuracy(table),
        "md": _markdown_accuracy(table),
        "html": _html_accuracy(table),
    }


def text(cell: Cell | str) -> str:
    """Return a cell as it is printed: ``72.1***‡ (4.5)``."""
    if isinstance(cell, str):
        return cell
    mean, _, sd = cell.text.partition(" ")
    return f"{mean}{cell.stars_pooled}{cell.marks} {sd}".rstrip()


def _explained(table: AccuracyTable) -> str:
    """Return an accuracy table's caption, with what its stars mean if it has any."""
    cells = [cell for *_, found in table.rows for cell in found if isinstance(cell, Cell)]
    return f"{table.caption} {STARS}" if any(c.stars_pooled for c in cells) else table.caption


# ---- Markdown ------------------------------------------------------------------------------------

_PUNCTUATION = str.maketrans({c: f"\\{c}" for c in "\\`*_[]|~$#"})
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": " ", "\r": " "})


def escape(words: str) -> str:
    """Escape what Markdown would take for markup: pipes, emphasis, links, HTML, line ends."""
    return words.translate(_ENTITIES).translate(_PUNCTUATION)


def _markdown(
    header: Sequence[str], numeric: Sequence[bool], rows: Iterable[Sequence[str]], below: str
) -> str:
    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(map(escape, cells))} |"

    rule = f"| {' | '.join('---:' if right else '---' for right in numeric)} |"
    return "\n".join([line(header), rule, *map(line, rows), "", escape(below), ""])


def _markdown_plain(table: PlainTable) -> str:
    columns = table.columns
    return _markdown(
        [column.title for column in columns], [not column.text for column in columns],
        table.shown(), table.caption,
    )  # fmt: skip


def _markdown_accuracy(table: AccuracyTable) -> str:
    # Markdown has one line of headings: a column's group goes before its name.
    header = [f"{group} {name}".strip() for group, name in table.header]
    rows = [
        [group if index == 0 else "", label, *map(text, cells)]
        for group, found in groupby(table.rows, key=lambda row: row[0])
        for index, (_, label, cells) in enumerate(found)
    ]
    numeric = [False, False, *(True for _ in header)]
    return _markdown(["", "", *header], numeric, rows, table.caption)


# ---- HTML ----------------------------------------------------------------------------------------

_TABLE = (
    f"border-collapse:collapse;background:{style.PAGE.light};color:{style.INK.light};"
    "font:14px/1.35 system-ui,sans-serif;font-variant-numeric:tabular-nums"
)
_CAPTION = f"caption-side:bottom;text-align:left;padding:8px 0;color:{style.MUTED.light}"
_PAD = "padding:4px 10px;white-space:nowrap"
_LINE = f"border-bottom:1px solid {style.RULE.light}"
_FLAGS = {"flag": f"color:{style.WARNING.light};font-weight:600", "total": "font-weight:600"}


def tint(cell: Cell) -> str:
    """Return a cell's colour: blue above 50%, orange below, the stronger the further away.

    The page's own rule (page.css), on white.
    """
    colour = style.ABOVE if cell.mean >= CHANCE else style.BELOW
    red, green, blue = (int(colour.light[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{0.04 + 0.62 * cell.weight:.3f})"


def _cell(tag: str, words: str, *styles: str, **attributes: object) -> Markup:
    from markupsafe import Markup

    found = {"style": ";".join(filter(None, styles))} | attributes
    inside = Markup("").join(
        Markup(' {}="{}"').format(name, value) for name, value in found.items() if value
    )
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), inside, words)


def _html(below: str, head: Iterable[Iterable[Markup]], body: Iterable[Iterable[Markup]]) -> str:
    """Return a table that needs no style sheet, in ASCII, so that no encoding can break it."""
    from markupsafe import Markup

    def lines(rows: Iterable[Iterable[Markup]]) -> Markup:
        return Markup("\n").join(Markup("<tr>{}</tr>").format(Markup("").join(r)) for r in rows)

    found = Markup(
        '<table style="{}">\n{}\n<thead>\n{}\n</thead>\n<tbody>\n{}\n</tbody>\n</table>\n'
    ).format(_TABLE, _cell("caption", below, _CAPTION), lines(head), lines(body))
    return found.encode("ascii", "xmlcharrefreplace").decode()


def _html_plain(table: PlainTable) -> str:
    side = ["left" if column.text else "right" for column in table.columns]
    head = [
        _cell("th", column.title, _PAD, _LINE, f"text-align:{where}", scope="col")
        for column, where in zip(table.columns, side, strict=True)
    ]
    body = []
    for index, row in enumerate(table.shown()):
        flag = _FLAGS.get(table.classes.get(index, ""), "")
        body.append([
            _cell("td", words, _PAD, _LINE, f"text-align:{where}", flag)
            for words, where in zip(row, side, strict=True)
        ])  # fmt: skip
    return _html(table.caption, [head], body)


def _html_accuracy(table: AccuracyTable) -> str:
    centre = "text-align:center"
    head = [[_cell("th", "", _LINE, colspan=2)]]
    head[0] += [_cell("th", name, _PAD, _LINE, centre, scope="col") for _, name in table.header]
    if any(group for group, _ in table.header):
        head.insert(0, [_cell("th", "", colspan=2)])
        for group, found in groupby(table.header, key=lambda column: column[0]):
            head[0].append(_cell("th", group, _PAD, centre, scope="colgroup",
                                 colspan=len(list(found))))  # fmt: skip
    body = []
    for group, found in groupby(table.rows, key=lambda row: row[0]):
        rows = list(found)
        for index, (_, label, cells) in enumerate(rows):
            line = []
            if index == 0:
                line.append(_cell("th", group, _PAD, _LINE, "text-align:left;vertical-align:top",
                                  scope="rowgroup", rowspan=len(rows)))  # fmt: skip
            line.append(_cell("th", label, _PAD, _LINE, "text-align:left;font-weight:500",
                              scope="row"))  # fmt: skip
            body.append(line + [_accuracy_cell(cell, centre) for cell in cells])
    return _html(table.caption, head, body)


def _accuracy_cell(cell: Cell | str, centre: str) -> Markup:
    if isinstance(cell, str):
        grey = f"color:{style.MUTED.light};font-style:italic"
        return _cell("td", cell, _PAD, centre, grey)
    return _cell("td", text(cell), _PAD, centre, f"background:{tint(cell)}", title=cell.detail)
