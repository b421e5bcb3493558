"""``poshgrid coverage``: how many of a suite's items the filters would remove."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Configs, Making, Results, app, filters_of, grid_of, trained
from poshgrid.errors import PoshgridError, check_known


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
    from poshgrid.tables import terminal

    cell = pl.format("{}{}", (100 * pl.col("good")).round(1), pl.when("target").then(pl.lit("*"))
                     .otherwise(pl.lit("")))  # fmt: skip
    shares = found.select("phenomenon", "n", "filter", cell=cell)
    wide = shares.pivot("filter", index=["phenomenon", "n"], values="cell").cast(pl.String)
    note = "Good sentences that a filter removes, in percent; *: one of its own targets."
    terminal.show(f"coverage of {suite}", wide.columns, wide.iter_rows(), notes=[note])
