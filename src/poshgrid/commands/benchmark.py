"""Command: pairs of a suite, to read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import app


@app.command(rich_help_panel="Results")
def items(
    table: Annotated[Path, typer.Argument(help="items.parquet of a suite")],
    show: Annotated[int, typer.Option(min=1, help="Pairs of each phenomenon")] = 3,
    seed: Annotated[int, typer.Option(help="Of the pairs that are shown")] = 0,
) -> None:
    """Show some pairs of each phenomenon of a suite."""
    from poshgrid.benchmark.examples import examples, read

    typer.echo(examples(read(table), show, seed))
