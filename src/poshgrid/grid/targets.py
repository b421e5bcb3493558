"""Which runs a configuration asks for: those of each target, their baselines, and given models.

An experiment is a full factorial, less what it excludes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cached_property

from poshgrid import plugins
from poshgrid.config import Config, Experiment, Pretrained, SizedModel
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
    parts,
)
from poshgrid.config.sizes import words
from poshgrid.errors import PoshgridError
from poshgrid.grid.definitions import Definitions, check_names, unknown
from poshgrid.training.bias import PACKAGE as BIASES


def product(e: Experiment, given: Definitions) -> Iterable[Run]:
    """Yield an experiment's runs.

    Args:
        e: the experiment.
        given: what the configuration defines.

    Raises:
        PoshgridError: it uses a name that is not defined, calls a bias by another name, asks a
            corpus for a size that its sources have no words for, or excludes what it does not have.
    """
    where = f"experiments: {e.name}"
    models = [(v.model, v.sizes) if isinstance(v, SizedModel) else (v, e.sizes) for v in e.models]
    if lines := [
        *unknown(where, "condition", e.dosed, given.conditions),
        *unknown(where, "recipe", [e.recipe], given.recipes),
        *unknown(where, "model", [name for name, _ in models], given.models),
    ]:
        raise PoshgridError(*lines)
    _check_biases(where, e.biases, given)
    excluded = [x.model_dump(exclude_none=True) for x in e.exclude]
    matched = [False] * len(excluded)
    left = False
    axes = itertools.product(e.dosed, e.sizes, models, e.biases, e.seeds)
    for condition, size, (model, sizes), bias, seed in axes:
        if size not in sizes:
            continue
        run = Run(condition, size, model, e.recipe, bias, seed)
        out = [all(getattr(run, axis) == v for axis, v in x.items()) for x in excluded]
        matched = [a or b for a, b in zip(matched, out, strict=True)]
        if not any(out):
            _check_cell(where, condition, size, given)
            left = True
            yield run
    for axes_of, found in zip(excluded, matched, strict=True):
        if not found:
            named = ", ".join(f"{axis}: {value}" for axis, value in axes_of.items())
            raise PoshgridError(
                f"{where}: exclude: {{{named}}} matches no point of the experiment, and leaves "
                "nothing out; mend it or take it away"
            )
    if not left:
        raise PoshgridError(
            f"{where}: exclude leaves out every point; exclude less, or take the experiment away"
        )


def _check_biases(where: str, combined: Iterable[str], given: Definitions) -> None:
    """Refuse biases that are unknown, or that name the same model as other words do."""
    for word in combined:
        distinct = list(dict.fromkeys(parts(word)))
        name = "+".join(distinct) or "none"
        if word != name:
            raise PoshgridError(
                f"{where}: {word!r} is another name for {name!r}: each bias is named once, and "
                f"none stands alone; write {name}"
            )
        for part in distinct:
            if part in given.config.biases:
                continue
            if part in plugins.names(BIASES):
                known = ", ".join(sorted(given.config.biases))
                raise PoshgridError(
                    f"{where}: unknown bias {part!r}{known and f'; known: {known}'}; "
                    f"write {part}: {{}} under biases"
                )
            check_names(where, "bias", [part], plugins.names(BIASES))


def _check_cell(where: str, condition: str, size: str, given: Definitions) -> None:
    if given.conditions[condition].prebuilt:
        return
    corpus = given.corpus_of(condition)
    for portion in corpus.sources:
        if size not in portion.words:
            raise PoshgridError(
                f"corpora: {corpus.name}: source {portion.source!r} has no words for size "
                f"{size!r}, which {where} asks for; add {size}: <words> (0 for none)"
            )
        check_names(f"corpora: {corpus.name}", "source", [portion.source], given.sources)


class Targets(Definitions):
    """The runs of every target.

    Raises:
        PoshgridError: a name that an experiment, condition or corpus uses is not defined, or
        ``only``
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

    @cached_property
    def counted(self) -> set[tuple[str, str]]:
        """The (condition, size) pairs that baselines count though nothing is trained on them.

        Raises:
            PoshgridError: a condition is not defined, or its corpus has no such size.
        """
        cells = {(name, size) for name, sizes in self.config.counted.items() for size in sizes}
        check_names("counted", "condition", self.config.counted, self.conditions)
        for name, size in sorted(cells):
            _check_cell("counted", name, size, self)
        return cells

    def baselines(self, runs: Iterable[Run]) -> list[Run]:
        """Return the untrained and n-gram models that the given runs are measured against."""
        runs, asked = list(runs), self.config.baselines
        found = {
            Run(r.condition, r.size, r.model, UNTRAINED, "none", r.seed)
            for r in runs
            if UNTRAINED in asked
        }
        cells = self.counted | {(r.condition, r.size) for r in runs}
        words = [baseline for baseline in WORD_BASELINES if baseline in asked]
        return sorted(found | {Run(*c, word, COUNTED, "none", 0) for c in cells for word in words})

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
                model = each.model or name
                run = Run(each.condition, each.size, model, RELEASED, "none", each.seed)
            if run in found:
                raise PoshgridError(
                    f"pretrained: {found[run].name!r} and {name!r} have one place in the grid "
                    f"({run.name}); give them other seeds or models"
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
        placed = (run for run in self.given if run.recipe == RELEASED)
        return sorted({*self.targets.get(target, []), *placed}) or self.given

    def made(self, target: str) -> list[Run]:
        """Return a target's runs and their baselines: the models that the workflow makes."""
        found = self.targets.get(target, [])
        return found + self.baselines(found)

    def kept(self, target: str) -> list[Run]:
        """Return the models of :meth:`made` that have a folder: untrained ones are only scored."""
        return [run for run in self.made(target) if run.recipe != UNTRAINED]

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
        for name, model in self.regressions.items():
            kept = parse_only(model.only, f"regressions: {name}: only")
            ours = [run for run in self.shown(target) if run.recipe != PRETRAINED]
            runs = [run for run in ours if agrees(run, kept)]
            axes = {contrast.factor for contrast in model.contrasts} & set(AXES)
            if runs and all(len({getattr(run, axis) for run in runs}) > 1 for axis in axes):
                found.append(name)
        return sorted(found)

    def cells(self, target: str) -> list[tuple[str, str]]:
        """Return the (condition, size) pairs of a target, sorted by condition and words."""
        pairs = self.counted | self.tokenized(target)
        return sorted(pairs, key=lambda pair: (pair[0], words(pair[1])))

    def tokenized(self, target: str) -> set[tuple[str, str]]:
        """Return the (condition, size) pairs of a target that models are trained on."""
        return {(r.condition, r.size) for r in self.targets.get(target, [])}

    @cached_property
    def every_run(self) -> frozenset[Run]:
        """The runs of all experiments, ``only`` left aside: it must change no spec."""
        return frozenset(r for e in self.experiments.values() for r in product(e, self))

    @property
    def every_cell(self) -> list[tuple[str, str]]:
        """The (condition, size) pairs of all experiments, and those that are only counted."""
        return sorted(self.counted | {(run.condition, run.size) for run in self.every_run})

    @property
    def placed_runs(self) -> frozenset[Run]:
        """The runs of all experiments, and the models of others that have a place beside them."""
        return self.every_run | {run for run in self.given if run.recipe == RELEASED}
