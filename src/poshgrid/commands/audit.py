"""Commands: sheets of sentences for people to judge, and what they found."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import app


@app.command(rich_help_panel="Corpora and filters")
def leak_rate(
    sheet: Annotated[Path, typer.Argument(help="A sheet with its labels filled in")],
    second: Annotated[Path | None, typer.Argument(help="Another annotator's sheet")] = None,
    output: Annotated[Path | None, typer.Option(help="JSON file to write, too")] = None,
) -> None:
    """Report the leak rate that an annotated sheet shows, with its interval."""
    from poshgrid.audit.rate import lines, rate
    from poshgrid.files import write_json

    found = rate(sheet, second)
    for line in lines(found):
        typer.echo(line)
    if output is not None:
        write_json(output, asdict(found))
