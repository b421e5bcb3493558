"""poshgrid: what child-scale language models learn about syntax. For analysis use :func:`open`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from poshgrid.report.results import Results


def open(folder: str | os.PathLike[str]) -> Results:  # noqa: A001 - poshgrid.open, as pandas.read
    """Return the contents of a results folder as polars frames, each read at its first use.

    Args:
        folder: results folder, e.g. ``results/tiny``; the workflow need not be finished.

    Raises:
        PoshgridError: the folder does not exist, or has no results.
    """
    # Imported here, so that ``import poshgrid`` alone is fast
    from importlib import import_module

    results: Results = import_module("poshgrid.report.results").Results(folder)
    return results
