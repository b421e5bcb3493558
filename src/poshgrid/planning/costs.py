"""What jobs cost: seconds on a GPU and on CPUs, and disk. Measured where that can be had.

A job is estimated from earlier jobs of its kind in the same results folder, if their work was
near its own, else from the stated table; of training see :mod:`poshgrid.planning.training`.

What jobs of a kind took is fitted with a straight line against their work.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from poshgrid.config import Regimen
from poshgrid.config.runs import COUNTED, SCORED, UNTRAINED
from poshgrid.errors import PoshgridError
from poshgrid.grid.grid import Grid
from poshgrid.planning import work as working
from poshgrid.planning.jobs import Job
from poshgrid.planning.measured import Earlier, Records
from poshgrid.planning.throughput import ASSUMED, MEASURED, REACH, Throughput
from poshgrid.planning.training import Training
from poshgrid.training.learner import masked


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


# The null is initialised in the regimen of no name: its positions are the defaults'.
_UNTRAINED = Regimen(name=UNTRAINED)


@dataclass(frozen=True)
class Cost:
    """What a job takes at most, and where the numbers come from."""

    seconds: float  # of the clock
    gpu_seconds: float  # the same if it holds a GPU, else 0
    cpu_seconds: float  # of all its threads
    megabytes: float
    basis: str
    source: str
    disk_basis: str


class Costs:
    """Costs of the jobs of a grid.

    Args:
        grid: the configuration's.
        table: the stated one.
        earlier: jobs that were done.
        gpu: the GPU's name; none: there is no GPU, and training is the CPUs' work.
        any_gpu: what was measured on any GPU holds for this one.
    """

    def __init__(
        self,
        grid: Grid,
        table: Throughput,
        earlier: Iterable[Earlier],
        *,
        gpu: str | None,
        any_gpu: bool = True,
    ) -> None:
        self.grid, self.table, self.gpu = grid, table, gpu
        self._records = Records(earlier, None if any_gpu else gpu)
        self.training = Training(grid, table, self._records, gpu=gpu)
        self._fits: dict[tuple[str, str], Line] = {}

    def of(self, job: Job, share: int = 1) -> Cost:
        """Return what a job costs at most.

        Args:
            job: of the grid.
            share: how many runs share a GPU with it, itself among them; a run that shares one
                holds it for its part of their time, and its cores for all of it.
        """
        on_gpu = self.gpu is not None and job.rule in self.table.gpu_rules
        if job.rule == "train":
            return self._training(job, on_gpu=on_gpu, share=share)
        return self._stage(job, on_gpu=on_gpu)

    def _training(self, job: Job, *, on_gpu: bool, share: int) -> Cost:
        run = working.run_of(job.wildcards)
        seconds, basis, source = self.training.duration(
            run, job.threads, on_gpu=on_gpu, share=share
        )
        learner, regimen = self.grid.learners[run.learner], self.grid.regimens[run.regimen]
        parameters = self.training.size(learner, regimen).parameters
        disk = self._line(working.kind(self.grid, "train", job.wildcards), "train", on_gpu=None)
        stated = 4 * parameters * (1 + working.kept(self.grid, run.regimen)) / 1e6  # float32
        return Cost(
            seconds=seconds,
            gpu_seconds=seconds if on_gpu else 0.0,
            cpu_seconds=seconds * share * job.threads,
            megabytes=disk.megabytes(1.0) if disk else stated,
            basis=basis,
            source=source,
            disk_basis=MEASURED if disk else ASSUMED,
        )

    def _stage(self, job: Job, *, on_gpu: bool) -> Cost:
        kind = working.kind(self.grid, job.rule, job.wildcards)
        work = working.work(self.grid, job.rule, job.wildcards)
        stated = self.table.stage(kind)
        line = self._line(kind, job.rule, on_gpu=on_gpu)
        disk = self._line(kind, job.rule, on_gpu=None)
        if line and line.reaches(work):
            seconds, cpu, basis = line.seconds(work), line.cpu(work), MEASURED
            source = f"{line.jobs} earlier jobs"
        else:
            rate = stated.gpu if on_gpu and stated.gpu else stated
            seconds = cpu = rate.seconds + rate.per_unit * work
            if job.rule in ("score", "perplexity", "untrained"):
                passes = work * self._forward(job, on_gpu=on_gpu)
                seconds, cpu = seconds + passes, cpu + passes * job.threads
            basis, source = ASSUMED, stated.source
        megabytes, disk_basis = stated.mb + stated.mb_per_unit * work, ASSUMED
        if job.rule == "untrained":
            learner = self.grid.learners[working.run_of(job.wildcards).learner]
            megabytes = 4 * self.training.size(learner, _UNTRAINED).parameters / 1e6
        elif disk and disk.reaches(work):
            megabytes, disk_basis = disk.megabytes(work), MEASURED
        gpu = seconds if on_gpu else 0.0
        # A job with a GPU holds its cores as long.
        return Cost(seconds, gpu, max(cpu, gpu * job.threads), megabytes, basis, source, disk_basis)

    def _line(self, kind: str, rule: str, *, on_gpu: bool | None) -> Line | None:
        """Fit what earlier jobs of a kind took; on_gpu None: wherever they ran, for their disk."""
        key = (kind, str(on_gpu))
        if key not in self._fits:
            points = [
                (work, each)
                for each in self._records.of(rule, on_gpu=on_gpu)
                if working.kind(self.grid, rule, each.wildcards) == kind
                and (work := self._work_of(each)) is not None
            ]
            self._fits[key] = Line(points, disk=on_gpu is None)
        found = self._fits[key]
        return found if found.jobs else None

    def _work_of(self, earlier: Earlier) -> float | None:
        """Return the work of an earlier job; none: the grid does not know its cell."""
        try:
            return working.work(self.grid, earlier.rule, earlier.wildcards)
        except (PoshgridError, KeyError, ValueError):
            return None

    def _forward(self, job: Job, *, on_gpu: bool) -> float:
        """Return the seconds of passing texts through a model: a third of training's FLOPs."""
        run = working.run_of(job.wildcards)
        if run.regimen in (COUNTED, *SCORED):
            return 0.0
        learner = self.grid.learners[run.learner]
        regimen = self.grid.regimens.get(run.regimen, _UNTRAINED)
        text, scoring = self.table.text, self.grid.config.scoring
        if job.rule == "score":
            tokens = 2 * self._pairs * text.tokens_per_sentence * text.passed
            if masked(learner):
                # A pass for each token, and no two have a beginning in common.
                one, each = 1.0, text.tokens_per_sentence / text.passed
                factors = [one if score == "holistic" else each for score in scoring.scores]
                tokens *= sum(factors) / len(factors)
        else:
            base = self.grid.base_of(run.condition)
            splits = base.test_words + (base.dev_words if job.rule == "untrained" else 0)
            tokens = splits * text.tokens_per_word
        precision = regimen.precision if job.rule == "untrained" else scoring.precision
        rate, _ = self.table.rate(self.gpu if on_gpu else None, precision, job.threads)
        return tokens * self.training.size(learner, regimen).flops / 3 / rate

    @cached_property
    def _pairs(self) -> float:
        """Pairs of all suites: counted where they are made, else stated."""
        made = {e.wildcards["suite"]: e for e in self._records.of("items", on_gpu=None)}
        total = 0.0
        for name, suite in self.grid.suites.items():
            options = suite.options
            of_item = 2 if suite.reader == "paradigms" else 1  # an item of four sentences
            counted = made[name].content.get("items") if name in made else None
            if isinstance(counted, int):
                total += counted * of_item
            elif suite.reader == "templates":
                total += options.get("pairs", 500) * len(options.get("phenomena") or range(9))
            elif suite.reader == "factorial":
                # seven of nine designs have two pairs a set, Principle A has four
                sets = len(options.get("phenomena") or range(9)) * options.get("sets", 200)
                total += sets * 22 // 9
            elif suite.reader == "paradigms":
                total += 3 * options.get("sets", 500) * of_item
            else:
                stated = self.table.mapped if options.get("mapped") else self.table.pairs
                total += stated.get(suite.reader, self.table.pairs["other"])
        return total
