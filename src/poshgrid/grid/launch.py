"""Snakemake, started after every configuration file has been read with the safe YAML loader.

Snakemake reads configuration files with a template engine (YTE), which runs the Python code that a
file with ``__use_yte__: true`` holds, before the first line of a workflow.
"""

from __future__ import annotations

import sys
from typing import Any

from poshgrid.config.names import PAPER, RULES
from poshgrid.errors import PoshgridError, check_known
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid


def parsed(arguments: list[str]) -> tuple[Any, Any]:
    """Return Snakemake's parser and its parsed arguments, those of profiles included.

    Raises:
        PoshgridError: an argument is wrong, or a configuration file is not plain YAML.
    """
    from snakemake import cli

    parser, args = cli.parse_args(arguments)
    for word in args.config or ():
        if "=" not in word:
            raise PoshgridError(f"{word}: not KEY=VALUE of --config; targets stand after --")
    for path in args.configfile or ():
        configfile.read(path)
    return parser, args


def _check_targets(args: Any) -> None:  # noqa: ANN401 - Snakemake's
    """Raise if a word among the targets is no target of the configuration, and no rule or file."""
    words = {word for word in args.targets or () if not set(word) & set("/.")} - RULES
    if words:
        grid = Grid(configfile.load(*(args.configfile or [PAPER])))
        known = [*grid.targets, *(["pretrained"] if grid.given else [])]
        for word in sorted(words):
            check_known("unknown target", word, known)


def main() -> None:
    """Run Snakemake with the arguments of this process, as ``python -m snakemake`` does."""
    from snakemake import cli

    try:
        parser, args = parsed(sys.argv[1:])
        _check_targets(args)
        succeeded = cli.args_to_api(args, parser)
    except PoshgridError as error:
        sys.stderr.writelines(f"error: {line}\n" for line in error.args)
        succeeded = False
    except Exception as error:  # Snakemake prints its own in its own way
        cli.print_exception(error)
        succeeded = False
    sys.exit(not succeeded)


if __name__ == "__main__":
    main()
