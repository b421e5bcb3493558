"""The drills on a real SLURM, which are tests (``tests/slurm``): each test is a row."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from tests.faults import grid
from tests.faults.outcome import Outcome
from tests.slurm.cluster import unavailable


def drill(folder: Path) -> list[Outcome]:
    """Run the tests.

    Args:
        folder: where their protocol goes; made.
    """
    reason = unavailable()
    if reason:
        return [Outcome("SLURM", 0, 0, f"not run: {reason}")]
    folder.mkdir(parents=True)
    junit = folder / "junit.xml"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "slurm", "tests/slurm", "--junitxml", str(junit)],
        cwd=grid.ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    found = rows(junit) if junit.is_file() else []
    return found or [Outcome("SLURM", 1, 0, f"no test ran: {(done.stdout + done.stderr)[-500:]}")]


def rows(junit: Path) -> list[Outcome]:
    """Turn each test into a row, whose note is what the test tells of its jobs.

    Args:
        junit: what ``pytest --junitxml`` has written.
    """
    found = []
    for case in ElementTree.parse(junit).iter("testcase"):
        name = "SLURM: " + case.get("name", "").removeprefix("test_").replace("_", " ")
        told = [
            each.get("value", "") for each in case.iter("property") if each.get("name") == "account"
        ]
        skipped = case.find("skipped")
        if skipped is not None:
            found.append(Outcome(name, 0, 0, f"not run: {skipped.get('message', '')}"))
            continue
        # A test may fail, and what takes its cluster down again, too
        faults = [*case.findall("failure"), *case.findall("error")]
        told += [each.get("message", "")[:200] for each in faults]
        found.append(Outcome(name, 1, 0 if faults else 1, "; ".join(told)))
    return found
