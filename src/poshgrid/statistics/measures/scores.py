"""The scores of a target's runs on a suite, and their names in tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from poshgrid.config.specs import MeasuresSpec
from poshgrid.core import files, logs
from poshgrid.core.files import Schema
from poshgrid.statistics import levels
from poshgrid.statistics.measures.schema import RUN


def of_runs(
    spec: MeasuresSpec, folder: Path, schema: Schema
) -> Iterator[tuple[str, Path, pl.DataFrame]]:
    """Yield the name, the file and the scores of each run, sorted by name.

    Args:
        spec: the runs, and the suite.
        folder: of score files: ``{run}/{suite}.parquet`` below it.
        schema: columns of the scores.

    Raises:
        PoshgridError: a file is missing or has other columns.
    """
    for run in logs.progress(sorted(spec.runs), "measuring runs"):
        path = Path(folder) / run / f"{spec.suite}.parquet"
        yield run, path, files.read_table(path, schema)


def named(run: str, suite: str, result: pl.DataFrame) -> pl.DataFrame:
    """Return the result of a run with the columns of ``RUN`` before it."""
    columns = {**levels.axes(run), "suite": suite}
    return result.select(*(pl.lit(columns[n], dtype=RUN[n]).alias(n) for n in RUN), pl.all())
