"""Warm processes: a job of a local run forks from one that has the large libraries already.

Importing torch and transformers costs many a job more than its own work. So Snakemake's process
starts, for jobs of its own machine, one process for each entry of :data:`KINDS`, which imports what
those jobs need when the first one asks. ``poshgrid`` (``poshgrid.__main__``) finds it by a socket
in a private folder and hands over its arguments, folder and streams; the fork runs the command, and
``poshgrid`` waits, passes signals on and ends as the fork has ended.

What a job does must not depend on that:

- Whoever is not its equal is refused, and runs the command itself: another Python, path, code,
  environment (so another number of threads), limit, umask, ignored signal or control group.
- The parent has one thread, no GPU, no module of ours that has changed on disk since, and has drawn
  no random number; whatever is otherwise ends it.
- The fork has a process group of its own, which dies with ``poshgrid``, and dies with its parent.
  Where the parent was killed, ``poshgrid`` runs the command again itself, once the fork is gone.
- Parents end with Snakemake, once their jobs have.

Linux only; elsewhere and with ``POSHGRID_WARM=off`` every job is a process of its own. This module
imports little, since ``poshgrid`` waits for it.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import struct
import sys
from typing import Any

VARIABLE = "POSHGRID_WARM"
"""Environment variable: the folder of the sockets; ``off``: no warm processes."""
OFF = "off"
KINDS = {
    "models": (
        "poshgrid.cli",
        "poshgrid.config.specs",
        "torch._inductor",
        "torch.optim",
        "transformers.models.gpt2.modeling_gpt2",
        "safetensors.torch",
    ),
    "tables": ("poshgrid.cli", "poshgrid.config.specs", "numpy"),
}
"""What is imported for jobs. Not polars and pyarrow: they start threads, which no fork has."""
_MODELS = {"train", "score", "perplexity", "train-parser", "parse", "recall"}
"""Commands that need torch; the others' memory would be told too high."""
_OWN = ("_", "OLDPWD", "PWD", "SHLVL", "TEMP", "TEMPDIR", "TMP", "TMPDIR")
"""Environment variables that no library reads when it is imported."""
_PASSED = (
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT,
)  # fmt: skip
_PATIENCE = 120.0
"""Seconds that ``poshgrid`` waits for a parent, which may be importing; then it does without."""
HEAD, STATUS = struct.Struct("=I"), struct.Struct("=i")
YES, GO = b"y", b"\0"


def ask(argv: list[str]) -> int | None:
    """Have a command run by a fork of a warm process.

    Args:
        argv: of this process.

    Returns:
        Its wait status (:func:`os.waitstatus_to_exitcode`); none: this process must run it.
    """
    folder = os.environ.get(VARIABLE, OFF)
    if folder == OFF:
        return None
    kind = "models" if argv[1:] and argv[1] in _MODELS else "tables"
    try:
        owner = os.lstat(folder)
        if owner.st_uid != os.getuid() or owner.st_mode & 0o077:
            return None
        with socket.socket(socket.AF_UNIX) as parent:
            parent.settimeout(_PATIENCE)
            parent.connect(os.path.join(folder, kind))  # noqa: PTH118 - pathlib is not needed yet
            request = {
                "argv": argv,
                "cwd": os.getcwd(),  # noqa: PTH109
                "executable": sys.executable,
                "own": {name: os.environ.get(name) for name in _OWN},
                "path": sys.path,
                "standing": standing(sys.path[1:]),
            }
            text = json.dumps(request).encode()
            socket.send_fds(parent, [HEAD.pack(len(text))], [0, 1, 2])
            parent.sendall(text)
            if parent.recv(1) != YES:
                return None
            return _wait(parent)
    except OSError:
        return None


def end(status: int) -> None:
    """End this process as another has ended: with its status, or by the signal that killed it."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _wait(parent: socket.socket) -> int | None:
    """Let the fork go, pass signals on to it, return its wait status; none if the parent died."""

    def tell(number: int, _: object) -> None:
        try:
            parent.send(bytes([number]))
        except OSError:  # nobody is there any more who could be told
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    parent.settimeout(None)
    before = {
        each: signal.signal(each, tell)
        for each in _PASSED
        if signal.getsignal(each) is not signal.SIG_IGN
    }
    try:
        parent.sendall(GO)
        # The fork holds the socket, too: at its end, all are gone that could be writing.
        told = parent.recv(STATUS.size, socket.MSG_WAITALL)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if len(told) == STATUS.size:
        return int(STATUS.unpack(told)[0])
    sys.stderr.write("warning: the warm process was killed; running the command again\n")
    return None


def standing(path: list[str]) -> dict[str, Any]:
    """Return what a process has besides arguments, folder and streams, as JSON gives it back."""
    umask = os.umask(0)
    os.umask(umask)
    with open("/proc/self/cgroup") as file:  # noqa: PTH123
        groups = file.read()
    limits = sorted(name for name in dir(resource) if name.startswith("RLIMIT_"))
    return {
        "python": [sys.prefix, sys.base_prefix, sys.version, *path],
        "environment": {k: v for k, v in os.environ.items() if k not in _OWN},
        "limits": [list(resource.getrlimit(getattr(resource, name))) for name in limits],
        "user": [*os.getresuid(), *os.getresgid(), *os.getgroups()],
        "umask": umask,
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "cores": sorted(os.sched_getaffinity(0)),
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "ignored": sorted(
            each for each in signal.valid_signals() if signal.getsignal(each) is signal.SIG_IGN
        ),
        "groups": groups,
    }
