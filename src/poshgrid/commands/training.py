"""Command: the checkpoints that trainings resume from."""

from __future__ import annotations

from typing import Annotated

import typer

from poshgrid.commands.base import Configs, Results, app, grid_of


@app.command(rich_help_panel="Workflow")
def checkpoints(
    config: Configs = None,
    results: Results = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete stale checkpoints")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation")] = False,
    folder: Annotated[str | None, typer.Option(help="Only this folder, stale or not")] = None,
) -> None:
    """List resumable checkpoints: those that a run goes on from, locked ones, stale ones."""
    from poshgrid.grid import folders

    grid = grid_of(config, results)
    found = folders.folders(grid)
    for each in found:
        run = f" {each.run}" if each.run else ""
        typer.echo(f"{each.path.name} {each.life:7} {_size(each.size):>9}{run}: {each.why}")
    if not found:
        typer.echo(f"no checkpoints in {grid.paths.checkpoints()}")
    some = folders.chosen(found, folder) if delete or folder else []
    if not delete:
        stale = [each for each in found if each.life == "stale"]
        if stale:
            size = _size(sum(each.size for each in stale))
            typer.echo(f"{len(stale)} stale, {size}: the same with --delete deletes them")
        return
    if not some:
        typer.echo("nothing to delete: nothing is certainly stale")
        return
    size = _size(sum(each.size for each in some))
    if not yes and not typer.confirm(f"delete {len(some)} folders, {size}?"):
        typer.echo("nothing deleted")
        return
    done, said = folders.delete(some)
    typer.echo(f"deleted {done} folders")
    for line in said:
        typer.echo(line, err=True)
    if said:
        raise typer.Exit(1)


def _size(size: int) -> str:
    return f"{size / 1e9:,.2f} GB" if size >= 1e7 else f"{size / 1e3:,.0f} kB"
