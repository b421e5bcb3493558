"""A copy of the checkout in which the grid can be completed at once and edited at will.

The commands of the rules are replaced by a stub that creates what a job declares, so that
Snakemake records the parameters, code and inputs of a whole grid in seconds. What would rerun after
an edit is then read from its own dry-run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from tests import forks

STUB = '''#!{python}
"""Creates the files that a job declares, in place of `poshgrid stage NAME JOB`."""
import json, sys
from pathlib import Path

name, text = sys.argv[2:4]
job = json.loads(Path(text[1:]).read_text() if text[0] == "@" else text)
output = Path(job["output"])
made = [
    path
    for path in map(Path, Path({plan!r}).read_text().splitlines())
    if path.parent == output
]
for path in made:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():  # the folder of a page
        path.touch()
'''


class Checkout:
    """A copy of the repository with its own results."""

    def __init__(self, root: Path, folder: Path, configuration: dict) -> None:
        self.folder = folder
        for name in ("src", "workflow", "resources", "profiles", "studies"):
            shutil.copytree(root / name, folder / name, symlinks=True)
        shutil.copy(root / "Snakefile", folder)
        self.configuration = configuration
        self.plan = folder / "plan.txt"
        binaries = folder / "bin"
        binaries.mkdir()
        stub = binaries / "poshgrid"
        stub.write_text(STUB.format(python=sys.executable, plan=str(self.plan)))
        stub.chmod(0o755)
        self.environment = os.environ | {
            "PATH": os.pathsep.join(
                [str(binaries), str(Path(sys.executable).parent), os.environ["PATH"]]
            ),
            "PYTHONPATH": str(folder / "src"),
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / ".cache"),
        }

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Snakemake on this checkout's configuration."""
        path = self.folder / "config.yaml"
        path.write_text(yaml.safe_dump(self.configuration, sort_keys=False))
        words = ("-m", "snakemake", "--configfile", "config.yaml", *arguments)
        result = forks.python(words, self.folder, self.environment)
        assert not check or result.returncode == 0, result.stdout + result.stderr
        return result

    def complete(self, *targets: str) -> None:
        """Make every file of the targets with the stub."""
        summary = self.snakemake("--summary", *targets).stdout.splitlines()
        self.plan.write_text("\n".join(line.split("\t")[0] for line in summary[1:]))
        self.snakemake("--cores", "2", "--quiet", "progress", "--", *targets)

    def pending(self, *targets: str) -> dict[str, set[str]]:
        """Return rule -> the cells (below results/) that a dry-run would make again."""
        output = self.snakemake("-n", "--", *targets).stdout
        jobs: dict[str, set[str]] = {}
        for rule, files in re.findall(
            r"^(?:local)?rule (\w+):\n(?:.*\n)*?    output: (.*)\n", output, re.M
        ):
            first = files.split(", ")[0]
            cell = "/".join(first.split("/")[3:-1])  # results/posh-bench-toy/{stage}/{cell}/{file}
            jobs.setdefault(rule, set()).add(cell)
        return jobs

    def append(self, path: str, line: str) -> None:
        """Add a line to a file of this checkout."""
        file = self.folder / path
        file.write_text(f"{file.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
