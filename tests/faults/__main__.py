"""Run the drills; print what did not survive: ``python -m tests.faults [kill] [damage] [disk]``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.faults import drills, grid, kills, processes

DRILLS = ("kill", "damage", "disk")


def main() -> int:
    """Run what is asked for; return 1 if anything did not survive."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("drills", nargs="*", metavar="drill", choices=[*DRILLS, []],
                        help=f"{', '.join(DRILLS)}; default: all")  # fmt: skip
    parser.add_argument("--work", type=Path, help="folder; kept, with its undisturbed run")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--kills", type=int, default=2, help="of each rule")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="poshgrid-drills-") as temporary:
        work = (given.work or Path(temporary)).resolve()
        base = work / "base"
        if not base.is_dir():
            grid.checkout(base)
        status, text = processes.make(base, "--", grid.TARGET)
        if status:
            raise SystemExit(f"the undisturbed run failed:\n{text}")
        wrong = False
        for drill in given.drills or DRILLS:
            folder = work / drill
            faults = {
                "kill": lambda folder: kills.drill(base, folder, given.seed, given.kills),
                "damage": lambda folder: drills.damaged(base, folder, given.seed),
                "disk": lambda folder: drills.disk(base, folder, given.seed),
            }[drill](folder)
            wrong = wrong or bool(faults)
            sys.stdout.write("\n".join([f"{drill}: {len(faults)} faults", *faults, ""]))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
