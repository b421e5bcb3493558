"""Jobs that fork from a warm process: as plain processes in all that they do, and in how they end.

The command line is replaced by a program that tells what it sees or waits to be killed; the warm
processes, the socket and ``poshgrid`` itself are the package's own.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from poshgrid.warm import ask, start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="warm processes are Linux's")
PATIENCE = 300  # of a busy machine; nothing takes as long
PROGRAM = '''
import atexit, json, os, random, resource, signal, sys, tempfile, threading, time
from pathlib import Path
import numpy.random
if "STRAY" in os.environ:
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
def command():
    """What a parent makes ready before it forks."""
def main():
    from poshgrid import logs
    logs.setup()
    word, *rest = sys.argv[1:]
    globals()[word](*rest)
def look(*rest):
    umask = os.umask(0); os.umask(umask)
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    json.dump({
        "argv": sys.argv, "cwd": os.getcwd(), "path": sys.path, "executable": sys.executable,
        "environment": dict(os.environ), "umask": umask, "temporary": tempfile.gettempdir(),
        "limits": resource.getrlimit(resource.RLIMIT_NOFILE), "nice": os.nice(0),
        "signals": [status[name].strip() for name in ("SigBlk", "SigIgn", "SigCgt")],
        "threads": len(os.listdir("/proc/self/task")), "session": os.getsid(0),
        "descriptors": sorted(os.listdir("/proc/self/fd"), key=int)[:3],
        "buffered": [sys.stdout.line_buffering, sys.stderr.line_buffering],
        "own": {"ppid": os.getppid(), "cpu": time.process_time(), "draws": random.random(),
                "numpy": numpy.random.random(),
                "memory": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss},
    }, sys.stdout)
def torch():
    import torch
    found = {"draw": torch.rand(1).item(), "threads": torch.get_num_threads()}
    torch.manual_seed(42)
    json.dump(found | {"seeded": torch.rand(3).tolist(), "ppid": os.getppid()}, sys.stdout)
train = torch
def leave(status):
    sys.exit(int(status))
def part(status):
    """What is to be done at the end is done, once other threads are through, and is written."""
    atexit.register(sys.stdout.write, "the end")
    threading.Thread(target=lambda: (time.sleep(0.2), sys.stdout.write("thread; "))).start()
    sys.exit(int(status))
def fail():
    raise ValueError("no such thing")
def memory():
    """What the kernel does to a job that takes more than there is."""
    os.kill(os.getpid(), signal.SIGKILL)
def slow(output):
    def told(number, _):
        Path(output + ".told").touch()
        sys.exit(7)
    signal.signal(signal.SIGTERM, told)
    part = Path(f"{output}.{os.getpid()}.tmp")
    part.write_text("whole")
    Path(output + ".pid").write_text(f"{os.getpid()} {os.getppid()}")
    while not Path(output + ".go").exists():
        time.sleep(0.01)
    part.replace(output)
'''
STARTER = """
import os, sys
from poshgrid.warm import start
start.start()
print(os.environ.get("POSHGRID_WARM"), flush=True)
sys.stdin.read()
"""


class Place:
    """A folder with the program, ``poshgrid`` and the environment of a job that has one thread."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        package = folder / "src/poshgrid"
        shutil.copytree(root / "src/poshgrid/warm", package / "warm")
        for name in ("__init__.py", "__main__.py", "logs.py"):
            shutil.copy(root / "src/poshgrid" / name, package)
        (package / "cli.py").write_text(PROGRAM)
        (package / "config").mkdir()
        (package / "config/specs.py").touch()
        command = folder / "bin/poshgrid"
        command.parent.mkdir()
        command.write_text(f"#!{sys.executable}\nfrom poshgrid.__main__ import main\nmain()\n")
        command.chmod(0o755)
        path = os.pathsep.join([str(command.parent), str(Path(sys.executable).parent)])
        self.environment = (
            os.environ
            | dict.fromkeys(start.THREADS, "1")
            | {"PYTHONPATH": str(folder / "src"), "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
        )
        self.environment.pop(ask.VARIABLE, None)
        self.starter: subprocess.Popen[str] | None = None

    def begin(self, **more: str) -> str:
        """Start warm processes; return their folder."""
        self.starter = subprocess.Popen(
            [sys.executable, "-c", STARTER], env=self.environment | more, cwd=self.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.environment |= more
        found = self.starter.stdout.readline().strip()
        self.environment[ask.VARIABLE] = found
        return found

    def end(self) -> None:
        if self.starter:
            self.starter.communicate(timeout=PATIENCE)

    def popen(self, *arguments: str, **options) -> subprocess.Popen[str]:
        options.setdefault("env", self.environment)
        return subprocess.Popen(
            ["poshgrid", *arguments], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
        )  # fmt: skip

    def run(self, *arguments: str, **options) -> tuple[int, str, str]:
        process = self.popen(*arguments, **options)
        out, error = process.communicate(timeout=PATIENCE)
        return process.returncode, out, error

    def plain(self, *arguments: str, **options) -> tuple[int, str, str]:
        return self.run(*arguments, env=self.environment | {ask.VARIABLE: ask.OFF}, **options)

    def slow(self, name: str = "result", **options) -> tuple[subprocess.Popen[str], int, int]:
        """Start the slow program; return poshgrid, and the ids of the fork and of its parent."""
        process = self.popen("slow", str(self.folder / name), **options)
        told = self.folder / f"{name}.pid"
        until(lambda: told.exists() and told.read_text())
        pid, parent = map(int, told.read_text().split())
        return process, pid, parent

    def finish(self, name: str = "result") -> None:
        (self.folder / f"{name}.go").touch()

    def whole(self, name: str = "result") -> bool:
        path = self.folder / name
        return path.exists() and path.read_text() == "whole"


def until(true, seconds: float = PATIENCE) -> None:
    """Wait for something to be true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def is_warm(pid: int) -> bool:
    return b"poshgrid.warm.parent" in Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.fixture
def place(root, tmp_path):
    found = Place(root, tmp_path)
    yield found
    for told in tmp_path.glob("*.pid"):  # what a failed test has left ends by itself
        told.with_suffix(".go").touch()
    with suppress(OSError):
        found.end()


def looked(result: tuple[int, str, str]) -> tuple[dict, dict]:
    """Return what the program saw: what must be as in a plain process, and its own."""
    status, out, error = result
    assert status == 0, error
    found = json.loads(out)
    return found, found.pop("own")


# ---- as a plain process ------------------------------------------------------------------------


def test_a_fork_sees_what_a_plain_process_sees(place):
    place.begin()
    place.environment |= {"TMPDIR": str(place.folder), "SHLVL": "7"}
    plain, _ = looked(place.plain("look", "ä b", "--x"))
    found, own = looked(place.run("look", "ä b", "--x"))
    assert is_warm(own["ppid"])
    folder = place.environment[ask.VARIABLE]
    assert plain.pop("environment") | {ask.VARIABLE: folder} == found.pop("environment")
    assert found == plain
    assert own["memory"] == 0 and own["cpu"] < 1  # of no other job


def test_no_two_forks_draw_the_same_unseeded_numbers(place):
    place.begin()
    draws = [looked(place.run("look"))[1] for _ in range(3)]
    assert len({own["ppid"] for own in draws}) == 1
    assert len({own["draws"] for own in draws}) == len({own["numpy"] for own in draws}) == 3


@pytest.mark.slow
def test_torch_is_as_in_a_new_process(place):
    place.begin()
    found, other, plain = (
        json.loads(run("train")[1]) for run in (place.run, place.run, place.plain)
    )
    assert is_warm(found["ppid"]) and not is_warm(plain["ppid"])
    assert found["threads"] == plain["threads"] == 1
    assert len({each["draw"] for each in (found, other, plain)}) == 3  # nobody has seeded it
    assert found["seeded"] == plain["seeded"]


@pytest.mark.parametrize(
    "command", [("leave", "0"), ("leave", "3"), ("part", "4"), ("fail",), ("memory",)]
)
def test_a_command_ends_as_a_plain_one(place, command):
    place.begin()
    status, out, error = place.plain(*command)
    found = place.run(*command)
    assert found[:2] == (status, out)
    assert found[2].splitlines()[-1:] == error.splitlines()[-1:]  # of a traceback
    assert looked(place.run("look"))[1]["ppid"]  # and the next job has its parent still


# ---- killed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_reaches_the_fork(place, number):
    place.begin()
    ended = []
    for name in ("plain", "warm"):
        off = {"env": place.environment | {ask.VARIABLE: ask.OFF}} if name == "plain" else {}
        process, pid, parent = place.slow(name, **off)
        assert is_warm(parent) == (name == "warm")
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
        until(lambda pid=pid: not alive(pid))
        assert not (place.folder / name).exists()
        ended.append((process.returncode, (place.folder / f"{name}.told").exists()))
    assert ended[0] == ended[1]


def test_the_fork_dies_with_poshgrid(place):
    place.begin()
    process, pid, parent = place.slow()
    process.kill()
    until(lambda: not alive(pid))
    assert not place.whole() and alive(parent)
    place.finish()
    assert place.run("slow", str(place.folder / "result"))[0] == 0
    assert place.whole()


def test_where_the_parent_is_killed_poshgrid_does_the_work(place):
    place.begin()
    process, pid, parent = place.slow()
    assert is_warm(parent)
    os.kill(parent, signal.SIGKILL)
    until(lambda: not alive(pid))
    place.finish()
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and place.whole()
    assert "was killed; running the command again" in error
    own = looked(place.run("look"))[1]
    assert not is_warm(own["ppid"])  # nobody answers: plain


def test_a_parent_that_never_answers_is_done_without(place):
    folder = place.begin()
    parent = looked(place.run("look"))[1]["ppid"]
    os.kill(parent, signal.SIGSTOP)
    try:
        program = (  # poshgrid, less patient
            "import sys; from poshgrid.warm import ask; ask._PATIENCE = 0.3; "
            "print(ask.ask(['poshgrid', 'look']))"
        )
        told = place.folder / "told"
        with told.open("w") as stream:  # no pipe: the parent has an end of it
            subprocess.run(
                [sys.executable, "-c", program], env=place.environment, cwd=place.folder,
                stdout=stream, check=True, timeout=PATIENCE,
            )  # fmt: skip
        assert told.read_text() == "None\n"
    finally:
        os.kill(parent, signal.SIGCONT)
    # It finds a request whose sender has gone, and forks nothing.
    assert looked(place.run("look"))[1]["ppid"] == parent
    assert Path(folder).is_dir()


def test_jobs_outlive_a_killed_snakemake_and_nothing_else_does(place):
    folder = place.begin()
    process, pid, parent = place.slow()
    place.starter.kill()
    place.starter.communicate()
    time.sleep(0.3)
    assert alive(pid) and alive(parent)
    place.finish()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and place.whole()
    until(lambda: not alive(parent))
    place.starter = None
    shutil.rmtree(folder)


def test_warm_processes_end_with_snakemake(place):
    folder = place.begin()
    parent = looked(place.run("look"))[1]["ppid"]
    place.end()
    assert not alive(parent) and not Path(folder).exists()
    assert not is_warm(looked(place.run("look"))[1]["ppid"])


# ---- refused -----------------------------------------------------------------------------------


def refused(place: Place, **options) -> bool:
    return not is_warm(looked(place.run("look", **options))[1]["ppid"])


def test_whoever_is_not_its_equal_is_refused(place):
    place.begin()
    assert not refused(place)
    few = resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 1
    environments = [{"OMP_NUM_THREADS": "2"}, {"CUDA_VISIBLE_DEVICES": ""}, {"PYTHONHASHSEED": "1"}]
    for more in environments:
        assert refused(place, env=place.environment | more), more
    for change in (
        lambda: os.umask(0o077),
        lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, few)),
        lambda: os.nice(1),
        lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    ):
        assert refused(place, preexec_fn=change)
    assert not refused(place)


def test_code_that_has_changed_is_not_run_from_memory(place):
    place.begin()
    assert not refused(place)
    cli = place.folder / "src/poshgrid/cli.py"
    cli.write_text(cli.read_text().replace('"argv": sys.argv', '"argv": ["new"]'))
    found, own = looked(place.run("look"))
    assert found["argv"] == ["new"] and not is_warm(own["ppid"])


def test_a_parent_with_another_thread_forks_nothing(place):
    place.begin(STRAY="1")
    assert refused(place)


def test_a_folder_that_others_could_write_is_not_asked(place):
    folder = place.begin()
    Path(folder).chmod(0o770)
    assert refused(place)
    Path(folder).chmod(0o700)
    assert not refused(place)


def test_off(place):
    assert place.begin(**{ask.VARIABLE: ask.OFF}) == ask.OFF
    assert refused(place)


# ---- Snakemake ---------------------------------------------------------------------------------

SNAKEFILE = """
from poshgrid.warm import start as warm
onstart:
    if workflow.local_exec and not workflow.touch:
        warm.start()
rule all:
    input: "look.json", "result"
rule look:
    output: "look.json"
    shell: "poshgrid look > {output}"
rule slow:
    output: "result"
    shell: "poshgrid slow {output}"
"""


@pytest.fixture
def flow(place):
    """Starts Snakemake in a session of its own."""
    (place.folder / "Snakefile").write_text(SNAKEFILE)

    def run(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "2", "--rerun-incomplete", *arguments],
            cwd=place.folder, env=place.environment | {"XDG_CACHE_HOME": str(place.folder)},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip

    return run


def test_the_snakefile_starts_them(root):
    text = (root / "Snakefile").read_text(encoding="utf-8")
    for line in SNAKEFILE.split("rule all", maxsplit=1)[0].strip().splitlines():
        assert line in text


def test_jobs_of_snakemake_fork(place, flow):
    place.finish()
    out, _ = (process := flow()).communicate(timeout=PATIENCE)
    assert process.returncode == 0, out
    own = json.loads((place.folder / "look.json").read_text())["own"]
    # The program asks before the parent is gone, and is no child of the shell that ran poshgrid.
    parent = int((place.folder / "result.pid").read_text().split()[1])
    assert own["ppid"] == parent and not alive(parent)


def test_control_c_leaves_nothing(place, flow):
    process = flow("result")
    told = place.folder / "result.pid"
    until(lambda: told.exists() and told.read_text())
    pid, parent = map(int, told.read_text().split())
    assert is_warm(parent)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    until(lambda: not alive(pid) and not alive(parent))
    assert not (place.folder / "result").exists()
    place.finish()
    out, _ = (process := flow("result")).communicate(timeout=PATIENCE)
    assert process.returncode == 0 and place.whole(), out
