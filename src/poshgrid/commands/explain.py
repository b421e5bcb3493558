"""Why a sentence is removed, and whether a filter fires at all."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poshgrid.commands.base import Making, app, filters_of, parser_of, trained
from poshgrid.config.names import PAPER
from poshgrid.errors import PoshgridError

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
    base: Annotated[str | None, typer.Option(help="Base that they are drawn from")] = None,
    text: Annotated[Path | None, typer.Option(help="Text of your own to draw them from")] = None,
    seed: Annotated[int, typer.Option(help="Of the sample")] = 42,
) -> None:
    """Show a sentence's tree and the filters' rules that fire, or a sample of what they remove."""
    from poshgrid.grid import configfile
    from poshgrid.grid.grid import Grid

    drawn = [name for name, given in (("--sample", sample), ("--base", base), ("--text", text))
             if given is not None]  # fmt: skip
    if (sentence is None) == (not drawn):
        raise PoshgridError(
            f"explain: {f'a sentence, or {drawn[0]}, not both' if drawn else 'nothing given'}; "
            "give a sentence, --sample N (and --base), or --text FILE"
        )
    size = _SAMPLE if sample is None else sample
    grid, making = Grid(configfile.load(config)), Making([config], None)
    if sentence is not None:
        lines = _one(grid, making, sentence, parser, filters)
    elif text is not None:
        lines = _of_text(grid, making, text, parser, filters, size, seed)
    else:
        lines = _of_base(grid, making, base, parser, filters, size, seed)
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


def _of_base(
    grid: Grid, making: Making, base: str | None, parser: str | None, filters: list[str] | None,
    size: int, seed: int,
) -> list[str]:  # fmt: skip
    from poshgrid.grid.definitions import check_names

    filtered = [name for name in grid.bases if grid.filters(name)]
    if base is None and len(filtered) != 1:
        raise PoshgridError(
            f"explain: {len(filtered)} bases have filters; give --base, one of "
            f"{', '.join(filtered or grid.bases)}"
        )
    chosen = base if base is not None else filtered[0]
    check_names("explain", "base", [chosen], grid.bases)
    if chosen not in filtered:
        raise PoshgridError(
            f"explain: no condition of base {chosen!r} has filters; known: {', '.join(filtered)}"
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
