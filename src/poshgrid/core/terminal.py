"""Print a table in the terminal, with rich."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def show(
    title: str,
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    labels: int = 1,
    notes: Iterable[str] = (),
) -> None:
    """Print a table of texts; cells that are too wide for the terminal are wrapped.

    Args:
        title: line above the table.
        names: titles of the columns.
        rows: a text for each column.
        labels: number of columns on the left that are names; the others are numbers.
        notes: lines below the table.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for position, name in enumerate(names):
        justify = "left" if position < labels else "right"
        table.add_column(Text(name), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(Text(title, style="bold"))
    console.print(table)
    for note in notes:
        console.print(Text(note, style="dim"))
