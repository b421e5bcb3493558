"""The command that holds a results folder to its manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import app
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="For people")
def verify(
    results: Annotated[Path, typer.Argument(help="Results folder")],
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is damaged")] = False,
) -> None:
    """Find files that are not what their stages wrote; delete them, to have them made again."""
    from poshgrid import verification

    found = list(verification.damaged(results))
    for damage in found:
        typer.echo(damage.line())
    if not found:
        typer.echo(f"{results}: every file is what its stage wrote")
    elif delete:
        verification.delete(found)
        # By name: Snakemake makes no file again that a finished report needs no more.
        targets = " ".join(sorted({str(damage.manifest) for damage in found}))
        typer.echo(
            f"deleted {len(found)}; run snakemake twice: as ever, and before with -- {targets}"
        )
    else:
        raise PoshgridError(f"{results}: {len(found)} damaged; --delete, then run snakemake again")
