"""What is wrong with the configured Bayesian models, said before any job runs."""

from __future__ import annotations

import polars as pl

from poshgrid.config import BayesianModel
from poshgrid.config.formula import SUITE
from poshgrid.errors import PoshgridError
from poshgrid.grid.grid import Grid
from poshgrid.statistics import design
from poshgrid.statistics.power import counts_of

_UNITS = pl.DataFrame(
    [
        {
            "category": category,
            "phenomenon": f"{category}-{n}",
            "template": f"template-{template}",
            "lexical_set": f"set-{template}",
            "n": 10,
        }
        for category in ("binding", "island", "question-formation", "wanna")
        for n in range(2)
        for template in range(2)
    ]
)


def check(grid: Grid) -> None:
    """Try every formula on counts made up for the grid's runs.

    Items, and so the real categories, are not there yet.

    Raises:
        PoshgridError: a formula cannot be fitted to such counts; one line for each model.
    """
    wrong = []
    for name, model in grid.models.items():
        try:
            _try(grid, model)
        except PoshgridError as error:
            wrong.append(f"models: {name}: {str(error).removeprefix('models: ')}")
    if wrong:
        raise PoshgridError(*wrong)


def _try(grid: Grid, model: BayesianModel) -> None:
    try:
        if any(model.name in grid.fitted(target) for target in grid.targets):
            runs = sorted({run for found in grid.targets.values() for run in found})
            counts = counts_of(grid, runs, _UNITS, SUITE)
            design.design(counts, model.formula, only=model.only)
        else:
            design.terms(model.formula)
    except PoshgridError:
        raise
    except Exception as error:  # formulae raises its own and Python's errors
        reason = " ".join(str(error).split())
        raise PoshgridError(
            f"formula {model.formula!r} cannot be fitted ({type(error).__name__}: {reason}); see "
            "docs/configuration.md"
        ) from error
