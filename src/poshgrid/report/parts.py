"""What a section of the page is made from: results, and the tables and figures that it writes.

A section is a module of :mod:`poshgrid.report.sections`; its name is the anchor, and adding one is
adding the module. It declares ``TITLE``, ``ORDER`` (place on the page), ``AUDIENCE``
(``reader``: it is open; ``reviewer`` or ``engineer``: it opens on demand) and
``write(page)``, which writes its tables and figures and returns what its template needs; ``None``:
the target has no such section. The template is the file beside it with the ending ``.html``. A
section without one shows what it has written, in that order, below ``notes`` (a list of sentences).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import polars as pl
from markupsafe import Markup

from poshgrid import files, plugins
from poshgrid.plugins import SECTIONS
from poshgrid.report import style
from poshgrid.report.collect import Collected
from poshgrid.report.layout import lay_out
from poshgrid.report.texts import environment, say, titles
from poshgrid.tables import formats
from poshgrid.tables.table import Table, of_frame

_OWN = {"figures": tuple(f".{e}" for e in style.KINDS), "tables": (".csv", ".tex", ".bib")}


@dataclass(frozen=True)
class Picture:
    """A figure as the page shows it."""

    name: str
    caption: str
    saved: Future[str]

    @property
    def svg(self) -> Markup:
        """The figure inside the page."""
        return Markup(self.saved.result())


class Finding(NamedTuple):
    """A sentence, and where its numbers stand: ``tables/TABLE.csv``, in rows from 1 on."""

    text: str
    table: str
    rows: list[int]  # none: the sentence is about the whole table


class Page:
    """The page of a target: its results, and the tables and figures that it links to.

    Saving figures is most of a page's time, so other processes do it while the next is drawn.

    Args:
        collected: what other stages wrote.
        output: the page's folder.
        executor: processes that save figures; default: this one does.
    """

    def __init__(
        self, collected: Collected, output: Path, executor: Executor | None = None
    ) -> None:
        self.collected = collected
        self.layout = lay_out(collected)
        self.palette = style.Palette(self.layout.names)
        self.output = output
        self.executor = executor
        self.shown: dict[str, Table | Picture] = {}
        self.written: dict[str, list[str]] = {"figures": [], "tables": []}

    def table(
        self, kind: str, frame: pl.DataFrame, *facts: object, of: str = "", **named: object
    ) -> None:
        """Write a frame as a table of the page; one without rows is none.

        Args:
            kind: of the table: key of ``tables.yaml``, which has its titles, and text of
                ``texts.txt``, which is its caption.
            frame: a row for each of the table's (:func:`poshgrid.tables.table.of_frame`).
            facts: of the caption.
            of: a suite or model, the end of the table's name.
            named: facts of the caption by name; ``caption``: the caption itself.
        """
        if frame.height:
            caption = named.pop("caption", None) or say(kind, *facts, **named)
            name = f"{kind}-{of}" if of else kind
            self.put(of_frame(name, str(caption), frame, titles().get(kind)))

    def put(self, table: Table) -> None:
        """Write a table as CSV and LaTeX; one without rows is none."""
        if table.rows:
            self.shown[table.name] = table
            self.file(f"{table.name}.csv", formats.csv(table.values))
            self.file(f"{table.name}.tex", formats.latex(table))

    def file(self, name: str, text: str) -> None:
        """Write a file beside the page's tables."""
        files.write_text(self.output / "tables" / name, text)
        self.written["tables"].append(name)

    def picture(
        self, name: str, draw: Callable[..., style.Figure], frame: pl.DataFrame, caption: str
    ) -> None:
        """Draw a frame; write the figure and its numbers. One without marks is none.

        Args:
            name: of the figure, unique on the page.
            draw: takes the frame and the palette of the page.
            frame: see :mod:`poshgrid.report.figures`.
            caption: also what a screen reader says.
        """
        if frame.is_empty():
            return
        with style.drawing(name):
            drawn = draw(frame, self.palette)
        work = partial(style.finish, drawn, self.output / "figures", name, caption)
        saved: Future[str] = self.executor.submit(work) if self.executor else Future()
        if not self.executor:
            saved.set_result(work())
        self.written["figures"] += [f"{name}.{kind}" for kind in style.KINDS]
        self.file(f"{name}-data.csv", formats.csv(frame))
        self.shown[f"figure-{name}"] = Picture(name, caption, saved)

    def clear_stale(self) -> None:
        """Remove figures and tables of an earlier report that this one does not have."""
        for folder, endings in _OWN.items():
            for path in sorted((self.output / folder).glob("*")):
                if path.suffix in endings and path.name not in self.written[folder]:
                    path.unlink()

    def section(self, module: ModuleType) -> Markup:
        """Return a section in HTML; "" where it has nothing to say."""
        before = set(self.shown)
        facts: dict[str, Any] | None = module.write(self)
        if facts is None:
            return Markup("")
        own = [name for name in self.shown if name not in before]
        templates = environment()
        show = templates.get_template("html/show.html").make_module({"shown": self.shown})
        path = Path(str(module.__file__)).with_suffix(".html")
        text = path.read_text("utf-8") if path.is_file() else _PLAIN
        html = templates.from_string(text).render(facts, page=self, show=show, own=own)
        return Markup(html.strip())


_PLAIN = """
{%- for note in notes | default([]) %}<p>{{ note }}</p>{% endfor %}
{%- for name in own %}{{ show.it(name) }}{% endfor %}"""


def sections(first: list[str]) -> dict[str, ModuleType]:
    """Return anchor -> module of every section, in the order of the page.

    Args:
        first: anchors of the sections that a study opens with, in their order.
    """
    known = {word: plugins.load(SECTIONS, word) for word in plugins.names(SECTIONS)}
    rest = sorted(known.keys() - set(first), key=lambda word: known[word].ORDER)
    return {word: known[word] for word in [*first, *rest]}
