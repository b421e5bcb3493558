"""The scores of a target's runs on a suite, matched with its items one to one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from poshgrid import files, logs
from poshgrid.errors import PoshgridError
from poshgrid.files import Schema
from poshgrid.statistics import levels
from poshgrid.statistics.measures.schema import RUN

AGAIN = "score the run again: `poshgrid run -R score`"


class Unit(NamedTuple):
    """What has one score."""

    key: tuple[str, ...]  # the columns that name it
    many: str  # as messages call several
    whole: str  # as messages call what an item_id names


SENTENCES = Unit(("item_id", "filler", "gap"), "sentences", "set")
OPTIONS = Unit(("item_id", "option"), "options", "item")
COMPLETED = Unit(("item_id",), "items", "item")


class Scored(NamedTuple):
    """The scores of a run on a suite."""

    run: str  # condition/size/learner/regimen/bias/seedN
    point: dict[str, Any]  # the columns of RUN
    path: Path
    rows: pl.DataFrame

    def named(self, result: pl.DataFrame) -> pl.DataFrame:
        """Return what was measured of the run with the columns of ``RUN`` before it."""
        columns = (pl.lit(self.point[name], dtype=RUN[name]).alias(name) for name in RUN)
        return result.select(*columns, pl.all())


def read_items(path: str | Path, schema: Schema) -> pl.DataFrame:
    """Return a suite's table.

    Raises:
        PoshgridError: the file is missing or empty, or breaks the contract.
    """
    items = files.read_table(path, schema)
    if items.is_empty():
        raise PoshgridError(f"{path}: no items; check the suite's file and make it again")
    return items


def of_runs(runs: Sequence[str], folder: Path, suite: str, schema: Schema) -> Iterator[Scored]:
    """Yield the scores of each run, by its name.

    Args:
        runs: condition/size/learner/regimen/bias/seedN.
        folder: of score files: ``{run}/{suite}.parquet`` below it.
        suite: its name.
        schema: contract of the scores.

    Raises:
        PoshgridError: no run, or a file that is missing or breaks the contract.
    """
    if not runs:
        raise PoshgridError("job: spec: runs: nothing to measure; give at least one run")
    for run in logs.progress(sorted(runs), "measuring runs"):
        point = {**levels.axes(run), "suite": suite}
        path = Path(folder) / run / f"{suite}.parquet"
        yield Scored(run, point, path, files.read_table(path, schema))


def matched(
    scores: pl.DataFrame, items: pl.DataFrame, unit: Unit, place: str | Path
) -> pl.DataFrame:
    """Return the items beside the scores of the model that training kept, one to one.

    Args:
        scores: rows of checkpoints (``step`` not null) are left out.
        items: the suite's.
        unit: what has one score.
        place: what messages call the scores.

    Raises:
        PoshgridError: an item has no score or two, or a score no item.
    """
    key = list(unit.key)
    kept = scores.filter(pl.col("step").is_null()).drop("step")
    twice = kept.filter(pl.struct(key).is_duplicated())
    if twice.height:
        raise PoshgridError(f"{place}: {unit.whole} {first(twice)!r} is scored twice; {AGAIN}")
    unscored = items.join(kept, on=key, how="anti")
    if unscored.height:
        raise PoshgridError(
            f"{place}: {unscored.height} of {items.height} {unit.many} have no score, first of "
            f"{unit.whole} {first(unscored)!r}; {AGAIN}"
        )
    unknown = kept.join(items, on=key, how="anti")
    if unknown.height:
        raise PoshgridError(
            f"{place}: {unknown.height} scored {unit.many} are not in the suite, first of "
            f"{unit.whole} {first(unknown)!r}: the items have changed since; {AGAIN}"
        )
    return items.join(kept, on=key)


def check_numbers(scores: pl.DataFrame, unit: Unit, place: str | Path) -> None:
    """Refuse log-probabilities that are not numbers, and those of no token.

    Args:
        scores: with the columns logprob and tokens.
        unit: what has one score.
        place: what messages call the scores.

    Raises:
        PoshgridError: there is one.
    """
    bad = scores.filter(
        ~pl.col("logprob").is_finite().fill_null(value=False) | (pl.col("tokens").fill_null(0) == 0)
    )
    if bad.height:
        raise PoshgridError(
            f"{place}: {bad.height} {unit.many} have a score that is not a number or counts no "
            f"token, first of {unit.whole} {first(bad)!r}; check that the run's training loss is "
            f"finite, then {AGAIN}"
        )


def first(frame: pl.DataFrame) -> str:
    """Return the first item_id by name."""
    return frame["item_id"].sort()[0]
