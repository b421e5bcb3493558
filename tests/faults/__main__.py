"""Run the drills and print their table: ``python -m tests.faults``."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.faults import damage, disk, grid, kills, meanwhile, processes, records, slurm
from tests.faults.outcome import Outcome

DRILLS = ("kill", "disk", "records", "read", "meanwhile", "verify", "clock", "vanish", "slurm")
MOUNTED = ("disk", "records")
"""Drills on a file system of their own."""


def main() -> int:
    """Run what is asked for; return 1 if anything did not survive."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("drills", nargs="*", metavar="drill", help=f"{', '.join(DRILLS)}; all")
    parser.add_argument("--work", type=Path, help="folder; kept, with its undisturbed run")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--kills", type=int, default=2, help="of each rule")
    given = parser.parse_args()
    wanted = given.drills or list(DRILLS)
    unknown = [drill for drill in wanted if drill not in DRILLS]
    if unknown:
        parser.error(f"unknown drill {unknown[0]!r}; known: {', '.join(DRILLS)}")
    work = (given.work or Path(tempfile.mkdtemp(prefix="poshgrid-drills-"))).resolve()
    try:
        outcomes, more = run(work, wanted, given.seed, given.kills)
    finally:
        if given.work is None:
            shutil.rmtree(work, ignore_errors=True)
    say("| drill | times tried | times survived | notes |\n|---|---|---|---|")
    for outcome in outcomes:
        say(outcome.row())
    if more:
        say("\n" + "\n".join(more))
    return int(any(outcome.survived < outcome.tried for outcome in outcomes))


def run(work: Path, wanted: list[str], seed: int, each: int) -> tuple[list[Outcome], list[str]]:
    """Make the undisturbed run if a drill needs it; run the drills on copies of it."""
    base = work / "base"
    if set(wanted) - {"slurm"}:
        undisturbed(base)
    outcomes: list[Outcome] = []
    table: list[str] = []
    simple: dict[str, Callable[[Path, Path, int], list[Outcome]]] = {
        "disk": disk.drill,
        "records": records.drill,
        "read": damage.read,
        "meanwhile": meanwhile.drill,
        "verify": damage.verified,
        "clock": damage.clocks,
        "vanish": damage.remade,
    }
    for drill in wanted:
        folder = work / drill
        shutil.rmtree(folder, ignore_errors=True)
        if drill == "kill":
            outcome, table = kills.drill(base, folder, seed, each)
            found = [outcome]
        elif drill == "slurm":
            found = slurm.drill(folder)
        elif drill in MOUNTED and not disk.possible():
            found = [Outcome(drill, 0, 0, "not run: mounting needs root")]
        else:
            found = simple[drill](base, folder, seed)
        outcomes += found
        for outcome in found:
            say(outcome.row(), stream=sys.stderr)
    return outcomes, table


def undisturbed(base: Path) -> None:
    """Make the run that the disturbed ones are compared with, if it is not there."""
    if not base.is_dir():
        grid.checkout(base)
    status, text = processes.make(base, "--", grid.TARGET)
    if status:
        raise SystemExit(f"the undisturbed run failed:\n{text}")


def say(text: str, stream: object = None) -> None:
    """Print at once."""
    print(text, file=stream or sys.stdout, flush=True)


if __name__ == "__main__":
    sys.exit(main())
