"""The gate of a fit: does it converge, if needed with stricter settings, and may it be quoted?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.config import Regression
from poshgrid.core import logs
from poshgrid.statistics import summary

if TYPE_CHECKING:
    import arviz
    import pandas as pd

MAX_R_HAT, MIN_ESS = 1.01, 400.0  # of a converged fit
OUTSIDE = 0.05  # share of cells that a correct model leaves outside its 95% intervals
SURE = 0.05  # a misfit with a smaller probability is not taken for chance
SETTINGS = ("target_accept", "warmup", "draws")

log = logs.get(__name__)


Attempts = list[dict[str, Any]]
"""Each has: target_accept, warmup, draws, seconds, divergences, max_r_hat, min_ess, converged,
reasons (why it did not converge)."""


def converge(
    draw: Callable[[Regression], arviz.InferenceData],
    frame: pd.DataFrame,
    model: Regression,
) -> tuple[arviz.InferenceData, pl.DataFrame, Attempts]:
    """Draw from a posterior, and once more if the draws do not pass the gate.

    The gate: R-hat <= 1.01, effective sample size (bulk and tail) >= 400 (Vehtari et al. 2021,
    Bayesian Analysis 16), no divergence; see :func:`diagnose`.

    Args:
        draw: an engine.
        frame: the data, whose categoricals give each factor's levels.
        model: settings of the first attempt.

    Returns:
        Draws and table (``SUMMARY``) of the last attempt; facts about all attempts.
    """
    attempts: Attempts = []
    while True:
        started = time.monotonic()
        inference = draw(model)
        seconds = time.monotonic() - started
        table = summary.summarise(inference["posterior"], frame)
        diagnosis = diagnose(table, int(inference["sample_stats"]["diverging"].sum()))
        settings = {name: getattr(model, name) for name in SETTINGS}
        attempts.append({**settings, "seconds": round(seconds, 1), **diagnosis})
        if diagnosis["converged"] or len(attempts) > 1:
            return inference, table, attempts
        reasons = "; ".join(diagnosis["reasons"])
        log.warning("%s: not converged (%s); drawing again, more strictly", model.name, reasons)
        # A fifth of the distance to an acceptance of 1, and twice the draws
        accept = round(1 - (1 - model.target_accept) / 5, 6)
        stricter = {
            "target_accept": accept, "warmup": 2 * model.warmup, "draws": 2 * model.draws
        }  # fmt: skip
        model = model.model_copy(update=stricter)


def diagnose(rows: pl.DataFrame, divergences: int) -> dict[str, Any]:
    """Check a fit against the gate: R-hat <= 1.01, ESS (bulk and tail) >= 400, no divergence.

    Args:
        rows: columns of ``SUMMARY``.
        divergences: draws after warm-up whose trajectory diverged.

    Returns:
        divergences, max_r_hat, min_ess, converged, reasons (why it did not converge).
    """
    reasons = []
    stuck = rows.filter(pl.any_horizontal(pl.col("ess_bulk", "ess_tail").is_null()))
    r_hat = None if rows["r_hat"].has_nulls() else rows.select(pl.max("r_hat")).item()
    ess = rows.select(pl.min_horizontal(pl.min("ess_bulk"), pl.min("ess_tail"))).item()
    if stuck.height:
        ess = None
        reasons.append(f"the draws of {stuck['term'][0]} do not move or are not numbers")
    elif r_hat is None:
        reasons.append("R-hat cannot be computed: run at least two chains")
    elif r_hat > MAX_R_HAT:
        reasons.append(f"R-hat {r_hat:.3f} > {MAX_R_HAT}")
    if ess is not None and ess < MIN_ESS:
        reasons.append(f"ESS {ess:.0f} < {MIN_ESS:.0f}")
    if divergences:
        reasons.append(f"{divergences} divergence{'s' if divergences > 1 else ''}")
    return {
        "divergences": divergences,
        "max_r_hat": None if r_hat is None else round(r_hat, 4),
        "min_ess": None if ess is None else round(ess, 1),
        "converged": not reasons,
        "reasons": reasons,
    }


def doubts(diagnostics: Mapping[str, Any]) -> list[str]:
    """Return the reasons why a fit may not be quoted; empty if it may.

    Args:
        diagnostics: content of diagnostics.json; without a predictive check, a fit has doubts.
    """
    from scipy.stats import binom

    check = diagnostics.get("predictive") or {}
    if not diagnostics.get("converged"):
        return ["not converged", *diagnostics.get("reasons", [])]
    if not check.get("cells"):
        return ["no predictive check"]
    out = check["cells"] - check["inside"]
    reasons = []
    if binom.sf(out - 1, check["cells"], OUTSIDE) < SURE:  # more than chance explains
        reasons.append(f"{out} of {check['cells']} cells outside their 95% predictive intervals")
    if (p := check.get("p")) is not None and p < SURE:
        reasons.append(f"single runs vary more than the model allows (p = {p:g})")
    return reasons


def complaint(attempts: Attempts) -> str:
    """Return one line: how many attempts, what is wrong with the last one, what to change."""
    last, count = attempts[-1], len(attempts)
    return (
        f"not converged after {count} attempts: {'; '.join(last['reasons'])}: raise target_accept "
        f"(last {last['target_accept']:g}), warmup and draws (last {last['warmup']:,} and "
        f"{last['draws']:,}), or drop a term about which the data say little, such as a group of "
        "two levels"
    )
