"""Check the configured Bayesian models before any job runs."""

from __future__ import annotations

import polars as pl

from poshgrid.config.formula import SUITE
from poshgrid.core.errors import PoshgridError
from poshgrid.grid.grid import Grid
from poshgrid.statistics import design
from poshgrid.statistics.power import counts_of

_UNITS = pl.DataFrame(
    [
        (category, f"{category}-{n}", f"template-{template}", 10)
        for category in ("binding", "island", "question-formation", "wanna")
        for n in range(2)
        for template in range(2)
    ],
    schema=["category", "phenomenon", "template", "n"],
    orient="row",
)


def check(grid: Grid) -> None:
    """Check every formula and its priors on invented counts of the grid's runs.

    The items, and so the real categories, do not exist yet.

    Raises:
        PoshgridError: a formula cannot be fitted to such counts; one line for each model.
    """
    wrong = []
    runs = sorted({run for of_target in grid.targets.values() for run in of_target})
    for name, model in grid.regressions.items():
        try:
            if any(name in grid.fitted(target) for target in grid.targets):
                counts = counts_of(grid, runs, _UNITS, SUITE)
                design.design(counts, model.formula, only=model.only)
            design.check_priors(model)
        except PoshgridError as error:
            wrong.append(f"regressions: {name}: {str(error).removeprefix('regressions: ')}")
        except Exception as error:  # formulae raises its own errors and Python's
            wrong.append(
                f"regressions: {name}: formula {model.formula!r} cannot be fitted "
                f"({type(error).__name__}: {' '.join(str(error).split())}); see "
                "docs/configuration.md"
            )
    if wrong:
        raise PoshgridError(*wrong)
