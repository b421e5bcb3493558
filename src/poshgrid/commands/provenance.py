"""Commands: whether files are what their stages wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import app
from poshgrid.errors import PoshgridError

LOCKS = Path(".snakemake/locks")
"""Where Snakemake keeps the locks of a folder that it works in."""


@app.command(rich_help_panel="For people")
def verify(
    results: Annotated[Path, typer.Argument(help="Results folder")],
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is damaged")] = False,
) -> None:
    """Find damaged result files; delete them to have them made again."""
    from poshgrid.provenance import damage

    # Wherever this is typed: what Snakemake writes lies here, or in a folder below where it works
    above = (Path(), *results.absolute().parents, *results.resolve().parents)
    if (
        delete
        and (
            busy := next((folder for folder in above if any((folder / LOCKS).glob("*.lock"))), None)
        )
        is not None
    ):
        raise PoshgridError(
            f"{busy / LOCKS}: a Snakemake works here, and what it writes must not "
            "be deleted; wait for its end, or, if none runs, snakemake --unlock"
        )
    found = list(damage.damaged(results))
    for each in found:
        typer.echo(each.line())
    loose = damage.unlisted(results)
    if loose:
        typer.echo(
            f"{results}: {len(loose)} manifests are not in its index, {loose[0]} first (made by an "
            "earlier version or elsewhere, or their entries are lost): if one goes, nobody notices"
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
            f"deleted {len(deleted)}; run snakemake with what follows, then as usual: -- {targets}"
        )
    left = [each for each in found if each not in deleted]
    if left:
        raise PoshgridError(
            f"{results}: {len(left)} left as they are, {left[0].path} first: they cannot be read, "
            "poshgrid did not write them, or they have changed since; look, then run poshgrid "
            "verify again"
        )
