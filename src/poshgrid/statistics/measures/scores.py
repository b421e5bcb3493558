"""The scores of a target's runs on a suite, matched with its items one to one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from poshgrid import files, logs
from poshgrid.config.specs import MeasuresSpec
from poshgrid.errors import PoshgridError
from poshgrid.files import Schema
from poshgrid.statistics import levels
from poshgrid.statistics.measures.schema import RUN


def of_runs(
    spec: MeasuresSpec, folder: Path, schema: Schema
) -> Iterator[tuple[str, Path, pl.DataFrame]]:
    """Yield the name, the file and the scores of each run, by its name.

    Args:
        spec: the runs, and the suite.
        folder: of score files: ``{run}/{suite}.parquet`` below it.
        schema: contract of the scores.

    Raises:
        PoshgridError: no run, or a file that is missing or breaks the contract.
    """
    if not spec.runs:
        raise PoshgridError("job: spec: runs: nothing to measure; give at least one run")
    for run in logs.progress(sorted(spec.runs), "measuring runs"):
        path = Path(folder) / run / f"{spec.suite}.parquet"
        yield run, path, files.read_table(path, schema)


def named(run: str, suite: str, result: pl.DataFrame) -> pl.DataFrame:
    """Return what was measured of a run with the columns of ``RUN`` before it."""
    columns = {**levels.axes(run), "suite": suite}
    return result.select(*(pl.lit(columns[n], dtype=RUN[n]).alias(n) for n in RUN), pl.all())


def matched(scores: pl.DataFrame, items: pl.DataFrame, place: str | Path) -> pl.DataFrame:
    """Return the items beside the scores of the model that training kept, one to one.

    Args:
        scores: rows of checkpoints (``step`` not null) are left out.
        items: the suite's; the columns that both have name what has one score.
        place: what messages call the scores.

    Raises:
        PoshgridError: an item has no score or two, or a score no item; a log-probability is not a
            number, or that of no token.
    """
    again = "score the run again: `poshgrid run -R score`"
    kept = scores.filter(pl.col("step").is_null()).drop("step")
    key = [name for name in kept.columns if name in items.columns]
    twice = kept.filter(pl.struct(key).is_duplicated())
    alone = [a.join(b, on=key, how="anti") for a, b in ((items, kept), (kept, items))]
    odd = pl.concat([frame.select("item_id") for frame in (twice, *alone)])
    if odd.height:
        raise PoshgridError(
            f"{place}: {odd.height} scores and items have no match, or two, first "
            f"{odd['item_id'].min()!r}: the items may have changed since; {again}"
        )
    both = items.join(kept, on=key)
    if "logprob" in both.columns:
        known = pl.col("logprob").is_finite() & (pl.col("tokens") > 0)
        bad = both.filter(~known.fill_null(value=False))
        if bad.height:
            raise PoshgridError(
                f"{place}: {bad.height} scores are not a number or count no token, first of "
                f"{bad['item_id'].min()!r}; check that the run's training loss is finite, then "
                f"{again}"
            )
    return both
