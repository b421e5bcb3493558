"""Log lines and progress: bars on a terminal, plain lines in job logs."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
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
