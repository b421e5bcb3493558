"""Which effects can a planned grid show? How often the interval of a contrast would exclude 0.

Log odds of some hundred pairs are nearly normal. If they are normal and the SDs of groups are
known, the posterior of the coefficients has a closed form, and so has its distribution over
samples: that of generalised least squares with normal priors (Lindley & Smith 1972, J. Royal
Statistical Society B 34). Let the rows be ``z = eta + noise``, with coded predictors ``X``, prior
precisions ``P`` and the model's covariance of the rows ``V``. For a contrast ``c``,

    A = X' V^-1 X + P,   w = V^-1 X A^-1 c,   sd = sqrt(c' A^-1 c)

``sd`` is the posterior SD, and ``w' z`` the posterior mean. Over samples, this mean is normal
around ``w' eta`` with variance ``w' S w``. ``S`` is the true covariance: it may have groups that
the formula lacks, and then an effect of 0 is found too often.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import optimize, stats
from scipy.special import logit

from poshgrid.config import Regression
from poshgrid.config.formula import SUITE
from poshgrid.config.runs import AXES, Run
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation import judgements
from poshgrid.grid.grid import Grid
from poshgrid.statistics import contrasts, design
from poshgrid.statistics.fast.formula import refuses, terms
from poshgrid.statistics.predictor import Predictor
from poshgrid.statistics.schema import COUNTS

GROUPS = ("seed", "run", "point", "cell")
"""Groups that may have effects in the assumed truth."""
PUBLISHED = {
    "seed": 0.06, "point": 0.29, "cell[binding]": 0.16, "cell[island]": 0.40,
    "cell[question-formation]": 0.09, "cell[wanna]": 0.34, "cell": 0.29,
}  # fmt: skip
"""SDs (log odds) of the 33 published models of POSH-BENCH. Of cells: the SDs over three seeds in
Table 8 minus the variance of 500 coin tosses (``cell``: the root mean square). Of points: the
residuals of the means in Table 8, as log odds, after size by category by condition and phenomena,
minus the variance of seeds. Of seeds: Table 12.
"""
ENOUGH = 0.8
"""Power for which ``least`` is computed."""
POWER = {
    "contrast": pl.String,
    "by": pl.String,  # the difference is taken at one level of this factor; "": on all data
    "level": pl.String,
    "seeds": pl.UInt32,  # of each point of the grid
    "effect": pl.Float64,  # true difference in accuracy, share
    # probability that the interval is on the effect's side of 0; on either side for an effect of 0
    "power": pl.Float64,
    "wrong": pl.Float64,  # probability that it is on the other side; null for an effect of 0
    "least": pl.Float64,  # smallest effect whose power is .8; null: no effect has that power
}

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
"""Items of an invented suite: before the items of a study are made, its categories are unknown."""


def counts_of(grid: Grid, runs: Iterable[Run], units: pl.DataFrame, suite: str) -> pl.DataFrame:
    """Return invented counts of runs: columns of ``COUNTS``, half of the pairs right.

    Args:
        grid: of the configuration.
        runs: of its targets.
        units: category, phenomenon, template, n (number of pairs).
        suite: name of the suite.
    """
    facts = {key: cell for target in grid.targets for key, cell in grid.cell_facts(target).items()}
    rows = pl.DataFrame(
        {
            **{axis: getattr(run, axis) for axis in AXES},
            **facts[f"{run.condition}/{run.size}"].model_dump(),
        }
        for run in runs
    )
    whole = {"suite": pl.lit(suite), "ties": pl.lit(0), "correct": pl.col("n") // 2}
    counts = rows.join(units, how="cross").with_columns(**whole)
    return counts.select(list(COUNTS)).cast(pl.Schema(COUNTS))


def check_regressions(grid: Grid) -> None:
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


def planned(grid: Grid, target: str, suite: str, seeds: int | None = None) -> pl.DataFrame:
    """Return invented counts (``COUNTS``) of all runs of a target, before any model is judged.

    Args:
        grid: of the configuration.
        target: experiment.
        suite: a suite whose items exist.
        seeds: number of seeds for each point of the grid; default: as configured.

    Raises:
        PoshgridError: the suite's items do not exist.
    """
    path = Path(grid.paths.items(suite))
    if not path.is_file():
        raise PoshgridError(
            f"{path}: not found; make the suite's items first: `poshgrid run {path}`"
        )
    pairs = judgements.read_items(path)
    joint = pairs.filter("joint").unique([*judgements.JOINED])
    judged = pl.concat([pairs.filter(~pl.col("joint")), joint])
    units = judged.group_by("category", "phenomenon", "template").agg(n=pl.len()).sort(pl.all())
    runs = sorted(grid.targets[target])
    if seeds is not None:
        points = dict.fromkeys(replace(run, seed=0) for run in runs)
        runs = [replace(point, seed=number) for point in points for number in range(seeds)]
    return counts_of(grid, runs, units, suite)


def power(
    counts: pl.DataFrame,
    model: Regression,
    *,
    effects: Sequence[float],
    sds: Mapping[str, float] = PUBLISHED,
    accuracy: float = 0.6,
) -> tuple[pl.DataFrame, list[str]]:
    """Return the probability that each contrast of a model is found.

    In every cell, the first level of a contrast is half the effect above ``accuracy``, the other
    level half the effect below. A contrast is found if its joint interval excludes 0
    (:func:`contrasts.tails`). SDs are taken as known; a real fit has to estimate them, and with two
    or three seeds it finds fewer effects.

    Args:
        counts: of the grid, from :func:`planned`.
        model: formula, priors and contrasts.
        effects: true differences (shares).
        sds: true SD (log odds) of a group, or of ``group[category]``; default: 0.
        accuracy: mean accuracy of the two levels (share).

    Returns:
        Columns of ``POWER``, contrast by contrast, and notes on what was left out.

    Raises:
        PoshgridError: the formula cannot be read or approximated, this grid allows none of the
            model's contrasts, or with an effect an accuracy would be outside 0 to 1.
    """
    widest = 2 * min(accuracy, 1 - accuracy)
    if any(abs(effect) >= widest for effect in effects):
        raise PoshgridError(
            f"--effects: at accuracy {accuracy:g} an effect is less than {100 * widest:g} points"
        )
    made = design.design(counts, model.formula, counts["suite"][0], model.only, model.phenomena)
    if refusal := refuses(made):
        raise PoshgridError(f"regressions: {model.name}: no power of this formula: {refusal}")
    predictor = Predictor(made, {})  # type: ignore[arg-type]
    grid = contrasts.ReferenceGrid(made, predictor)
    notes = list(made.notes)
    modelled, truth, common = _covariances(made, model, sds, accuracy)
    columns = np.hstack([term.columns for term in common])
    weights = np.linalg.solve(modelled, columns)
    scales = np.concatenate([np.full(term.size, term.scale) for term in common])
    posterior = np.linalg.inv(columns.T @ weights + np.diag(scales**-2))
    rows: list[dict[str, Any]] = []
    for contrast in model.contrasts:
        parts = list(contrasts.slices(contrast, grid, notes))
        levels = made.frame[contrast.factor].astype(str) if parts else None
        for part, tail in zip(parts, contrasts.tails(parts), strict=True):
            signs = np.select([levels == part.first, levels == contrast.less], [1, -1], 0)
            coefficients = part.signed @ predictor.matrix(part.rows)
            weight = weights @ posterior @ coefficients
            critical = stats.norm.isf(tail) * np.sqrt(coefficients @ posterior @ coefficients)
            sd = np.sqrt(weight @ truth @ weight)

            sides = functools.partial(_sides, signs, weight, critical, sd, accuracy)
            least = None
            if sides(0.999 * widest)[0] >= ENOUGH:
                least = optimize.brentq(
                    lambda x, sides=sides: sides(x)[0] - ENOUGH, 0, 0.999 * widest
                )
            for effect in effects:
                right, wrong = sides(effect)[:: -1 if effect < 0 else 1]
                rows.append(
                    {
                        "contrast": contrasts.called(contrast, part.first),
                        "by": part.by,
                        "level": part.level,
                        "seeds": made.frame["seed"].nunique(),
                        "effect": effect,
                        "power": right if effect else right + wrong,
                        "wrong": wrong if effect else None,
                        "least": least,
                    }
                )
    if not rows:
        reason = notes[-1] if notes else "it has no contrasts"
        raise PoshgridError(f"regressions: {model.name}: nothing to find on this grid: {reason}")
    return pl.DataFrame(rows, schema=POWER), list(dict.fromkeys(notes))


def _sides(
    signs: np.ndarray,
    weight: np.ndarray,
    critical: float,
    sd: float,
    accuracy: float,
    effect: float,
) -> tuple[float, float]:
    """Return the probabilities that the interval is above 0 and below 0, for an effect (share)."""
    mean = weight @ logit(accuracy + signs * effect / 2)
    ends = stats.norm.sf((critical + np.array([-mean, mean])) / sd)
    return float(ends[0]), float(ends[1])


def _covariances(
    made: design.Design, model: Regression, sds: Mapping[str, float], accuracy: float
) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    """Return the model's covariance of the rows' log odds, the true one, and the common terms.

    The model takes the SD of a group that is not in ``GROUPS``, such as phenomena, from its prior:
    the mean.
    """
    categories = made.frame["category"].astype(str)
    noise = np.diag(1 / (made.frame["n"].to_numpy() * accuracy * (1 - accuracy)))
    of_model = terms(made, model)
    modelled, truth = noise.copy(), noise.copy()
    of_formula = {term.name.partition("|")[2]: term for term in of_model if term.group}
    for group in {**dict.fromkeys(GROUPS), **of_formula}:
        term = of_formula.get(group)
        if term is None:
            codes = made.frame[group].cat.codes.to_numpy()
            same = codes[:, None] == codes
        else:
            same = term.columns @ term.columns.T
        sd = np.array([sds.get(f"{group}[{c}]", sds.get(group, 0.0)) for c in categories])
        known = np.outer(sd, sd) * same
        truth += known
        if term is not None:
            modelled += known if group in GROUPS else same / term.scale**2
    return modelled, truth, [term for term in of_model if not term.group]
