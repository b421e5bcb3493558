"""Posterior predictive check: could the fitted model have produced the counts of each cell?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.special import expit

from poshgrid.statistics.design import Design
from poshgrid.statistics.predictor import Predictor
from poshgrid.statistics.schema import PREDICTIVE, RUN_AXES

if TYPE_CHECKING:
    import xarray

REPLICATIONS = 4_000
"""Largest number of draws that are replicated: more would not change an interval's second digit."""
_CELL = [*RUN_AXES, "category", "phenomenon"]


def predictive(
    posterior: xarray.Dataset, made: Design, seed: int
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Compare the counts with replications drawn from the posterior.

    For each draw of the parameters, group effects included, new counts of every run and phenomenon
    are drawn from the binomial (Gelman, Meng & Stern 1996, Statistica Sinica 6). In a cell, the
    counts of its seeds are summed. The discrepancy is chi-square over single runs, before seeds are
    summed: it shows seeds that differ more than binomial counts do, even where their mean is well
    predicted.

    A model with a ``(1|cell)`` term has an effect for every count and so fits noise: more than 95%
    of its cells are inside their intervals.

    Args:
        posterior: draws of the fit, with bambi's names of variables.
        made: the design that was fitted.
        seed: of the replications.

    Returns:
        Columns of ``PREDICTIVE``, and a dictionary: cells (their number), inside (number of cells
        whose observed share is within its 95% interval), share (of cells inside), p (posterior
        predictive p of the chi-square discrepancy; near 0: the counts vary more than the model
        allows).
    """
    predictor = Predictor(made, posterior)
    chains, draws = predictor.shape
    every = -(-chains * draws // REPLICATIONS)
    frame = made.frame
    # At 0 or 1 the discrepancy would divide by 0.
    probability = np.clip(expit(predictor.linear(frame, every)), 1e-12, 1 - 1e-12)
    n, correct = frame["n"].to_numpy(), frame["correct"].to_numpy(dtype=float)
    replicated = np.random.default_rng(seed).binomial(n, probability)

    groups = frame.groupby(_CELL, observed=True, sort=False).indices
    rows = []
    for cell, index in groups.items():
        pairs, right = int(n[index].sum()), float(correct[index].sum())
        counts = replicated[:, index].sum(axis=1)
        low, median, high = map(float, np.quantile(counts, [0.025, 0.5, 0.975]) / pairs)
        upper = (counts > right).mean() + 0.5 * (counts == right).mean()
        rows.append(
            {
                **dict(zip(_CELL, cell, strict=True)),
                "n_seeds": frame["seed"].iloc[index].nunique(),
                "n": pairs,
                "observed": right / pairs,
                "predicted": median,
                "low": low,
                "high": high,
                "p": float(min(1.0, 2 * min(upper, 1 - upper))),
            }
        )
    table = pl.DataFrame(rows, schema=PREDICTIVE)
    inside = table.filter(pl.col("observed").is_between("low", "high")).height
    observed, expected = (_discrepancy(c, n, probability) for c in (correct, replicated))
    return table, {
        "cells": table.height,
        "inside": inside,
        "share": round(inside / table.height, 4),
        "p": round(float((expected >= observed).mean()), 4),
    }


def _discrepancy(counts: np.ndarray, n: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Return the sum over counts of squared standardised residuals: one number per draw."""
    variance = n * probability * (1 - probability)
    return ((counts - n * probability) ** 2 / variance).sum(axis=1)
