"""Commands around a run: ``ready``, ``plan``, ``doctor``, ``verify``, ``stage``, ``power``."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Configs, Results, Target, Threads, command, files_of, grid_of
from poshgrid.core.errors import PoshgridError, check_known


@command("poshgrid ready config/tiny.yaml")
def ready(config: Configs = None, target: Target = "all", results: Results = None) -> None:
    """Check a configuration, and whether the inputs of a target exist.

    Exits with status 1 if something is missing or wrong, and says what to do. No job is run.
    """
    from poshgrid.planning import ready as readiness
    from poshgrid.statistics import power as powers

    grid = grid_of(config, results)
    where = files_of(config)[-1]
    try:
        powers.check_regressions(grid)
    except PoshgridError as error:
        raise PoshgridError(*(f"{where}: {line}" for line in error.args)) from error
    logging.disable(logging.INFO)  # of the jobs whose beginning is tried
    findings = readiness.examine(grid, target)
    for finding in findings:
        typer.echo(finding.line())
    for name, runs in grid.targets.items():
        pretrained = f", {len(grid.pretrained_runs):,} pretrained" if grid.pretrained_runs else ""
        typer.echo(
            f"{name:12} {len(runs):6,} runs, {len(grid.baselines(runs)):,} baselines{pretrained}"
        )
    wrong = sum(finding.state == "error" for finding in findings)
    if wrong:
        raise PoshgridError(
            f"{where}: {target}: {wrong} of {len(findings)} are missing or wrong; see above"
        )


@command("poshgrid plan config/config.yaml --target exp2 --gpu h100")
def plan(
    config: Configs = None,
    target: Target = "all",
    gpu: Annotated[
        str | None, typer.Option(help="h100, a100, or cpu; default: this machine's")
    ] = None,
    results: Results = None,
) -> None:
    """Show which jobs would run and why, hours of training and disk: `poshgrid run -n` in short."""
    from poshgrid.planning import costs, launch
    from poshgrid.planning import plan as planning

    costs.check_device(gpu)
    words = ["-n", "--configfile", *map(str, files_of(config))]
    words += ["--config", f"results={results}"] if results else []
    parser, args, _ = launch.parsed([*words, "--", target])
    launch.check_targets(args)
    planning.show(parser, args, gpu)


_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@command("poshgrid doctor --profile slurm", rare=True)
def doctor(
    config: Annotated[
        list[Path] | None, typer.Argument(help="Configuration files; default: the profile's")
    ] = None,
    profile: Annotated[str, typer.Option(help="As for snakemake --profile")] = "slurm",
    target: Target = "all",
    results: Results = None,
) -> None:
    """Check whether a SLURM cluster can start the jobs of a profile, on every attempt.

    Nothing is submitted. Errors are listed first; with errors the exit status is 1.
    """
    from poshgrid.planning.doctor import examine

    findings = examine(profile, config or [], target, results)
    for finding in findings:
        typer.secho(finding.line(), fg=_COLOURS[finding.state])
    if any(finding.state == "error" for finding in findings):
        raise typer.Exit(1)


@command("poshgrid verify results/tiny")
def verify(
    results: Annotated[Path, typer.Argument(help="Results folder")],
    delete: Annotated[bool, typer.Option("--delete", help="Delete damaged files")] = False,
) -> None:
    """Find damaged result files; delete them so that the next run makes them again."""
    from poshgrid.core import lock, manifest

    if delete:
        lock.own(lock.owned(results))
    faults = list(manifest.faults(results))
    for fault in faults:
        typer.echo(fault.line())
    if not faults:
        typer.echo(f"{results}: every file is as its stage wrote it")
        return
    if not delete:
        raise PoshgridError(f"{results}: {len(faults)} damaged; --delete, then run again")
    deleted = manifest.delete(faults)
    if deleted:
        typer.echo(f"deleted {len(deleted)}; the next run makes them again")
    left = [fault for fault in faults if fault not in deleted]
    if left:
        raise PoshgridError(
            f"{results}: {len(left)} not deleted, {left[0].path} first: they cannot be read, "
            "no manifest lists them, or they have changed since; check them, then run poshgrid "
            "verify again"
        )


@command("poshgrid stage train @results/tiny/arguments/1f2e.json", rare=True)
def stage(
    name: Annotated[
        str | None, typer.Argument(help="Name of the rule, e.g. train; default: list them")
    ] = None,
    job: Annotated[
        str | None, typer.Argument(help="The job as JSON, or @FILE, as `poshgrid run -p` prints it")
    ] = None,
    threads: Threads = 1,
) -> None:
    """Run one job of the workflow, or list its stages."""
    from poshgrid.stages import STAGES
    from poshgrid.stages.stage import run

    if name is None:
        typer.echo("\n".join(STAGES))
        return
    check_known("unknown stage", name, STAGES)
    if job is None:
        raise PoshgridError(f"{name}: no job; copy one that `poshgrid run -p` prints")
    run(STAGES[name], job, threads=threads)


@command("poshgrid power config/pilot.yaml --seeds 3,6 --effects 0,5,10", rare=True)
def power(
    config: Configs = None,
    target: Target = "all",
    model: Annotated[
        str | None, typer.Option(help="A regression with contrasts; default: the first")
    ] = None,
    effects: Annotated[
        str, typer.Option(help="True differences, points of accuracy; 0: false alarms")
    ] = "0,2,5,10,15",
    seeds: Annotated[
        str | None, typer.Option(help="Seeds of each point, e.g. 3,6; default: the grid's")
    ] = None,
    accuracy: Annotated[
        float, typer.Option(min=0.01, max=0.99, help="Mean accuracy of the cells (share)")
    ] = 0.6,
    sd: Annotated[list[str] | None, typer.Option(help="SD of a group, log odds: cell=0.3")] = None,
    results: Results = None,
) -> None:
    """Write, as CSV, how often a study's contrasts would find an effect."""
    import polars as pl

    from poshgrid.core import formats
    from poshgrid.statistics import power as powers

    grid = grid_of(config, results)
    check_known("--target: unknown target", target, grid.targets)
    used = set(grid.fitted(target))
    fitted = {name: regression for name, regression in grid.regressions.items() if name in used}
    fitted = {name: regression for name, regression in fitted.items() if regression.contrasts}
    if not fitted:
        raise PoshgridError(
            f"--target: {target}: no regression with contrasts is fitted to it; name another "
            "target, or add contrasts to a regression"
        )
    check_known("--model: no regression with contrasts on this target", model, fitted)
    chosen = fitted[model] if model else next(iter(fitted.values()))
    shares = [x / 100 for x in _numbers("--effects", effects)]
    sds = dict(powers.PUBLISHED)
    for text in sd or []:
        group, _, number = text.partition("=")
        check_known(f"--sd: {text!r}: unknown group", group, powers.GROUPS)
        sds = {key: value for key, value in sds.items() if key.partition("[")[0] != group}
        sds[group] = _numbers("--sd", number)[0]
    numbers = [None] if seeds is None else [int(x) for x in _numbers("--seeds", seeds)]
    tables = [
        powers.power(
            powers.planned(grid, target, grid.judged(chosen), per_point), chosen,
            effects=shares, sds=sds, accuracy=accuracy,
        )
        for per_point in numbers
    ]  # fmt: skip
    typer.echo(formats.csv(pl.concat(table for table, _ in tables), places=4), nl=False)
    for note in tables[-1][1]:
        typer.echo(f"Note: {note}", err=True)


def _numbers(option: str, text: str) -> list[float]:
    """Return the numbers in a comma-separated list."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise PoshgridError(f"{option}: {text!r}: give numbers separated by commas") from error
