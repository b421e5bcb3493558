"""Filters: why a sentence is removed, what of a suite they cover, and what sheets say of leaks."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poshgrid.commands.base import (
    Configs,
    Making,
    Results,
    app,
    filters_of,
    grid_of,
    parser_of,
    trained,
)
from poshgrid.config.names import PAPER
from poshgrid.errors import PoshgridError, check_known

if TYPE_CHECKING:
    from poshgrid.config import Filter
    from poshgrid.grid.grid import Grid

_SAMPLE = 20


@app.command(rich_help_panel="Corpora and filters")
def explain(
    sentence: Annotated[
        str | None, typer.Argument(help="A sentence, or a CoNLL-U file of gold trees")
    ] = None,
    config: Annotated[Path, typer.Option(help="Configuration file")] = PAPER,
    parser: Annotated[str | None, typer.Option(help="A parser of the configuration")] = None,
    filters: Annotated[
        list[str] | None, typer.Option("--filter", help="Or filter.reading; default: all used")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=0, help="Removed sentences to show for each filter")
    ] = None,
    corpus: Annotated[str | None, typer.Option(help="Corpus that they are drawn from")] = None,
    text: Annotated[Path | None, typer.Option(help="Text of your own to draw them from")] = None,
    seed: Annotated[int, typer.Option(help="Of the sample")] = 42,
) -> None:
    """Show a sentence's tree and the filters' rules that fire, or a sample of what they remove."""
    from poshgrid.grid import configfile
    from poshgrid.grid.grid import Grid

    drawn = [name for name, given in (("--sample", sample), ("--corpus", corpus), ("--text", text))
             if given is not None]  # fmt: skip
    if (sentence is None) == (not drawn):
        raise PoshgridError(
            f"explain: {f'a sentence, or {drawn[0]}, not both' if drawn else 'nothing given'}; "
            "give a sentence, --sample N (and --corpus), or --text FILE"
        )
    size = _SAMPLE if sample is None else sample
    grid, making = Grid(configfile.load(config)), Making([config], None)
    if sentence is not None:
        lines = _one(grid, making, sentence, parser, filters)
    elif text is not None:
        lines = _of_text(grid, making, text, parser, filters, size, seed)
    else:
        lines = _of_corpus(grid, making, corpus, parser, filters, size, seed)
    for line in lines:
        typer.echo(line)


def _one(
    grid: Grid, making: Making, sentence: str, parser: str | None, filters: list[str] | None
) -> list[str]:
    from poshgrid.evidence.explain import explain as explained
    from poshgrid.parsing.parse import parse_text
    from poshgrid.parsing.treebank import trees

    # All readings are shown of a filter, whichever is named
    named = filters_of(grid, filters, "--filter") if filters else []
    wanted = list(dict.fromkeys(each.name for each in named)) or grid.every_filter
    if sentence.endswith(".conllu"):
        found = trees(Path(sentence))
    else:
        given, model = trained(grid, parser, making)
        found = [parse_text(given, model, sentence)]
    return [line for tree in found for line in (*explained(tree, wanted), "")]


def _of_corpus(
    grid: Grid, making: Making, corpus: str | None, parser: str | None, filters: list[str] | None,
    size: int, seed: int,
) -> list[str]:  # fmt: skip
    from poshgrid.grid.definitions import check_names

    filtered = [name for name in grid.corpora if grid.filters(name)]
    if corpus is None and len(filtered) != 1:
        raise PoshgridError(
            f"explain: {len(filtered)} corpora have filters; give --corpus, one of "
            f"{', '.join(filtered or grid.corpora)}"
        )
    chosen = corpus if corpus is not None else filtered[0]
    check_names("explain", "corpus", [chosen], grid.corpora)
    if chosen not in filtered:
        raise PoshgridError(
            f"explain: no condition of corpus {chosen!r} has filters; known: {', '.join(filtered)}"
        )
    name = parser_of(grid, parser).name
    paths = [Path(grid.paths.sentences(chosen)), Path(grid.paths.evidence(chosen, name))]
    for path in paths:
        if not path.is_file():
            raise PoshgridError(f"{path}: not there yet; run {making(str(path))} first")
    return _fired(grid, filters_of(grid, filters, "--filter", chosen), paths, size, seed)


def _of_text(
    grid: Grid, making: Making, text: Path, parser: str | None, filters: list[str] | None,
    size: int, seed: int,
) -> list[str]:  # fmt: skip
    from poshgrid.audit.firing import label_text

    if not text.is_file() and not text.is_dir():
        raise PoshgridError(f"{text}: not found; give --text a text file, or a folder of .txt")
    given, model = trained(grid, parser, making)
    wanted = filters_of(grid, filters, "--filter")
    with tempfile.TemporaryDirectory() as folder:
        words = sorted({each.name for each in wanted})
        paths = label_text(given, model, text, words, Path(folder))
        return _fired(grid, wanted, paths, size, seed)


def _fired(
    grid: Grid, wanted: Sequence[Filter], tables: Sequence[Path], size: int, seed: int
) -> list[str]:
    """Return what filters make of a text, by its tables of sentences and of labels."""
    from poshgrid.audit.firing import fires

    sentences, labels = tables
    backstop, lines = grid.config.evidence.backstop, list[str]()
    for each in wanted:
        lines += fires(each, sentences, labels, backstop=backstop, size=size, seed=seed)
    return lines


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


@app.command(rich_help_panel="Corpora and filters")
def leak_rate(
    sheet: Annotated[Path, typer.Argument(help="A sheet with its labels filled in")],
    second: Annotated[Path | None, typer.Argument(help="Another annotator's sheet")] = None,
    output: Annotated[Path | None, typer.Option(help="JSON file to write, too")] = None,
) -> None:
    """Report the leak rate that an annotated sheet shows, with its interval."""
    from poshgrid.audit.rate import lines, rate
    from poshgrid.files import write_json

    found = rate(sheet, second)
    for line in lines(found):
        typer.echo(line)
    if output is not None:
        write_json(output, asdict(found))
