"""``poshgrid results`` prints tables, ``poshgrid export`` writes folders for other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poshgrid.commands.base import Configs, Output, Results, command, grid_of
from poshgrid.config.runs import BASELINE_RECIPES, parse_only
from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError, check_known
from poshgrid.core.files import read_json
from poshgrid.core.writing import ABSENT, percent

if TYPE_CHECKING:
    import polars as pl

    from poshgrid.report.results import Results as Tables

LEVELS = {
    "template": ("template",),
    "cell": ("cell",),
    "phenomenon": ("phenomenon", "average"),
    "category": ("category", "overall"),
    "overall": ("overall",),
    "average": ("average",),
}
"""Value of ``--level`` -> the levels shown as columns: a mean is shown with its parts."""
KINDS = ("models", "babylm", "items", "tables", "crate")
"""Kinds of exports."""
NOTE = (
    "Percent (SD over seeds). Stars: chi-square against 50% over all seeds' pairs, uncorrected: "
    "* p < .05, ** p < .01, *** p < .001. ‡ A baseline of the cell is itself far from 50%."
)


@command("poshgrid results config/tiny.yaml --level phenomenon --baselines")
def results(
    config: Configs = None,
    target: Annotated[str | None, typer.Option(help="Experiment; default: all")] = None,
    table: Annotated[
        str,
        typer.Option(
            help="accuracy, another (deltas, summary-REGRESSION …), or the report's (learned …)"
        ),
    ] = "accuracy",
    level: Annotated[
        str, typer.Option(help="Level of accuracies: " + ", ".join(LEVELS))
    ] = "category",
    only: Annotated[str | None, typer.Option(help="Subset, e.g. suite=posh,size=10M")] = None,
    baselines: Annotated[bool, typer.Option("--baselines", help="Also show the baselines")] = False,
    results: Results = None,
) -> None:
    """Print a table of a study, or of a results folder: accuracies, or another table."""
    from poshgrid.report.results import TARGETS
    from poshgrid.report.results import Results as Tables

    check_known("--level: unknown word", level, LEVELS)
    if (
        config
        and len(config) == 1
        and not (config[0].is_file() or config[0].suffix in (".yaml", ".yml"))
    ):
        results = config[0]
    tables = Tables(results or grid_of(config).paths.results)
    chosen = tables.target(target)
    frame = tables.table(table, chosen).collect()
    frame = _selected(frame, parse_only(only, "--only"))
    if "recipe" in frame.columns and not baselines:
        frame = frame.filter(~frame["recipe"].is_in(BASELINE_RECIPES))
    if table in TARGETS and {"level", "category", "phenomenon"} <= set(frame.columns):
        frame = frame.filter(frame["level"].is_in(LEVELS[level]))
    if table == "accuracy":
        accuracies(f"{chosen} · accuracy by {level}", frame)
    else:
        _plain(f"{chosen} · {table}", frame, _warning(table, tables, chosen))


def _selected(frame: pl.DataFrame, asked: Mapping[str, set[str]]) -> pl.DataFrame:
    """Return the rows whose values are among the requested ones, for each requested column.

    Raises:
        PoshgridError: there is no such column or value.
    """
    import polars as pl

    for column, values in asked.items():
        if column not in frame.columns:
            raise PoshgridError(f"--only: the table has no column {column!r}")
        texts = frame[column].cast(pl.String)
        for value in sorted(values):
            check_known(f"--only: unknown {column}", value, set(texts))
        frame = frame.filter(texts.is_in(sorted(values)))
    return frame


def accuracies(title: str, frame: pl.DataFrame, axes: Sequence[str] = (), note: str = NOTE) -> None:
    """Print accuracies: a row for each model, a column for each category, phenomenon or template.

    Args:
        title: line above the table.
        frame: columns of ``ACCURACY``, of one level or of a level and its mean.
        axes: columns that distinguish the rows; default: the axes of runs that vary.
        note: line below the table.
    """
    import polars as pl

    from poshgrid.core.table import varying
    from poshgrid.statistics.schema import RUN_AXES

    axes = list(axes) or varying(frame, ("suite", *RUN_AXES), always=("condition", "size"))
    columns = [
        " ".join(filter(None, (row["phenomenon"], row["part"]))) or row["category"] or row["level"]
        for row in frame.iter_rows(named=True)
    ]
    cells = frame.select(
        *axes,
        pl.Series("place", columns, pl.String),
        pl.Series("cell", [_cell(row) for row in frame.iter_rows(named=True)], pl.String),
    )
    wide = cells.pivot("place", index=axes, values="cell", aggregate_function="first")
    means = [name for name in ("average", "overall") if name in wide.columns]
    wide = wide.select(pl.all().exclude(means), *means).fill_null(ABSENT)
    logs.show(title, wide.columns, wide.iter_rows(), labels=len(axes), notes=[note])


def _cell(row: Mapping[str, Any]) -> str:
    if row["mean"] is None:
        return ABSENT
    sd = "" if row["sd"] is None else f" ({percent(row['sd'])})"
    return f"{percent(row['mean'])}{sd}{row['stars_pooled'] or ''}{'‡' if row['far'] else ''}"


def _plain(title: str, frame: pl.DataFrame, notes: Sequence[str] = ()) -> None:
    """Print a table unchanged, with numbers of four significant digits."""

    def text(value: Any) -> str:  # noqa: ANN401 - of any column
        if value is None:
            return ABSENT
        return f"{value:.4g}".replace("-", "−") if isinstance(value, float) else str(value)

    rows = ([text(value) for value in row] for row in frame.iter_rows())
    logs.show(title, frame.columns, rows, notes=notes)


def _warning(table: str, tables: Tables, target: str) -> list[str]:
    """Return a line on a fit that may not be quoted, for a table of a fit."""
    from poshgrid.statistics.gate import doubts

    kind, _, regression = table.partition("-")
    if kind not in ("summary", "contrasts"):
        return []
    reasons = doubts(read_json(Path(tables.paths.fit(target, regression), "diagnostics.json")))
    return [f"Do NOT quote this fit: {'; '.join(reasons)}."] if reasons else []


@command("poshgrid export tables results/tiny --output exported")
def export(
    what: Annotated[str, typer.Argument(help=f"{', '.join(KINDS[:-1])} or {KINDS[-1]}")],
    results: Annotated[Path, typer.Argument(help="Results folder, e.g. results/tiny")],
    output: Output = Path("exported"),
    target: Annotated[
        str | None, typer.Option(help="Experiment of the accuracies and tables; default: all")
    ] = None,
    suite: Annotated[
        list[str] | None, typer.Option(help="Suite of items; may be repeated; default: all")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Subset of models, e.g. size=10M,seed=42")
    ] = None,
    licence: Annotated[
        str | None, typer.Option(help="Licence of models or a crate, e.g. cc-by-nc-sa-4.0")
    ] = None,
) -> None:
    """Write results in formats of other tools (docs/export.md)."""
    import poshgrid
    from poshgrid.report.export import crate, items, models, tables

    check_known("unknown word", what, KINDS)
    read, folder = poshgrid.open(results), output / what
    if what in ("models", "babylm"):
        babylm = what == "babylm"
        runs = models.chosen(read, parse_only(only, "--only"), babylm=babylm)
        folders = models.export(read, runs, folder, target=target, licence=licence, babylm=babylm)
    elif what == "items":
        folders = [items.export(read, name, folder) for name in suite or read.suites]
    elif what == "crate":
        folders = [crate.export(read, folder, target, licence)]
    else:
        folders = [tables.export(read, folder, target)]
    for path in folders:
        typer.echo(path)
