"""``poshgrid run``: Snakemake with checks before it, a short dry-run and a quiet end.

Snakemake reads configuration files with a template engine (YTE), which runs Python code in a file
with ``__use_yte__: true``, before the first line of a workflow. Therefore each file is first read
with the safe YAML loader.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from poshgrid.config import PAPER, STUDY, rules
from poshgrid.core.errors import PoshgridError, check_known
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid

DETAILED = (
    "quiet", "verbose", "printshellcmds", "debug_dag", "dag", "rulegraph", "filegraph", "d3dag",
    "summary", "detailed_summary", "list_rules", "list_target_rules", "lint", "unlock", "report",
    "delete_all_output", "delete_temp_output",
)  # fmt: skip
"""Options with which Snakemake's own dry-run is shown."""
SNAKEFILES = ("Snakefile", "workflow/Snakefile")
INTERRUPTED = 130
"""Exit status after Ctrl-C, as in shells."""


def parsed(arguments: Sequence[str]) -> tuple[Any, Any, str]:
    """Return Snakemake's parser, its arguments including those of profiles, and its messages.

    Two things are added. A target that ends in ``.yaml`` is a configuration; without one, the study
    in this folder is used. A run on this machine uses all cores.

    Raises:
        PoshgridError: an argument is wrong, or a configuration file is not plain YAML.
    """
    from snakemake import cli
    from snakemake.utils import available_cpu_count

    # Snakemake allows targets in one position only, so those before its options move to the end
    first = list(itertools.takewhile(lambda word: not word.startswith("-"), arguments))
    words = list(arguments[len(first) :])
    words += [*([] if "--" in words else ["--"]), *first] if first else []
    messages = io.StringIO()
    try:
        with contextlib.redirect_stderr(messages):
            parser, args = cli.parse_args(words)
    except SystemExit as end:
        if not end.code:  # --help
            raise
        reason = " ".join(messages.getvalue().strip().splitlines()[-1:])
        if profile := re.search(r"profile directory given \((.+?)\)", reason):
            own = {path.parent.name for path in Path("profiles").glob("*/config*.yaml")}
            check_known("--profile: no profile", profile[1], own)
        raise PoshgridError(f"Snakemake rejects the arguments: {reason}") from end
    for word in args.config or ():
        if "=" not in word:
            raise PoshgridError(f"{word}: not KEY=VALUE of --config; write targets after --")
    files = [target for target in args.targets if target.endswith((".yaml", ".yml"))]
    args.targets = [target for target in args.targets if target not in files]
    if files:
        args.configfile = [Path(file) for file in files]
    elif not args.configfile and STUDY.is_file():
        args.configfile = [STUDY]
    for path in args.configfile or ():
        configfile.read(path)
    if args.cores is None and args.jobs is None and args.executor in (None, "local"):
        args.cores = available_cpu_count()
    return parser, args, messages.getvalue()


class _Failures(logging.Filter):
    """The jobs that fail, each with its log and the log's last line; their commands are not shown.

    A command holds its job as JSON. With ``--printshellcmds`` it was printed when the job began.
    """

    def __init__(self) -> None:
        super().__init__()
        self.messages: dict[int, str] = {}  # of jobs that have not succeeded since

    def filter(self, record: Any) -> bool:  # noqa: ANN401 - Snakemake's attributes
        """Look at a message of Snakemake, and let it pass unless it repeats the command."""
        event = getattr(record, "event", None)
        if event == "job_finished":
            self.messages.pop(record.job_id, None)
        if event == "job_error" and record.log:  # a rule of one's own may have no log
            record.shellcmd = None
            for log in map(Path, record.log):
                with contextlib.suppress(OSError):
                    why = log.read_text(encoding="utf-8").strip().rpartition("\n")[2]
                    why = why or "error: it said nothing: killed, or out of memory"
                    self.messages[record.jobid] = (
                        f"job {record.rule_name} failed; its log is {log}\n{why}\n"
                    )
        return "CalledProcessError" not in record.getMessage()


def check_targets(args: Any) -> None:  # noqa: ANN401 - Snakemake's
    """Raise if a word among the targets is not a target of the configuration, a rule or a file."""
    words = {word for word in args.targets or () if not set(word) & set("/.")} - rules()
    if words:
        grid = Grid(configfile.load(*(args.configfile or [PAPER])))
        known = [*grid.targets, *(["pretrained"] if grid.pretrained_runs else [])]
        for word in sorted(words):
            check_known("unknown target", word, known)


def _end_quietly() -> threading.Event:
    """Return an event that Ctrl-C sets; after it no job is reported as failed.

    A terminal sends the signal also to the jobs. They end first, and Snakemake would report each as
    a failure of its rule. SIGTERM does the same where a shell gave this run a group of processes;
    else Snakemake waits for the jobs.
    """
    from snakemake.scheduling.job_scheduler import JobScheduler

    before, stopped = signal.getsignal(signal.SIGINT), threading.Event()

    def interrupted(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        logging.disable(logging.CRITICAL)
        stopped.set()
        sys.stderr.write("\nstopping: jobs end, and keep what they have saved\n")
        signal.default_int_handler(number, frame)

    if before is signal.default_int_handler:  # not under nohup
        signal.signal(signal.SIGINT, interrupted)
        if os.getpgrp() == os.getpid():
            JobScheduler.exit_gracefully = lambda *_: os.killpg(0, signal.SIGINT)
    return stopped


def main() -> None:
    """Run Snakemake with the arguments of this process, as ``python -m snakemake`` does."""
    from snakemake import cli

    stopped, failures = threading.Event(), _Failures()
    try:
        parser, args, messages = parsed(sys.argv[1:])
        if args.snakefile is None and not any(Path(name).is_file() for name in SNAKEFILES):
            raise PoshgridError(
                f"{Path.cwd()}: no Snakefile; go to the folder of your study, or make one with "
                "`poshgrid init FOLDER`"
            )
        check_targets(args)
        if args.dryrun and not any(getattr(args, name, None) for name in DETAILED):
            from poshgrid.planning import plan

            plan.show(parser, args)
            return
        sys.stderr.write(messages)
        stopped = _end_quietly()
        logging.getLogger("snakemake.logging").addFilter(failures)
        succeeded = cli.args_to_api(args, parser)
    except PoshgridError as error:
        sys.stderr.writelines(f"error: {line}\n" for line in error.args)
        succeeded = False
    except Exception as error:  # printed as Snakemake prints its own exceptions
        cli.print_exception(error)
        succeeded = False
    if stopped.is_set():
        sys.stderr.write("stopped; the same command goes on\n")
        sys.exit(INTERRUPTED)
    if not succeeded:
        sys.stderr.write(next(iter(failures.messages.values()), ""))
    sys.exit(not succeeded)


if __name__ == "__main__":
    main()
