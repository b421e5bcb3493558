"""An input that is cut off, or vanishes, while the job runs that reads it."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.faults import compare, damage, grid, jobs, kills, processes
from tests.faults.outcome import Outcome

READ = (
    (f"resources/{grid.TEXT}", "read"),
    ("results/corpora/baby/sentences.parquet", "parse"),
    ("results/conditions/baby-f/20K/train.parquet", "tokenizer"),
    ("results/tokens/baby-f/20K/train.bin", "train"),
    (f"results/models/{damage.RUN}/model.safetensors", "score"),
    (f"results/statistics/{grid.TARGET}/counts.parquet", "fit"),
)
"""Files that jobs read, each with a rule that reads it; the first is a source."""
MOMENTS = 2
"""Of each file and each damage."""


def drill(base: Path, folder: Path, seed: int) -> list[Outcome]:
    """Damage a file at a random moment of the job that reads it; put it back; run again.

    The job may fail, or have read all that it needed: no other bytes may come of it.
    """
    shutil.copytree(base, folder, symlinks=True)
    known = jobs.jobs(base)
    expected = compare.digests(base / grid.RESULTS)
    outcomes = []
    for name, harm in (("cut off", _cut), ("vanished", Path.unlink)):
        wrong, failed = [], 0
        for path, rule in READ:
            job = damage.reader(known, path, rule)
            draw = random.Random(f"{seed}/{path}/{name}")
            for _ in range(MOMENTS):
                after = draw.uniform(0, kills.SHARE) * job.seconds
                status = _harmed(folder, job, folder / path, harm, after)
                failed += status != 0
                found = compare.digests(folder / grid.RESULTS)
                made = compare.differences(found, expected, whole=False)
                made = [each for each in made if f"{grid.RESULTS}/{each}" != path]
                shutil.copy2(base / path, folder / path)
                again, text = processes.make(folder, "--", job.manifest)
                found = compare.digests(folder / grid.RESULTS)
                differ = compare.differences(found, expected, whole=True)
                if status is None or made or again or differ:
                    then = f"run again: {again}, {differ[:3]} {text[-300:] if again else ''}"
                    wrong.append(f"{path} by {rule}: {status}, {made[:3]}; {then}")
                    shutil.rmtree(folder)  # of one fault, the next trial is to know nothing
                    shutil.copytree(base, folder, symlinks=True)
        tried = len(READ) * MOMENTS
        notes = [f"jobs that failed: {failed}; the others had read it", *wrong]
        outcomes.append(
            Outcome(f"{name} while it was read", tried, tried - len(wrong), "; ".join(notes))
        )
    return outcomes


def _harmed(
    folder: Path, job: jobs.Job, file: Path, harm: Callable[[Path], None], after: float
) -> int | None:
    """Run a job and harm a file meanwhile: earlier, once more, where the job was over before.

    Returns:
        Snakemake's status; none if the job was over each time.
    """
    size = file.stat().st_size
    for attempt in range(kills.TRIES):
        job.remove(folder)
        watch = processes.once(folder, partial(harm, file), after / 2**attempt, job.rule)
        status, _ = processes.make(folder, "--", job.manifest, watch=watch)
        if not file.is_file() or file.stat().st_size < size:
            return status
    return None


def _cut(file: Path) -> None:
    """Leave half of a file."""
    os.truncate(file, file.stat().st_size // 2)
