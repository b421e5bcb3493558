"""A run's name as columns."""

from __future__ import annotations

from typing import Any

from poshgrid.errors import PoshgridError
from poshgrid.statistics.schema import RUN_AXES


def axes(run: str) -> dict[str, Any]:
    """Return the columns that a run's name gives: ``RUN_AXES`` and seed.

    Args:
        run: condition/size/learner/regimen/bias/seedN.

    Raises:
        PoshgridError: the run is misnamed.
    """
    parts = run.split("/")
    seed = parts[-1].removeprefix("seed")
    if len(parts) != len(RUN_AXES) + 1 or parts[-1] == seed or not seed.isdecimal():
        raise PoshgridError(
            f"--spec: runs: {run!r} is not condition/size/learner/regimen/bias/seedN; "
            "copy the command of the job log whole"
        )
    return {**dict(zip(RUN_AXES, parts, strict=False)), "seed": int(seed)}
