"""What jobs of a kind took, as a straight line against their work."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from poshgrid.planning.basis import REACH
from poshgrid.planning.measured import Earlier


class Line:
    """Seconds and megabytes against work: a fixed part and one that grows, neither below 0.

    Args:
        points: work of each earlier job, and the job.
        disk: fit what it left on the disk, else what it took.
    """

    def __init__(self, points: Sequence[tuple[float, Earlier]], *, disk: bool) -> None:
        self.jobs = len(points)
        self._works = [work for work, _ in points]
        if disk:
            self.megabytes = self._fit([each.megabytes for _, each in points])
        else:
            self.seconds = self._fit([each.wall_seconds for _, each in points])
            self.cpu = self._fit([each.cpu_seconds for _, each in points])

    def reaches(self, work: float) -> bool:
        """Say whether the work is near enough to what was measured."""
        return min(self._works) / REACH <= work <= max(self._works) * REACH

    def _fit(self, values: list[float]) -> Callable[[float], float]:
        if len(set(self._works)) < 2:
            middle = statistics.median(values) if values else 0.0
            seen = self._works[0] if self._works else 1.0
            # One amount of work tells no fixed part: more of it takes longer, less no shorter.
            return lambda work: middle * max(1.0, work / seen if seen else 1.0)
        import numpy as np
        from scipy.optimize import nnls

        design = np.column_stack([np.ones(len(self._works)), self._works])
        (fixed, slope), _ = nnls(design, np.array(values))
        return lambda work: float(fixed + slope * work)
