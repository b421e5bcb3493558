"""Perplexities of runs on unfiltered text, as one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files
from poshgrid.errors import PoshgridError
from poshgrid.statistics import levels, runs
from poshgrid.statistics.schema import PERPLEXITY, RUN_AXES

_MEASURED = [name for name in PERPLEXITY if name not in (*RUN_AXES, "seed")]


def read(paths: dict[str, Path]) -> pl.DataFrame:
    """Return the perplexities of runs (``PERPLEXITY``), sorted by condition, words and the rest.

    Args:
        paths: run -> what ``poshgrid perplexity`` wrote of it.

    Raises:
        PoshgridError: a file is missing or broken or is not what ``poshgrid perplexity``
            writes, or a run is misnamed.
    """
    rows = []
    for run, path in paths.items():
        facts = files.read_json(path)
        _check(facts, path)
        rows.append({**runs.axes(run), **{key: facts[key] for key in _MEASURED}})
    first, *others = RUN_AXES
    table = pl.DataFrame(rows, schema=PERPLEXITY, strict=False)
    return table.sort(first, levels.words(), *others, "seed")


def _check(facts: Any, path: Path) -> None:  # noqa: ANN401 - JSON is what it is
    """Refuse what ``poshgrid perplexity`` did not write."""
    faults = []
    if not isinstance(facts, dict):
        facts = {}
    for key in _MEASURED:
        if key not in facts:
            faults.append(f"{key} is missing")
        elif key == "tested":
            faults += [] if isinstance(facts[key], str) else [f"{key} is {facts[key]!r}"]
        elif not isinstance(facts[key], int | float | None):
            faults.append(f"{key} is {facts[key]!r}, no number")
    if faults:
        raise PoshgridError(
            f"{path}: {'; '.join(faults)}: not what poshgrid perplexity writes; delete it and run "
            "again"
        )
