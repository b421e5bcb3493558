"""The command line: the stages' commands, and a few for people."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from poshgrid import logs
from poshgrid.errors import PoshgridError
from poshgrid.stages import Output, app


@app.command(rich_help_panel="For people")
def check(
    config: Annotated[Path, typer.Argument(help="Configuration file")] = Path("config/config.yaml"),
) -> None:
    """Check a configuration; print its targets and the number of their runs."""
    from poshgrid import configfile
    from poshgrid.grid import Grid

    grid = Grid(configfile.load(config))
    for target, runs in grid.targets.items():
        typer.echo(f"{target:12} {len(runs):6,} runs, {len(grid.nulls(runs)):,} nulls")


@app.command(rich_help_panel="For people")
def runs(
    config: Annotated[Path, typer.Argument(help="Configuration file")] = Path("config/config.yaml"),
    target: Annotated[str, typer.Option(help="Experiment, or all")] = "all",
    only: Annotated[str | None, typer.Option(help="Subset, e.g. size=10M,seed=42")] = None,
) -> None:
    """List the runs of a target: the names of its model folders."""
    from poshgrid import configfile
    from poshgrid.errors import did_you_mean
    from poshgrid.grid import Grid

    loaded = configfile.load(config)
    grid = Grid(loaded.model_copy(update={"only": only}) if only else loaded)
    if target not in grid.targets:
        raise PoshgridError(f"unknown target {target!r}{did_you_mean(target, grid.targets)}")
    for run in grid.targets[target]:
        typer.echo(grid.paths.model(run.name))


@app.command(rich_help_panel="For people")
def schema(output: Output = Path("workflow/schemas/config.schema.json")) -> None:
    """Write the JSON Schema of the configuration."""
    from poshgrid.configfile import write_schema

    write_schema(output)


def main() -> None:
    """Run the command line; an error is one line on standard error and a non-zero status."""
    debug = bool(os.environ.get("POSHGRID_DEBUG"))
    logs.setup(verbose=debug)
    try:
        app()
    except PoshgridError as error:
        if debug:
            raise
        _fail(str(error))
    except OSError as error:
        if debug:
            raise
        place = error.filename or "input or output"
        _fail(f"{place}: {error.strerror or error}; check the path, permissions and disk space")
    except MemoryError:
        _fail("out of memory; give the job more, or lower batch_size or evidence.shard_words")
    except Exception as error:
        if debug:
            raise
        reason = str(error).strip().splitlines()
        _fail(
            f"internal error: {type(error).__name__}: {reason[0] if reason else ''}; "
            "set POSHGRID_DEBUG=1 and run the command again for details, then report it"
        )


def _fail(message: str) -> None:
    for line in message.splitlines():
        sys.stderr.write(f"error: {line}\n")
    sys.exit(1)
