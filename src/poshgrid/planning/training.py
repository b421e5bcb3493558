"""What training takes: tokens over tokens per second, measured where that can be had.

The speed is that of earlier runs of the same learner in the same regimen, else of the same learner,
else that of another learner, scaled by the FLOPs of a token; else the table's FLOP/s say it.

Runs that share a GPU are counted by earlier runs that shared one so; else as one run after the
other, times what the table states for sharing.
"""

from __future__ import annotations

import contextlib
import math
import statistics
from dataclasses import dataclass
from pathlib import Path

from poshgrid import plugins
from poshgrid.config import Learner, Regimen, words
from poshgrid.config.runs import Run
from poshgrid.errors import PoshgridError
from poshgrid.files import read_json
from poshgrid.grid.grid import Grid
from poshgrid.planning import work
from poshgrid.planning.measured import Earlier, Records
from poshgrid.planning.throughput import ASSUMED, MEASURED, REACH, SCALED, Throughput
from poshgrid.training import bias

_PER_TOKEN = ("input", "context_length", "batch_size", "precision")  # what speed depends on


@dataclass(frozen=True)
class Speed:
    """Tokens per second, and where the number comes from; ``start``: seconds beside the steps."""

    rate: float
    start: float
    basis: str
    source: str

    def seconds(self, tokens: float) -> float:
        """Return what training on so many tokens takes."""
        return self.start + tokens / self.rate


class Training:
    """What the runs of a grid take.

    Args:
        grid: the configuration's.
        table: the stated one.
        records: of jobs that were done.
        gpu: the GPU's name; none: there is no GPU.
    """

    def __init__(self, grid: Grid, table: Throughput, records: Records, *, gpu: str | None) -> None:
        self._grid, self._table, self._records, self._gpu = grid, table, records, gpu

    def duration(
        self, run: Run, threads: int, *, on_gpu: bool, share: int
    ) -> tuple[float, str, str]:
        """Return a run's seconds of the clock, and where the number comes from: basis and source.

        Of several runs that share a GPU, it is its part of their time.

        Args:
            run: of the grid.
            threads: of the CPU.
            on_gpu: whether it holds a GPU.
            share: how many runs share that GPU.
        """
        regimen = self._grid.regimens[run.regimen]
        types = self._grid.tokenizer_of(run.condition).vocabulary_size
        size = self.size(self._grid.learners[run.learner], regimen, types)
        tokens = self.tokens(run) + self.bias_tokens(run)
        if share > 1:
            speed = self._speed(run, size, on_gpu=on_gpu, together=regimen.together)
            if speed and speed.basis == MEASURED:
                source = f"{speed.source} each, {share} on a GPU"
                return speed.seconds(tokens) / share, MEASURED, source
        speed = self._speed(run, size, on_gpu=on_gpu, together=1) or self._stated(
            regimen, size, threads, on_gpu=on_gpu
        )
        if share == 1:
            return speed.seconds(tokens), speed.basis, speed.source
        gain = self._table.gpu.together
        source = f"{speed.source}; {share} on a GPU: {gain:g} x one after the other, {ASSUMED}"
        return speed.seconds(tokens) / gain, speed.basis, source

    def _stated(
        self, regimen: Regimen, size: work.LearnerSize, threads: int, *, on_gpu: bool
    ) -> Speed:
        device = self._gpu if on_gpu else None
        rate, source = self._table.rate(device, regimen.precision, threads)
        start = self._table.stage("train").seconds
        return Speed(rate / size.flops, start, ASSUMED, source)

    def _speed(
        self, run: Run, size: work.LearnerSize, *, on_gpu: bool, together: int
    ) -> Speed | None:
        """Return the speed of the earlier runs that are most like this one; none: no such run.

        Args:
            run: of the grid.
            size: of its learner.
            on_gpu: whether it holds a GPU.
            together: how many at most shared the GPU of those runs.
        """
        learner, regimen = self._grid.learners[run.learner], self._grid.regimens[run.regimen]
        alike: list[tuple[float, float]] = []
        same: list[tuple[float, float]] = []
        scaled: list[tuple[float, float]] = []
        for each in self._records.of("train", on_gpu=on_gpu):
            spec = each.content.get("spec") or {}
            speed = each.content.get("tokens_per_second")
            with contextlib.suppress(PoshgridError, ValueError, KeyError, TypeError):
                its_learner = Learner.model_validate(spec["learner"])
                its_regimen = Regimen.model_validate(spec["regimen"])
                if not speed or its_regimen.precision != regimen.precision:
                    continue
                if each.together != together:
                    continue
                if each.device == "cpu" and its_regimen.threads != regimen.threads:
                    continue
                shape = (its_learner.architecture, its_learner.options)
                if shape == (learner.architecture, learner.options):
                    kind = all(getattr(its_regimen, k) == getattr(regimen, k) for k in _PER_TOKEN)
                    (alike if kind else same).append((float(speed), _start(each)))
                    continue
                types = each.content.get("vocabulary_size")
                its_size = self.size(its_learner, its_regimen, types)
                if 1 / REACH <= size.flops / its_size.flops <= REACH:
                    scaled.append((float(speed) * its_size.flops / size.flops, _start(each)))
        for basis, speeds, what in (
            (MEASURED, alike, "same learner and regimen"),
            (MEASURED, same, "same learner"),
            (SCALED, scaled, "other learners, by FLOPs"),
        ):
            if speeds:
                rate, start = map(statistics.median, zip(*speeds, strict=True))
                source = f"{rate:,.0f} tokens/s, {what} ({len(speeds)})"
                return Speed(rate, start, basis, source)
        return None

    def size(
        self, learner: Learner, regimen: Regimen, vocabulary: int | None = None
    ) -> work.LearnerSize:
        """Return the size of a learner.

        Args:
            learner: of this grid, or of an earlier one.
            regimen: that it is trained in.
            vocabulary: number of token types; none: the grid's.
        """
        types = vocabulary or self._grid.config.tokenizer.vocabulary_size
        return work.learner_size(learner, regimen, int(types))

    def tokens(self, run: Run) -> float:
        """Return the tokens that a run is trained on if it is not stopped early."""
        regimen = self._grid.regimens[run.regimen]
        found = self._counted(run.condition, run.size)
        learner = self._grid.learners[run.learner].options
        if regimen.epochs is not None:
            return regimen.epochs * found["tokens"] * float(learner.get("duplicates", 1))
        row: float = regimen.context_length
        if regimen.input == "sentence":
            row = min(row, found["tokens"] / found["sentences"])
        return float(regimen.steps or 0) * regimen.batch_size * row

    def bias_tokens(self, run: Run) -> float:
        """Return the tokens that a run's biases train on before it sees a word."""
        total = 0.0
        for part in run.biases:
            given = plugins.options(
                bias.PACKAGE, part, bias.options(part, self._grid.config.biases)
            )
            asked = [getattr(given, key, 0) or 0 for key in ("steps", "batch_size", "length")]
            total += float(math.prod(asked))
        return total

    def _counted(self, condition: str, size: str) -> dict[str, float]:
        """Return tokens and sentences of a cell: counted, if its tokens are made."""
        path = Path(self._grid.paths.tokens(condition, size), "statistics.json")
        with contextlib.suppress(PoshgridError, OSError, KeyError, TypeError):
            train = read_json(path)["train"]
            if train["tokens"] and train["sentences"]:
                return {"tokens": float(train["tokens"]), "sentences": float(train["sentences"])}
        text, count = self._table.text, float(words(size))
        return {
            "tokens": count * text.tokens_per_word,
            "sentences": count / text.words_per_sentence,
        }


def _start(earlier: Earlier) -> float:
    """Return what a run took beside its steps: loading, dev losses, checkpoints.

    Of one that was resumed all attempts' steps are known, and the last one's clock: nothing is.
    """
    facts = earlier.content
    steps = float(facts.get("tokens") or 0.0) / float(facts["tokens_per_second"])
    return max(0.0, earlier.wall_seconds - steps)
