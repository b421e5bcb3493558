"""poshgrid: what child-scale language models learn of syntax. For analysis: :func:`open`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from poshgrid.analysis.results import Results


def open(folder: str | os.PathLike[str]) -> Results:  # noqa: A001 - poshgrid.open, as pandas.read
    """Return what a results folder holds, as polars frames; nothing is read until it is asked for.

    Args:
        folder: of results, e.g. ``results/tiny``; it need not be finished.

    Raises:
        PoshgridError: no such folder, or none of results.
    """
    # By name: whoever imports poshgrid alone waits for no library
    from importlib import import_module

    results: Results = import_module("poshgrid.analysis.results").Results(folder)
    return results
