"""Corpora and filters: ``fetch``, ``explain-filter``, and ``leak-rate`` for labelled sheets."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from poshgrid.commands.base import Results, command, files_of, grid_of
from poshgrid.config import Filter
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError, check_known, invalid

if TYPE_CHECKING:
    from poshgrid.grid.grid import Grid


@command("poshgrid fetch simple-wikipedia --data data")
def fetch(
    source: Annotated[
        str, typer.Argument(help="A free source or suite: docs/reference/sources.md")
    ],
    data: Annotated[Path, typer.Option(help="Data folder")] = Path("data"),
    folder: Annotated[str | None, typer.Option(help="Folder below it")] = None,
    file: Annotated[list[str] | None, typer.Option(help="Only this file; may be repeated")] = None,
    words: Annotated[
        int | None, typer.Option(min=1, help="Words to download from a source with a catalogue")
    ] = None,
) -> None:
    """Download a free source or suite; continue where an earlier attempt stopped."""
    from poshgrid.corpora.fetch import fetch as download

    for path in download(source, data, folder=folder, only=file, words=words):
        typer.echo(path)


@command('poshgrid explain-filter "Will the boy who can run eat?" --config config/tiny.yaml')
def explain_filter(
    sentence: Annotated[str, typer.Argument(help="A sentence, or a CoNLL-U file of gold trees")],
    config: Annotated[
        list[Path] | None, typer.Option(help="Configuration file; may be repeated")
    ] = None,
    parser: Annotated[str | None, typer.Option(help="A parser of the configuration")] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option("--filter", help="Or a rewriter; may be repeated; default: all used"),
    ] = None,
    results: Results = None,
) -> None:
    """Show what filters and rewriters do with a sentence, or with the trees of a file."""
    from poshgrid.evidence.explain import explain, rewritten
    from poshgrid.parsing.parse import parse_text
    from poshgrid.parsing.treebank import trees

    grid = grid_of(config, results)
    words, rewriters = _named(grid, filters)
    if file := sentence.endswith(".conllu"):
        parses = trees(Path(sentence))
    else:
        name = grid.evidence_parsers()[0] if parser is None else parser
        check_known("unknown parser", name, grid.parsers)
        remedy = ["poshgrid", "run", "--configfile", *map(str, files_of(config))]
        remedy += ["--config", f"results={results}"] if results else []
        parses = [parse_text(grid.parsers[name], _model(grid, name, remedy), sentence)]
    for tree in parses:
        text = " ".join(tree.form) if file else sentence
        for line in (*explain(tree, words), *rewritten(tree, text, rewriters), ""):
            typer.echo(line)


def _named(grid: Grid, words: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return the named filters and rewriters; default: those of all conditions.

    All readings of a filter are shown, even if only one is named.

    Raises:
        PoshgridError: a filter, reading or rewriter is unknown, or no condition has any.
    """
    if not words:
        rewriters = {name for c in grid.conditions.values() for name in c.rewrite}
        if not rewriters and not grid.every_filter:
            raise PoshgridError("no condition has filters or rewriters; name one with --filter")
        return grid.every_filter, sorted(rewriters)
    known = plugins.names(plugins.REWRITERS)
    filters = [word for word in words if word not in known]
    for word in filters:
        all_known = [*plugins.names(plugins.FILTERS), *known]
        check_known("--filter: unknown filter or rewriter", word.partition(".")[0], all_known)
    try:
        names = dict.fromkeys(Filter.model_validate(word).name for word in filters)
    except ValidationError as error:
        raise PoshgridError(f"--filter: {invalid(error)}") from error
    return list(names), [word for word in words if word in known]


def _model(grid: Grid, name: str, run: Sequence[str]) -> Path:
    """Return the folder of a parser's model.

    Args:
        grid: the configuration.
        name: of the parser.
        run: the words of the command that makes everything, for the message.

    Raises:
        PoshgridError: there is no such folder.
    """
    model = grid.parsers[name].model
    folder = Path(grid.config.data, model) if model else Path(grid.paths.parser(name))
    if not folder.exists():
        trains = shlex.join([*run[:2], str(folder / "manifest.json"), *run[2:]])
        remedy = "fix parsers[].model" if model else f"`{trains}` trains it"
        raise PoshgridError(f"{folder}: no model of parser {name!r}; {remedy}")
    return folder


@command("poshgrid leak-rate results/pilot/audit/baby-f/300K/binding.leakage.csv", rare=True)
def leak_rate(
    sheet: Annotated[Path, typer.Argument(help="A sheet with its labels filled in")],
    second: Annotated[
        Path | None, typer.Argument(help="Another person's copy: show how far they agree")
    ] = None,
) -> None:
    """Report the leak rate in an annotated sheet, with its interval."""
    from poshgrid.quality.audit.rate import agreement, lines, rate

    for path in filter(None, (sheet, second)):
        for line in lines(path, rate(path)):
            typer.echo(line)
    if second is not None:
        both, equal, kappa = agreement(sheet, second)
        typer.echo(
            f"both labelled {both:,} sentences: {equal:.1%} alike, Cohen's kappa {kappa:.3f}"
        )
