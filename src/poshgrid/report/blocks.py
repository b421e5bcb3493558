"""What a section of the page is made from, and what it is made of.

A section is a module of :mod:`poshgrid.report.sections`; its name is the anchor, and adding one is
adding the module. It declares ``TITLE``, ``ORDER`` (place on the page) and ``AUDIENCE``, and
``blocks(page)``, which returns what stands there, from top to bottom; ``None``: the target has no
such section. The page writes the HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Literal

import polars as pl
from markupsafe import Markup

from poshgrid import plugins
from poshgrid.config.paths import Paths
from poshgrid.plugins import SECTIONS
from poshgrid.report import style
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.shelf import Picture, Shelf
from poshgrid.tables.table import Table

Audience = Literal["reader", "reviewer", "engineer"]
"""Readers see their sections open; those of reviewers and engineers open on demand."""


@dataclass(frozen=True)
class Page:
    """What a section is made from."""

    collected: Collected
    layout: Layout
    shelf: Shelf  # writes the tables and figures that the section shows
    paths: Paths

    def table(self, table: Table | None) -> Table | None:
        """Write a table and hand it on; one without rows is none."""
        return self.shelf.table(table) if table and table.rows else None

    def picture(
        self, name: str, caption: str, draw: Callable[..., style.Figure], frame: pl.DataFrame
    ) -> Picture | None:
        """Draw a figure; one without marks is none."""
        return None if frame.is_empty() else self.shelf.picture(name, caption, draw, frame)


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str
    count: str = ""  # how many, in grey
    code: str = ""  # a formula, behind a colon
    level: int = 3


@dataclass(frozen=True)
class Note:
    """A remark in small print."""

    text: str


@dataclass(frozen=True)
class Alert:
    """What a reader must know before the numbers."""

    what: str
    why: str
    good: bool = False  # what was hoped for


@dataclass(frozen=True)
class Bullets:
    """Sentences as a list."""

    texts: list[str]
    kind: str = ""  # CSS class


@dataclass(frozen=True)
class Facts:
    """Numbers side by side: (name, number, note)."""

    found: list[tuple[str, str, str]]


@dataclass(frozen=True)
class Fold:
    """A drawer."""

    title: str
    count: str
    blocks: list[Block] = field(default_factory=list)
    opened: bool = False


Block = str | Markup | Heading | Note | Alert | Bullets | Facts | Fold | Table | Picture | None
"""A text is a paragraph, markup is what it is, and ``None`` is nothing."""


def drawer(title: str, table: Table | None, most: int = 12) -> Fold | None:
    """Return a table in a drawer, which is shut if it has more rows than that."""
    if table is None or not table.rows:
        return None
    number = len(table.rows)
    count = f"({number} {'row' if number == 1 else 'rows'})"
    return Fold(title, count, [table], opened=number <= most)


def headed(title: str, table: Table | None) -> Iterable[Block]:
    """Return a table under a heading; nothing without the table."""
    return [] if table is None else [Heading(title), table]


def sections(first: Sequence[str] = ()) -> dict[str, ModuleType]:
    """Return anchor -> module of every section, in the order of the page.

    Args:
        first: anchors of the sections that a study opens with, in their order.
    """
    found = {word: plugins.load(SECTIONS, word) for word in plugins.names(SECTIONS)}
    rest = sorted(found.keys() - set(first), key=lambda word: found[word].ORDER)
    return {word: found[word] for word in [*first, *rest]}
