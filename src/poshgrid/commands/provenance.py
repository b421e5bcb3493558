"""Commands: whether files are what their stages wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import app
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="Workflow")
def verify(
    results: Annotated[Path, typer.Argument(help="Results folder")],
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is damaged")] = False,
) -> None:
    """Find damaged result files; delete them to have them made again."""
    from poshgrid.provenance import lock
    from poshgrid.provenance import verify as walk

    if delete:
        lock.own(lock.owned(results))
    found = list(walk.faults(results))
    for fault in found:
        typer.echo(fault.line())
    if not found:
        typer.echo(f"{results}: every file is what its stage wrote")
        return
    if not delete:
        raise PoshgridError(f"{results}: {len(found)} damaged; --delete, then run again")
    deleted = walk.delete(found)
    if deleted:
        typer.echo(f"deleted {len(deleted)}; the next run makes them again")
    left = [fault for fault in found if fault not in deleted]
    if left:
        raise PoshgridError(
            f"{results}: {len(left)} left as they are, {left[0].path} first: they cannot be read, "
            "no manifest lists them, or they have changed since; look, then run poshgrid verify "
            "again"
        )
