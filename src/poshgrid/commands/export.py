"""``poshgrid export``: models, items and tables for the tools that others use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Output, app
from poshgrid.errors import check_known

KINDS = ("models", "items", "tables")


@app.command(rich_help_panel="Results")
def export(
    what: Annotated[str, typer.Argument(help=f"{', '.join(KINDS[:-1])} or {KINDS[-1]}")],
    results: Annotated[Path, typer.Argument(help="Results folder, e.g. results/tiny")],
    output: Output = Path("exported"),
    target: Annotated[
        str | None, typer.Option(help="Whose accuracies and tables; none: all")
    ] = None,
    suite: Annotated[
        list[str] | None, typer.Option(help="Of items; may be repeated; none: all")
    ] = None,
    only: Annotated[str | None, typer.Option(help="Of models, e.g. size=10M,seed=42")] = None,
    licence: Annotated[
        str | None, typer.Option(help="Of models, as the Hub spells it: cc-by-nc-sa-4.0")
    ] = None,
) -> None:
    """Write results as other tools read them (docs/export.md)."""
    import poshgrid

    check_known("unknown word", what, KINDS)
    found = poshgrid.open(results)
    if what == "models":
        from poshgrid.config.runs import parse_only
        from poshgrid.export import models

        runs = models.chosen(found, parse_only(only, "--only"))
        folders = models.export(found, runs, output / what, target=target, licence=licence)
    elif what == "items":
        from poshgrid.export import items

        folders = [items.export(found, each, output / what) for each in suite or found.suites]
    else:
        from poshgrid.export import tables

        folders = [tables.export(found, output / what, target)]
    for folder in folders:
        typer.echo(folder)
