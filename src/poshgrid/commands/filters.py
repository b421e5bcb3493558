"""Corpora and filters: ``fetch``, ``explain-filter``, and ``leak-rate`` of labelled sheets."""

from __future__ import annotations

import functools
import shlex
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poshgrid.commands.base import Results, command, files_of, grid_of
from poshgrid.errors import PoshgridError, check_known

if TYPE_CHECKING:
    from poshgrid.config import Filter, Parser
    from poshgrid.grid.grid import Grid

SEED = 42
"""Of the sentences that are shown."""


@command("poshgrid fetch simple-wikipedia --data data")
def fetch(
    source: Annotated[str, typer.Argument(help="A free source, as in docs/sources.md")],
    data: Annotated[Path, typer.Option(help="Data folder")] = Path("data"),
    folder: Annotated[str | None, typer.Option(help="Folder below it")] = None,
    file: Annotated[list[str] | None, typer.Option(help="Only this file; may be repeated")] = None,
    words: Annotated[
        int | None, typer.Option(min=1, help="Of a source with a catalogue: enough")
    ] = None,
) -> None:
    """Download a free source, going on where an earlier attempt stopped."""
    from poshgrid.corpora.fetch import fetch as download

    for path in download(source, data, folder=folder, only=file, words=words):
        typer.echo(path)


@command(
    'poshgrid explain-filter "Will the boy who can run eat?" --config config/tiny.yaml',
    name="explain-filter",
)
def explain_filter(
    sentence: Annotated[
        str | None, typer.Argument(help="A sentence, or a CoNLL-U file of gold trees")
    ] = None,
    config: Annotated[
        list[Path] | None, typer.Option(help="Configuration file; may be repeated")
    ] = None,
    parser: Annotated[str | None, typer.Option(help="A parser of the configuration")] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help="Or filter.reading; may be repeated; default: all used"),
    ] = None,
    corpus: Annotated[
        str | None, typer.Option(help="Show what is removed from this corpus; default: the only")
    ] = None,
    text: Annotated[
        Path | None, typer.Option(help="Show what is removed from a text of your own")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="Show which share of a suite's good sentences is removed")
    ] = None,
    sample: Annotated[
        int, typer.Option(min=0, help="Removed sentences to show for each filter")
    ] = 20,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Of a suite: CSV, with the bad members")
    ] = False,
    results: Results = None,
) -> None:
    """Show what filters do: with a sentence, a corpus, a text or the items of a suite."""
    given = {"a sentence": sentence, "--corpus": corpus, "--text": text, "--suite": suite}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise PoshgridError(f"{' and '.join(named)}: give one of them")
    grid = grid_of(config, results)
    run = functools.partial(_run, config, results)
    if sentence is not None:
        _sentence(grid, run, sentence, parser, filters)
    elif suite is not None:
        _suite(grid, run, suite, parser, filters, as_csv)
    elif text is not None:
        _text(grid, run, text, parser, filters, sample)
    else:
        _corpus(grid, run, corpus, parser, filters, sample)


def _run(config: list[Path] | None, results: Path | None, target: str) -> str:
    """Return the command that makes a target, in backticks."""
    words = ["poshgrid", "run", target, "--configfile", *map(str, files_of(config))]
    words += ["--config", f"results={results}"] if results else []
    return f"`{shlex.join(words)}`"


def _filters(grid: Grid, words: list[str] | None, corpus: str | None = None) -> list[Filter]:
    """Return the filters that words name, each once; default: those of the conditions of a corpus.

    Raises:
        PoshgridError: a filter or reading is unknown, or no condition has filters.
    """
    from pydantic import ValidationError

    from poshgrid.config import Filter

    if words:
        try:
            named = [Filter.model_validate(word) for word in words]
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise PoshgridError(f"--filter: {reason}") from error
    else:
        named = [
            used
            for condition in grid.conditions.values()
            for used in condition.filters
            if corpus in (None, condition.corpus)
        ]
        named.sort(key=str)
    if not named:
        raise PoshgridError("no condition has filters; name one with --filter")
    return list({str(used): used for used in named}.values())


def _trained(grid: Grid, word: str | None, run: functools.partial[str]) -> tuple[Parser, Path]:
    """Return a parser, by default the one that decides what is evidence, and its model's folder.

    Raises:
        PoshgridError: the configuration has no such parser, or it is not trained yet.
    """
    parser = _parser(grid, word)
    folder = Path(parser.model or grid.paths.parser(parser.name))
    if not folder.exists():
        remedy = (
            "put it there, or name the configuration of your own study: --config FILE"
            if parser.model
            else f"{run(f'{folder}/manifest.json')} trains it"
        )
        raise PoshgridError(f"{folder}: no model of parser {parser.name!r}; {remedy}")
    return parser, folder


def _parser(grid: Grid, word: str | None) -> Parser:
    name = grid.evidence_parsers()[0] if word is None else word
    check_known("unknown parser", name, grid.parsers)
    return grid.parsers[name]


def _sentence(
    grid: Grid,
    run: functools.partial[str],
    sentence: str,
    parser: str | None,
    filters: list[str] | None,
) -> None:
    from poshgrid.evidence.explain import explain
    from poshgrid.parsing.parse import parse_text
    from poshgrid.parsing.treebank import trees

    # All readings of a filter are shown, whichever is named
    named = _filters(grid, filters) if filters else []
    words = list(dict.fromkeys(used.name for used in named)) or grid.every_filter
    if sentence.endswith(".conllu"):
        parses = trees(Path(sentence))
    else:
        parses = [parse_text(*_trained(grid, parser, run), sentence)]
    for tree in parses:
        for line in (*explain(tree, words), ""):
            typer.echo(line)


def _corpus(
    grid: Grid,
    run: functools.partial[str],
    corpus: str | None,
    parser: str | None,
    filters: list[str] | None,
    sample: int,
) -> None:
    filtered = [name for name in grid.corpora if grid.filters(name)]
    if corpus is None and len(filtered) != 1:
        raise PoshgridError(
            f"{len(filtered)} corpora have filters; give a sentence, or --corpus, one of "
            f"{', '.join(filtered or grid.corpora)}"
        )
    name = corpus if corpus is not None else filtered[0]
    check_known("--corpus: no condition with filters has corpus", name, filtered)
    paths = [
        Path(grid.paths.sentences(name)),
        Path(grid.paths.evidence(name, _parser(grid, parser).name)),
    ]
    for path in paths:
        if not path.is_file():
            raise PoshgridError(f"{path}: not there yet; run {run(str(path))} first")
    _show_removed(grid, _filters(grid, filters, name), (paths[0], paths[1]), sample)


def _text(
    grid: Grid,
    run: functools.partial[str],
    text: Path,
    parser: str | None,
    filters: list[str] | None,
    sample: int,
) -> None:
    from poshgrid.audit.firing import label_text

    if not text.is_file() and not text.is_dir():
        raise PoshgridError(f"{text}: not found; give --text a text file, or a folder of .txt")
    used = _filters(grid, filters)
    with tempfile.TemporaryDirectory() as folder:
        words = sorted({one.name for one in used})
        tables = label_text(*_trained(grid, parser, run), text, words, Path(folder))
        _show_removed(grid, used, tables, sample)


def _show_removed(
    grid: Grid, filters: list[Filter], tables: tuple[Path, Path], sample: int
) -> None:
    """Print what filters remove from a text, by its tables of sentences and of labels."""
    from poshgrid.audit.firing import fires

    backstop, language = grid.config.evidence.backstop, grid.config.language
    for used in filters:
        for line in fires(
            used, *tables, language=language, backstop=backstop, size=sample, seed=SEED
        ):
            typer.echo(line)


def _suite(
    grid: Grid,
    run: functools.partial[str],
    suite: str,
    parser: str | None,
    filters: list[str] | None,
    as_csv: bool,
) -> None:
    """Print the share of good sentences that each filter removes (FiCT's Table 1)."""
    import polars as pl

    from poshgrid.benchmark import coverage
    from poshgrid.parsing.parse import parse_words
    from poshgrid.tables import formats, terminal

    check_known("--suite: unknown suite", suite, grid.suites)
    path = grid.paths.items(suite)
    items = coverage.read(Path(path), f"run {run(path)} first")
    parse = functools.partial(parse_words, *_trained(grid, parser, run))
    backstop = grid.config.evidence.backstop
    shares = coverage.coverage(
        items, _filters(grid, filters), parse, language=grid.config.language, backstop=backstop
    )
    if as_csv:
        typer.echo(formats.csv(shares), nl=False)
        return
    mark = pl.when("target").then(pl.lit("*")).otherwise(pl.lit(""))
    cell = pl.format("{}{}", (100 * pl.col("good")).round(1), mark)
    wide = shares.select("phenomenon", "n", "filter", cell=cell)
    wide = wide.pivot("filter", index=["phenomenon", "n"], values="cell").cast(pl.String)
    note = "Good sentences that a filter removes, in percent; *: a phenomenon that it is meant for."
    terminal.show(f"{suite}", wide.columns, wide.iter_rows(), notes=[note])


@command("poshgrid leak-rate results/pilot/audit/baby-f/300K/leakage.csv", rare=True)
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
