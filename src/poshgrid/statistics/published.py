"""Published numbers, for a report to set ours beside: ``studies/STUDY/published/VERSION/NAME.csv``.

A study has versions: what the paper prints, and what the authors' repository holds, which may be of
other items. Each file opens with comment lines (``#``) that name the source of its numbers.
"""

from __future__ import annotations

import polars as pl

from poshgrid import resources
from poshgrid.errors import PoshgridError

POSH = ("posh-bench", "v1")
"""The tables of Yang et al.: of the first version of their items."""
NUMBERS = {
    "source": pl.String, "what": pl.String, "value": pl.Float64, "unit": pl.String,
    "table": pl.String, "column": pl.String, "where": pl.String,
}  # fmt: skip


def load(study: str, version: str, name: str) -> pl.DataFrame:
    """Return a published table as printed.

    Args:
        study: its folder below ``studies``.
        version: of what was published, a folder there.
        name: of the table: ``table3``.

    Raises:
        PoshgridError: the file is missing.
    """
    path = resources.STUDIES / study / "published" / version / f"{name}.csv"
    if not path.is_file():
        raise PoshgridError(f"{path}: not found; install poshgrid again")
    frame = pl.read_csv(path, comment_prefix="#")
    return frame.with_columns(pl.col(pl.String).fill_null(""))


def numbers(study: str) -> pl.DataFrame:
    """Return the published numbers of a study that say which of our results they are.

    Returns:
        ``version``, and the columns of ``numbers.csv``: ``source`` (where it is printed), ``what``
        (in words), ``value``, ``unit``, ``table`` and ``column`` (of our results), ``where``
        (``axis=value`` of its rows, comma-separated). Without rows: the study has none.
    """
    frames = [pl.DataFrame(schema={"version": pl.String, **NUMBERS})]
    for path in resources.numbers(study):
        frame = pl.read_csv(path, comment_prefix="#", schema_overrides=NUMBERS)
        version = pl.lit(path.parent.name).alias("version")
        frames.append(frame.select(version, *NUMBERS).with_columns(pl.col(pl.String).fill_null("")))
    return pl.concat(frames)


def accuracy() -> pl.DataFrame:
    """Return Tables 3 and 8 of POSH-BENCH in the layout of our accuracy table.

    Returns:
        ``condition, size, level, category, phenomenon, mean, sd, stars``; mean and sd as shares
        (0-1); level as in :data:`poshgrid.statistics.schema.LEVELS`.
    """
    rows = [
        load(*POSH, table)
        .with_columns(
            level=pl.when(pl.col(level) == mean).then(pl.lit(mean)).otherwise(pl.lit(level))
        )
        .with_columns(pl.col(level).replace(mean, ""))
        for table, level, mean in (
            ("table8", "phenomenon", "average"),
            ("table3", "category", "overall"),
        )
    ]
    return pl.concat(rows, how="diagonal").select(
        *("condition", "size", "level", "category", pl.col("phenomenon").fill_null("")),
        mean=pl.col("accuracy") / 100,
        sd=pl.col("sd") / 100,
        stars=pl.col("stars"),
    )


def coefficients() -> pl.DataFrame:
    """Return Table 12: ``term`` (as in our summaries), ``label, median, low, high`` (log odds)."""
    return load(*POSH, "table12")
