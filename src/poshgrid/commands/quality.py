"""Commands: the gate that suites must pass."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid.commands.base import Code, Output, Pairs, Spec, app, named, run
from poshgrid.config import specs
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="Stages")
def quality(
    spec: Spec,
    items: Annotated[Path, typer.Option(help="Minimal pairs of the suite")],
    output: Output,
    base: Pairs = [],  # noqa: B006
    train: Pairs = [],  # noqa: B006
    scores: Pairs = [],  # noqa: B006
    code: Code = "",
) -> None:
    """Check a suite and write the page of its faults."""
    from poshgrid.quality.gate import gate

    bases, trained, nulls = named(base), named(train), named(scores)
    run(
        specs.QualitySpec,
        spec,
        lambda given: gate(
            items,
            suite=given.suite,
            generated=given.generated,
            top_k=given.top_k,
            bases=bases,
            train=trained,
            scores=nulls,
            scoring=given.scoring,
            tolerance=given.tolerance,
            bases_of=given.bases,
            output=output,
        ),
        manifest=output / "manifest.json",
        code=code,
        inputs=[items, *bases.values(), *trained.values(), *nulls.values()],
    )


@app.command(rich_help_panel="For people")
def gate(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders of minimal pairs")],
    reader: Annotated[
        str | None, typer.Option(help="blimp, lines, scamp ...; none: by each file's ending")
    ] = None,
    output: Output = Path("gate"),
    option: Annotated[
        list[str], typer.Option(help="Of the reader: key=value; may be repeated")
    ] = [],  # noqa: B006 - typer copies it
    text: Annotated[
        list[str], typer.Option(help="Text to count nulls on: [name=]path; may be repeated")
    ] = [],  # noqa: B006
    order: Annotated[int, typer.Option(min=2, help="Of the n-gram null")] = 5,
    tolerance: Annotated[float, typer.Option(min=0, max=0.5, help="Of a null, around 50%")] = 0.05,
    name: Annotated[str | None, typer.Option(help="Of the suite; none: the first path's")] = None,
) -> None:
    """Check minimal pairs of any suite: a page of faults and of word-counting nulls."""
    from poshgrid.quality import given

    items = given.read(paths, reader, options_of(option))
    found = given.check(
        items,
        suite=name or paths[0].stem,
        texts=_named(text),
        order=order,
        tolerance=tolerance,
        output=output,
    )
    for check in found["checks"]:
        if check["items"]:
            first = check["first"][0]
            typer.echo(f"{check['items']:,} {check['name']} ({first['item']}: {first['reason']})")
    typer.echo(f"{found['suite']}: {found['verdict']}, {found['pairs']:,} pairs")
    typer.echo(f"{output / 'index.html'}")


def options_of(pairs: list[str]) -> dict[str, Any]:
    """Return a reader's options; values are YAML, as in a configuration.

    Raises:
        PoshgridError: an argument has no equals sign, or its value is no YAML.
    """
    import yaml

    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise PoshgridError(f"--option {pair!r}: write key=value")
        try:
            found[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise PoshgridError(f"--option {pair!r}: the value is no YAML") from error
    return found


def _named(values: list[str]) -> dict[str, Path]:
    """Return name -> path; a path without a name is called by its file."""
    pairs = [value if "=" in value else f"{Path(value).stem}={value}" for value in values]
    found = named(pairs)
    if len(found) < len(pairs):
        raise PoshgridError(f"{', '.join(values)}: two have the same name; write NAME=path")
    return found
