"""The runs of a configuration: those of each target, their baselines, and pretrained models.

An experiment is a full factorial without its exclusions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import cached_property

from poshgrid.config import (
    Config,
    Contrast,
    Corpus,
    Experiment,
    Pretrained,
    SizedModel,
    Tokenizer,
)
from poshgrid.config.known import CONTROLS
from poshgrid.config.paths import Paths
from poshgrid.config.runs import (
    AXES,
    COUNTED,
    GIVEN,
    PRETRAINED,
    RELEASED,
    UNTRAINED,
    WORD_BASELINES,
    Run,
    agrees,
    parse_only,
)
from poshgrid.config.sizes import words
from poshgrid.core.errors import ConfigError
from poshgrid.models.training import bias


def product(e: Experiment) -> Iterator[tuple[Run, list[bool]]]:
    """Yield the points of an experiment, and for each which exclusions leave it out."""
    models = [(v.model, v.sizes) if isinstance(v, SizedModel) else (v, e.sizes) for v in e.models]
    excluded = [x.model_dump(exclude_none=True) for x in e.exclude]
    axes = itertools.product(e.conditions, e.sizes, models, e.biases, e.seeds)
    for condition, size, (model, sizes), combined, seed in axes:
        if size in sizes:
            run = Run(condition, size, model, e.recipe, combined, seed)
            yield run, [all(getattr(run, axis) == v for axis, v in x.items()) for x in excluded]


class Targets:
    """The runs of every target, and the named entries of a configuration.

    All names that the configuration uses are already checked (:mod:`poshgrid.config.known`).

    Raises:
        ConfigError: ``only`` selects no run.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.paths = Paths(config.results)
        self.sources = {entry.name: entry for entry in config.sources}
        self.corpora = {entry.name: entry for entry in config.corpora}
        self.conditions = {entry.name: entry for entry in config.conditions}
        self.parsers = {entry.name: entry for entry in config.parsers}
        self.models = {entry.name: entry for entry in config.models}
        self.recipes = {entry.name: entry for entry in config.recipes}
        self.suites = {entry.name: entry for entry in config.suites}
        self.rescored = {entry.name: entry.masked for entry in config.suites if entry.masked}
        biases = sorted({word for e in config.experiments for word in e.biases})
        self.regressions = {
            entry.name: entry.model_copy(update={"contrasts": _contrasts(entry.contrasts, biases)})
            for entry in config.regressions
        }
        self.experiments = {entry.name: entry for entry in config.experiments}
        self.pretrained = {entry.name: entry for entry in config.pretrained}
        self._only = parse_only(config.only)

    def tokenizer_of(self, condition: str) -> Tokenizer:
        """Return the tokenizer settings of a condition; of an unknown one: the configuration's."""
        entry = self.conditions.get(condition)
        return self.config.tokenizer.changed(entry.tokenizer if entry else None)

    def corpus_of(self, condition: str) -> Corpus:
        """Return the corpus of a condition."""
        return self.corpora[self.conditions[condition].corpus]

    def runs_of(self, experiment: Experiment) -> list[Run]:
        """Return the runs of an experiment, each once, ignoring ``only``."""
        return list(dict.fromkeys(run for run, out in product(experiment) if not any(out)))

    @cached_property
    def targets(self) -> dict[str, list[Run]]:
        """Target -> its trained runs, sorted. ``all`` is the union of the default experiments.

        An experiment without a run in ``only`` is not a target.
        """
        runs = {
            name: sorted(run for run in self.runs_of(e) if agrees(run, self._only))
            for name, e in self.experiments.items()
        }
        usual = [runs[name] for name, e in self.experiments.items() if e.default]
        everything = {run for trained in usual for run in trained}
        targets = {"all": sorted(everything), **runs}
        if not runs:
            return targets  # only pretrained models are scored
        if self._only and not any(targets.values()):
            known = {
                axis: sorted({str(getattr(r, axis)) for r in self.every_run}) for axis in self._only
            }
            message = f"{self.config.only!r} leaves no run of the grid; known: {known}"
            raise ConfigError([(("only",), message)])
        return {name: selected for name, selected in targets.items() if selected}

    @cached_property
    def counted(self) -> set[tuple[str, str]]:
        """The (condition, size) pairs that are only counted for baselines, without training."""
        return {(name, size) for name, sizes in self.config.counted.items() for size in sizes}

    def baselines(self, runs: Iterable[Run]) -> list[Run]:
        """Return the untrained and n-gram models that runs are compared with."""
        runs, asked = list(runs), self.config.baselines
        untrained = {
            Run(r.condition, r.size, r.model, UNTRAINED, "none", r.seed)
            for r in runs
            if UNTRAINED in asked
        }
        cells = self.counted | {(r.condition, r.size) for r in runs}
        words = [baseline for baseline in WORD_BASELINES if baseline in asked]
        counted = {Run(*cell, word, COUNTED, "none", 0) for cell in cells for word in words}
        return sorted(untrained | counted)

    @cached_property
    def pretrained_runs(self) -> dict[Run, Pretrained]:
        """Run -> its entry in ``pretrained``."""
        return {self.pretrained_run(entry): entry for entry in self.config.pretrained}

    @staticmethod
    def pretrained_run(pretrained: Pretrained) -> Run:
        """Return the run of a pretrained model, at its place in the grid if it has one."""
        if pretrained.condition and pretrained.size:
            model = pretrained.model or pretrained.name
            axes = pretrained.condition, pretrained.size, model
            return Run(*axes, RELEASED, "none", pretrained.seed)
        return Run(PRETRAINED, GIVEN, pretrained.name, PRETRAINED, "none", 0)

    def shown(self, target: str) -> list[Run]:
        """Return the models that a target is about: its own, and pretrained ones with a place.

        If there are neither, those without a place.
        """
        placed = (run for run in self.pretrained_runs if run.recipe == RELEASED)
        return sorted({*self.targets.get(target, []), *placed}) or list(self.pretrained_runs)

    def made(self, target: str) -> list[Run]:
        """Return a target's runs and their baselines: the models that the workflow makes."""
        runs = self.targets.get(target, [])
        return runs + self.baselines(runs)

    def runs(self, target: str) -> list[Run]:
        """Return all models that a target scores: those it makes, and the pretrained ones.

        The target ``pretrained`` makes none.
        """
        return [*self.made(target), *self.pretrained_runs]

    def fitted(self, target: str) -> list[str]:
        """Return the regressions that a target has runs for, sorted.

        A regression with contrasts is only fitted to targets whose runs differ in the contrasted
        factors.
        """
        names = []
        for name, model in self.regressions.items():
            kept = parse_only(model.only)
            ours = [run for run in self.shown(target) if run.recipe != PRETRAINED]
            runs = [run for run in ours if agrees(run, kept)]
            axes = {contrast.factor for contrast in model.contrasts} & set(AXES)
            if runs and all(len({getattr(run, axis) for run in runs}) > 1 for axis in axes):
                names.append(name)
        return sorted(names)

    def cells(self, target: str) -> list[tuple[str, str]]:
        """Return the (condition, size) pairs of a target, sorted by condition and words."""
        pairs = self.counted | self.tokenized(target)
        return sorted(pairs, key=lambda pair: (pair[0], words(pair[1])))

    def tokenized(self, target: str) -> set[tuple[str, str]]:
        """Return the (condition, size) pairs of a target that models are trained on."""
        return {(r.condition, r.size) for r in self.targets.get(target, [])}

    @cached_property
    def every_run(self) -> frozenset[Run]:
        """The runs of all experiments, ignoring ``only``, which must not change any spec."""
        return frozenset(r for e in self.experiments.values() for r in self.runs_of(e))

    @property
    def every_cell(self) -> list[tuple[str, str]]:
        """The (condition, size) pairs of all experiments, and those that are only counted."""
        return sorted(self.counted | {(run.condition, run.size) for run in self.every_run})


def _contrasts(written: Iterable[Contrast], biases: Iterable[str]) -> list[Contrast]:
    """Replace ``controls`` in contrasts by the controls of each bias in the experiments."""
    contrasts: list[Contrast] = []
    for contrast in written:
        if (contrast.factor, contrast.less) != ("bias", CONTROLS):
            contrasts.append(contrast)
            continue
        contrasts += (
            contrast.model_copy(update={"first": first, "less": less, "name": None})
            for first in ([contrast.first] if contrast.first else biases)
            for less in biases
            if bias.is_control(less, first)
        )
    return contrasts
