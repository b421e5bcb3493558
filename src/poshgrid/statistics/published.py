"""Numbers that results of a study are compared with: those of its paper, and those of children.

``studies/STUDY/published/VERSION/NAME.csv`` has published numbers. A study may have several
versions: the paper, and the authors' repository, whose items may be different.
``studies/STUDY/children.csv`` has accuracies of children. Each file begins with comment lines
(``#``) that name the source of its numbers.
"""

from __future__ import annotations

import polars as pl

from poshgrid.core import resources
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import Schema

NUMBERS: Schema = {
    "source": pl.String, "what": pl.String, "value": pl.Float64, "unit": pl.String,
    "table": pl.String, "column": pl.String, "where": pl.String,
}  # fmt: skip
CHILDREN: Schema = {
    "name": pl.String, "age": pl.String, "accuracy": pl.Float64, "source": pl.String,
}  # fmt: skip


def numbers(study: str) -> pl.DataFrame:
    """Return the published numbers of a study that name the result they are compared with.

    Returns:
        ``version``, and the columns of ``numbers.csv``: ``source`` (where the number is printed),
        ``what`` (in words), ``value``, ``unit``, ``table`` and ``column`` (of our results),
        ``where`` (the rows of our results, as comma-separated ``axis=value``). Empty if the study
        has no such numbers.
    """
    frames = [pl.DataFrame(schema={"version": pl.String, **NUMBERS})]
    for path in resources.study(study, "published/*/numbers.csv"):
        frame = pl.read_csv(path, comment_prefix="#", schema_overrides=NUMBERS)
        version = pl.lit(path.parent.name).alias("version")
        frames.append(frame.select(version, *NUMBERS).with_columns(pl.col(pl.String).fill_null("")))
    return pl.concat(frames)


def children(study: str | None) -> pl.DataFrame:
    """Return accuracies of children, without rows that have none; empty if the study has none.

    Returns:
        ``name`` of a phenomenon or category; ``age`` as written; ``accuracy`` of children of this
        age (share); ``source``.

    Raises:
        PoshgridError: a column is missing, or a number cannot be read.
    """
    frames = [pl.DataFrame(schema=CHILDREN)]
    for path in resources.study(study, "children.csv") if study else ():
        try:
            frame = pl.read_csv(path, comment_prefix="#", schema_overrides=CHILDREN)
            frame = frame.select(*CHILDREN).drop_nulls("accuracy")
            frames.append(frame.with_columns(pl.col("accuracy") / 100))
        except pl.exceptions.PolarsError as error:
            line = str(error).partition("\n")[0]
            raise PoshgridError(f"{path}: {line}; columns: {', '.join(CHILDREN)}") from error
    return pl.concat(frames)
