"""Counts of correct judgements from anybody's CSV, for the Bayesian models."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import polars as pl

from poshgrid.benchmark.reading import csvfile
from poshgrid.config.runs import RELEASED, words_of
from poshgrid.errors import PoshgridError
from poshgrid.statistics.design import CELL
from poshgrid.statistics.schema import COUNTS

NEEDED = ("condition", "size", "seed", "category", "phenomenon", "correct", "n")
_ONCE = ("suite", *CELL)
_NAMES = {name for name, kind in COUNTS.items() if kind == pl.String} - {"lexical_set"}
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
            empty or not of its column's type, names differ only in case or white space, a
            phenomenon is in two categories, or no run can have such counts.
    """
    rows = csvfile.table(path, NEEDED, [name for name in COUNTS if name not in NEEDED])
    frame = pl.DataFrame(
        {name: [row.cells[name].strip() for row in rows] for name in rows[0].cells}
    )
    _check_names(rows, frame)
    frame = frame.with_columns(
        default.alias(name) for name, default in _DEFAULTS.items() if name not in frame.columns
    )
    if "words" not in frame.columns:
        frame = frame.with_columns(words=_words(path, frame["size"]))
    counts = frame.select([_typed(rows, frame[name], name, kind) for name, kind in COUNTS.items()])
    if not counts["n"].sum():
        raise PoshgridError(f"{path}: no counts below the header; give some")
    _check(rows, counts)
    return counts


def _check_names(rows: list[csvfile.Row], frame: pl.DataFrame) -> None:
    """Refuse names that look alike, and a phenomenon that is in two categories of its suite."""
    spellings: dict[tuple[str, str], str] = {}
    categories: dict[tuple[str, str], str] = {}
    for row, cells in zip(rows, frame.iter_rows(named=True), strict=True):
        for column in _NAMES & cells.keys():
            name = cells[column]
            alike = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
            first = spellings.setdefault((column, alike), name)
            if name != first:
                raise row.fault(
                    f"{column} is {name!r}, but {first!r} before: they differ only in case, white "
                    "space or accents' encoding; write one of them"
                )
        home = categories.setdefault(
            (cells.get("suite", ""), cells["phenomenon"]), cells["category"]
        )
        if home != cells["category"]:
            raise row.fault(
                f"phenomenon {cells['phenomenon']!r} is in category {cells['category']!r}, but in "
                f"{home!r} before; give it one category"
            )


def _check(rows: list[csvfile.Row], counts: pl.DataFrame) -> None:
    """Refuse counts that no run can have."""
    correct = pl.col("correct")
    halves = (2 * correct) % 1 == 0  # a tie counts half
    numbered = counts.with_row_index("row")
    wrong = numbered.filter(~(correct.is_between(0, pl.col("n")) & halves))
    if wrong.height:
        row, right, n = wrong.select("row", "correct", "n").row(0)
        raise rows[row].fault(
            f"correct is {right:g} of {n} pairs; write how many were right, a tie as a half"
        )
    twice = numbered.filter(pl.struct(_ONCE).is_duplicated())
    if twice.height:
        first = twice.row(0, named=True)
        same = pl.all_horizontal(pl.col(name) == first[name] for name in _ONCE)
        one, other = (rows[row] for row in twice.filter(same)["row"][:2])
        raise other.fault(
            f"of the same run and phenomenon as {one.line} ({first['condition']}, "
            f"{first['size']}, seed {first['seed']}, {first['phenomenon']}); write one"
        )


def _words(path: Path, sizes: pl.Series) -> pl.Series:
    known = {}
    for size in sizes.unique():
        try:
            known[size] = words_of(size)
        except ValueError as error:
            raise PoshgridError(f"{path}: {error}, or a column words") from error
    return sizes.replace_strict(known, return_dtype=pl.UInt64)


def _typed(
    rows: list[csvfile.Row], values: pl.Series, name: str, kind: type[pl.DataType]
) -> pl.Series:
    """Return a column in its type; the first cell that is not of it is an error."""
    if kind == pl.Boolean and values.dtype == pl.String:
        truth = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        typed = values.str.to_lowercase().replace_strict(truth, default=None)
    else:
        typed = values.cast(kind, strict=False)
    wrong = typed.is_null() if kind != pl.String or name == "lexical_set" else typed == ""
    if wrong.any():
        row = wrong.arg_max()
        assert row is not None
        kinds = "true or false" if kind == pl.Boolean else "a number"
        kinds += ", whole, 0 to 4,294,967,295" if kind == pl.UInt32 else ""
        raise rows[row].fault(
            f"{name} is {values[row]!r}; write {'a name' if kind == pl.String else kinds}"
        )
    return typed.alias(name)
