"""``poshgrid run``: Snakemake with our checks before it, a short dry-run and a quiet end.

Snakemake reads configuration files with a template engine (YTE), which runs the Python code that a
file with ``__use_yte__: true`` holds, before the first line of a workflow. So each file is read
with the safe YAML loader first.
"""

from __future__ import annotations

import contextlib
import io
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any

from poshgrid.config.names import PAPER, rules
from poshgrid.errors import PoshgridError, check_known
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid

DETAILED = (
    "quiet", "verbose", "printshellcmds", "debug_dag", "dag", "rulegraph", "filegraph", "d3dag",
    "summary", "detailed_summary", "list_rules", "list_target_rules", "lint", "unlock", "report",
    "delete_all_output", "delete_temp_output",
)  # fmt: skip
"""Options with which a dry-run is Snakemake's own."""
INTERRUPTED = 130
"""Exit status after Ctrl-C, as a shell has it."""


def parsed(arguments: Sequence[str]) -> tuple[Any, Any, str]:
    """Return Snakemake's parser, its arguments with those of profiles, and what it says of them.

    Raises:
        PoshgridError: an argument is wrong, or a configuration file is not plain YAML.
    """
    from snakemake import cli

    messages = io.StringIO()
    try:
        with contextlib.redirect_stderr(messages):
            parser, args = cli.parse_args(list(arguments))
    except SystemExit as end:
        if not end.code:  # --help
            raise
        reason = " ".join(messages.getvalue().strip().splitlines()[-1:])
        raise PoshgridError(f"Snakemake refuses the arguments: {reason}") from end
    for word in args.config or ():
        if "=" not in word:
            raise PoshgridError(f"{word}: not KEY=VALUE of --config; targets stand after --")
    for path in args.configfile or ():
        configfile.read(path)
    return parser, args, messages.getvalue()


def check_targets(args: Any) -> None:  # noqa: ANN401 - Snakemake's
    """Raise if a word among the targets is no target of the configuration, and no rule or file."""
    words = {word for word in args.targets or () if not set(word) & set("/.")} - rules()
    if words:
        grid = Grid(configfile.load(*(args.configfile or [PAPER])))
        known = [*grid.targets, *(["pretrained"] if grid.given else [])]
        for word in sorted(words):
            check_known("unknown target", word, known)


def _dry_run(args: Any) -> None:  # noqa: ANN401 - Snakemake's
    """Show what would run, in short."""
    from poshgrid.planning import plan

    plan.show(plan.make(args))


def _end_quietly() -> threading.Event:
    """Return an event that Ctrl-C sets. From then on no job is reported as failed.

    A terminal sends the signal to the jobs, too. They end first, and Snakemake would report each as
    a failure of its rule.
    """
    before, stopped = signal.getsignal(signal.SIGINT), threading.Event()

    def interrupted(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        logging.disable(logging.CRITICAL)
        stopped.set()
        sys.stderr.write("\nstopping: jobs end, and keep what they have saved\n")
        signal.default_int_handler(number, frame)

    if before is signal.default_int_handler:  # nohup's is another
        signal.signal(signal.SIGINT, interrupted)
    return stopped


def main() -> None:
    """Run Snakemake with the arguments of this process, as ``python -m snakemake`` does."""
    from snakemake import cli

    stopped = threading.Event()
    try:
        parser, args, messages = parsed(sys.argv[1:])
        check_targets(args)
        if args.dryrun and not any(getattr(args, name, None) for name in DETAILED):
            _dry_run(args)
            return
        sys.stderr.write(messages)
        stopped = _end_quietly()
        succeeded = cli.args_to_api(args, parser)
    except PoshgridError as error:
        sys.stderr.writelines(f"error: {line}\n" for line in error.args)
        succeeded = False
    except Exception as error:  # Snakemake prints its own in its own way
        cli.print_exception(error)
        succeeded = False
    if stopped.is_set():
        sys.stderr.write("stopped; the same command goes on\n")
        sys.exit(INTERRUPTED)
    sys.exit(not succeeded)


if __name__ == "__main__":
    main()
