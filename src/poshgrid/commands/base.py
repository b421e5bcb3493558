"""Shared parts of commands. Each command imports the heavy libraries that it needs itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand

from poshgrid.config import PAPER, STUDY
from poshgrid.core.errors import PoshgridError

if TYPE_CHECKING:
    from poshgrid.grid.grid import Grid

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Do language models learn, from what a child hears, what cannot be learned from it?",
    epilog="Further commands: poshgrid --help-all. A command in detail: poshgrid plan --help",
)
Configs = Annotated[
    list[Path] | None,
    typer.Argument(
        help=f"Configuration files; later ones change earlier ones. Default: {STUDY}, else {PAPER}",
        show_default=False,
    ),
]
Results = Annotated[Path | None, typer.Option(help="Results folder; default: the configuration's")]
Threads = Annotated[int, typer.Option(help="Processes; does not change the output")]
Output = Annotated[Path, typer.Option(help="File or folder to write")]
Target = Annotated[str, typer.Option(help="Experiment, or all")]


def command(
    example: str,
    *,
    rare: bool = False,
    kind: type[TyperCommand] = TyperCommand,
    options: str = "[OPTIONS]",
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds a command.

    Args:
        example: shown at the end of the command's help.
        rare: list the command only in ``poshgrid --help-all``.
        kind: class of the command.
        options: placeholder for the options in the first line of the help.
    """
    return app.command(hidden=rare, cls=kind, epilog=f"Example: {example}", options_metavar=options)


def files_of(config: Sequence[Path] | None) -> list[Path]:
    """Return the named configuration files, or the default configuration of this folder.

    Raises:
        PoshgridError: none is named, and this folder has none.
    """
    default = STUDY if STUDY.is_file() else PAPER
    if not config and not default.is_file():
        raise PoshgridError(
            f"{Path.cwd()}: no {STUDY}; go to the folder of your study, name a configuration, or "
            "make a study with `poshgrid init FOLDER`"
        )
    return list(config or [default])


def grid_of(config: Sequence[Path] | None, results: Path | None = None) -> Grid:
    """Return the grid of a configuration.

    Args:
        config: its files; default: the configuration of this folder.
        results: another results folder than the configuration's; None: the configuration's.

    Raises:
        PoshgridError: the configuration is wrong.
    """
    from poshgrid.grid import configfile
    from poshgrid.grid.grid import Grid

    loaded = configfile.load(*files_of(config))
    if results is not None:
        loaded = loaded.model_copy(update={"results": str(results)})
    return Grid(loaded)
