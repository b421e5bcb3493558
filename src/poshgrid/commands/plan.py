"""``poshgrid ready`` and ``poshgrid plan``: what a run needs, would do, and would cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import PAPER, Configs, Results, Target, app, grid_of
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="For people")
def ready(
    config: Configs = None,
    target: Target = "all",
    results: Results = None,
) -> None:
    """Check a configuration, and whether its files, disk space and memory suffice for a target.

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


@app.command(rich_help_panel="For people")
def plan(
    config: Configs = None,
    target: Target = "all",
    gpus: Annotated[int, typer.Option(min=0, help="GPUs at once; 0: training on CPUs")] = 1,
    cores: Annotated[int, typer.Option(min=1, help="Cores of the jobs without a GPU")] = 32,
    gpu: Annotated[
        str | None, typer.Option(help="GPU, e.g. H100: measured or stated speeds")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, help="GPU-hours: choose the part that fits")
    ] = None,
    overlay: Annotated[
        Path | None, typer.Option(help="Configuration to write the choice to; with --budget")
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Cells to name for each reason")] = 2,
    results: Results = None,
    table: Annotated[
        Path | None, typer.Option(help="File of stated speeds; none: resources/throughput.yaml")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For other programs")] = False,
    only_stale: Annotated[
        bool,
        typer.Option("--stale", help="Files for snakemake -R: stale, unseen by Snakemake"),
    ] = False,
) -> None:
    """Show what Snakemake would run and why, GPU-hours, CPU-hours, disk and time; run nothing."""
    from poshgrid.files import write_text
    from poshgrid.planning import budget as budgets
    from poshgrid.planning import show, stale
    from poshgrid.planning.plan import make

    files = config or [PAPER]
    if overlay is not None and budget is None:
        raise PoshgridError("--overlay: it holds what fits a --budget; give both")
    if budget is not None and not gpus:
        raise PoshgridError("--budget: GPU-hours need a GPU; give --gpus 1 or more")
    if overlay is not None and overlay.absolute() in {path.absolute() for path in files}:
        raise PoshgridError(f"--overlay: {overlay}: the configuration itself; name another file")
    found = make(files, target, results=results, gpus=gpus, cores=cores, gpu=gpu, table=table)
    if only_stale:
        for manifest in stale.manifests(found.jobs):
            typer.echo(manifest)
        return
    chosen = None
    if budget is not None:
        chosen = budgets.choose(found.runs, found.jobs, found.gpu_seconds, budget)
    if chosen is not None and overlay is not None:
        comment = [
            f"What of {target} fits {budget:g} GPU-hours: {len(chosen.runs)} of "
            f"{len(found.runs)} runs, {chosen.gpu_hours:.1f} GPU-hours at most.",
            "Written by `poshgrid plan`; lay it over " + " ".join(map(str, files)) + ".",
        ]
        text = budgets.overlay_text(budgets.overlay(found.grid, target, chosen), comment)
        write_text(overlay, text)
    if as_json:
        content = found.to_dict(examples)
        if chosen is not None:
            content["budget"] = {
                "gpu_hours": budget,
                "chosen_gpu_hours": round(chosen.gpu_hours, 4),
                "basis": found.amounts().basis("gpu_hours"),
                "runs": [run.name for run in chosen.runs],
                "overlay": str(overlay) if overlay else None,
            }
        typer.echo(json.dumps(content, indent=2))
        return
    from rich.console import Console

    console = Console(highlight=False)
    for part in show.page(found, examples):
        console.print(part)
    lines = [*show.unrecorded(found)]
    if chosen is not None and budget is not None:
        lines += show.selection(found, chosen, budget, overlay)
    for line in lines:
        console.print(line, soft_wrap=True)
