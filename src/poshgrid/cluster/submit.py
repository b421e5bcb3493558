"""``sbatch`` with patience: a job that is refused for a moment is submitted again.

The executor plug-in takes any refusal for a job that has failed: where a quality of service or an
association limits how many jobs may be in the queue, a job is refused three times within seconds,
and the run with it. The workflow therefore puts this command before SLURM's own on its ``PATH``.
It waits as long as the reason passes by itself, and tells so on Snakemake's standard error. All
other refusals, and what may have been accepted in spite of an error (a socket that timed out), are
passed on at once.
"""

from __future__ import annotations

import getpass
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from poshgrid.cluster import slurm
from poshgrid.errors import PoshgridError
from poshgrid.files import write_text

FOLDER = Path(".snakemake/poshgrid")
"""Of the command, in the working folder: temporary ones may forbid commands."""
PAUSE, LONGEST = 5.0, 300.0
"""Seconds between two attempts: at first, doubled each time, and at most."""
PATIENCE = 86_400.0
"""Seconds after which the refusal is passed on."""
_FULL = re.compile(r"\b\w*Submit\w*Limit\b|Resource temporarily unavailable|temporarily unable")
_AWAY = re.compile(
    r"Unable to contact slurm controller|Connection refused|Transport endpoint is not connected|"
    r"controller not responding|controller in standby"
)
_POLICY = re.compile(r"Job violates accounting/QOS policy")
_FOR_GOOD = re.compile(r"\b(QOS|Assoc)(?!\w*Submit)\w*(Limit|NotAllowed)\b")


def reach(executor: str) -> None:
    """Say at the head of a run that there is no cluster: Snakemake would wait for ever.

    Args:
        executor: of the run, by Snakemake's name.

    Raises:
        SystemExit: it is SLURM, and none answers. Snakemake would show another exception with a
            traceback.
    """
    if executor != "slurm":
        return
    try:
        slurm.run("sinfo", "-h")
    except PoshgridError as error:
        sys.stderr.write(f"error: {error}; `poshgrid doctor` says what else is amiss\n")
        sys.exit(1)


def install() -> None:
    """Put this command before ``sbatch`` on the ``PATH`` of this process; without one, do nothing.

    Raises:
        PoshgridError: the working folder cannot be written.
    """
    folder = FOLDER.absolute()
    places = [p for p in os.environ.get("PATH", "").split(os.pathsep) if p != str(folder)]
    real = shutil.which("sbatch", path=os.pathsep.join(places))
    if real is None:
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    words = [sys.executable, "-m", __name__, str(os.getpid()), real]
    script = folder / "sbatch"
    write_text(script, f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    script.chmod(0o700)
    os.environ["PATH"] = os.pathsep.join([str(folder), *places])


def submit(command: Sequence[str], given: bytes, teller: int) -> subprocess.CompletedProcess[bytes]:
    """Run ``sbatch`` until it is not refused for a moment; return how it ended.

    Args:
        command: SLURM's, with its arguments.
        given: its standard input, each time.
        teller: the process on whose standard error is told that a job waits.
    """
    began, pause = time.monotonic(), PAUSE
    while True:
        done = subprocess.run(command, input=given, capture_output=True, check=False)
        said = done.stderr.decode(errors="replace")
        if done.returncode == 0 or not passes(said):
            return done
        if time.monotonic() - began + pause > PATIENCE:
            return done
        _tell(teller, f"sbatch: {' '.join(said.split())[:200]}; trying again in {pause:.0f} s")
        time.sleep(pause)
        pause = min(2 * pause, LONGEST)


def passes(said: str) -> bool:
    """Say whether a refusal passes by itself.

    Where SLURM names a policy and no limit, it may be that of jobs in the queue as long as there
    are some; with none left it is that of a job's size or time.

    Args:
        said: what ``sbatch`` said.
    """
    if _FULL.search(said) or _AWAY.search(said):
        return True
    if _POLICY.search(said) and not _FOR_GOOD.search(said):
        queue = ["squeue", "--noheader", "--user", getpass.getuser()]
        done = subprocess.run(queue, capture_output=True, text=True, check=False)
        return done.returncode == 0 and bool(done.stdout.strip())
    return False


def _tell(process: int, line: str) -> None:
    """Write a line where Snakemake writes: the plug-in shows nothing of a job that is accepted."""
    try:
        with Path(f"/proc/{process}/fd/2").open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")
    except OSError:
        pass  # another system, or Snakemake has gone: the refusal itself is passed on


def main() -> int:
    """Submit what the arguments say: a process, SLURM's command, its arguments."""
    teller, *command = sys.argv[1:]
    done = submit(command, sys.stdin.buffer.read(), int(teller))
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
