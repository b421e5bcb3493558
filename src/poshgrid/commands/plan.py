"""``poshgrid ready`` and ``poshgrid plan``: what a run needs, would do, and would cost."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from poshgrid.commands.base import Configs, Results, Target, app, grid_of
from poshgrid.config.names import PAPER
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="Workflow")
def ready(
    config: Configs = None,
    target: Target = "all",
    results: Results = None,
) -> None:
    """Check a configuration, and whether what a target reads is there.

    Ends with status 1 if something is missing or wrong, and says what to do. Nothing is run.
    """
    from poshgrid.planning import ready as readiness
    from poshgrid.statistics import forecheck

    grid = grid_of(config, results)
    where = (config or [PAPER])[-1]
    try:
        forecheck.check(grid)
    except PoshgridError as error:
        raise PoshgridError(*(f"{where}: {line}" for line in error.args)) from error
    found = readiness.examine(grid, target)
    for finding in found:
        typer.echo(finding.line())
    for name, runs in grid.targets.items():
        given = f", {len(grid.given):,} pretrained" if grid.given else ""
        typer.echo(f"{name:12} {len(runs):6,} runs, {len(grid.nulls(runs)):,} nulls{given}")
    wrong = sum(finding.state == "error" for finding in found)
    if wrong:
        raise PoshgridError(
            f"{where}: {target}: {wrong} of {len(found)} are missing or wrong; see above"
        )


@app.command(rich_help_panel="Workflow")
def plan(
    config: Configs = None,
    target: Target = "all",
    device: Annotated[
        str, typer.Option(help="Device whose measured speed counts, e.g. H100; core: one of a CPU")
    ] = "H100",
    examples: Annotated[int, typer.Option(min=0, help="Cells to name for each reason")] = 2,
    results: Results = None,
    as_json: Annotated[bool, typer.Option("--json", help="For other programs")] = False,
) -> None:
    """Show what Snakemake would run and why, hours of training and disk; run nothing."""
    from poshgrid.planning import show
    from poshgrid.planning.plan import make

    plan = make(config or [PAPER], target, results=results, device=device)
    if as_json:
        typer.echo(json.dumps(plan.to_dict(examples), indent=2))
        return
    from rich.console import Console

    console = Console(highlight=False)
    for part in show.page(plan, examples):
        console.print(part)
