"""``poshgrid collateral``: what was removed, and what went with it, in the terminal or as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poshgrid.commands.base import Configs, Making, Results, Target, app, grid_of
from poshgrid.errors import PoshgridError, check_known

if TYPE_CHECKING:
    from poshgrid.report.sections.collateral.removal import Removal

_FILES = 4  # that a command names one by one


@app.command(rich_help_panel="For people")
def collateral(
    config: Configs = None,
    target: Target = "all",
    condition: Annotated[str | None, typer.Option(help="Only this one")] = None,
    size: Annotated[str | None, typer.Option(help="Only this one, e.g. 10M")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Counts, by source and measure")] = False,
    results: Results = None,
) -> None:
    """Print what filters and controls removed, and what went with it: constructions, words."""
    from poshgrid.report.sections.collateral.removal import read

    grid = grid_of(config, results)
    check_known("--target: unknown target", target, grid.targets)
    cells = grid.removals(target)
    if not cells:
        raise PoshgridError(
            f"target {target}: no condition has filters or is a control: nothing is removed; name "
            "another --target"
        )
    conditions = {c for c, _ in cells}
    if condition not in conditions:
        for other in grid.targets:
            if condition in dict(grid.removals(other)):
                raise PoshgridError(
                    f"--condition: {condition} is not in target {target}; add --target {other}"
                )
    check_known("--condition: unknown condition without part of its base", condition, conditions)
    check_known("--size: unknown size", size, {s for _, s in cells})
    asked = [(c, s) for c, s in cells if condition in (None, c) and size in (None, s)]
    if not asked:
        raise PoshgridError(f"--size: {condition} has no filters at {size}; leave one of them out")
    folders = {cell: grid.paths.collateral(*cell) for cell in asked}
    tables = {folder: read(*cell, Path(folder)) for cell, folder in folders.items()}
    found = [each for each in tables.values() if each]
    missing = [f"{folder}/collateral.parquet" for folder, each in tables.items() if not each]
    if missing:
        run = Making(config, results)(*(missing if len(missing) <= _FILES else [target]))
        message = f"{len(missing)} of {len(asked)} tables are not made yet"
        remedy = f"run {run}"
        if not found:
            raise PoshgridError(f"{missing[0]}: not found: {message}; {remedy} first")
        typer.echo(f"{message}; {remedy} for the others", err=True)
    _csv(found) if as_csv else _print(found)


def _csv(found: Sequence[Removal]) -> None:
    import polars as pl

    from poshgrid.tables import formats

    rows = [
        each.table.select(
            pl.lit(each.condition).alias("condition"), pl.lit(each.size).alias("size"), pl.all()
        )
        for each in found
    ]
    typer.echo(formats.csv(pl.concat(rows)), nl=False)


def _print(found: Sequence[Removal]) -> None:
    from poshgrid.report.sections.collateral import sentences, table
    from poshgrid.tables import terminal

    laid = table(found)
    names = [column.title for column in laid.columns]
    labels = sum(column.text for column in laid.columns)
    notes = [laid.caption, *map(str, sentences(found))]
    terminal.show("Removed", names, laid.shown(), labels=labels, notes=notes)
