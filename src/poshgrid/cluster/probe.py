"""A tiny job that looks from a compute node: files, locks, environment, GPU, clock.

Its script writes a line for each thing that it has done, so that one knows where it stopped.
"""

from __future__ import annotations

import contextlib
import errno
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from poshgrid.cluster import slurm
from poshgrid.errors import PoshgridError
from poshgrid.planning.findings import Finding, error, ok, warning
from poshgrid.provenance import lock

NAME = "poshgrid-doctor"
_MENDED = {
    errno.EACCES: "change its permissions",
    errno.EPERM: "change its permissions",
    errno.ENOSPC: "make room there",
    errno.EDQUOT: "make room there",
}
"""What can be done about a folder that cannot be written."""
SKEW = 2.0
"""Seconds that clocks may differ: Snakemake compares times of files."""
_LOOK = """\
import torch
count = torch.cuda.device_count()
print(torch.__version__, count, torch.cuda.get_device_name(0) if count else "-", sep="|")
"""
_LOCK = """\
from pathlib import Path
from poshgrid.provenance.lock import at_once
with at_once(Path("run")) as refused:
    print("free" if refused is None else "taken" if refused.taken else refused.why)
"""
_SCRIPT = """\
#!/bin/sh
# A line is "name<TAB>value"; the last one is "end".
cd {folder} || exit 3
say() {{ printf '%s\\t%s\\n' "$1" "$2" >> said; }}
say host "$(hostname)"
say clock "$(date +%s.%N)"
say token "$(cat token 2>&1)"
say snakefile "$(test -f {snakefile} && echo there)"
say gpus "${{CUDA_VISIBLE_DEVICES:-}}"
say command "$(command -v poshgrid 2>&1)"
say help "$(poshgrid --help > /dev/null 2> help.err && echo ok || tail -n 1 help.err)"
say python "$({python} -c 'import poshgrid; print(poshgrid.__file__)' 2>&1 | tail -n 1)"
say lock "$({python} -c {lock} 2>&1 | tail -n 1)"
say torch "$({python} -c {look} 2>&1 | tail -n 1)"
say end "$(date +%s.%N)"
"""


@dataclass(frozen=True)
class Seen:
    """What a job on a compute node has seen.

    Attributes:
        said: what each of its lines says.
        sent: time of its submission.
        back: time of its end.
        trouble: why there is less than all.
        log: the end of its log.
        held: whether a lock was held here meanwhile; otherwise the file system has none.
        placement: ``sbatch`` flags that said where.
    """

    said: Mapping[str, str] = field(default_factory=dict)
    sent: float = 0.0
    back: float = 0.0
    trouble: str = ""
    log: str = ""
    held: bool = True
    placement: str = ""

    @property
    def place(self) -> str:
        """The placement as it follows a name."""
        return f" ({self.placement})" if self.placement else ""


def look(results: Path, placement: str, *, patience: float = 120, every: float = 1.0) -> Seen:
    """Send a job to a compute node and return what it has seen.

    The job is gone from the queue, and its folder from the results, whatever happens.

    Args:
        results: the results folder; made for the time if it is missing.
        placement: ``sbatch`` flags that say where: partition, account, GPU.
        patience: seconds to wait for its end.
        every: seconds between two looks.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    with _existing(results):
        return _sent(results, placement, patience, every)


def _sent(results: Path, placement: str, patience: float, every: float) -> Seen:
    folder = Path(tempfile.mkdtemp(prefix=".doctor-", dir=results.resolve()))
    number = ""
    try:
        token = f"{time.time_ns():x}"
        (folder / "token").write_text(token, encoding="utf-8")
        script = folder / "job.sh"
        script.write_text(
            _SCRIPT.format(
                folder=shlex.quote(str(folder)),
                python=shlex.quote(sys.executable),
                look=shlex.quote(_LOOK),
                lock=shlex.quote(_LOCK),
                snakefile=shlex.quote(str(_snakefile())),
            ),
            encoding="utf-8",
        )
        sent = time.time()
        with lock.held(folder / "run") as held:
            try:
                answer = slurm.run(
                    "sbatch", "--parsable", "--job-name", NAME, "--time", "1", "--ntasks=1",
                    "--mem", "2000", "--no-requeue", "--output", str(folder / "log"),
                    "--export=ALL", *shlex.split(placement), str(script),
                )  # fmt: skip
            except PoshgridError as refused:
                return Seen(trouble=f"not submitted: {refused}", placement=placement)
            number = answer.strip().split(";")[0]
            trouble = _wait(folder, number, time.monotonic() + patience, every)
        said = _said(folder)
        if said.get("token", token) != token:
            trouble = f"it read {said['token'][:80]!r} instead of what was written here"
        return Seen(said, sent, time.time(), trouble, _tail(folder / "log"), held, placement)
    finally:
        if number:
            with contextlib.suppress(PoshgridError):  # it has ended, or the controller is gone
                slurm.run("scancel", number)
        shutil.rmtree(folder, ignore_errors=True)


def findings(seen: Seen, *, gpu: bool) -> Iterator[Finding]:
    """Say what a job's sight means.

    Args:
        seen: by the job.
        gpu: whether it asked for a GPU.
    """
    kind = "GPU job" if gpu else "job"
    said = seen.said
    if "host" not in said:
        yield error(kind + seen.place, seen.trouble or "it wrote nothing", _remedy(seen))
        return
    node = said["host"] + seen.place
    if seen.trouble.startswith("it read"):
        yield error("shared folder", f"{node}: {seen.trouble}", "put the results folder on a "
                    "shared file system (--config results=FOLDER)")  # fmt: skip
    elif "token" in said:
        yield ok("shared folder", f"{node} reads what is written here, and back")
    yield from _checkout(said, node)
    yield from _clock(seen, node)
    yield from _environment(said, node)
    yield from _lock(seen, node)
    if "end" not in said:
        yield warning(kind, f"{node}: it came to its end before it was done, after "
                      f"{list(said)[-1]!r}: {seen.trouble or 'it took over a minute'}",
                      "importing torch is slow there: try a file system for software")  # fmt: skip
    elif gpu:
        yield _gpu(said, node)


def clock_here(folder: Path) -> Finding:
    """Compare this machine's clock with that of a folder's file system.

    Raises:
        PoshgridError: the folder cannot be written.
    """
    with (
        _existing(folder),
        tempfile.NamedTemporaryFile(prefix=".doctor-", dir=folder) as file,
    ):
        before = time.time()
        file.write(b"x")
        file.flush()
        written = Path(file.name).stat().st_mtime
        after = time.time()
    apart = _apart(written, before, after)
    if apart > SKEW:
        return warning("clock", f"the file system of {folder} is {apart:.0f} s off this machine's",
                       "ask the administrators: Snakemake compares times of files")  # fmt: skip
    return ok("clock", f"the file system of {folder} and this machine agree")


@contextlib.contextmanager
def _existing(folder: Path) -> Iterator[None]:
    """Make a folder, and afterwards remove what was made of it and is empty.

    Raises:
        PoshgridError: it cannot be made, or nothing can be written in it.
    """
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as problem:
        remedy = "choose another folder with --results"
        if problem.errno in _MENDED:
            remedy = f"{_MENDED[problem.errno]} or {remedy}"
        raise PoshgridError(
            f"{folder}: cannot write: {problem.strerror or problem}; {remedy}"
        ) from problem
    finally:
        with contextlib.suppress(OSError):  # somebody has written there
            for place in missing:
                place.rmdir()


def _wait(folder: Path, number: str, end: float, every: float) -> str:
    """Wait for the job's last line; return why it has not come, or nothing."""
    state = reason = ""
    gone = 0
    while True:
        list(folder.iterdir())  # NFS: a listing asks the server anew
        if "end" in _said(folder):
            return ""
        try:
            answer = slurm.run("squeue", "-h", "-j", number, "-o", "%T|%r").strip()
        except PoshgridError:
            answer = ""  # old jobs are no longer known
        state, _, reason = answer.partition("|")
        if state in ("", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL"):
            gone += 1
            if gone > 5:  # its files may come later than the news of its end
                return f"the job ended ({state or 'gone'}), and its lines did not come back"
        if time.monotonic() > end:
            return f"no end within the time given: {state} ({reason})"
        time.sleep(every)


def _said(folder: Path) -> dict[str, str]:
    try:
        text = (folder / "said").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    lines = (line.partition("\t") for line in text.splitlines())
    return {name: value for name, tab, value in lines if tab}


def _tail(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    return " ".join(" ".join(line for line in lines if line.strip()).split()[-40:])


def _remedy(seen: Seen) -> str:
    if seen.trouble.startswith("not submitted"):
        return "mend the flags in the first block of the profile"
    if "PENDING" in seen.trouble:
        return "try again when the queue is shorter (--patience SECONDS), or use --no-job"
    said = f"the job's log: {seen.log}; " if seen.log else ""
    return f"{said}is the results folder on a file system that compute nodes share?"


def _snakefile() -> Path:
    """Return the workflow's entry, as Snakemake finds it from here."""
    return Path.cwd() / "Snakefile"


def _checkout(said: Mapping[str, str], node: str) -> Iterator[Finding]:
    """Say whether a job there finds what Snakemake was started on."""
    entry = _snakefile()
    if "snakefile" not in said or not entry.is_file():
        return
    if said["snakefile"] == "there":
        yield ok("working folder", f"{node} sees {entry.parent}")
    else:
        yield error("working folder", f"{node} has no {entry}: a job starts Snakemake there, too",
                    "put the checkout on a shared file system")  # fmt: skip


def _lock(seen: Seen, node: str) -> Iterator[Finding]:
    """Say whether a lock that is held here is seen there."""
    found = seen.said.get("lock", "")
    remedy = (
        "ask for a mount with locks (NFS without local_lock, Lustre with flock); until then "
        "`poshgrid orphans --cancel` before a new Snakemake"
    )
    without = "two jobs that train the same run do not wait for each other"
    if not seen.held or found.startswith("no lock"):
        yield warning("locks", f"the results' file system has none: {without}", remedy)
    elif found == "taken":
        yield ok("locks", f"{node} waits for a lock that is held here")
    elif found == "free":
        yield warning("locks", f"{node} does not see a lock that is held here: {without}", remedy)


def _clock(seen: Seen, node: str) -> Iterator[Finding]:
    try:
        there = float(seen.said["clock"])
    except (KeyError, ValueError):
        return
    apart = _apart(there, seen.sent, seen.back)
    if apart > SKEW:
        yield warning("clock", f"{node} is at least {apart:.0f} s off this machine's",
                      "ask the administrators: Snakemake compares times of files")  # fmt: skip
    else:
        yield ok("clock", f"{node} and this machine agree, to the {seen.back - seen.sent:.0f} s "
                 "that the job took")  # fmt: skip


def _environment(said: Mapping[str, str], node: str) -> Iterator[Finding]:
    remedy = "activate the environment before you start Snakemake; it must lie where nodes see it"
    if "help" in said:
        if said["help"] == "ok":
            yield ok("environment", f"{node}: poshgrid is {said.get('command')}")
        else:
            what = said["help"][:200] or "not found"
            yield error("environment", f"{node}: poshgrid does not start: {what}", remedy)
    if "python" in said:
        import poshgrid

        if said["python"] == str(poshgrid.__file__):
            yield ok("environment", f"{node}: {sys.executable} imports the same package")
        elif said["python"].endswith(".py"):
            yield error("environment", f"{node}: another package: {said['python']}", remedy)
        else:
            yield error("environment", f"{node}: {said['python'][:200]}", remedy)
    if "torch" in said:
        parts = said["torch"].split("|")
        if len(parts) == 3:
            yield ok("environment", f"{node}: torch {parts[0]} can be imported")
        else:
            yield error("environment", f"{node}: torch: {said['torch'][:200]}", remedy)


def _gpu(said: Mapping[str, str], node: str) -> Finding:
    version, _, rest = said.get("torch", "").partition("|")
    count, _, name = rest.partition("|")
    given = f"GPU {said['gpus']}" if said.get("gpus") else "none"
    if count.isdigit() and int(count):
        return ok("GPU", f"{node}: {count} x {name}")
    if "+cpu" in version:
        remedy = "this torch is built without CUDA: install a build with it"
    elif given == "none":
        remedy = "SLURM gave none: ask for it with `gpu` or `gres`"
    else:
        remedy = "the node's driver may be too old for this torch (nvidia-smi)"
    return error("GPU", f"{node}: torch sees none; SLURM gave {given}", remedy)


def _apart(there: float, before: float, after: float) -> float:
    """Return by how much, at least, a time lies outside those before and after it."""
    return max(before - there, there - after, 0.0)
