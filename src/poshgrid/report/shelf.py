"""Where the page's figures and tables are put: files beside it, that it links to."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from poshgrid import files
from poshgrid.report import saving, style
from poshgrid.tables import formats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from poshgrid.tables.table import Table

_OWN = {
    "figures": tuple(f".{e}" for e in saving.KINDS),
    "tables": (*(f".{e}" for e in formats.ENDINGS), ".bib"),
}


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
        beside: who finishes figures; none: whoever draws them.
    """

    def __init__(self, output: Path, beside: Executor | None = None) -> None:
        self.output = output
        self.beside = beside
        self.written: dict[str, list[str]] = {"figures": [], "tables": []}

    def table(self, table: Table | None) -> Table | None:
        """Write a table in every format and hand it on to the page."""
        if table is not None:
            self._write(table.name, formats.texts(table))
        return table

    def numbers(self, name: str, frame: pl.DataFrame) -> None:
        """Write numbers that the page shows no table of, as CSV."""
        self._write(name, {"csv": formats.csv(frame)})

    def _write(self, name: str, texts: dict[str, str]) -> None:
        for ending, text in texts.items():
            files.write_text(self.output / "tables" / f"{name}.{ending}", text)
            self.written["tables"].append(f"{name}.{ending}")

    def picture(
        self, name: str, caption: str, draw: Callable[..., Figure], frame: pl.DataFrame
    ) -> Picture:
        """Draw a figure; write it and its numbers."""
        with style.drawing(name):
            drawn = draw(frame)
        work = partial(saving.finish, drawn, self.output / "figures", name, caption)
        done: Future[str] = self.beside.submit(work) if self.beside else Future()
        if not self.beside:
            done.set_result(work())
        self.written["figures"] += [f"{name}.{kind}" for kind in saving.KINDS]
        self.numbers(f"{name}-data", frame)
        return Picture(name, caption, done)

    def clear_stale(self) -> None:
        """Remove figures and tables of an earlier report that this one does not have."""
        for folder, endings in _OWN.items():
            for path in sorted((self.output / folder).glob("*")):
                if path.suffix in endings and path.name not in self.written[folder]:
                    path.unlink()
