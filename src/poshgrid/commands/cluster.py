"""``poshgrid doctor``: a cluster before a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Results, Target, app

_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@app.command(rich_help_panel="Workflow")
def doctor(
    config: Annotated[
        list[Path] | None, typer.Argument(help="Configuration files; default: the profile's")
    ] = None,
    profile: Annotated[str, typer.Option(help="As for snakemake --profile")] = "slurm",
    target: Target = "all",
    results: Results = None,
) -> None:
    """Check whether a SLURM cluster can start what a profile asks for, on every attempt.

    Nothing is submitted. Errors come first; they end with status 1.
    """
    from poshgrid.cluster.doctor import examine

    findings = examine(profile, config or [], target, results)
    for finding in findings:
        typer.secho(finding.line(), fg=_COLOURS[finding.state])
    if any(finding.state == "error" for finding in findings):
        raise typer.Exit(1)
