"""CPU seconds of a job as a process of its own, and as forks of a warm process.

    python perf/warm_jobs.py results/tiny/models/.../untrained/none/seed42/manifest.json --times 10

The command of a finished job's manifest is run again, with its output elsewhere, in both
ways. The warm way counts everything: starting the warm processes, what they import, the forks, and
the ``poshgrid`` that waits. That both wrote the same is checked.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from poshgrid.warm.ask import OFF, VARIABLE
from poshgrid.warm.start import THREADS

RUN = "import sys; from poshgrid.__main__ import main; main()"
WARM = """
import json, subprocess, sys
from poshgrid.warm import start
start.start()
for command in json.loads(sys.argv[1]):
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
"""


def cpu() -> float:
    """Return the CPU seconds of children that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def commands(manifest: Path, folder: Path, times: int) -> list[list[str]]:
    """Return the command of a manifest with so many other outputs."""
    given = json.loads(manifest.read_text(encoding="utf-8"))["command"][1:]
    found = []
    for number in range(times):
        words = list(given)
        for option in ("--output", "--checkpoints"):
            if option in words:
                at = words.index(option) + 1
                words[at] = str(folder / str(number) / option.strip("-") / Path(words[at]).name)
        found.append([sys.executable, "-c", RUN, *words])
    return found


def outputs(folder: Path) -> list[object]:
    """Return what the manifests below a folder say of outputs, but for those that tell times."""
    timed = {"statistics.json", "training.jsonl", "README.md"}
    return [
        {k: v for k, v in json.loads(path.read_text())["outputs"].items() if k not in timed}
        for path in sorted(folder.rglob("*manifest.json"))
    ]


def main() -> None:
    """Print CPU seconds a job in both ways, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path, help="of a finished job, seen from here")
    parser.add_argument("--times", type=int, default=10, help="jobs of each way")
    given = parser.parse_args()
    environment = os.environ | dict.fromkeys(THREADS, "1")
    environment |= {"PYTHONPATH": str(Path(__file__).resolve().parents[1] / "src")}
    with tempfile.TemporaryDirectory() as name:
        plain, warm = Path(name, "plain"), Path(name, "warm")
        start = cpu()
        for command in commands(given.manifest, plain, given.times):
            subprocess.run(
                command, env=environment | {VARIABLE: OFF}, check=True, stderr=subprocess.DEVNULL
            )
        middle = cpu()
        told = json.dumps(commands(given.manifest, warm, given.times))
        environment.pop(VARIABLE, None)
        subprocess.run([sys.executable, "-P", "-c", WARM, told], env=environment, check=True)
        end = cpu()
        same = outputs(plain) == outputs(warm)
    a, b = (middle - start) / given.times, (end - middle) / given.times
    print(f"plain {a:.2f} CPU s a job, warm {b:.2f}, ratio {a / b:.1f}, same outputs: {same}")


if __name__ == "__main__":
    main()
