"""``poshgrid ready`` and ``poshgrid plan``: what a run needs, would do, and would cost."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from poshgrid.commands.base import Configs, Results, Target, app, grid_of
from poshgrid.config.names import PAPER
from poshgrid.errors import PoshgridError

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
        typer.echo(f"{name:12} {len(runs):6,} runs, {len(grid.nulls(runs)):,} baselines{given}")
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
    from poshgrid.planning.plan import make

    facts = make(config or [PAPER], target, results=results, device=device).to_dict(examples)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        _show(facts)


def _show(facts: dict[str, Any]) -> None:
    """Print a plan: what would run, why, and what training takes."""
    from poshgrid.tables import terminal

    jobs, training = facts["jobs"], facts["training"]
    typer.echo(
        f"{facts['target']}: {facts['runs']:,} runs, {facts['nulls']:,} baselines. "
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
