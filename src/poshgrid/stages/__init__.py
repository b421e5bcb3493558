"""The stages of the workflow, each declared once: what it reads, writes and runs."""

from __future__ import annotations

from collections.abc import Callable

from poshgrid.grid.grid import Grid
from poshgrid.grid.inputs import Inputs
from poshgrid.stages import corpora, evidence, models, scoring, statistics
from poshgrid.stages.stage import Stage

STAGES: dict[str, type[Stage]] = {
    stage.name: stage
    for room in (corpora, evidence, models, scoring, statistics)
    for stage in room.STAGES
}
"""Name of a rule -> its stage."""


class Stages:
    """The stages of a grid, each as an attribute named after its rule."""

    def __init__(self, grid: Grid, write: Callable[[], bool] = lambda: False) -> None:
        """Bind all stages to a grid.

        Args:
            grid: grid of the configuration.
            write: returns whether to write the files of long jobs; a dry-run writes none.
        """
        self.files = Inputs(grid)
        for name, stage in STAGES.items():
            setattr(self, name, stage(grid, write, self.files))

    def __getattr__(self, name: str) -> Stage:
        """Raise AttributeError for an unknown stage."""
        raise AttributeError(f"no stage {name!r}; stages: {', '.join(STAGES)}")
