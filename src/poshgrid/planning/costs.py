"""What jobs cost: seconds on a GPU and on CPUs, and disk. Measured where that can be had.

A job is estimated from earlier jobs of its kind in the same results folder, if their work was
within :data:`REACH` times its own, else from the stated table. Training is tokens over tokens per
second: those of earlier runs of the same learner in the same regimen, else of the same learner,
else those of another learner, scaled by the FLOPs of a token; else FLOPs over the table's FLOP/s.
"""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from poshgrid import plugins
from poshgrid.config import Learner, Regimen, words
from poshgrid.errors import PoshgridError
from poshgrid.files import read_json
from poshgrid.grid import COUNTED, PRETRAINED, UNTRAINED, Grid, Run
from poshgrid.planning import sizes
from poshgrid.planning.jobs import Job
from poshgrid.planning.measured import Earlier
from poshgrid.planning.throughput import Throughput

MEASURED, SCALED, ASSUMED = "measured", "scaled", "assumed"
"""Where a number comes from: jobs like it; smaller or larger ones; the stated table."""
BASES = (MEASURED, SCALED, ASSUMED)
REACH = 10.0
"""A job says nothing of one whose work, or whose model, is more than so many times its own."""
_PER_TOKEN = ("input", "context_length", "batch_size", "precision")  # what speed depends on


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
        any_gpu: what was measured on some GPU holds for this one; manifests do not name it.
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
        self._any_gpu = any_gpu
        self._earlier: dict[str, list[Earlier]] = {}
        for each in earlier:
            self._earlier.setdefault(each.rule, []).append(each)
        self._fits: dict[tuple[str, str], _Line] = {}

    def of(self, job: Job) -> Cost:
        """Return what a job costs at most."""
        on_gpu = self.gpu is not None and job.rule in self.table.gpu_rules
        if job.rule == "train":
            return self._training(job, on_gpu=on_gpu)
        return self._stage(job, on_gpu=on_gpu)

    # ---- training ---------------------------------------------------------------------------

    def _training(self, job: Job, *, on_gpu: bool) -> Cost:
        run = _run(job.wildcards)
        learner, regimen = self.grid.learners[run.learner], self.grid.regimens[run.regimen]
        size = self._size(learner, regimen)
        seconds, basis, source = self._training_seconds(run, size, job.threads, on_gpu=on_gpu)
        megabytes = 4 * size.parameters * (1 + self.kept(run.regimen)) / 1e6  # float32
        disk = self._line(self.kind("train", job.wildcards), "train", on_gpu=None)
        return Cost(
            seconds=seconds,
            gpu_seconds=seconds if on_gpu else 0.0,
            cpu_seconds=seconds * job.threads,
            megabytes=disk.megabytes(1.0) if disk else megabytes,
            basis=basis,
            source=source,
            disk_basis=MEASURED if disk else ASSUMED,
        )

    def _training_seconds(
        self, run: Run, size: sizes.LearnerSize, threads: int, *, on_gpu: bool
    ) -> tuple[float, str, str]:
        regimen = self.grid.regimens[run.regimen]
        tokens = self.tokens(run)
        tokens += self.bias_tokens(run)
        found = self._speeds(run, size, on_gpu=on_gpu)
        if found:
            basis, speeds, what = found
            rate = statistics.median(speeds)
            return tokens / rate, basis, f"{rate:,.0f} tokens/s, {what}"
        rate, source = self.table.rate(self.gpu if on_gpu else None, regimen.precision, threads)
        return tokens * size.flops / rate, ASSUMED, source

    def _speeds(
        self, run: Run, size: sizes.LearnerSize, *, on_gpu: bool
    ) -> tuple[str, list[float], str] | None:
        """Return the tokens per second of the earlier runs that are most like this one."""
        learner, regimen = self.grid.learners[run.learner], self.grid.regimens[run.regimen]
        alike: list[float] = []
        same: list[float] = []
        scaled: list[float] = []
        for each in self._usable("train", on_gpu=on_gpu):
            spec = each.content.get("spec") or {}
            speed = each.content.get("tokens_per_second")
            with contextlib.suppress(PoshgridError, ValueError, KeyError, TypeError):
                its_learner = Learner.model_validate(spec["learner"])
                its_regimen = Regimen.model_validate(spec["regimen"])
                if not speed or its_regimen.precision != regimen.precision:
                    continue
                if each.device == "cpu" and its_regimen.threads != regimen.threads:
                    continue
                shape = (its_learner.architecture, its_learner.options)
                if shape == (learner.architecture, learner.options):
                    kind = all(getattr(its_regimen, k) == getattr(regimen, k) for k in _PER_TOKEN)
                    (alike if kind else same).append(float(speed))
                    continue
                its_size = self._size(its_learner, its_regimen, each.content)
                if 1 / REACH <= size.flops / its_size.flops <= REACH:
                    scaled.append(float(speed) * its_size.flops / size.flops)
        for basis, speeds, what in (
            (MEASURED, alike, "same learner and regimen"),
            (MEASURED, same, "same learner"),
            (SCALED, scaled, "other learners, by FLOPs"),
        ):
            if speeds:
                return basis, speeds, f"{what} ({len(speeds)})"
        return None

    def _size(
        self, learner: Learner, regimen: Regimen, facts: Mapping[str, Any] | None = None
    ) -> sizes.LearnerSize:
        vocabulary = (facts or {}).get(
            "vocabulary_size"
        ) or self.grid.config.tokenizer.vocabulary_size
        return sizes.of(
            learner,
            vocabulary=int(vocabulary),
            context=regimen.context_length,
            positions=regimen.positions or regimen.context_length,
        )

    def tokens(self, run: Run) -> float:
        """Return the tokens that a run is trained on if it is not stopped early."""
        regimen = self.grid.regimens[run.regimen]
        found = self._counted(run.condition, run.size)
        learner = self.grid.learners[run.learner].options
        if regimen.epochs is not None:
            return regimen.epochs * found["tokens"] * float(learner.get("duplicates", 1))
        row = regimen.context_length
        if regimen.input == "sentence":
            row = min(row, found["tokens"] / found["sentences"])
        return float(regimen.steps or 0) * regimen.batch_size * row

    def bias_tokens(self, run: Run) -> float:
        """Return the tokens that a run's biases train on before it sees a word."""
        total = 0.0
        for part in run.biases:
            given = plugins.options(
                "poshgrid.training.biases", part, self.grid.config.biases.get(part, {})
            )
            asked = [getattr(given, key, None) for key in ("steps", "batch_size", "length")]
            if all(asked):
                total += float(asked[0] * asked[1] * asked[2])  # type: ignore[operator]
        return total

    def _counted(self, condition: str, size: str) -> dict[str, float]:
        """Return tokens and sentences of a cell: counted, if its tokens are made."""
        path = Path(self.grid.paths.tokens(condition, size), "statistics.json")
        with contextlib.suppress(PoshgridError, OSError, KeyError, TypeError):
            train = read_json(path)["train"]
            if train["tokens"] and train["sentences"]:
                return {"tokens": float(train["tokens"]), "sentences": float(train["sentences"])}
        text, count = self.table.text, float(words(size))
        return {"tokens": count * text.tokens_per_word,
                "sentences": count / text.words_per_sentence}  # fmt: skip

    def kept(self, name: str) -> int:
        """Return how many checkpoints a regimen keeps beside the model."""
        regimen = self.grid.regimens.get(name)
        if regimen is None:
            return 0
        epochs = regimen.checkpoint_epochs
        passes = (regimen.epochs or 0) if epochs == "every" else len(epochs)
        return len(regimen.checkpoints) + passes

    # ---- the other stages -------------------------------------------------------------------

    def _stage(self, job: Job, *, on_gpu: bool) -> Cost:
        kind, work = self.kind(job.rule, job.wildcards), self.work(job.rule, job.wildcards)
        stated = self.table.stage(kind)
        line = self._line(kind, job.rule, on_gpu=on_gpu)
        disk = self._line(kind, job.rule, on_gpu=None)
        if line and line.reaches(work):
            seconds, cpu, basis = line.seconds(work), line.cpu(work), MEASURED
            source = f"{line.jobs} earlier jobs"
        else:
            rate = stated.gpu if on_gpu and stated.gpu else stated
            seconds = rate.seconds + rate.per_unit * work
            if job.rule in ("score", "perplexity"):
                seconds += self._forward(job, work, on_gpu=on_gpu)
            cpu, basis, source = seconds * (1 if job.rule != "fit" else 2), ASSUMED, stated.source
        megabytes, disk_basis = stated.mb + stated.mb_per_unit * work, ASSUMED
        if job.rule == "untrained":
            run = _run(job.wildcards)
            megabytes = 4 * self._size(self.grid.learners[run.learner], _UNTRAINED).parameters / 1e6
        elif disk and disk.reaches(work):
            megabytes, disk_basis = disk.megabytes(work), MEASURED
        gpu = seconds if on_gpu else 0.0
        return Cost(seconds, gpu, max(cpu, gpu), megabytes, basis, source, disk_basis)

    def _line(self, kind: str, rule: str, *, on_gpu: bool | None) -> _Line | None:
        """Fit what earlier jobs of a kind took; on_gpu None: wherever they ran, for their disk."""
        key = (kind, str(on_gpu))
        if key not in self._fits:
            points = [
                (work, each)
                for each in self._usable(rule, on_gpu=on_gpu)
                if self.kind(rule, each.wildcards) == kind
                and (work := self._work_of(each)) is not None
            ]
            self._fits[key] = _Line(points, disk=on_gpu is None)
        found = self._fits[key]
        return found if found.jobs else None

    def _usable(self, rule: str, *, on_gpu: bool | None) -> list[Earlier]:
        found = self._earlier.get(rule, [])
        if on_gpu is None:
            return found
        if on_gpu and not self._any_gpu:
            return []
        return [each for each in found if each.device == ("gpu" if on_gpu else "cpu")]

    def _work_of(self, earlier: Earlier) -> float | None:
        """Return the work of an earlier job; none: the grid does not know its cell."""
        try:
            return self.work(earlier.rule, earlier.wildcards)
        except (PoshgridError, KeyError, ValueError):
            return None

    def kind(self, rule: str, wildcards: Mapping[str, str]) -> str:
        """Return what jobs are compared by: the rule, and the engine or learner that it runs."""
        if rule in ("parse", "train_parser") and wildcards["parser"] in self.grid.parsers:
            return f"{rule}/{self.grid.parsers[wildcards['parser']].engine}"
        return "/".join([rule, *(wildcards[axis] for axis in _KINDS.get(rule, ()))])

    def work(self, rule: str, wildcards: Mapping[str, str]) -> float:
        """Return how much a job has to do, in the units of the table: million words, models ..."""
        return _WORK.get(rule, _one)(self, wildcards)

    def _forward(self, job: Job, work: float, *, on_gpu: bool) -> float:
        """Return the seconds of a score job's forward passes: a third of training's FLOPs."""
        run = _run(job.wildcards)
        if run.regimen in (COUNTED, PRETRAINED):
            return 0.0
        learner = self.grid.learners[run.learner]
        regimen = self.grid.regimens.get(run.regimen, _UNTRAINED)
        precision = self.grid.config.scoring.precision
        rate, _ = self.table.rate(self.gpu if on_gpu else None, precision, job.threads)
        if job.rule == "score":
            tokens = 2 * self._pairs * self.table.text.tokens_per_sentence
        else:
            base = self.grid.base_of(run.condition)
            tokens = base.test_words * self.table.text.tokens_per_word
        return work * tokens * self._size(learner, regimen).flops / 3 / rate

    @cached_property
    def _pairs(self) -> float:
        """Pairs of all suites: counted where they are made, else stated."""
        made = {e.wildcards["suite"]: e for e in self._earlier.get("items", [])}
        total = 0.0
        for name, suite in self.grid.suites.items():
            counted = made[name].content.get("pairs") if name in made else None
            if isinstance(counted, int):
                total += counted
                continue
            stated, options = self.table.pairs, suite.options
            if suite.reader == "templates":
                total += options.get("pairs", 500) * len(options.get("phenomena") or range(9))
            elif suite.reader == "paradigms":
                total += 2 * options.get("sets", 500) * 9
            else:
                total += stated.get(suite.reader, stated["other"])
        return total


_KINDS = {
    "train": ("learner", "regimen"), "untrained": ("learner",), "count": ("learner",),
    "score": ("learner",), "perplexity": ("learner",), "items": ("suite",), "quality": ("suite",),
    "measures": ("suite",), "fit": ("model",),
}  # fmt: skip
"""Rule -> the wildcards of jobs that may be compared; of any other rule, all may."""
# The null is initialised in the regimen of no name: its positions are the defaults'.
_UNTRAINED = Regimen(name=UNTRAINED)


class _Line:
    """Seconds and megabytes against work: a fixed part and one that grows, neither below 0."""

    def __init__(self, points: list[tuple[float, Earlier]], *, disk: bool) -> None:
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


def _run(wildcards: Mapping[str, str]) -> Run:
    """Return the run of a job; a counted null has fewer wildcards."""
    axes = {"regimen": COUNTED, "bias": "none", "seed": "0"} | dict(wildcards)
    return Run(axes["condition"], axes["size"], axes["learner"], axes["regimen"], axes["bias"],
               int(axes["seed"]))  # fmt: skip


def _one(_: Costs, __: Mapping[str, str]) -> float:
    return 1.0


def _cell(_: Costs, wildcards: Mapping[str, str]) -> float:
    return words(wildcards["size"]) / 1e6


def _source(costs: Costs, wildcards: Mapping[str, str]) -> float:
    """The most words that any base takes of a source, or as many as it is stopped after."""
    name = wildcards["source"]
    stop = costs.grid.sources[name].words
    if stop is not None:
        return stop / 1e6
    taken = [w for base in costs.grid.bases.values() for p in base.sources
             if p.source == name for w in p.words.values()]  # fmt: skip
    return max(taken, default=0) / 1e6


def _base(costs: Costs, wildcards: Mapping[str, str]) -> float:
    base = costs.grid.bases[wildcards["base"]]
    largest = costs.grid.sizes(base.name)[-1]
    return (words(largest) + base.dev_words + base.test_words) / 1e6


def _shard(costs: Costs, wildcards: Mapping[str, str]) -> float:
    return _base(costs, wildcards) / costs.grid.shards(wildcards["base"])


def _checkpoints(costs: Costs, wildcards: Mapping[str, str]) -> float:
    return 1.0 + costs.kept(wildcards.get("regimen", ""))


def _models(costs: Costs, wildcards: Mapping[str, str]) -> float:
    return float(len(costs.grid.runs(wildcards["target"])))


_WORK: dict[str, Callable[[Costs, Mapping[str, str]], float]] = {
    "read": _source, "mix": _base, "parse": _shard, "evidence": _base,
    **dict.fromkeys(("condition", "audit", "tokenizer", "tokens", "sweep", "distances", "ngrams",
                     "count"), _cell),
    **dict.fromkeys(("score", "perplexity"), _checkpoints),
    **dict.fromkeys(("quality", "accuracy", "curves", "deltas", "measures", "report"), _models),
}  # fmt: skip
"""Rule -> its work; a rule that is not here does one job's."""
