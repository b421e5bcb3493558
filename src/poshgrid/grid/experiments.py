"""From an experiment to its runs: a full factorial, less what it excludes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from poshgrid import plugins
from poshgrid.config import Experiment, SizedLearner
from poshgrid.config.runs import Run, parts
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
            base for a size that its sources have no words for, or excludes what it does not have.
    """
    where = f"experiments: {e.name}"
    learners = [
        (v.learner, v.sizes) if isinstance(v, SizedLearner) else (v, e.sizes) for v in e.learners
    ]
    if lines := [
        *unknown(where, "condition", e.dosed, given.conditions),
        *unknown(where, "regimen", [e.regimen], given.regimens),
        *unknown(where, "learner", [name for name, _ in learners], given.learners),
    ]:
        raise PoshgridError(*lines)
    _check_biases(where, e.biases, given)
    excluded = [x.model_dump(exclude_none=True) for x in e.exclude]
    matched = [False] * len(excluded)
    left = False
    axes = itertools.product(e.dosed, e.sizes, learners, e.biases, e.seeds)
    for condition, size, (learner, sizes), bias, seed in axes:
        if size not in sizes:
            continue
        run = Run(condition, size, learner, e.regimen, bias, seed)
        out = [all(getattr(run, axis) == v for axis, v in x.items()) for x in excluded]
        matched = [a or b for a, b in zip(matched, out, strict=True)]
        if not any(out):
            _check_cell(where, run, given)
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


def _check_cell(where: str, run: Run, given: Definitions) -> None:
    if given.conditions[run.condition].prebuilt:
        return
    base = given.base_of(run.condition)
    for portion in base.sources:
        if run.size not in portion.words:
            raise PoshgridError(
                f"bases: {base.name}: source {portion.source!r} has no words for size "
                f"{run.size!r}, which {where} asks for; add {run.size}: <words> (0 for none)"
            )
        check_names(f"bases: {base.name}", "source", [portion.source], given.sources)
