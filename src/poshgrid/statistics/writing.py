"""One table in the formats that people use: parquet, CSV and, for a paper, LaTeX."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from poshgrid import files
from poshgrid.files import Schema


def write(
    rows: pl.DataFrame, folder: Path, name: str, schema: Schema, tex: str | None = None
) -> None:
    """Write a table as {name}.parquet and .csv, and as .tex where there is LaTeX of it.

    Args:
        rows: the table.
        folder: where the files go.
        name: of the files, without an ending.
        schema: the table's contract.
        tex: its LaTeX; none: no such file.

    Raises:
        PoshgridError: the table breaks its contract.
    """
    files.write_table(rows, folder / f"{name}.parquet", schema)
    with files.atomic(folder / f"{name}.csv") as temporary:
        rows.write_csv(temporary, float_precision=6)
    if tex is not None:
        files.write_text(folder / f"{name}.tex", tex)
