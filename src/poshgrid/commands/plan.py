"""Around a run: ``ready``, ``plan``, ``doctor``, ``verify``, and ``stage``, which runs a job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from poshgrid.commands.base import Configs, Results, Target, Threads, app, grid_of
from poshgrid.config.names import PAPER
from poshgrid.config.training import Tracker
from poshgrid.errors import PoshgridError, check_known

_CHANGES_SHOWN = 3  # of the configuration, for each group of jobs


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
        typer.echo(f"{name:12} {len(runs):6,} runs, {len(grid.baselines(runs)):,} baselines{given}")
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
    results: Results = None,
    as_json: Annotated[bool, typer.Option("--json", help="For other programs")] = False,
) -> None:
    """Show what Snakemake would run and why, hours of training and disk; run nothing."""
    from poshgrid.planning.plan import make

    facts = make(config or [PAPER], target, results=results, device=device)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        _show(facts)


def _show(facts: dict[str, Any]) -> None:
    """Print a plan: what would run, why, and what training takes."""
    from poshgrid.tables import terminal

    jobs, training = facts["jobs"], facts["training"]
    typer.echo(
        f"{facts['target']}: {facts['runs']:,} runs, {facts['baselines']:,} baselines. "
        f"{jobs['run']:,} jobs would run, {jobs['up_to_date']:,} are up to date."
    )
    if facts["sources_missing"]:
        typer.echo(
            f"Sources missing: {', '.join(facts['sources_missing'])}. Their jobs would fail; "
            "`poshgrid ready` says what to do."
        )
    if not jobs["run"]:
        return
    rules = [
        (rule["rule"], f"{rule['run']:,}", f"{rule['up_to_date']:,}") for rule in facts["rules"]
    ]
    terminal.show("Jobs", ("rule", "run", "cached"), rules)
    reasons = [
        (
            group["rule"],
            ", ".join(group["reasons"]),
            "\n".join([*group["changes"][:_CHANGES_SHOWN], *filter(None, group["cells"])]),
            f"{group['jobs']:,}",
        )
        for group in facts["reasons"]
    ]
    terminal.show("Why (docs/planning.md)", ("rule", "why", "for instance", "jobs"), reasons,
                  labels=3)  # fmt: skip
    typer.echo(
        f"Training takes at most {training['hours_at_most']:,.2f} hours of one "
        f"{training['device']}; training that stops early takes less. Models take "
        f"{facts['gigabytes_of_models']:,.2f} GB."
    )


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


@app.command(hidden=True)
def stage(
    name: Annotated[str, typer.Argument(help="Of the rule, e.g. train")],
    job: Annotated[str, typer.Argument(help="The job as JSON, or @FILE, as a job's log shows it")],
    threads: Threads = 1,
    checkpoint_every: Annotated[
        int, typer.Option(min=1, help="Steps between two checkpoints of a training")
    ] = 2_000,
    tracker: Annotated[str | None, typer.Option(help="tensorboard; default: no tracker")] = None,
) -> None:
    """Run one job of the workflow."""
    from poshgrid.stages import STAGES
    from poshgrid.stages.stage import run

    check_known("unknown stage", name, STAGES)
    check_known("tracker: unknown word", tracker, get_args(Tracker))
    run(STAGES[name], job, threads=threads, checkpoint_every=checkpoint_every, tracker=tracker)
