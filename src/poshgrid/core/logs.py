"""What is printed: log lines, progress in the logs of jobs, tables in the terminal."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import TypeVar

T = TypeVar("T")
_INTERVAL = 30.0  # seconds between two progress lines in a job log


def get(name: str) -> logging.Logger:
    """Return the logger of a stage (``logs.get(__name__)``)."""
    return logging.getLogger(name)


def setup(*, verbose: bool = False) -> None:
    """Send poshgrid's log lines to standard error and silence other libraries.

    Args:
        verbose: show debug lines and the libraries' warnings.
    """
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="%(asctime)s %(levelname)-7s %(message)s",
        datefmt="%H:%M:%S",
    )
    logging.getLogger("poshgrid").setLevel(logging.DEBUG if verbose else logging.INFO)
    if not verbose:
        # Log lines of other libraries do not help readers of a job log.
        for noisy in ("stanza", "transformers", "pymc", "pytensor", "arviz", "matplotlib"):
            logging.getLogger(noisy).setLevel(logging.ERROR)
        warnings.simplefilter("ignore")
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        os.environ.setdefault("HF_HUB_VERBOSITY", "error")
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")


def progress(
    items: Iterable[T], description: str | Callable[[], str], total: int | None = None
) -> Iterator[T]:
    """Yield the items, and log a line every half minute.

    Args:
        items: the items.
        description: a few words, e.g. ``"parsing"``, or a function that returns them each time.
        total: number of items, if ``len(items)`` does not exist.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    words = description if callable(description) else lambda: description
    log = get("poshgrid.progress")
    last = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if now - last >= _INTERVAL:
            log.info("%s: %s of %s", words(), f"{done:,}", f"{total:,}" if total else "?")
            last = now
        yield item


def show(
    title: str,
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    labels: int = 1,
    notes: Iterable[str] = (),
) -> None:
    """Print a table of texts in the terminal; cells that are too wide for the terminal are wrapped.

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
