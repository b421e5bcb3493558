"""Which runs a configuration asks for: those of each target, their nulls, and given models."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from poshgrid.config import Config, Pretrained, words
from poshgrid.config.paths import Paths
from poshgrid.config.runs import (
    AXES,
    COUNTED,
    GIVEN,
    PRETRAINED,
    RELEASED,
    UNTRAINED,
    WORD_NULLS,
    Run,
    agrees,
    parse_only,
)
from poshgrid.errors import PoshgridError
from poshgrid.grid.definitions import Definitions
from poshgrid.grid.experiments import product


class Targets(Definitions):
    """The runs of every target.

    Raises:
        PoshgridError: a name that an experiment, condition or base uses is not defined, or ``only``
            names an unknown axis or leaves nothing.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.paths = Paths(config.results)
        self._only = parse_only(config.only, "only")

    @cached_property
    def targets(self) -> dict[str, list[Run]]:
        """Target -> its trained runs, sorted. ``all`` is the union of the default experiments.

        An experiment that ``only`` leaves without a run is no target.
        """
        runs = {
            name: sorted(run for run in product(e, self) if agrees(run, self._only))
            for name, e in self.experiments.items()
        }
        everything = {r for n, found in runs.items() if self.experiments[n].default for r in found}
        found = {"all": sorted(everything), **runs}
        if not runs:
            return found  # what is given alone is scored
        if self._only and not any(found.values()):
            known = {
                axis: sorted({str(getattr(r, axis)) for r in self.every_run}) for axis in self._only
            }
            raise PoshgridError(
                f"only: {self.config.only!r} leaves no run of the grid; known: {known}"
            )
        return {name: selected for name, selected in found.items() if selected}

    def nulls(self, runs: Iterable[Run]) -> list[Run]:
        """Return the untrained and n-gram models that the given runs are measured against."""
        found = set()
        for r in runs:
            if UNTRAINED in self.config.nulls:
                found.add(Run(r.condition, r.size, r.learner, UNTRAINED, "none", r.seed))
            for null in WORD_NULLS:
                if null in self.config.nulls:
                    found.add(Run(r.condition, r.size, null, COUNTED, "none", 0))
        return sorted(found)

    @cached_property
    def given_models(self) -> dict[Run, Pretrained]:
        """The pretrained models: as runs, and as they are given.

        Raises:
            PoshgridError: two of them have one place in the grid.
        """
        found: dict[Run, Pretrained] = {}
        for name, each in self.pretrained.items():
            run = Run(PRETRAINED, GIVEN, name, PRETRAINED, "none", 0)
            if each.condition and each.size:
                learner = each.learner or name
                run = Run(each.condition, each.size, learner, RELEASED, "none", each.seed)
            if run in found:
                raise PoshgridError(
                    f"pretrained: {found[run].name!r} and {name!r} have one place in the grid "
                    f"({run.name}); give them other seeds or learners"
                )
            found[run] = each
        return found

    @property
    def given(self) -> list[Run]:
        """The pretrained models as runs."""
        return list(self.given_models)

    def shown(self, target: str) -> list[Run]:
        """Return the models that a target is about: its own, and those with a place beside them.

        Where there are neither, those without a place.
        """
        placed = (run for run in self.given if run.regimen == RELEASED)
        return sorted({*self.targets.get(target, []), *placed}) or self.given

    def made(self, target: str) -> list[Run]:
        """Return a target's runs and their nulls: the models that the workflow makes."""
        found = self.targets.get(target, [])
        return found + self.nulls(found)

    def runs(self, target: str) -> list[Run]:
        """Return all models that a target scores: those it makes, and the pretrained ones.

        The target ``pretrained`` makes none.
        """
        return self.made(target) + self.given

    def fitted(self, target: str) -> list[str]:
        """Return the Bayesian models that a target has runs for, sorted.

        A model with contrasts is for the targets whose runs differ in what it contrasts.
        """
        found = []
        for name, model in self.models.items():
            kept = parse_only(model.only, f"models: {name}: only")
            ours = [run for run in self.shown(target) if run.regimen != PRETRAINED]
            runs = [run for run in ours if agrees(run, kept)]
            axes = {contrast.factor for contrast in model.contrasts} & set(AXES)
            if runs and all(len({getattr(run, axis) for run in runs}) > 1 for axis in axes):
                found.append(name)
        return sorted(found)

    def cells(self, target: str) -> list[tuple[str, str]]:
        """Return the (condition, size) pairs of a target, sorted by condition and words."""
        pairs = {(r.condition, r.size) for r in self.targets.get(target, [])}
        return sorted(pairs, key=lambda pair: (pair[0], words(pair[1])))

    @cached_property
    def every_run(self) -> frozenset[Run]:
        """The runs of all experiments, ``only`` left aside: it must change no spec."""
        return frozenset(r for e in self.experiments.values() for r in product(e, self))

    @property
    def placed_runs(self) -> frozenset[Run]:
        """The runs of all experiments, and the models of others that have a place beside them."""
        return self.every_run | {run for run in self.given if run.regimen == RELEASED}
