"""The paper's own figures (resources/published/), for the report to set ours beside."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from poshgrid.errors import PoshgridError

FOLDER = Path(__file__).resolve().parents[3] / "resources" / "published"
TABLES = (2, 3, 4, 7, 8, 9, 12)


def load(table: int, folder: Path | None = None) -> pl.DataFrame:
    """Return a table as printed in Yang et al., POSH-BENCH.

    Args:
        table: its number there, one of ``TABLES``.
        folder: where the tables lie; by default the checkout's ``resources/published``.

    Raises:
        PoshgridError: the file is missing.
    """
    path = (folder or FOLDER) / f"table{table}.csv"
    if not path.is_file():
        raise PoshgridError(
            f"{path}: not found; run from a checkout of poshgrid, which holds resources/published"
        )
    frame = pl.read_csv(path, comment_prefix="#")
    return frame.with_columns(pl.col(pl.String).fill_null(""))


def accuracy(folder: Path | None = None) -> pl.DataFrame:
    """Return Tables 3 and 8 in the layout of our accuracy table.

    Returns:
        ``condition, size, level, category, phenomenon, mean, sd, stars``; mean and sd as shares
        (0-1); level as in :data:`poshgrid.statistics.schema.LEVELS`.
    """
    phenomena = load(8, folder).with_columns(
        level=pl.when(pl.col("phenomenon") == "average")
        .then(pl.lit("average"))
        .otherwise(pl.lit("phenomenon")),
        phenomenon=pl.col("phenomenon").replace("average", ""),
    )
    categories = load(3, folder).with_columns(
        level=pl.when(pl.col("category") == "overall")
        .then(pl.lit("overall"))
        .otherwise(pl.lit("category")),
        category=pl.col("category").replace("overall", ""),
        phenomenon=pl.lit(""),
    )
    return pl.concat([phenomena, categories], how="diagonal").select(
        "condition",
        "size",
        "level",
        "category",
        "phenomenon",
        mean=pl.col("accuracy") / 100,
        sd=pl.col("sd") / 100,
        stars=pl.col("stars"),
    )


def coefficients(folder: Path | None = None) -> pl.DataFrame:
    """Return Table 12: ``term`` (as in our summaries), ``label, median, low, high`` (log odds)."""
    return load(12, folder)
