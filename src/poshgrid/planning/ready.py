"""``poshgrid ready``: whether what a target needs is there, before anything runs.

The parts of a configuration agree already, or it could not be loaded
(:mod:`poshgrid.grid.coherence`). Here are the files that lie outside it. ``poshgrid plan`` has the
disk that models take, ``poshgrid doctor`` a cluster's memory and time.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from poshgrid import resources
from poshgrid.config.formula import suite_of
from poshgrid.corpora.report import loss
from poshgrid.errors import PoshgridError, check_known, plain
from poshgrid.files import read_json
from poshgrid.grid.grid import Grid
from poshgrid.planning import inputs
from poshgrid.planning.findings import Finding, error, warning

_SHOWN = 3  # inputs that the head of a run names
_LONGEST = 160  # characters of one of them


def examine(grid: Grid, target: str) -> list[Finding]:
    """Look at everything that a target needs from outside.

    Args:
        grid: of the configuration.
        target: an experiment, ``all`` or ``pretrained``.

    Returns:
        One finding for each source, treebank, parser, suite, norm and given model, then for models
        of the counts that no run is left for. An input that is missing, and of which nothing has
        been made yet, is an error.

    Raises:
        PoshgridError: there is no such target.
    """
    targets = [*grid.targets, *(["pretrained"] if grid.given else [])]
    check_known("unknown target", target, targets)
    findings: list[Finding] = []
    for look in (*inputs.LOOKS, _unfitted, _phenomena, _published):
        try:
            findings += look(grid, target)
        except OSError as problem:
            what = f"{problem.filename}: cannot be looked at: {problem.strerror}"
            findings.append(error("files", what, "fix the path or its permissions"))
    return findings


def announce(grid: Grid, target: str, files: Sequence[str | Path], *, dry: bool) -> None:
    """Say at the head of a run what is missing, and let no run begin without it.

    A dry-run goes on: plans are made before the data are there.

    Raises:
        SystemExit: something is missing, and this is no dry-run. Snakemake would show another
            exception with a traceback.
    """
    findings = examine(grid, target)
    wrong = [finding for finding in findings if finding.state == "error"]
    if not wrong:
        doubts = sum(finding.state == "warning" for finding in findings)
        more = f", {doubts} to know of" if doubts else ""
        sys.stderr.write(f"ready: {target}: {len(findings) - doubts} found{more}\n")
        return
    command = shlex.join(["poshgrid", "ready", *map(str, files), "--target", target])
    lines = [f"{target}: {len(wrong)} of {len(findings)} inputs are missing or wrong"]
    lines += [plain(f"  {each.check}: {each.what}", _LONGEST) for each in wrong[:_SHOWN]]
    lines += [f"  `{command}` says what to do for each"]
    sys.stderr.write("".join(f"{'not ready' if dry else 'error'}: {lines[0]}\n"))
    sys.stderr.writelines(f"{line}\n" for line in lines[1:])
    if not dry:
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
    tables = {Path(job.output.statistics) for job in dag.jobs if job.rule.name == "read"}
    for table in sorted(tables):
        with suppress(PoshgridError):  # a damaged file is the affair of whoever reads it
            if table.is_file() and (line := loss(read_json(table))):
                sys.stderr.write(f"{line}\n")


def _published(grid: Grid, target: str) -> Iterator[Finding]:
    study = grid.config.study
    if study and not resources.numbers(study.name):
        yield warning(
            "study",
            f"{study.name}: no published numbers of that name in this installation: "
            "nothing stands beside ours",
            "fix study.name",
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
