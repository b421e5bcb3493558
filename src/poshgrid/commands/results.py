"""``poshgrid results``: the main table in the terminal, or as JSON or CSV; and the report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poshgrid.commands.base import (
    Code,
    Configs,
    Making,
    Output,
    Results,
    Spec,
    Threads,
    app,
    grid_of,
    look_above,
)
from poshgrid.commands.base import run as run_stage
from poshgrid.config import specs
from poshgrid.errors import PoshgridError, check_known, did_you_mean

if TYPE_CHECKING:
    import polars as pl

    from poshgrid.files import Schema
    from poshgrid.grid.grid import Grid


@app.command(rich_help_panel="For people")
def results(
    config: Configs = None,
    target: Annotated[str | None, typer.Option(help="Experiment; none: all")] = None,
    suite: Annotated[str | None, typer.Option(help="Suite; none: posh, or the only one")] = None,
    level: Annotated[
        str,
        typer.Option(help="template, cell, phenomenon (+ average), category (+ overall), a mean"),
    ] = "category",
    only: Annotated[str | None, typer.Option(help="Subset, e.g. condition=baby,size=10M")] = None,
    measure: Annotated[
        str, typer.Option(help="accuracy (SD), interval, set, sum, mean (of logs), delta (FiCT)")
    ] = "accuracy",
    stars: Annotated[
        str, typer.Option(help="pooled: all seeds' pairs; per-seed: Fisher and Holm")
    ] = "pooled",
    nulls: Annotated[bool, typer.Option("--nulls", help="Rows of the nulls, too")] = False,
    fit: Annotated[str | None, typer.Option(help="A Bayesian model's table instead")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Records, unrounded")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="The same as CSV")] = False,
    results: Results = None,
) -> None:
    """Print accuracies: conditions and sizes by categories or phenomena, or a fitted model."""
    if as_json and as_csv:
        raise PoshgridError("--json and --csv: choose one")
    grid, run = grid_of(config, results), Making(config, results)
    if fit is not None:
        _fit(grid, run, target, fit, as_json=as_json, as_csv=as_csv)
        return
    from poshgrid.config.runs import parse_only
    from poshgrid.report.terminal import table, view
    from poshgrid.statistics.schema import ACCURACY, DELTAS
    from poshgrid.tables import formats

    check_known("--level: unknown word", level, view.LEVELS)
    check_known("--measure: unknown word", measure, view.MEASURES)
    check_known("--stars: unknown word", stars, view.STARS)
    path, schema = Path("accuracy.parquet"), ACCURACY
    if measure == "delta":
        path, schema = Path("deltas") / "deltas.parquet", DELTAS
    chosen = _target(grid, run, target, path)
    frame = _read(Path(grid.paths.statistics(chosen)) / path, schema, run, chosen)
    _warn_of_others(grid, run, chosen)
    judged = _suite(grid, frame, suite, chosen)
    kept = parse_only(only, "--only")
    runs = grid.targets.get(chosen, [])
    _check_only(kept, frame.filter(suite=judged), view.points_of(runs, {}))
    # A delta belongs to the filtered points alone, so that others are not missing.
    expected = view.points_of(runs, kept) if measure != "delta" else {}
    conditions = list(grid.conditions)
    rows = view.select(frame, judged, level, kept, nulls=nulls, conditions=conditions)
    if rows.is_empty() and not expected:
        raise PoshgridError(f"--only: {only!r} leaves no row of target {chosen}, suite {judged}")
    if as_json or as_csv:
        typer.echo(_json(rows.to_dicts()) if as_json else formats.csv(rows), nl=as_json)
        for line in view.missing(rows, expected):
            typer.echo(line, err=True)
        return
    from rich.console import Console

    console = Console(highlight=False)
    found = view.view(
        rows, level, view.MEASURES[measure],
        stars=stars, expected=expected, conditions=conditions,
    )  # fmt: skip
    console.print(f"{chosen} · {judged} · {measure}", style="bold")
    for each in table.draw(found, console):
        console.print(each)


def _target(grid: Grid, run: Making, named: str | None, path: Path) -> str:
    """Return the target: the one named, or ``all``; refuse one that has no results.

    Raises:
        PoshgridError: unknown, or not made yet; the line says which targets have results.
    """
    from poshgrid.config.runs import PRETRAINED

    # Models that were given with --config are in the results, not in the configuration
    made = [
        t for t in (*grid.targets, PRETRAINED) if (Path(grid.paths.statistics(t)) / path).is_file()
    ]
    targets = dict.fromkeys([*grid.targets, *([PRETRAINED] if grid.given else []), *made])
    check_known("--target: unknown target", named, targets)
    chosen = named or "all"
    if chosen in made:
        return chosen
    where = Path(grid.paths.statistics(chosen)) / path
    look_above(where)
    if not made:
        raise PoshgridError(f"{where}: no results yet; run {run(chosen)} first")
    others = f"targets with results: {', '.join(made)}"
    if named is None:
        raise PoshgridError(f"{where}: not made; {others}; name one with --target {made[0]}")
    raise PoshgridError(f"{where}: no results yet ({others}); run {run(chosen)} first")


def _read(path: Path, schema: Schema, run: Making, target: str) -> pl.DataFrame:
    from poshgrid import files

    try:
        return files.read_table(path, schema)
    except PoshgridError as error:
        raise PoshgridError(
            f"{error}; made by another version, or damaged: run {run(target)} again"
        ) from error


def _suite(grid: Grid, frame: pl.DataFrame, named: str | None, target: str) -> str:
    """Return the suite: the one named, ``posh``, or the only one.

    Raises:
        PoshgridError: it has no accuracies here, or none is named and there are several.
    """
    from poshgrid.config import SUITE

    found = sorted(frame["suite"].unique())
    if named is None:
        if SUITE in found or len(found) == 1:
            return SUITE if SUITE in found else found[0]
        if not found:
            raise PoshgridError(f"target {target}: its table of results is empty")
        raise PoshgridError(f"suites with results: {', '.join(found)}; name one with --suite")
    if named in found:
        return named
    if grid.tasks.get(named, "pairs") != "pairs":
        raise PoshgridError(
            f"--suite: {named} holds {grid.tasks[named]}, not pairs; its results are "
            f"{grid.paths.measures(target, named)}/measures.csv"
        )
    raise PoshgridError(f"--suite: no results on suite {named!r}{did_you_mean(named, found)}")


def _check_only(
    kept: Mapping[str, set[str]], frame: pl.DataFrame, points: Iterable[tuple[str, ...]]
) -> None:
    """Refuse a value that neither the results nor the grid has.

    Raises:
        PoshgridError: unknown value; or seeds, over which the table has means.
    """
    from poshgrid.statistics.schema import RUN_AXES

    if "seed" in kept:
        raise PoshgridError(
            "--only: the table has means over seeds; leave seed out (counts.parquet has each seed)"
        )
    for axis, values in kept.items():
        known = set(frame[axis].unique()) | {p[RUN_AXES.index(axis)] for p in points}
        for value in sorted(values):
            check_known(f"--only: unknown {axis}", value, known)


def _json(value: Any) -> str:  # noqa: ANN401 - records
    return json.dumps(value, indent=1, ensure_ascii=False)


def _warn_of_others(grid: Grid, run: Making, target: str, model: str | None = None) -> None:
    """Say that results were made with another configuration."""
    from poshgrid.grid.slices import Slices
    from poshgrid.planning import stale

    if others := stale.of_others(Slices(grid), target, model):
        typer.echo(
            f"warning: {others[0]}: made with another configuration than the one given"
            f"{f', and {len(others) - 1:,} more' if others[1:] else ''}: the numbers are of that "
            f"one; run {run(target)} to have them made again",
            err=True,
        )


def _fit(
    grid: Grid, run: Making, named: str | None, model: str, *, as_json: bool, as_csv: bool
) -> None:
    """Print a fitted model."""
    import polars as pl

    from poshgrid.files import read_json
    from poshgrid.report.terminal import model as drawing
    from poshgrid.statistics.schema import CONTRASTS, SUMMARY
    from poshgrid.tables import formats

    check_known("--fit: unknown model", model, grid.models)
    target = _target(grid, run, named, Path("models") / model / "summary.parquet")
    folder = Path(grid.paths.fit(target, model))
    summary = _read(folder / "summary.parquet", SUMMARY, run, target)
    _warn_of_others(grid, run, target, model)
    path = folder / "contrasts.parquet"
    contrasts = pl.DataFrame(schema=CONTRASTS)
    if path.is_file():
        contrasts = _read(path, CONTRASTS, run, target)
    diagnostics = read_json(folder / "diagnostics.json")
    if as_json:
        typer.echo(_json({
            "model": model,
            "target": target,
            "diagnostics": diagnostics,
            "summary": summary.to_dicts(),
            "contrasts": contrasts.to_dicts(),
        }))  # fmt: skip
        return
    if as_csv:
        typer.echo(formats.csv(summary), nl=False)
        if not contrasts.is_empty():
            typer.echo(f"contrasts: {folder}/contrasts.csv", err=True)
        return
    from rich.console import Console

    console = Console(highlight=False)
    name = f"{target} · {model}"
    for each in drawing.draw(name, summary, contrasts, diagnostics, console):
        console.print(each)


@app.command(rich_help_panel="Stages")
def report(
    spec: Spec,
    results: Annotated[Path, typer.Option(help="Folder of all results")],
    output: Output,
    threads: Threads = 1,
    code: Code = "",
) -> None:
    """Write the report of a target."""
    from poshgrid.report.page import write

    run_stage(
        specs.ReportSpec,
        spec,
        lambda given: write(given, results, output, threads),
        manifest=output / "manifest.json",
        code=code,
    )
