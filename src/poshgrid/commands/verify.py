"""Commands that keep a results folder sound and small."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import app, grid_of
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="For people")
def verify(
    results: Annotated[Path, typer.Argument(help="Results folder")],
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is damaged")] = False,
) -> None:
    """Find files that are not what their stages wrote; delete them, to have them made again."""
    from poshgrid import damage
    from poshgrid.cluster import orphans

    if delete and orphans.locked(Path()):
        raise PoshgridError(
            ".snakemake/locks: a Snakemake works here, and what it writes must not be deleted; "
            "wait for its end, or, if none runs, snakemake --unlock"
        )
    found = list(damage.damaged(results))
    for each in found:
        typer.echo(each.line())
    loose = damage.unlisted(results)
    if loose:
        typer.echo(
            f"{results}: {len(loose)} manifests are not in its index, {loose[0]} first: of an "
            "earlier version, made elsewhere, or with no entry left: not seen if one of them goes"
        )
    if not found:
        typer.echo(f"{results}: every file is what its stage wrote")
        return
    if not delete:
        raise PoshgridError(f"{results}: {len(found)} damaged; --delete, then run snakemake again")
    deleted = damage.delete(found)
    if deleted:
        # By name: Snakemake makes no file again that a finished report needs no more.
        targets = " ".join(sorted({str(each.manifest) for each in deleted}))
        typer.echo(
            f"deleted {len(deleted)}; run snakemake twice: as ever, and before with -- {targets}"
        )
    left = [each for each in found if each not in deleted]
    if left:
        raise PoshgridError(
            f"{results}: {len(left)} left as they are, {left[0].path} first: they cannot be read, "
            "no stage wrote them, or they have changed since; look, then run poshgrid verify again"
        )


@app.command(rich_help_panel="For people")
def checkpoints(
    config: Annotated[
        list[Path] | None, typer.Argument(help="Configuration files; the later change the earlier")
    ] = None,
    results: Annotated[Path | None, typer.Option(help="Results folder; none: config's")] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete stale ones")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask")] = False,
    folder: Annotated[str | None, typer.Option(help="This one, stale or not")] = None,
) -> None:
    """List resumable checkpoints: those that a run goes on from, locked ones, stale ones."""
    from poshgrid.training import folders

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
