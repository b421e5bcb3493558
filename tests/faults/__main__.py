"""Run the drills; print what did not survive: ``python -m tests.faults [SEED]``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.faults import drills, grid, processes

KILLS = 2
"""Of each rule."""


def main(seed: int) -> int:
    """Run the grid undisturbed, then each drill on a copy; return 1 if anything did not survive."""
    with tempfile.TemporaryDirectory(prefix="poshgrid-drills-") as temporary:
        work = Path(temporary).resolve()
        corpus = work / "base"
        grid.checkout(corpus)
        status, text = processes.make(corpus, "--", grid.TARGET)
        if status:
            raise SystemExit(f"the undisturbed run failed:\n{text}")
        faults = {
            "kill": drills.killed(corpus, work / "kill", seed, KILLS),
            "damage": drills.damaged(corpus, work / "damage", seed),
        }
    for drill, lines in faults.items():
        sys.stdout.write("\n".join([f"{drill}: {len(lines)} faults", *lines, ""]))
    return int(any(faults.values()))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 42))
