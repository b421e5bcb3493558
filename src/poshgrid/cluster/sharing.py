"""Whether a profile lets the runs of a group share a GPU (`together` in a regimen)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from poshgrid.cluster.sbatch import Kind, Request
from poshgrid.planning.findings import Finding, ok, warning

_RUN, _LAST = "train", "together"  # rules: a run, and the last job of those that share
_STEP = (
    (r"--overlap\b", "--overlap", "the second run waits for the first"),
    (r"--cpu-bind[= ]none\b", "--cpu-bind=none", "runs may be bound to the same cores"),
)
"""What the step of a run must have: as it is found and written, and what happens without it."""


def check(kinds: Sequence[Kind]) -> Iterator[Finding]:
    """Check what docs/training.md asks of a profile where runs share a GPU.

    Args:
        kinds: the workflow's jobs; where no group holds several runs, nothing is asked.
    """
    shared = [kind for kind in kinds if _LAST in kind.rules and kind.rules.get(_RUN, 0) > 1]
    if not shared:
        return
    kind = max(shared, key=lambda each: each.rules[_RUN])
    runs, request = kind.rules[_RUN], kind.attempts[min(kind.attempts)]
    if request.error:
        return  # said with what does not fit
    wrong = [*_gpus(runs, request), *_step(request)]
    yield from wrong or [ok("sharing", f"up to {runs} runs to a GPU")]


def _gpus(runs: int, request: Request) -> Iterator[Finding]:
    number = sum(n for (name, _), n in request.devices.items() if name == "gpu")
    if number > 1:
        remedy = "write `gres: \"'gpu:1'\"` for train, not `gpu`"
        if request.gpu_model:
            remedy = f"write `gpu_model: {request.gpu_model}` for train, without `gpu`"
        yield warning("sharing", f"a group of {runs} runs asks for {number} GPUs, and they use one",
                      remedy)  # fmt: skip


def _step(request: Request) -> Iterator[Finding]:
    """Yield what the step lacks; without a step of its own, a run is no more than a process."""
    for pattern, flag, why in _STEP:
        if request.step and not re.search(pattern, request.step):
            yield warning("sharing", f"step is `{request.step}`: without {flag} {why}",
                          "write `step: \"'srun --overlap --ntasks=1 --cpu-bind=none'\"` for "
                          "train")  # fmt: skip
