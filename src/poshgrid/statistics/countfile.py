"""Counts of correct judgements from anybody's CSV, for the Bayesian models."""

from __future__ import annotations

import codecs
from pathlib import Path

import polars as pl

from poshgrid.config.runs import RELEASED, words_of
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.statistics.design import CELL
from poshgrid.statistics.schema import COUNTS

NEEDED = ("condition", "size", "seed", "category", "phenomenon", "correct", "n")
_ONCE = ("suite", *CELL)
_DEFAULTS = {
    "learner": pl.lit("model"),
    "regimen": pl.lit(RELEASED),
    "bias": pl.lit("none"),
    "suite": pl.lit("suite"),
    "template": pl.col("phenomenon"),
    "lexical_set": pl.lit(""),
    "ties": pl.lit(0),
    "source": pl.col("condition"),
    "filtered": pl.lit(value=False),
}


def read(path: Path) -> pl.DataFrame:
    """Return the counts of a CSV.

    Args:
        path: a row for each run (condition, size, seed) and phenomenon; columns of ``COUNTS``, of
            which those in :data:`NEEDED` must be there. ``words`` are those that the size names,
            ``source`` is the condition, ``filtered`` no; there is no bias.

    Returns:
        Columns of ``COUNTS``.

    Raises:
        PoshgridError: the file cannot be read, lacks a column or has an unknown one, a cell is
            empty or not of its column's type, or no run can have such counts.
    """
    try:
        with path.open("rb") as stream:
            if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                raise PoshgridError(f"{path}: UTF-16; save it as UTF-8")
        frame = pl.read_csv(path, infer_schema=False, comment_prefix="#", glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise PoshgridError(f"{path}: cannot be read as CSV ({reason}); mend it") from error
    for name in NEEDED:
        if name not in frame.columns:
            raise PoshgridError(f"{path}: no column {name!r}; columns: {', '.join(NEEDED)}")
    for name in frame.columns:
        if name not in COUNTS:
            raise PoshgridError(
                f"{path}: unknown column {name!r}{did_you_mean(name, COUNTS)}; remove it"
            )
    frame = frame.with_columns(
        default.alias(name) for name, default in _DEFAULTS.items() if name not in frame.columns
    )
    if "words" not in frame.columns:
        frame = frame.with_columns(words=_words(path, frame["size"]))
    given = frame.select([_typed(path, frame[name], name, kind) for name, kind in COUNTS.items()])
    if not given["n"].sum():
        raise PoshgridError(f"{path}: no counts below the header; give some")
    _check(path, given)
    return given


def _check(path: Path, given: pl.DataFrame) -> None:
    """Refuse counts that no run can have."""
    correct = pl.col("correct")
    halves = (2 * correct) % 1 == 0  # a tie counts half
    rows = given.with_row_index("row", offset=1)
    wrong = rows.filter(~(correct.is_between(0, pl.col("n")) & halves))
    if wrong.height:
        row, found, n = wrong.select("row", "correct", "n").row(0)
        raise PoshgridError(
            f"{path}: row {row} below the header: correct is {found:g} of {n} pairs; write how "
            "many were right, a tie as a half"
        )
    twice = rows.filter(pl.struct(_ONCE).is_duplicated())
    if twice.height:
        first = twice.row(0, named=True)
        same = pl.all_horizontal(pl.col(name) == first[name] for name in _ONCE)
        others = twice.filter(same)["row"].to_list()
        raise PoshgridError(
            f"{path}: rows {others[0]} and {others[1]} below the header are of the same run and "
            f"phenomenon ({first['condition']}, {first['size']}, seed {first['seed']}, "
            f"{first['phenomenon']}); write one"
        )


def _words(path: Path, sizes: pl.Series) -> pl.Series:
    known = {}
    for size in sizes.unique():
        try:
            known[size] = words_of(size or "")
        except ValueError as error:
            raise PoshgridError(f"{path}: {error}, or a column words") from error
    return sizes.replace_strict(known, return_dtype=pl.UInt64)


def _typed(path: Path, values: pl.Series, name: str, kind: type[pl.DataType]) -> pl.Series:
    """Return a column in its type; the first cell that is not of it is an error."""
    if kind == pl.Boolean and values.dtype == pl.String:
        truth = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        typed = values.str.to_lowercase().replace_strict(truth, default=None)
    else:
        typed = values.cast(kind, strict=False)
    wrong = typed.is_null()
    if wrong.any():
        row = wrong.arg_max()
        assert row is not None
        kinds = "true or false" if kind == pl.Boolean else "a number"
        kinds += ", whole, 0 to 4,294,967,295" if kind == pl.UInt32 else ""
        raise PoshgridError(
            f"{path}: row {row + 1} below the header: {name} is {values[row]!r}; write "
            f"{'a name' if kind == pl.String else kinds}"
        )
    return typed.alias(name)
