"""What is wrong with the configured Bayesian models, said before any job runs."""

from __future__ import annotations

import polars as pl

from poshgrid.config import BayesianModel
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.grid.grid import Grid
from poshgrid.statistics import design
from poshgrid.statistics.schema import COUNTS

_CATEGORIES = ("binding", "island", "question-formation", "wanna")


def check(grid: Grid) -> None:
    """Hold every model of a configuration to the runs that it would be fitted to.

    Formulas are tried on counts made up for the grid's runs; items, and so the real categories, are
    not there yet.

    Raises:
        PoshgridError: a formula cannot be read or names an unknown variable; a contrast names an
            unknown factor or level, a suite is unknown; one line for each model.
    """
    wrong = []
    for name, model in grid.models.items():
        try:
            _check(grid, model)
        except PoshgridError as error:
            wrong.append(f"models: {name}: {str(error).removeprefix('models: ')}")
    if wrong:
        raise PoshgridError("\n".join(wrong))


def _check(grid: Grid, model: BayesianModel) -> None:
    pairs = [suite for suite, task in grid.tasks.items() if task == "pairs"]
    if model.suite and model.suite not in pairs:
        raise PoshgridError(f"unknown suite {model.suite!r}{did_you_mean(model.suite, pairs)}")
    counts = _counts(grid)
    fitted = [target for target in grid.targets if model.name in grid.fitted(target)]
    if fitted:
        design.design(counts, model.formula, only=model.only)
    else:
        design.terms(model.formula)
    for contrast in model.contrasts:
        levels = {
            **{axis: set(counts[axis]) for axis in ("condition", "learner", "regimen", "bias")},
            "size": set(counts["size"]),
            "source": set(counts["source"]),
            "filter": {"yes", "no"},
            "category": None,  # the items' own
            "phenomenon": None,
        }
        for factor in (contrast.factor, *contrast.by):
            if factor not in levels:
                raise PoshgridError(
                    f"contrast of unknown factor {factor!r}{did_you_mean(factor, levels)}"
                )
        known = levels[contrast.factor]
        for level in filter(None, (contrast.first, contrast.less)):
            if known is not None and level not in known:
                raise PoshgridError(
                    f"contrast: {contrast.factor} has no level {level!r}"
                    f"{did_you_mean(level, known)}"
                )


def _counts(grid: Grid) -> pl.DataFrame:
    """Return made-up counts of all trained runs."""
    facts = {key: cell for target in grid.targets for key, cell in grid.cell_facts(target).items()}
    runs = sorted({run for found in grid.targets.values() for run in found})
    rows = [
        {
            **{axis: getattr(run, axis) for axis in ("condition", "size", "learner", "regimen")},
            "bias": run.bias,
            "seed": run.seed,
            "suite": design.SUITE,
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
