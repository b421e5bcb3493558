"""The stages of the workflow, each declared once: what it reads, writes and runs."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from poshgrid.grid.grid import Grid
from poshgrid.stages import corpora, evidence, models, scoring, statistics
from poshgrid.stages.stage import Stage

STAGES: dict[str, type[Stage]] = {
    stage.name: stage
    for room in (corpora, evidence, models, scoring, statistics)
    for stage in room.STAGES
}
"""Name of a rule -> its stage."""


class Stages(SimpleNamespace):
    """The stages of a grid, each as an attribute named after its rule."""

    def __init__(self, grid: Grid, write: Callable[[], bool] = lambda: False) -> None:
        """Bind all stages to a grid; see :class:`poshgrid.stages.stage.Stage`."""
        super().__init__(**{name: stage(grid, write) for name, stage in STAGES.items()})
