"""Where the page's figures and tables are put: files beside it, that it links to.

Saving figures is most of a page's time, so other processes do it while the page draws the next.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from poshgrid import files
from poshgrid.report import style
from poshgrid.tables import formats
from poshgrid.tables.table import Table

KINDS: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
    "png": {"metadata": {"Software": None}, "dpi": 200, "facecolor": "white"},
}
"""Ending of a figure's file -> how matplotlib saves it."""
TIP = "tip "
"""Begins the id of an unseen mark that the page shows a text over: no script, no other file."""
_OWN = {"figures": tuple(f".{e}" for e in KINDS), "tables": (".csv", ".tex", ".bib")}


@dataclass(frozen=True)
class Picture:
    """A figure as the page shows it."""

    name: str
    caption: str
    drawn: Future[str]

    @property
    def svg(self) -> Markup:
        """The figure inside the page."""
        return Markup(self.drawn.result())


class Shelf:
    """Writes the figures and tables that the page links to.

    Args:
        output: the page's folder.
        beside: processes that save figures; none: this one does.
    """

    def __init__(self, output: Path, beside: Executor | None = None) -> None:
        self.output = output
        self.beside = beside
        self.written: dict[str, list[str]] = {"figures": [], "tables": []}

    def table(self, table: Table | None) -> Table | None:
        """Write a table in every format and hand it on to the page."""
        if table is not None:
            texts = {"csv": formats.csv(table.frame()), "tex": formats.latex(table)}
            self._write(table.name, texts)
        return table

    def numbers(self, name: str, frame: pl.DataFrame) -> None:
        """Write numbers that the page shows no table of, as CSV."""
        self._write(name, {"csv": formats.csv(frame)})

    def _write(self, name: str, texts: dict[str, str]) -> None:
        for ending, text in texts.items():
            files.write_text(self.output / "tables" / f"{name}.{ending}", text)
            self.written["tables"].append(f"{name}.{ending}")

    def picture(
        self, name: str, caption: str, draw: Callable[..., style.Figure], frame: pl.DataFrame
    ) -> Picture:
        """Draw a figure; write it and its numbers."""
        with style.drawing(name):
            drawn = draw(frame)
        work = partial(finish, drawn, self.output / "figures", name, caption)
        done: Future[str] = self.beside.submit(work) if self.beside else Future()
        if not self.beside:
            done.set_result(work())
        self.written["figures"] += [f"{name}.{kind}" for kind in KINDS]
        self.numbers(f"{name}-data", frame)
        return Picture(name, caption, done)

    def clear_stale(self) -> None:
        """Remove figures and tables of an earlier report that this one does not have."""
        for folder, endings in _OWN.items():
            for path in sorted((self.output / folder).glob("*")):
                if path.suffix in endings and path.name not in self.written[folder]:
                    path.unlink()


# ---- files of figures ----------------------------------------------------------------------------


def finish(figure: style.Figure, folder: Path, name: str, label: str) -> str:
    """Save a figure and return it as inline SVG.

    Args:
        figure: to be saved.
        folder: of the files.
        name: of the files, unique on the page.
        label: what a screen reader says.
    """
    with style.drawing(name):
        save(settle(figure), folder, name)
        return svg(figure, name, label)


def settle(figure: style.Figure) -> style.Figure:
    """Lay a figure out once; otherwise each format that it is saved in would do so again.

    With any layout engine, "none" among them, each would also draw it twice.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)
    return figure


def svg(figure: style.Figure, name: str, label: str) -> str:
    """Return a figure as inline SVG whose colours are the page's CSS variables.

    Args:
        figure: a figure drawn inside :func:`poshgrid.report.style.drawing`.
        name: unique on the page; prefixed to every identifier.
        label: what a screen reader says, escaped by the caller's template engine or plain text.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(rf' id="{TIP}([^"]*)">', r"><title>\1</title>", text)
    used = set(re.findall(r'(?:xlink:href="|url\()#([^")]*)', text))
    text = re.sub(r' id="([^"]*)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", text)
    text = re.sub(r'(xlink:href="|url\()#', rf"\1#{name}-", text)
    text = text.replace('xlink:href="', 'href="')
    text = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", text)
    text = re.sub(
        r"font: (?:bold|700) ([\d.]+px) [^;\"]*", r"font-size: \1; font-weight: 600", text
    )
    for colour in style.COLOURS:
        text = text.replace(colour.light, f"var(--{colour.name})")
    box = re.search(r'viewBox="([^"]*)"', text)
    if box is None:
        raise ValueError("the SVG has no viewBox")
    head = f'<svg viewBox="{box[1]}" role="img" aria-label="{escape(label)}" class="figure">'
    return re.sub(r"\s*\n\s*", "\n", head + text[text.index(">") + 1 :]).strip()


def save(figure: style.Figure, folder: Path, name: str) -> None:
    """Write a figure in each of :data:`KINDS`, on white and without dates."""
    for kind, options in KINDS.items():
        drawn = io.BytesIO()  # the PDF writer fails in its own words where the disk is full
        figure.savefig(drawn, format=kind, **options)
        with files.atomic(folder / f"{name}.{kind}") as temporary:
            temporary.write_bytes(drawn.getvalue())
