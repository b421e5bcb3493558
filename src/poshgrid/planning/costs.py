"""Costs of training: time, from tokens and measured speeds, and the disk space of models."""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from poshgrid.config.runs import Run
from poshgrid.config.sizes import words
from poshgrid.core import plugins, resources
from poshgrid.core.errors import PoshgridError, check_known
from poshgrid.core.files import read_json
from poshgrid.grid.grid import Grid
from poshgrid.models.training import bias, builder

TOKENS_PER_WORD, WORDS_PER_SENTENCE = 1.3, 8
"""Assumed for sizes that have not been tokenized yet."""


CPU = "cpu"
"""Device name of speeds on one CPU core."""


@dataclass(frozen=True)
class Speed:
    """A training speed: a row of ``resources/speeds.yaml``."""

    device: str
    precision: str
    model: str
    flops_per_token: float
    tokens_per_second: float
    measured: bool = True


class Costs:
    """Costs of a grid's runs on one device.

    Args:
        grid: the configuration's grid.
        device: one of ``resources/speeds.yaml``, in upper or lower case; default: this machine's
            (an H100 for a GPU that is not in the list).

    Raises:
        PoshgridError: the device's speed is unknown.
    """

    def __init__(self, grid: Grid, device: str | None = None) -> None:
        check_device(device)
        self.grid, self.device = grid, (device or _this_machine()).lower()
        self._speeds = [row for row in speeds() if row.device == self.device]
        self._size = functools.cache(self._built)

    def total(self, runs: Sequence[Run]) -> str:
        """Return a sentence with the hours that training runs takes at most, and their weights."""
        hours = sum(map(self.hours, runs))
        megabytes = sum(4 * self.size(run)[0] for run in runs) / 1e6
        cores = os.cpu_count() or 1
        if self.device == CPU:
            of = f"of one core ({_duration(hours / cores)} if all {cores} of this machine train)"
        else:
            of = f"of one {self.device.upper()}"
        if not all(row.measured for row in self._speeds):
            of += ", not measured but scaled from an H100 by peak FLOPs"
        return (
            f"Training {len(runs):,} models takes at most {_duration(hours)} {of}; their weights "
            f"take {megabytes:,.0f} MB, and those of each kept checkpoint as much again."
        )

    def hours(self, run: Run) -> float:
        """Return the hours that training a run takes, if it is not stopped early."""
        precision, flops = self.grid.recipes[run.recipe].precision, self.size(run)[1]
        row = min(
            (row for row in self._speeds if row.precision == precision),
            key=lambda row: abs(math.log(flops / row.flops_per_token)),
            default=None,
        )
        if row is None:
            raise PoshgridError(
                f"--gpu {self.device}: no speed is known in {precision}, the precision of "
                f"recipe {run.recipe!r}; name a device that has one"
            )
        rate = row.tokens_per_second * row.flops_per_token / flops
        return (self.tokens(run) + self.bias_tokens(run)) / rate / 3600

    def size(self, run: Run) -> tuple[int, float]:
        """Return the number of parameters of a run's model, and its FLOPs per trained token."""
        recipe = self.grid.recipes[run.recipe]
        types = self.grid.tokenizer_of(run.condition).vocabulary_size
        context = recipe.context_length
        return self._size(run.model, types, context, recipe.positions or context)

    def _built(self, name: str, types: int, context: int, positions: int) -> tuple[int, float]:
        import torch

        from poshgrid.models.tokenization.tokenizer import Vocabulary
        from poshgrid.models.training import flops

        with torch.device("meta"):  # without memory for the weights
            model = builder.build(
                self.grid.models[name], Vocabulary(types, 0, 1), context_length=positions,
                dropout=0.0, seed=0,
            )  # fmt: skip
        return sum(w.numel() for w in model.parameters()), flops.per_token(model, context)

    def tokens(self, run: Run) -> float:
        """Return the number of tokens that a run is trained on if it is not stopped early."""
        recipe = self.grid.recipes[run.recipe]
        tokens, sentences = self._counted(run.condition, run.size)
        row: float = recipe.context_length
        if recipe.input == "sentence":
            row = min(row, tokens / sentences)
        step = recipe.batch_size * row
        whole = (recipe.steps or 0) * step
        if recipe.epochs is not None:
            options = builder.options(self.grid.models[run.model])
            whole = float(recipe.epochs * tokens * getattr(options, "duplicates", 1))
        return min(whole, recipe.stop_after * step) if recipe.stop_after else whole

    def bias_tokens(self, run: Run) -> float:
        """Return the number of tokens that a run's biases train on before the text."""
        total = 0.0
        for part in run.biases:
            options = plugins.options(
                plugins.BIASES, part, bias.options(part, self.grid.config.biases)
            )
            shape = [getattr(options, key, 0) or 0 for key in ("steps", "batch_size", "length")]
            total += float(math.prod(shape))
        return total

    def _counted(self, condition: str, size: str) -> tuple[float, float]:
        """Return the tokens and sentences of a cell: counted if they exist, else estimated.

        If a number of sentences is kept, their words are unknown: at most those of the size.
        """
        path = Path(self.grid.paths.tokens(condition, size), "statistics.json")
        with contextlib.suppress(PoshgridError, OSError, KeyError, TypeError):
            train = read_json(path)["train"]
            if train["tokens"] and train["sentences"]:
                return float(train["tokens"]), float(train["sentences"])
        kept = self.grid.conditions[condition].downsample
        count = words(size) * min(kept, 1)
        sentences = count / WORDS_PER_SENTENCE
        return count * TOKENS_PER_WORD, min(sentences, kept) if kept > 1 else sentences


def _duration(hours: float) -> str:
    minutes = 60 * hours
    if minutes < 1:
        return "a minute"
    return f"{hours:,.1f} hours" if hours >= 1 else f"{minutes:.0f} minutes"


def speeds() -> list[Speed]:
    """Return the known speeds: ``resources/speeds.yaml``."""
    text = resources.path("speeds.yaml").read_text(encoding="utf-8")
    return [Speed(**row) for row in yaml.safe_load(text)]


def check_device(device: str | None) -> None:
    """Raise if a device's speed is unknown; ``None`` (this machine's device) is always allowed.

    Raises:
        PoshgridError: the speed is unknown.
    """
    word = None if device is None else device.lower()
    check_known("--gpu: no speed is known of", word, {row.device for row in speeds()})


def _this_machine() -> str:
    """Return the device of this machine: its GPU, or a similar one if it is not in the list."""
    import torch

    if not torch.cuda.is_available():
        return CPU
    gpu = torch.cuda.get_device_name().lower()
    return next((row.device for row in speeds() if row.device in gpu), "h100")
