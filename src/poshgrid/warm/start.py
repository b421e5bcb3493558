"""Starting the warm processes: what Snakemake's process does for jobs of its own machine."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from poshgrid.warm.ask import KINDS, OFF, VARIABLE

THREADS = tuple(
    f"{name}_THREADS"
    for name in ("OMP_NUM", "GOTO_NUM", "OPENBLAS_NUM", "MKL_NUM", "VECLIB_MAXIMUM", "NUMEXPR_NUM")
)
"""What Snakemake sets to a rule's threads; nearly all rules have one."""


def start() -> None:
    """Start the warm processes of this process's jobs; they end when it ends."""
    if sys.platform != "linux" or os.environ.get(VARIABLE) == OFF:
        return
    folder = tempfile.mkdtemp(prefix="poshgrid-")
    if len(folder) > 80:  # the path of a socket has at most 107 bytes
        shutil.rmtree(folder)
        folder = tempfile.mkdtemp(prefix="poshgrid-", dir="/tmp")
    os.environ[VARIABLE] = folder
    reading, writing = os.pipe()
    parents = [_parent(folder, kind, reading) for kind in KINDS]
    os.close(reading)

    def close() -> None:
        os.close(writing)
        for parent in parents:
            with suppress(subprocess.TimeoutExpired):
                parent.wait(5)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(close)


def _parent(folder: str, kind: str, lifeline: int) -> subprocess.Popen[bytes]:
    """Start the warm process of a kind: whoever asks before it is ready waits."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(Path(folder, kind)))
        listener.listen(128)
        number = listener.fileno()
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "poshgrid.warm.parent", kind, str(number)],
            env=os.environ | dict.fromkeys(THREADS, "1"),
            stdin=lifeline,
            stdout=subprocess.DEVNULL,
            stderr=None if os.environ.get("POSHGRID_DEBUG") else subprocess.DEVNULL,
            pass_fds=[number],
            process_group=0,  # no Control-C
        )
