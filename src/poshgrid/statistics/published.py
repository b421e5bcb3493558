"""Numbers that results of a study are compared with: those of its paper, and ages of children.

``studies/STUDY/published/VERSION/NAME.csv`` has published numbers. A study may have several
versions: the paper, and the authors' repository, whose items may be different.
``studies/STUDY/children.csv`` says at which age children know a phenomenon. Each file begins with
comment lines (``#``) that name the source of its numbers.
"""

from __future__ import annotations

import polars as pl

from poshgrid.core import resources
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import Schema

POSH = ("posh-bench", "v1")
"""Study and version of the tables of Yang et al., with the first version of their items."""
NUMBERS: Schema = {
    "source": pl.String, "what": pl.String, "value": pl.Float64, "unit": pl.String,
    "table": pl.String, "column": pl.String, "where": pl.String,
}  # fmt: skip
CHILDREN: Schema = {
    "name": pl.String, "age": pl.String, "accuracy": pl.Float64, "source": pl.String,
}  # fmt: skip


def load(study: str, version: str, name: str) -> pl.DataFrame:
    """Return a published table as printed.

    Args:
        study: its folder below ``studies``.
        version: of the published numbers, a folder below ``published``.
        name: of the table, e.g. ``table3``.

    Raises:
        PoshgridError: the file is missing.
    """
    path = resources.shipped("studies", study, "published", version, f"{name}.csv")
    frame = pl.read_csv(path, comment_prefix="#")
    return frame.with_columns(pl.col(pl.String).fill_null(""))


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
    """Return at which ages children know phenomena; empty if the study does not say so.

    Returns:
        ``name`` of a phenomenon or category; ``age`` as written and ``years``, the age in years;
        ``accuracy`` of children of this age (share), or null if the source only says that
        children know the phenomenon from this age on; ``source``.

    Raises:
        PoshgridError: a column is missing, or a number or an age cannot be read.
    """
    frames = [pl.DataFrame(schema={**CHILDREN, "years": pl.Float64})]
    for path in resources.study(study, "children.csv") if study else ():
        try:
            frame = pl.read_csv(path, comment_prefix="#", schema_overrides=CHILDREN)
            ages = pl.Series("years", [years(age) for age in frame["age"]], pl.Float64)
            share = pl.col("accuracy") / 100
            frames.append(frame.select(*CHILDREN).with_columns(share, ages))
        except (ValueError, pl.exceptions.PolarsError) as error:
            line = str(error).partition("\n")[0]
            raise PoshgridError(f"{path}: {line}; columns: {', '.join(CHILDREN)}") from error
    return pl.concat(frames)


def years(age: str) -> float:
    """Return an age in years; the middle of a range.

    Args:
        age: years, years;months, or a range of these: ``3``, ``3-4``, ``3;2-4;7``.

    Raises:
        ValueError: the text is not an age.
    """
    ends = [end.partition(";") for end in age.split("-")]
    try:
        return sum(int(year) + int(month or 0) / 12 for year, _, month in ends) / len(ends)
    except ValueError as error:
        raise ValueError(f"{age!r} is not an age; write 3, 3-4 or 3;2-4;7") from error
