"""What a study compares our results with: numbers of its paper, and what children know.

``studies/STUDY/published/VERSION/NAME.csv`` holds published numbers. A study has versions: what the
paper prints, and what the authors' repository holds, which may be of other items.
``studies/STUDY/children.csv`` says what children know at which age. Each file opens with comment
lines (``#``) that name the source of its numbers.
"""

from __future__ import annotations

import polars as pl

from poshgrid import resources
from poshgrid.errors import PoshgridError
from poshgrid.files import Schema

POSH = ("posh-bench", "v1")
"""The tables of Yang et al.: of the first version of their items."""
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
        version: of what was published, a folder there.
        name: of the table: ``table3``.

    Raises:
        PoshgridError: the file is missing.
    """
    path = resources.shipped("studies", study, "published", version, f"{name}.csv")
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
    for path in resources.study(study, "published/*/numbers.csv"):
        frame = pl.read_csv(path, comment_prefix="#", schema_overrides=NUMBERS)
        version = pl.lit(path.parent.name).alias("version")
        frames.append(frame.select(version, *NUMBERS).with_columns(pl.col(pl.String).fill_null("")))
    return pl.concat(frames)


def children(study: str | None) -> pl.DataFrame:
    """Return what children know at which age, if the study says so.

    Returns:
        ``name`` of a phenomenon or category; ``age`` as written and ``years``, the age in years;
        ``accuracy`` of children of this age (share), null where the age is the one from which
        children are said to know it; ``source``.

    Raises:
        PoshgridError: a column is missing, a number is none, or an age cannot be read.
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
    """Return an age in years; of a range, its middle.

    Args:
        age: years, or years;months, or a range of them: ``3``, ``3-4``, ``3;2-4;7``.

    Raises:
        ValueError: something else.
    """
    ends = [end.partition(";") for end in age.split("-")]
    try:
        return sum(int(year) + int(month or 0) / 12 for year, _, month in ends) / len(ends)
    except ValueError as error:
        raise ValueError(f"{age!r} is no age; write 3, 3-4 or 3;2-4;7") from error
