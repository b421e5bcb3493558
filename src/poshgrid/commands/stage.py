"""The command that runs a job of the workflow; each rule calls it."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from poshgrid.commands.base import Threads, app
from poshgrid.config.training import Tracker
from poshgrid.errors import check_known


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
