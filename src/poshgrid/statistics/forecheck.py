"""What is wrong with the configured Bayesian models, said before any job runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from poshgrid.config import SUITE, BayesianModel
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.grid import Grid
from poshgrid.runs import AXES, agrees, parse_only

if TYPE_CHECKING:
    import polars as pl

_CATEGORIES = ("binding", "island", "question-formation", "wanna")


def names(grid: Grid) -> None:
    """Hold the names that every model uses to those of the grid; this takes no data and no time.

    Raises:
        PoshgridError: ``only`` matches no run, a contrast names an unknown factor or level, or a
            suite is unknown; one line for each model.
    """
    _each(grid, _names)


def check(grid: Grid) -> None:
    """Try every formula on counts made up for the grid's runs, after :func:`names`.

    Items, and so the real categories, are not there yet.

    Raises:
        PoshgridError: a formula cannot be fitted to such counts; one line for each model.
    """
    names(grid)
    _each(grid, _try)


def _each(grid: Grid, hold: Callable[[Grid, BayesianModel], None]) -> None:
    wrong = []
    for name, model in grid.models.items():
        try:
            hold(grid, model)
        except PoshgridError as error:
            wrong.append(f"models: {name}: {str(error).removeprefix('models: ')}")
    if wrong:
        raise PoshgridError("\n".join(wrong))


def _names(grid: Grid, model: BayesianModel) -> None:
    pairs = [suite for suite, task in grid.tasks.items() if task == "pairs"]
    if model.suite and model.suite not in pairs:
        raise PoshgridError(f"unknown suite {model.suite!r}{did_you_mean(model.suite, pairs)}")
    defined = _defined(grid)
    kept = parse_only(model.only, "only")
    used = {axis: {str(getattr(run, axis)) for run in grid.every_run} for axis in AXES}
    for axis, values in kept.items():
        for value in sorted(values - used[axis] - defined.get(axis, set())):
            raise PoshgridError(
                f"only: no run of the experiments has {axis}={value}"
                f"{did_you_mean(value, used[axis])}"
            )
    here = all(values <= used[axis] for axis, values in kept.items())
    if here and not any(agrees(run, kept) for run in grid.every_run):
        raise PoshgridError(
            f"only: {model.only!r} matches no run of the experiments; mend it or take the model out"
        )
    # A model whose runs another file took away is fitted to nothing: its names need only be names.
    fitted = any(model.name in grid.fitted(target) for target in grid.targets)
    axes = ("condition", "learner", "regimen", "bias", "size")
    levels: dict[str, set[str] | None] = {
        **{axis: used[axis] | (set() if fitted else defined[axis]) for axis in axes},
        "source": {grid.conditions[run.condition].base for run in grid.every_run},
        "filter": {"yes", "no"},
        "category": None,  # the items' own
        "phenomenon": None,
    }
    for contrast in model.contrasts:
        for factor in (contrast.factor, *contrast.by):
            if factor not in levels:
                raise PoshgridError(
                    f"contrast of unknown factor {factor!r}{did_you_mean(factor, levels)}"
                )
        found = levels[contrast.factor]
        for level in filter(None, (contrast.first, contrast.less)):
            if found is not None and level not in found:
                raise PoshgridError(
                    f"contrast: {contrast.factor} has no level {level!r}"
                    f"{did_you_mean(level, found)}"
                )


def _defined(grid: Grid) -> dict[str, set[str]]:
    """Return axis -> the names that the configuration defines, whether experiments use them or not.

    A file laid over another may replace the experiments, and leave models to no runs of its own.
    """
    sizes = {size for base in grid.bases.values() for each in base.sources for size in each.words}
    return {
        "condition": set(grid.conditions),
        "learner": set(grid.learners),
        "regimen": set(grid.regimens),
        "bias": {"none", *grid.config.biases},
        "size": sizes,
    }


def _try(grid: Grid, model: BayesianModel) -> None:
    from poshgrid.statistics import design

    if any(model.name in grid.fitted(target) for target in grid.targets):
        design.design(_counts(grid), model.formula, only=model.only)
    else:
        design.terms(model.formula)


def _counts(grid: Grid) -> pl.DataFrame:
    """Return made-up counts of all trained runs."""
    import polars as pl

    from poshgrid.statistics.schema import COUNTS

    facts = {key: cell for target in grid.targets for key, cell in grid.cell_facts(target).items()}
    runs = sorted({run for found in grid.targets.values() for run in found})
    rows = [
        {
            **{axis: getattr(run, axis) for axis in ("condition", "size", "learner", "regimen")},
            "bias": run.bias,
            "seed": run.seed,
            "suite": SUITE,
            "category": category,
            "phenomenon": f"{category}-{n}",
            "template": f"template-{template}",
            "lexical_set": f"set-{template}",
            "correct": 5.0 + n,
            "ties": 0,
            "n": 10,
            "words": facts[f"{run.condition}/{run.size}"].words,
            "source": facts[f"{run.condition}/{run.size}"].source,
            "filtered": facts[f"{run.condition}/{run.size}"].filtered,
        }
        for run in runs
        for category in _CATEGORIES
        for n in range(2)
        for template in range(2)
    ]
    return pl.DataFrame(rows, schema=COUNTS)
