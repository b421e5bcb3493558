"""``poshgrid ready``: whether what a target needs is there, before anything runs.

The parts of a configuration agree already, or it could not be loaded
(:mod:`poshgrid.grid.coherence`). Here is what lies outside it: files, room on the disk, memory. A
cluster is another matter: ``poshgrid doctor`` submits jobs to it.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from poshgrid import resources
from poshgrid.config.formula import suite_of
from poshgrid.corpora import budgets, catalogue
from poshgrid.corpora.report import loss
from poshgrid.errors import PoshgridError, check_known, plain
from poshgrid.files import read_json
from poshgrid.grid.grid import Grid
from poshgrid.planning import inputs, work
from poshgrid.planning.findings import Finding, error, ok, warning

_TOLD = 3  # inputs that a summary names
_LONGEST = 160  # characters of one of them
_COPIES = 4  # of the weights that training holds: themselves, their gradients, two moments


def examine(grid: Grid, target: str) -> list[Finding]:
    """Look at everything that a target needs from outside.

    Args:
        grid: of the configuration.
        target: an experiment, ``all`` or ``pretrained``.

    Returns:
        One finding for each source, treebank, parser, suite, norm and given model, then for what
        sources hold, for models of the counts that no run is left for, for disk and memory. An
        input that is missing, and of which nothing has been made yet, is an error.

    Raises:
        PoshgridError: there is no such target.
    """
    known(grid, target)
    found: list[Finding] = []
    for look in (*inputs.LOOKS, _held, _unfitted, _phenomena, _published, _room):
        try:
            found += look(grid, target)
        except OSError as problem:
            what = f"{problem.filename}: cannot be looked at: {problem.strerror}"
            found.append(error("files", what, "mend the path or its permissions"))
    return found


def known(grid: Grid, target: str) -> None:
    """Refuse a target that a grid does not have.

    Raises:
        PoshgridError: there is no such target.
    """
    targets = [*grid.targets, *(["pretrained"] if grid.given else [])]
    check_known("unknown target", target, targets)


def summary(found: Sequence[Finding], target: str, files: Sequence[str | Path]) -> list[str]:
    """Return at most five lines that stand at the head of a run."""
    wrong = [each for each in found if each.state == "error"]
    if not wrong:
        doubts = [each for each in found if each.state == "warning"]
        more = f", {len(doubts)} to know of" if doubts else ""
        return [f"ready: {target}: {len(found) - len(doubts)} found{more}"]
    lines = [f"not ready: {target}: {len(wrong)} of {len(found)} are missing or wrong"]
    lines += [f"  {plain(f'{each.check}: {each.what}', _LONGEST)}" for each in wrong[:_TOLD]]
    words = ["poshgrid", "ready", *map(str, files), "--target", target]
    return [*lines, f"  `{shlex.join(words)}` says what to do for each"]


def announce(grid: Grid, target: str, files: Sequence[str | Path], *, dry: bool) -> None:
    """Say at the head of a run what is missing, and let no run begin without it.

    A dry-run goes on: plans are made before the data are there. Its list of jobs is long, so what
    is missing is said again below it.

    Raises:
        SystemExit: something is missing, and this is no dry-run. Snakemake would show another
            exception with a traceback.
    """
    found = examine(grid, target)
    lines = summary(found, target, files)
    said = "".join(f"{line}\n" for line in lines)
    sys.stderr.write(said)
    missing = any(each.state == "error" for each in found)
    if dry and missing:
        atexit.register(sys.stderr.write, said)
    if not dry and missing:
        sys.stderr.write(f"error: {target}: inputs are missing, so that nothing was started\n")
        sys.exit(1)


def page(workflow: Any, grid: Grid, target: str, files: Sequence[str | Path]) -> list[str]:  # noqa: ANN401 - Snakemake's
    """Return the report of a target, having said what it needs; none without a run (``only``).

    Asked by Snakemake's own process alone, for the targets that it was given. Only a run needs its
    inputs: a dry-run does not, nor what lists, touches or unlocks.
    """
    runs = workflow.executor_plugin is not None and not (workflow.dryrun or workflow.touch)
    announce(grid, target, files, dry=not runs)
    return [f"{grid.paths.report(target)}/index.html"] if target in grid.targets else []


def losses(dag: Any) -> None:  # noqa: ANN401 - Snakemake's
    """Print a line for each source of a run that lost more than 5% of its words as it was read."""
    read = (job for job in dag.jobs if job.rule.name == "read")
    tables = {Path(job.output[0]).with_name("statistics.json") for job in read}
    for table in sorted(tables):
        with suppress(PoshgridError):  # a damaged file is the affair of whoever reads it
            if table.is_file() and (line := loss(read_json(table))):
                sys.stderr.write(f"{line}\n")


def _held(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield the sources that, once read, turn out to be too small for a base."""
    for name in sorted(inputs.bases(grid, target)):
        if not (asked := grid.sizes(name)):
            continue
        for source, needed in budgets.needed(grid.bases[name], asked).items():
            table = Path(grid.paths.source(source)).with_name("statistics.json")
            if not table.is_file():
                continue
            try:
                words = read_json(table).get("words", 0)
            except PoshgridError as broken:  # the job that reads it says so too, and stops
                yield warning(f"base {name}", plain(str(broken)))
                continue
            if words < needed:
                yield error(
                    f"base {name}",
                    f"source {source!r} is too small: needs {needed:,} words, has {words:,}",
                    "lower its words or add text",
                )


def _published(grid: Grid, target: str) -> Iterator[Finding]:
    study = grid.config.study
    if study and not resources.numbers(study.name):
        yield warning(
            "study",
            f"{study.name}: no published numbers of that name in this installation: "
            "nothing stands beside ours",
            "mend study.name",
        )


def _unfitted(grid: Grid, target: str) -> Iterator[Finding]:
    # Of the model that nobody asked for there is nothing to say
    for name in grid.models if "models" in grid.config.model_fields_set else ():
        if not any(name in grid.fitted(target) for target in grid.targets):
            yield warning(f"model {name}", "no target has runs for it: it is fitted to nothing")


def _phenomena(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield the models of phenomena that their suite does not make; files tell at the fit alone."""
    for name in grid.fitted(target):
        model = grid.models[name]
        suite = grid.suites.get(suite_of(model.suite, grid.pairs))
        asked = set(model.phenomena or ())
        known = (suite.phenomena if suite and asked else None) or asked
        if unknown := sorted(asked - known):
            yield error(
                f"model {name}",
                f"phenomena: its suite has no phenomenon or category {', '.join(unknown)}",
                f"name one of {', '.join(sorted(known))}",
            )


def _room(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield whether disk and memory hold what is certain: the weights, and training's copies."""
    total, largest = 0, (0, "")
    for run in grid.targets.get(target, []):
        if Path(f"{grid.paths.model(run.name)}/manifest.json").exists():
            continue
        learner, regimen = grid.learners[run.learner], grid.regimens[run.regimen]
        types = grid.tokenizer_of(run.condition).vocabulary_size
        weights = 4 * work.learner_size(learner, regimen, types).parameters
        total += weights * (1 + work.kept(grid, run.regimen))
        largest = max(largest, (_COPIES * weights, run.learner))
    folder = Path(grid.paths.results).absolute()
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(nearest).free
    said = f"{nearest}: {catalogue.bytes_(free)} free, models alone take {catalogue.bytes_(total)}"
    if total > free:
        yield error("disk", said, "free space, or set results to another disk")
    else:
        yield ok("disk", said)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if largest[0] > memory:
        yield warning(
            "memory",
            f"training {largest[1]} takes {catalogue.bytes_(largest[0])} at least, this "
            f"machine has {catalogue.bytes_(memory)}",
            "train on another (docs/slurm.md)",
        )
    elif largest[1]:
        yield ok(
            "memory",
            f"{catalogue.bytes_(memory)}, training {largest[1]} takes "
            f"{catalogue.bytes_(largest[0])} at least",
        )
