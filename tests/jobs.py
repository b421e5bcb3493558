"""Jobs of stages: as rules describe them, and as a person writes them for ``poshgrid stage``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from poshgrid.config.base import Section
from poshgrid.config.runs import AXES, Run
from poshgrid.stages.imported import Wildcards as Cell


def of_run(name: str) -> Cell:
    """Return the wildcards of a run's job."""
    run = Run.parse(name)
    return Cell(**{axis: str(getattr(run, axis)) for axis in AXES})


CELLS = {
    stage: Cell(**wildcards)
    for stage, wildcards in yaml.safe_load(
        Path(__file__).with_name("cells.yaml").read_text()
    ).items()
}
"""Stage -> wildcards of one of its jobs in studies/posh-bench/toy.yaml."""


def text(
    output: Path, spec: Section | dict[str, Any] | None = None, /, **inputs: Any
) -> str:  # fmt: skip
    """Return a job as ``poshgrid stage`` takes it.

    Args:
        output: the file or folder to write.
        spec: its slice of the configuration.
        inputs: files by name; ``data``, ``arguments``, ``code`` and ``results`` are the job's own.
    """
    job: dict[str, Any] = {"results": str(Path(output).parent), "code": "", "wildcards": {}}
    for name in ("data", "arguments", "code", "results", "wildcards"):
        if name in inputs:
            job[name] = inputs.pop(name)
    if spec is not None:
        job["spec"] = spec.written() if isinstance(spec, Section) else spec
    return json.dumps(job | {"output": str(output), "inputs": inputs}, default=str)


def put(*keys: str | int, **changes: Any) -> Callable[[Any], None]:
    """Return a function that changes the mapping of a configuration that keys lead to."""

    def change(data: Any) -> None:
        for key in keys:
            data = data[key]
        data.update(changes)

    return change
