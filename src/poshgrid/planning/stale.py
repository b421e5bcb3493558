"""Results that Snakemake takes for up to date though their manifests tell of another spec or code.

Snakemake's record of parameters lies in the working folder. Of what another checkout made, or a
job that outlived its Snakemake, it knows only that it is there, and it runs nothing. The manifest
beside each result holds what the result was made with, and is compared here.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from poshgrid.config.runs import COUNTED, Run
from poshgrid.errors import PoshgridError
from poshgrid.files import read_json
from poshgrid.grid import arguments
from poshgrid.grid.slices import Slices
from poshgrid.planning.jobs import CODE, INPUT, PARAMETER, UNRECORDED, Job, Why, differences
from poshgrid.provenance import given
from poshgrid.verification import MANIFEST


def compare(job: Job) -> Why:
    """Return why a job is stale, and what of its slice of the configuration is another.

    Args:
        job: that Snakemake takes for up to date.
    """
    content = told(job.manifest)
    reasons: list[str] = []
    changes: list[str] = []
    spec, code = job.params.get("spec"), job.params.get("code")
    made, by = content.get("spec"), content.get("code")
    if spec and made is not None and not _same(made, spec):
        reasons.append(PARAMETER)
        asked = _parsed(spec)
        changes += differences(made, asked) if asked is not None else ()
    if code and by and by != code:
        reasons.append(CODE)
    read = _inputs(content)
    now = given.held(job.reads)
    if any(read.get(_at(name), digest) != digest for name, digest in now.items()):
        reasons.append(INPUT)
    return reasons, changes


def models(
    slices: Slices,
    target: str,
    record: Callable[[str], list[str] | None],
    forced: Collection[str],
) -> list[Run]:
    """Return the runs and nulls of a target whose models are stale, without a graph of jobs.

    Args:
        slices: of the configuration.
        target: whose models.
        record: returns the parameters that Snakemake has recorded of a file; none: no record.
        forced: files that are made in any case.
    """
    found = []
    for run in slices.grid.made(target):
        manifest = f"{slices.grid.paths.model(run.name)}/{MANIFEST}"
        made = told(manifest).get("spec")
        if made is None or manifest in forced:
            continue  # most of a new grid: no slice is worked out for it at the start
        spec = slices.count(run.learner) if run.regimen == COUNTED else slices.train(run)
        if not _same(made, spec):
            recorded = record(manifest)
            if recorded is None or repr(spec) in recorded:
                found.append(run)
    return found


def of_others(slices: Slices, target: str, model: str | None = None) -> list[str]:
    """Return the manifests below a target's accuracies that tell of another configuration.

    Args:
        slices: of the configuration.
        target: with results.
        model: the fit of a Bayesian model is asked, too.
    """
    grid = slices.grid
    asked = {
        str(Path(grid.paths.items(suite)).with_name(MANIFEST)): slices.items(suite)
        for suite in grid.pairs
    }
    if target in grid.targets or grid.given:  # else models that were given with --config
        asked[f"{grid.paths.statistics(target)}/{MANIFEST}"] = slices.judgement(target)
    if model is not None:
        asked[f"{grid.paths.fit(target, model)}/{MANIFEST}"] = slices.model(model)
    made = {path: told(path).get("spec") for path in asked}
    found = [
        path for path, spec in made.items() if spec is not None and not _same(spec, asked[path])
    ]
    trained = models(slices, target, lambda _: None, ())
    return found + [f"{grid.paths.model(run.name)}/{MANIFEST}" for run in trained]


def report(workflow: Any, slices: Slices, target: str) -> list[str]:  # noqa: ANN401 - Snakemake's
    """Return the report of a target: none where ``only`` leaves it without a run.

    Asked by Snakemake's own process alone, for the targets that it was given: it says where models
    are of another configuration, and Snakemake would not train them again.
    """
    from snakemake.io import IOFile

    found = models(
        slices,
        target,
        lambda path: workflow.persistence.params(IOFile(path)),
        workflow.dag_settings.forcerun,
    )
    if found:
        sys.stderr.write(
            f"warning: {target}: {len(found):,} models were trained with another configuration, "
            f"of which Snakemake has no record: {found[0].name} ...; `poshgrid plan --target "
            f"{target}` says how to train them again\n"
        )
    grid = slices.grid
    return [f"{grid.paths.report(target)}/index.html"] if target in grid.targets else []


def manifests(jobs: Iterable[Job]) -> Iterator[str]:
    """Yield the manifests of stale jobs; what follows from one of these runs when it does."""
    for job in jobs:
        if job.manifest and UNRECORDED in job.reasons and {PARAMETER, CODE, INPUT} & {*job.reasons}:
            yield job.manifest


def told(manifest: str | Path | None) -> dict[str, Any]:
    """Return what a manifest tells; a broken one tells nothing: `poshgrid verify` tells of it."""
    with contextlib.suppress(PoshgridError, OSError):
        content = read_json(manifest) if manifest else None
        if isinstance(content, dict):
            return content
    return {}


def _inputs(content: Mapping[str, Any]) -> dict[str, str]:
    """Return file -> digest of what a manifest says that its job read."""
    found = content.get("inputs")
    if not isinstance(found, dict):
        return {}
    return {_at(name): str(digest) for name, digest in found.items()}


def _at(name: str) -> str:
    """Return one name of a file, however a command was given it; links stay."""
    return os.path.abspath(name)  # noqa: PTH100


def _same(made: object, spec: str) -> bool:
    """Say whether a manifest's spec is that of a job: as JSON, an option, or a file of options.

    Texts are compared, as Snakemake does. A file is named after its content, and need not exist.
    """
    text = json.dumps(made, sort_keys=True, separators=(",", ":"))  # specs.canonical
    folder = Path(shlex.split(spec)[0][1:]).parent if spec.startswith(("@", "'@")) else ""
    return spec in (text, arguments.short(["--spec", text], str(folder), write=False))


def _parsed(spec: str) -> Any:  # noqa: ANN401 - JSON is what it is
    """Return what a job's spec says; none: it is in a file that no job has written yet."""
    with contextlib.suppress(ValueError):
        return json.loads(spec if spec.startswith("{") else shlex.split(spec)[-1])
    return None
