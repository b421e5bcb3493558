"""Commands: the gate that suites must pass."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid.commands.base import Output, app
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="Your own suites, models and counts")
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
        list[str], typer.Option(help="Text to count baselines on: [name=]path; may be repeated")
    ] = [],  # noqa: B006
    order: Annotated[int, typer.Option(min=2, help="Of the n-gram baseline")] = 5,
    tolerance: Annotated[
        float, typer.Option(min=0, max=0.5, help="Of a baseline, around 50%")
    ] = 0.05,
    name: Annotated[str | None, typer.Option(help="Of the suite; none: the first path's")] = None,
) -> None:
    """Check minimal pairs of any suite: a page of faults and of baselines that count words."""
    from poshgrid.quality import given

    items = given.read(paths, reader, options_of(option))
    found = given.check(
        items,
        suite=name or paths[0].stem,
        texts=named(text),
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


def named(values: list[str]) -> dict[str, Path]:
    """Return name -> path; a path without a name is called by its file."""
    pairs = [value if "=" in value else f"{Path(value).stem}={value}" for value in values]
    paths = {name: Path(path) for name, _, path in (pair.partition("=") for pair in pairs)}
    if len(paths) < len(pairs):
        raise PoshgridError(f"{', '.join(values)}: two have the same name; write NAME=path")
    return paths
