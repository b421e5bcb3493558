"""The command line."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Annotated, cast

import typer
from click import Group

from poshgrid.commands.base import app
from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError, of_system

ROOMS = ("study", "plan", "pairs", "results", "filters")
"""Modules whose commands are added, in the order in which the help lists them."""
for room in ROOMS:
    importlib.import_module(f"poshgrid.commands.{room}")


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"poshgrid {version('poshgrid')}")
        raise typer.Exit


def _help_all(context: typer.Context, asked: bool) -> None:
    if asked:
        for command in cast(Group, context.command).commands.values():
            command.hidden = False
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it and exit")
    ] = False,
    help_all: Annotated[
        bool,
        typer.Option("--help-all", callback=_help_all, is_eager=True, help="List all commands"),
    ] = False,
) -> None:
    """Take the options of ``poshgrid`` itself."""


def main() -> None:
    """Run the command line; an error is one line on standard error and a non-zero status.

    With ``POSHGRID_DEBUG`` it is Python's traceback.
    """
    debug = bool(os.environ.get("POSHGRID_DEBUG"))
    if isinstance(sys.stdout, io.TextIOWrapper):  # the terminal's encoding may lack a character
        sys.stdout.reconfigure(errors="backslashreplace")
    logs.setup(verbose=debug)
    words = sys.argv[1:]
    if "" in words:  # as a path, "" would mean the working folder
        _fail("an empty argument; set the shell's variable, or leave it out")
    if debug:
        app(args=words)
        return
    try:
        app(args=words)
    except PoshgridError as error:
        _fail(str(error))
    except OSError as error:
        _fail(of_system(error))
    except KeyboardInterrupt:  # before a command has started; then click handles it
        sys.exit(130)  # the exit status of shells
    except MemoryError:
        _fail("out of memory; give the job more, or lower batch_size or evidence.shard_words")
    except BaseException as error:
        line = plugins.fault(error)
        # A panic of polars (e.g. a flipped bit in a table) is not an Exception
        ours = isinstance(error, Exception) or type(error).__name__ == "PanicException"
        if not (ours or line):
            raise
        if line:
            message = " ".join(str(error).split())
            _fail(f"{line}: {type(error).__name__}: {message}; fix the plug-in")
        reason = str(error).strip().splitlines()
        _fail(
            f"internal error: {type(error).__name__}: {reason[0] if reason else ''}; "
            "set POSHGRID_DEBUG=1 and run the command again for details, then report it"
        )


def _fail(message: str) -> None:
    for line in message.splitlines():
        sys.stderr.write(f"error: {line}\n")
    sys.exit(1)
