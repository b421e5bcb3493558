"""``poshgrid coverage``: how many of a suite's items the filters would remove."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poshgrid.commands.base import Configs, Making, Results, app, filters_of, grid_of, trained
from poshgrid.errors import PoshgridError, check_known

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table


@app.command(rich_help_panel="Corpora and filters")
def coverage(
    config: Configs = None,
    suite: Annotated[str, typer.Option(help="Suite of minimal pairs")] = "blimp",
    filters: Annotated[
        str | None,
        typer.Option(help="Comma-separated, e.g. agr-pp-mod,passive.published; none: all used"),
    ] = None,
    parser: Annotated[str | None, typer.Option(help="A parser of the configuration")] = None,
    targets: Annotated[
        bool, typer.Option("--targets", help="Only the phenomena that the filters are meant for")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV, with the bad members")] = False,
    results: Results = None,
) -> None:
    """Print the share of a suite's good sentences that each filter removes (FiCT's Table 1)."""
    import polars as pl

    from poshgrid.benchmark import coverage as measured
    from poshgrid.parsing.parse import parse_words

    grid = grid_of(config, results)
    words = [word.strip() for word in filters.split(",")] if filters is not None else None
    wanted = filters_of(grid, words, "--filters")
    check_known("--suite: unknown suite", suite, grid.suites)
    path = grid.paths.items(suite)
    making = Making(config, results)
    items = measured.read(Path(path), f"run {making(path)} first")
    if targets:
        items = items.filter(pl.col("phenomenon").is_in(sorted(measured.targets(wanted))))
        if items.is_empty():
            raise PoshgridError(f"--targets: none of these filters is meant for suite {suite!r}")
    parse = functools.partial(parse_words, *trained(grid, parser, making))
    found = measured.coverage(items, wanted, parse, backstop=grid.config.evidence.backstop)
    if as_csv:
        from poshgrid.tables import formats

        typer.echo(formats.csv(found), nl=False)
        return
    from rich.console import Console

    console = Console(highlight=False)
    for table in _tables(found, [str(each) for each in wanted], console.width):
        console.print(table)
    console.print("Good sentences that a filter removes, in percent; *: one of its own targets.")


def _tables(found: pl.DataFrame, words: list[str], width: int) -> Iterator[Table]:
    """Yield tables of phenomena by filters, as many filters in each as there is room for."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    names = found["phenomenon"].unique(maintain_order=True).to_list()
    cells = {
        (phenomenon, word): f"{100 * good:.1f}{'*' if target else ' '}"
        for phenomenon, word, good, target in found.select(
            "phenomenon", "filter", "good", "target"
        ).iter_rows()
    }
    sizes = dict(found.select("phenomenon", "n").iter_rows())
    headers = {word: word.replace("-", "-\n").replace(".", "\n") for word in words}
    while words:
        room = width - max(map(len, names)) - 12
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("phenomenon", no_wrap=True)
        table.add_column("items", justify="right")
        shown: list[str] = []
        while words and (not shown or room >= _needs(headers[words[0]])):
            room -= _needs(headers[words[0]])
            table.add_column(headers[words[0]], justify="right", no_wrap=True)
            shown.append(words[0])
            words = words[1:]
        for name in names:
            table.add_row(name, f"{sizes[name]:,}", *(cells[name, word] for word in shown))
        yield table


def _needs(header: str) -> int:
    return max(map(len, header.split("\n"))) + 2
