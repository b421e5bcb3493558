"""Commands: the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Code, Output, Spec, app, run


@app.command(rich_help_panel="Stages")
def report(
    spec: Spec,
    results: Annotated[Path, typer.Option(help="Folder of all results")],
    output: Output,
    threads: Annotated[int, typer.Option(help="Processes; does not change the page")] = 1,
    code: Code = "",
) -> None:
    """Write the report of a target."""
    from poshgrid.config import specs
    from poshgrid.report.page import write

    run(
        specs.ReportSpec,
        spec,
        lambda given: write(given, results, output, threads),
        manifest=output / "manifest.json",
        code=code,
    )
