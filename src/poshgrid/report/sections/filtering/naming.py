"""What tells filtered models apart: their condition's short name, and the axes that vary."""

from __future__ import annotations

import polars as pl

from poshgrid.statistics.deltas.tables import axes


def named(rows: pl.DataFrame) -> pl.DataFrame:
    """Add row, the condition's short name, and series, the other axes that vary.

    Args:
        rows: columns of ``RUN_AXES`` and any others.
    """
    names = rows["condition"].unique().to_list()
    bases = {name.partition("~")[0] for name in names if "~" in name}
    short = len(bases) == 1 and all("~" in name for name in names)
    row = pl.col("condition").str.replace(r"^[^~]*~", "") if short else pl.col("condition")
    bias = pl.col("bias").replace("none", "no bias")
    parts = [bias if axis == "bias" else pl.col(axis) for axis in axes(rows)]
    series = pl.concat_str(parts, separator=" · ") if parts else pl.lit("")
    return rows.with_columns(row=row, series=series)
