"""What a reader can take away: the page's own tables and figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from poshgrid.report.blocks import Block, Links, Page
from poshgrid.report.shelf import Shelf

TITLE, ORDER, AUDIENCE = "Downloads", 180, "reader"


def blocks(page: Page) -> list[Block]:
    """Return the links; the last section, as it lists what the others wrote."""
    return [
        "Tables as CSV (numbers unrounded) and LaTeX, figures as PDF and PNG.",
        Links(list(beside(page.shelf))),
    ]


def beside(shelf: Shelf) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield (name, links) of the tables and figures that travel with the page."""
    for folder, names in shelf.written.items():
        for stem in sorted({Path(name).stem for name in names}):
            files = [n for n in names if Path(n).stem == stem]
            yield stem, [(Path(n).suffix[1:].upper(), f"{folder}/{n}") for n in files]
