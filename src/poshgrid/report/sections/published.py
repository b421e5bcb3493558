"""Published numbers of a study compared with ours (``studies/STUDY/published/*/numbers.csv``).

A study may have several versions: the paper, and the authors' repository, whose items may be
different. Each file begins with comment lines (``#``) that name the source of its numbers.
Each published number names the result that it is compared with: a table, a column, and
``axis=value`` of its rows. Our number is the mean of these rows, over all sizes and seeds that they
have. Rows of baselines are used only if ``where`` names the axis ``recipe``.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from poshgrid.config.runs import BASELINE_RECIPES
from poshgrid.core import files, resources
from poshgrid.core.errors import PoshgridError, check_known
from poshgrid.report.collect import Collected
from poshgrid.report.parts import Page
from poshgrid.report.sections import corpora, findings
from poshgrid.statistics import intervals
from poshgrid.statistics.measures import choices

TITLE, ORDER, AUDIENCE = "Compared with published numbers", 15, "reader"
NUMBERS: files.Schema = {
    "source": pl.String, "what": pl.String, "value": pl.Float64, "unit": pl.String,
    "table": pl.String, "column": pl.String, "where": pl.String,
}  # fmt: skip
_UNITS = {"%": 100, "points": 100, "million": 1e-6, "million words": 1e-6}
"""Unit of a published number -> factor from our unit to it."""


def write(page: Page) -> dict[str, Any] | None:
    """Write the table; None if the target has no study, or nothing can be compared."""
    study = page.collected.spec.study
    known = read_numbers(study.name) if study else pl.DataFrame()
    if study is None or known.is_empty():
        return None
    rows = comparison(page.collected, known, study.name)
    versions = known["version"].unique().to_list()
    one = versions[0] if len(versions) == 1 else None
    rows = rows.with_columns(pl.col("source") if one else pl.format("{} ({})", "source", "version"))
    page.table("comparison", rows, one, rows["margin"].count())
    return {"compared": rows["ours"].count()}


def read_numbers(study: str) -> pl.DataFrame:
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


def comparison(collected: Collected, numbers: pl.DataFrame, study: str) -> pl.DataFrame:
    """Compare each published number with the mean of our rows that it names.

    Args:
        collected: the results.
        numbers: :func:`read_numbers`.
        study: its name, for messages.

    Returns:
        Columns of ``numbers``; ``ours`` in the same unit; its margin of error; our number of rows.

    Raises:
        PoshgridError: a number names an unknown table, column or axis.
    """
    measures, tags = list(collected.measures.values()), list(collected.tags.values())
    fits = [fit.summary.with_columns(model=pl.lit(fit.name)) for fit in collected.fits.values()]
    in_sentence = pl.col("words") / pl.col("sentences")
    tables = {
        "accuracy": collected.accuracy,
        "deltas": collected.deltas,
        "delta_tests": collected.delta_tests,
        "perplexity": collected.perplexity,
        "exposure": collected.exposure.with_columns(words_per_sentence=in_sentence),
        "vocabularies": corpora.vocabularies(collected),
        "treatments": findings.treatments(collected),
        "coefficients": pl.concat(fits) if fits else pl.DataFrame(),
        "measures": pl.concat(measures, how="diagonal_relaxed") if measures else pl.DataFrame(),
        "norms": pl.concat(collected.norms.values()) if collected.norms else pl.DataFrame(),
        # Subsets of items are taken over all suites
        "tags": choices.pooled(pl.concat(tags)) if tags else pl.DataFrame(),
    }
    rows = []
    for row in numbers.iter_rows(named=True):
        try:
            mine = _our_rows(tables, row)
        except PoshgridError as error:
            raise PoshgridError(f"studies/{study}: {row['what']}: {error}") from error
        scale = _UNITS.get(row["unit"], 1)
        values = mine.get_column("value", default=pl.Series(dtype=pl.Float64)).drop_nulls()
        ours = values.mean()
        rows.append({
            "ours": ours * scale if isinstance(ours, float) else None,
            "margin": _margin(mine, scale) if row["column"] == "mean" else None,
            "rows": len(values) or None,
        })  # fmt: skip
    kinds = {"ours": pl.Float64, "margin": pl.Float64, "rows": pl.UInt32}
    return numbers.hstack(pl.DataFrame(rows, schema=kinds))


def _our_rows(tables: dict[str, pl.DataFrame], row: dict[str, Any]) -> pl.DataFrame:
    """Return our rows for a published number, with our numbers in the column ``value``."""
    if not row["table"]:  # a number that we do not measure
        return pl.DataFrame()
    check_known("no table", row["table"], tables)
    frame = tables[row["table"]]
    if frame.is_empty():
        return frame
    if "recipe" in frame.columns and "recipe=" not in row["where"]:
        frame = frame.filter(~pl.col("recipe").is_in(BASELINE_RECIPES))
    for part in filter(None, re.split(r",(?=\w+=)", row["where"])):
        axis, _, value = part.partition("=")
        check_known("no column", axis, frame.columns)
        frame = frame.filter(pl.col(axis).cast(pl.String) == value)
    check_known("no column", row["column"], frame.columns)
    return frame.with_columns(value=pl.col(row["column"]).cast(pl.Float64))


def _margin(mine: pl.DataFrame, scale: float) -> float | None:
    """Return the margin of error of a mean over seeds; None with several rows or without an SD."""
    if mine.height != 1 or not {"sd", "n_seeds"} <= set(mine.columns):
        return None
    sd, seeds = mine["sd"][0], mine["n_seeds"][0]
    return None if sd is None else scale * intervals.half_t(sd, seeds)
