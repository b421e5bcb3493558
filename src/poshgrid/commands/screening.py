"""Commands: detectors of evidence in words."""

from __future__ import annotations

from poshgrid.commands.base import (
    Code,
    Data,
    Output,
    Spec,
    app,
    run,
)


@app.command(rich_help_panel="Stages")
def detector(spec: Spec, data: Data, output: Output, code: Code = "") -> None:
    """Learn from gold trees what evidence looks like in words."""
    from poshgrid.grid import specs
    from poshgrid.screening.learn import learn

    run(
        specs.DetectorSpec,
        spec,
        lambda given: learn(given, data, output),
        manifest=output / "manifest.json",
        code=code,
    )
