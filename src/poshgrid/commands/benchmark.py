"""Commands: items of suites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Code, Data, Pairs, Spec, app, named, run
from poshgrid.config import specs


@app.command(rich_help_panel="Stages")
def items(
    spec: Spec,
    output: Annotated[Path, typer.Option(help="Table of items to write")],
    data: Data = Path("data"),
    base: Pairs = [],  # noqa: B006 - typer copies it
    ngrams: Pairs = [],  # noqa: B006
    code: Code = "",
) -> None:
    """Make or read the items of a suite."""
    from poshgrid.benchmark.items import generate

    bases, models = named(base), named(ngrams)
    run(
        specs.ItemsSpec,
        spec,
        lambda given: generate(given, data, bases, models, output),
        manifest=output.parent / "manifest.json",
        code=code,
        inputs=[
            *bases.values(),
            *(path / "model.safetensors" for path in models.values()),
            *(path / "config.json" for path in models.values()),
        ],
    )
