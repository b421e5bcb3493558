"""What commands share. Heavy libraries are imported by the command that needs them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poshgrid.config.names import PAPER
from poshgrid.errors import PoshgridError, check_known

if TYPE_CHECKING:
    from poshgrid.config import Filter, Parser
    from poshgrid.grid.grid import Grid

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Do language models learn, from what a child hears, what cannot be learned from it?",
)
Configs = Annotated[
    list[Path] | None, typer.Argument(help="Configuration files; the later change the earlier")
]
Results = Annotated[Path | None, typer.Option(help="Results folder; none: config's")]
Threads = Annotated[int, typer.Option(help="Processes; does not change the output")]
Output = Annotated[Path, typer.Option(help="File or folder to write")]
Target = Annotated[str, typer.Option(help="Experiment, or all")]


def filters_of(
    grid: Grid, words: list[str] | None, option: str, corpus: str | None = None
) -> list[Filter]:
    """Return the filters that words name.

    Args:
        grid: of the configuration.
        words: ``filter`` or ``filter.reading``, each once; none: those that conditions have.
        option: the words', for messages.
        corpus: only the conditions of this corpus; none: of all.

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
            raise PoshgridError(f"{option}: {reason}") from error
        return list({str(each): each for each in named}.values())
    used = {
        str(each): each
        for condition in grid.conditions.values()
        for each in condition.filters
        if corpus in (None, condition.corpus)
    }
    if not used:
        raise PoshgridError(f"no condition has filters; name one with {option}")
    return [used[name] for name in sorted(used)]


def grid_of(config: Sequence[Path] | None, results: Path | None) -> Grid:
    """Return the grid of a configuration.

    Args:
        config: its files; none: the paper's.
        results: another results folder than the configuration's.

    Raises:
        PoshgridError: the configuration is wrong.
    """
    from poshgrid.grid import configfile
    from poshgrid.grid.grid import Grid

    loaded = configfile.load(*(config or [PAPER]))
    if results is not None:
        loaded = loaded.model_copy(update={"results": str(results)})
    return Grid(loaded)


class Making:
    """The command that makes targets of a configuration, in backticks."""

    def __init__(self, configs: Sequence[Path] | None, results: Path | None) -> None:
        self._options = ["--configfile", *map(str, configs or [PAPER])]
        self._options += ["--config", f"results={results}"] if results else []

    def __call__(self, *targets: str) -> str:
        """Return the command for some targets."""
        return f"`{shlex.join(['poshgrid', 'run', *targets, *self._options])}`"


def parser_of(grid: Grid, word: str | None) -> Parser:
    """Return a parser of a configuration.

    Args:
        grid: of the configuration.
        word: its name; none: the parser that decides what is evidence.

    Raises:
        PoshgridError: the configuration has no such parser.
    """
    chosen = grid.evidence_parsers()[0] if word is None else word
    check_known("unknown parser", chosen, grid.parsers)
    return grid.parsers[chosen]


def trained(grid: Grid, word: str | None, making: Making) -> tuple[Parser, Path]:
    """Return a parser of a configuration (:func:`parser_of`), and the folder of its model.

    Raises:
        PoshgridError: the configuration has no such parser, or it is not trained yet.
    """
    given = parser_of(grid, word)
    folder = Path(given.model or grid.paths.parser(given.name))
    if given.model and not folder.exists():
        raise PoshgridError(
            f"{folder}: no model of parser {given.name!r}; put it there, or name the configuration "
            "of your own study: --config FILE"
        )
    if not folder.exists():
        run = making(f"{folder}/manifest.json")
        raise PoshgridError(f"{folder}: no model of parser {given.name!r} yet; {run} trains it")
    return given, folder
