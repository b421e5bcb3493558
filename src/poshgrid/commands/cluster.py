"""``poshgrid doctor`` and ``poshgrid orphans``: a cluster before and after a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poshgrid.commands.base import PAPER, Results, app

if TYPE_CHECKING:
    from poshgrid.cluster.sbatch import Workflow

_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@app.command(rich_help_panel="For people")
def doctor(
    config: Annotated[
        list[Path] | None, typer.Argument(help="Configuration files; none: the profile's")
    ] = None,
    profile: Annotated[str, typer.Option(help="As for snakemake --profile")] = "slurm",
    target: Annotated[list[str] | None, typer.Option(help="Whose jobs to check; none: all")] = None,
    only: Annotated[str | None, typer.Option(help="Subset, e.g. size=10M,seed=42")] = None,
    results: Results = None,
    job: Annotated[bool, typer.Option(help="Submit tiny jobs that check a node")] = True,
    patience: Annotated[float, typer.Option(help="Seconds to wait for each of them")] = 120,
    flags: Annotated[bool, typer.Option(help="Print the sbatch flags of each rule")] = True,
) -> None:
    """Check a cluster, a profile and this checkout; print the sbatch flags of each rule."""
    from poshgrid.cluster.doctor import examine

    known: list[Workflow] = []
    errors = warnings = 0
    overrides = [f"{key}={value}" for key, value in (("only", only), ("results", results)) if value]
    for finding in examine(
        profile, default=PAPER, configs=config or [], targets=target or [], overrides=overrides,
        results=results, job=job, patience=patience, resolved=known.append,
    ):  # fmt: skip
        errors += finding.state == "error"
        warnings += finding.state == "warning"
        typer.secho(finding.line(), fg=_COLOURS[finding.state])
    if flags and known:
        typer.echo("")
        for line in _flags(known[0]):
            typer.echo(line)
    where = " (above the flags; --no-flags leaves those out)" if flags and known else ""
    typer.echo(f"\n{_counted(errors, 'error')}, {_counted(warnings, 'warning')}{where}")
    if errors:
        raise typer.Exit(1)


@app.command(rich_help_panel="For people")
def orphans(
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel the jobs of dead runs")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation")] = False,
    run: Annotated[str | None, typer.Option(help="Only this run, even if it may be alive")] = None,
    directory: Annotated[Path, typer.Option(help="Snakemake's working folder")] = Path(),
) -> None:
    """List this folder's cluster jobs by run, and whether the run's Snakemake is alive."""
    from poshgrid.cluster import orphans as found

    runs = found.runs(directory)
    for each in runs:
        typer.secho(f"run {each.id}: {each.life}: {each.why}", bold=True)
        for job in each.jobs:
            head = f"  {job.id:>10} {job.state:10} {job.elapsed:>12} "
            for number, made in enumerate(found.made_by(directory, job)):
                typer.echo((" " * len(head) if number else head) + made)
    if not runs:
        typer.echo(f"no jobs of {directory.resolve()} in the queue")
    some = found.chosen(runs, run) if cancel or run else []
    if cancel and some:
        number = sum(len(each.jobs) for each in some)
        asked = f"cancel {_counted(number, 'job')} of {_counted(len(some), 'run')}?"
        if not yes and not typer.confirm(asked):
            typer.echo("nothing cancelled")
            return
        done, said = found.cancel(some)
        typer.echo(f"cancelled {_counted(done, 'job')}")
        for line in said:
            typer.echo(line, err=True)
        if said:
            raise typer.Exit(1)
    elif cancel:
        typer.echo("nothing to cancel: no run is certainly dead")
    elif any(each.life == "dead" for each in runs):
        typer.echo("orphans: `poshgrid orphans --cancel` cancels the jobs of dead runs")
    if any(each.life == "unknown" for each in runs) and run is None:
        typer.echo("unknown runs are left alone: --cancel --run RUN cancels one that you know dead")
    if found.locked(directory) and not any(each.life == "alive" for each in runs):
        typer.echo("the folder is locked: if no Snakemake runs here, `snakemake --unlock`")


def _flags(workflow: Workflow) -> list[str]:
    """Return the sbatch flags of each kind of job, on its first and its last attempt."""
    lines = ["sbatch flags, as the executor plug-in writes them:"]
    for kind in workflow.kinds:
        parts = [rule if n == 1 else f"{n} {rule}" for rule, n in kind.rules.items()]
        rules = "" if parts == [kind.name] else f" = {' + '.join(parts)}"
        lines.append(f"{kind.name}{rules} ({_counted(kind.count, 'job')})")
        for attempt, request in kind.attempts.items():
            lines.append(f"  attempt {attempt}: {request.error or request.flags}")
    return lines


def _counted(number: int, thing: str) -> str:
    """Return a number of things in words.

    >>> _counted(1, "job"), _counted(2000, "job")
    ('1 job', '2,000 jobs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
