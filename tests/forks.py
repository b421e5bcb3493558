"""Snakemake, forked from a process that has imported it: a start costs 1.4 CPU seconds less.

A fork has the arguments, folder, environment and module path that a new process would have. The
process that it is forked from has imported nothing of poshgrid.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path


@cache
def _parent() -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    made = subprocess.Popen(
        [sys.executable, "-P", __file__], env=kept, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    atexit.register(made.communicate)  # it ends with its input
    return made


def python(
    words: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m snakemake ...`` or ``python -c ...``; return what it said and its status.

    Args:
        words: what follows ``python``.
        cwd: folder to run in.
        env: its whole environment; none: this process's.
    """
    words = [str(word) for word in words]
    with tempfile.TemporaryDirectory() as folder:
        out, error = Path(folder, "out"), Path(folder, "error")
        environment = dict(os.environ if env is None else env)
        request = [words, str(cwd), environment, str(out), str(error)]
        parent = _parent()
        print(json.dumps(request), file=parent.stdin, flush=True)
        status = int(parent.stdout.readline())
        texts = [path.read_text(encoding="utf-8") for path in (out, error)]
    return subprocess.CompletedProcess(["python", *words], status, *texts)


def _serve() -> list[str]:
    """Fork for each request; return its words in the fork, which is as asked for by then."""
    # What Snakemake imports when it runs, too
    for name in ("cli", "report", "workflow"):
        import_module(f"snakemake.{name}")
    for name in ("docutils.parsers.rst", "requests", "snakemake_logger_plugin_rich"):
        import_module(name)

    assert not any(name.partition(".")[0] == "poshgrid" for name in sys.modules)
    path = list(sys.path)
    for line in sys.stdin:
        words, cwd, environment, *streams = json.loads(line)
        child = os.fork()
        if child:
            sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
            sys.stdout.flush()
            continue
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        for number, stream in enumerate([os.devnull, *streams]):
            descriptor = os.open(stream, os.O_RDWR | os.O_CREAT)
            os.dup2(descriptor, number)
            os.close(descriptor)
        folders = [
            folder for folder in environment.get("PYTHONPATH", "").split(os.pathsep) if folder
        ]
        sys.path[:] = [cwd if words[0] == "-m" else "", *folders, *path]
        return words
    os._exit(0)


if __name__ == "__main__":
    option, what, *rest = _serve()
    if option == "-m":
        from snakemake.cli import main

        sys.argv = [what, *rest]
        assert what == "snakemake"
        main()
    else:
        sys.argv = ["-c", *rest]
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
