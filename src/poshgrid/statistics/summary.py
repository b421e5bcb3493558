"""A posterior as a table: medians, intervals and convergence of every coefficient and level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from poshgrid.statistics.schema import SUMMARY

if TYPE_CHECKING:
    import pandas as pd
    import xarray

_NAMES = {
    "size_z": "Training size (z)",
    "filter": "Filtering",
    "source": "Training source",
}


def summarise(posterior: xarray.Dataset, frame: pd.DataFrame) -> pl.DataFrame:
    """Return one row per coefficient, group SD and group level.

    A sum-coded factor of k levels has k - 1 coefficients; that of the last level is minus their
    sum. It is computed draw by draw and marked ``implicit``. A factor of two levels has a row for
    the first level only.

    Args:
        posterior: variables of bambi's posterior, with dimensions chain, draw and at most one more.
        frame: the data, whose categoricals give each factor's levels.

    Returns:
        Columns of ``SUMMARY``: coefficients in the order of the formula, SDs, groups.
    """
    order = {"common": 0, "sd": 1, "group": 2}
    rows = sorted(_rows(posterior, frame), key=lambda row: order[row["kind"]])
    return pl.DataFrame(rows, schema=SUMMARY)


def _rows(posterior: xarray.Dataset, frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table, in the order of the posterior's variables."""
    for name in map(str, posterior.data_vars):
        if name.endswith("__"):  # a transformed variable that nutpie stores, too
            continue
        variable = posterior[name]
        effect, bar, group = name.removesuffix("_sigma").partition("|")
        kind = "common" if not bar else "sd" if name.endswith("_sigma") else "group"
        known = None
        if kind == "group" and variable.ndim == 4:
            known = _combinations(effect, group, frame)
        for level, implicit, draws in _levels(variable, frame):
            if known is not None and tuple(level) not in known:
                continue  # no count has both, such as a cell and a category that is not its own
            inner = level if kind == "sd" else level[:-1]
            of = "intercept" if effect == "1" else _label(effect, inner, frame)
            if kind == "common":
                label = _label(name, level, frame)
            elif kind == "sd":
                label = f"{group.capitalize()} {of} SD"
            else:
                label = f"{group.capitalize()} {level[-1]}{f', {of}' if inner else ''}"
            term = f"{name}[{', '.join(level)}]" if level else name
            row = {"term": term, "label": label, "kind": kind, "implicit": implicit}
            yield row | describe(draws)


def _combinations(effect: str, group: str, frame: pd.DataFrame) -> set[tuple[str, str]] | None:
    """Return the pairs of predictor level and group level in the data; None without factors."""
    factors = effect.split(":")
    if not all(hasattr(frame.get(name), "cat") for name in (*factors, group)):
        return None
    levels = frame[factors].astype(str).agg(", ".join, axis=1)
    return set(zip(levels, frame[group].astype(str), strict=True))


def _levels(
    variable: xarray.DataArray, frame: pd.DataFrame
) -> Iterator[tuple[list[str], bool, np.ndarray]]:
    """Yield level, implicit and draws of each effect of a term, implicit effects included."""
    name, values = str(variable.name), variable.values
    factors = [f for f in name.split(":") if _factor(f) in frame.columns and "(" in f]
    levels = [list(map(str, frame[_factor(f)].cat.categories)) for f in factors]
    coded = math.prod(len(known) - 1 for known in levels)
    sums = "|" not in name and bool(factors) and all(f.startswith("S(") for f in factors)
    if not sums or values.shape[2:] != (coded,):  # not sum-coded: no level is implicit
        names = [[str(x) for x in variable.coords[dim].values] for dim in variable.dims[2:]]
        for index in np.ndindex(values.shape[2:]):
            level = [known[i] for i, known in zip(index, names, strict=True)]
            yield level, False, values[(slice(None), slice(None), *index)]
        return
    cube = values.reshape(*values.shape[:2], *(len(known) - 1 for known in levels))
    for axis, known in enumerate(levels, start=2):
        if len(known) > 2:
            cube = np.concatenate([cube, -cube.sum(axis=axis, keepdims=True)], axis=axis)
    for index in np.ndindex(cube.shape[2:]):
        implicit = any(i == len(known) - 1 for i, known in zip(index, levels, strict=True))
        level = [known[i] for i, known in zip(index, levels, strict=True)]
        yield level, implicit, cube[(slice(None), slice(None), *index)]


def _factor(part: str) -> str:
    """Return the variable in one part of a term: ``S(filter)`` -> ``filter``."""
    return part.partition("(")[2].rstrip(")").split(",", maxsplit=1)[0] if "(" in part else part


def _label(name: str, level: list[str], frame: pd.DataFrame) -> str:
    levels = ", ".join(level).split(", ") if level else []
    words = []
    for part in name.split(":"):
        variable = _factor(part)
        word = _NAMES.get(variable, variable.replace("_", " ").capitalize())
        if levels and hasattr(frame.get(variable), "cat"):
            chosen = levels.pop(0)
            known = [str(c) for c in frame[variable].cat.categories]
            # A factor without a coding has a coefficient for each level
            contrast = f"{chosen} vs. {known[1]}" if len(known) == 2 and "(" in part else chosen
            word = f"{word} ({contrast})"
        words.append(word)
    return " × ".join(words)


def describe(draws: np.ndarray) -> dict[str, float | None]:
    """Return median, mean, sd, low and high (2.5% and 97.5% quantiles), r_hat, ess_bulk, ess_tail.

    R-hat and the effective sample sizes are None where they are not defined: R-hat of one chain,
    and all three if all draws are equal.

    Args:
        draws: chain x draw.
    """
    import arviz

    low, median, high = map(float, np.quantile(draws, [0.025, 0.5, 0.975]))
    moves = bool(np.ptp(draws) > 0)

    def number(measure: Callable[..., Any], **options: str) -> float | None:
        value = float(measure(draws, **options)) if moves else math.nan
        return value if math.isfinite(value) else None

    return {
        "median": median,
        "mean": float(draws.mean()),
        "sd": float(draws.std(ddof=1)),
        "low": low,
        "high": high,
        "r_hat": number(arviz.rhat) if len(draws) > 1 else None,
        "ess_bulk": number(arviz.ess, method="bulk"),
        "ess_tail": number(arviz.ess, method="tail"),
    }
