"""The parts of a page: how a section writes its tables and figures, and becomes HTML.

A section is a module of :mod:`poshgrid.report.sections`; to add a section, add a module. Its name
is the anchor on the page. It declares ``TITLE``, ``ORDER`` (position on the page), ``AUDIENCE``
(``reader``: shown open; ``reviewer`` or ``engineer``: folded) and ``write(page)``. This function
writes its tables and figures and returns the values for its template, or None if the target has no
such section. The template has the name of the module, with the ending ``.html``. Without a template
the section shows ``notes`` (a list of sentences), then its tables and figures in the order written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
from markupsafe import Markup

from poshgrid.core import files, formats, plugins
from poshgrid.core.plugins import SECTIONS
from poshgrid.core.table import Table, of_frame
from poshgrid.report import style
from poshgrid.report.collect import Collected
from poshgrid.report.layout import lay_out
from poshgrid.report.texts import environment, say, titles

_ENDINGS = {"figures": tuple(f".{e}" for e in style.KINDS), "tables": (".csv", ".bib", ".tex")}
"""Folder of the page -> endings of the files that a report writes there, or wrote once (.tex)."""


@dataclass(frozen=True)
class Picture:
    """A figure as the page shows it."""

    name: str
    caption: str
    svg: Markup  # the figure inside the page


class Page:
    """The page of a target: its results, and the tables and figures that it shows.

    Args:
        collected: the results of the other stages.
        output: the page's folder.
    """

    def __init__(self, collected: Collected, output: Path) -> None:
        self.collected = collected
        self.layout = lay_out(collected)
        self.palette = style.Palette()
        self.output = output
        self.shown: dict[str, Table | Picture] = {}
        self.written: dict[str, list[str]] = {"figures": [], "tables": []}

    def table(
        self, kind: str, frame: pl.DataFrame, *facts: object, of: str = "", **named: object
    ) -> None:
        """Write a frame as a table of the page; do nothing if it has no rows.

        Args:
            kind: of the table: the key of its titles in ``tables.yaml`` and of its caption in
                ``texts.txt``.
            frame: the rows of the table (:func:`poshgrid.core.table.of_frame`).
            facts: arguments of the caption.
            of: a suite or model, which is appended to the table's name; "": the kind is the name.
            named: named arguments of the caption; ``caption`` is the caption itself.
        """
        if frame.height:
            caption = named.pop("caption", None) or say(kind, *facts, **named)
            name = f"{kind}-{of}" if of else kind
            self.put(of_frame(name, str(caption), frame, titles().get(kind)))

    def put(self, table: Table) -> None:
        """Write a table as CSV; do nothing if it has no rows."""
        if table.rows:
            self.shown[table.name] = table
            self.file(f"{table.name}.csv", formats.csv(table.values))

    def file(self, name: str, text: str) -> None:
        """Write a file into the folder of the page's tables."""
        files.write_text(self.output / "tables" / name, text)
        self.written["tables"].append(name)

    def picture(
        self, name: str, draw: Callable[..., style.Figure], frame: pl.DataFrame, caption: str
    ) -> None:
        """Draw a frame; write the figure and its numbers. Do nothing if the frame has no rows.

        Args:
            name: of the figure, unique on the page.
            draw: a function of the frame and the palette of the page.
            frame: see :mod:`poshgrid.report.figures`.
            caption: of the figure, also for screen readers.
        """
        if frame.is_empty():
            return
        with style.drawing(name):
            drawn = draw(frame, self.palette)
        svg = Markup(style.finish(drawn, self.output / "figures", name, caption))
        self.written["figures"] += [f"{name}.{kind}" for kind in style.KINDS]
        self.file(f"{name}-data.csv", formats.csv(frame))
        self.shown[f"figure-{name}"] = Picture(name, caption, svg)

    def clear_stale(self) -> None:
        """Remove the figures and tables of an earlier report that this report did not write."""
        for folder, endings in _ENDINGS.items():
            for path in sorted((self.output / folder).glob("*")):
                if path.suffix in endings and path.name not in self.written[folder]:
                    path.unlink()

    def section(self, module: ModuleType) -> Markup:
        """Return a section in HTML; "" if it has no content."""
        before = set(self.shown)
        facts: dict[str, Any] | None = module.write(self)
        if facts is None:
            return Markup("")
        own = [name for name in self.shown if name not in before]
        templates = environment()
        show = templates.get_template("html/show.html").make_module({"shown": self.shown})
        path = Path(str(module.__file__)).with_suffix(".html")
        text = path.read_text("utf-8") if path.is_file() else _DEFAULT_TEMPLATE
        html = templates.from_string(text).render(facts, page=self, show=show, own=own)
        return Markup(html.strip())


_DEFAULT_TEMPLATE = """
{%- for note in notes | default([]) %}<p>{{ note }}</p>{% endfor %}
{%- for name in own %}{{ show.it(name) }}{% endfor %}"""


def sections(first: list[str]) -> dict[str, ModuleType]:
    """Return anchor -> module of every section, in the order of the page.

    Args:
        first: anchors of the sections that come first, in their order (key ``opens`` of a study).
    """
    known = {word: plugins.load(SECTIONS, word) for word in plugins.names(SECTIONS)}
    rest = sorted(known.keys() - set(first), key=lambda word: known[word].ORDER)
    return {word: known[word] for word in [*first, *rest]}
