"""Commands: items of suites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Code, Data, Pairs, Spec, app, named, run
from poshgrid.config import specs
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="Stages")
def items(
    output: Annotated[Path, typer.Option(help="Table of items, to write or to show")],
    spec: Spec = "",
    data: Data = Path("data"),
    base: Pairs = [],  # noqa: B006 - typer copies it
    ngrams: Pairs = [],  # noqa: B006
    code: Code = "",
    show: Annotated[int, typer.Option(help="Number of pairs to show of each phenomenon")] = 0,
    seed: Annotated[int, typer.Option(help="Of the pairs that are shown")] = 0,
) -> None:
    """Make or read the items of a suite, or show some of them."""
    if show:
        from poshgrid.benchmark.examples import examples, read

        typer.echo(examples(read(output), show, seed))
        return
    if not spec:
        raise PoshgridError("items: give --show N to see pairs of a table, or --spec to make one")
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
