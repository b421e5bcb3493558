"""The convergence gate: a fit is drawn again, more strictly, until it may be quoted."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid import logs
from poshgrid.config import BayesianModel
from poshgrid.statistics import summary

if TYPE_CHECKING:
    import arviz
    import pandas as pd

log = logs.get(__name__)


@dataclass(frozen=True)
class Fitted:
    """The last attempt at a model.

    Attributes:
        model: its settings.
        inference: its draws.
        table: columns of ``SUMMARY``.
        attempts: all of them: target_accept, warmup, draws, seconds, divergences, max_r_hat,
            min_ess, converged, reasons.
    """

    model: BayesianModel
    inference: arviz.InferenceData
    table: pl.DataFrame
    attempts: list[dict[str, Any]]

    @property
    def converged(self) -> bool:
        """Whether the last attempt passed."""
        return self.attempts[-1]["converged"]


def converge(
    draw: Callable[[BayesianModel], arviz.InferenceData],
    frame: pd.DataFrame,
    model: BayesianModel,
) -> Fitted:
    """Draw from a posterior until the draws pass the gate or the retries are used up.

    The gate: R-hat <= 1.01, effective sample size (bulk and tail) >= 400 (Vehtari et al. 2021,
    Bayesian Analysis 16), no divergence; see :func:`summary.diagnose`.

    Args:
        draw: an engine.
        frame: the data, whose categoricals give each factor's levels.
        model: settings of the first attempt, and how many retries there are.
    """
    attempts: list[dict[str, Any]] = []
    # One chain has no R-hat, however often it is drawn.
    for left in reversed(range(1 + (model.retries if model.chains > 1 else 0))):
        started = time.monotonic()
        inference = draw(model)
        seconds = time.monotonic() - started
        table = summary.summarise(inference["posterior"], frame)
        diagnosis = summary.diagnose(table, int(inference["sample_stats"]["diverging"].sum()))
        attempts.append(
            {
                "target_accept": model.target_accept,
                "warmup": model.warmup,
                "draws": model.draws,
                "seconds": round(seconds, 1),
                **diagnosis,
            }
        )
        if diagnosis["converged"] or not left:
            break
        log.warning(
            "%s: not converged (%s); drawing again, more strictly",
            model.name,
            "; ".join(diagnosis["reasons"]),
        )
        model = stricter(model)
    return Fitted(model, inference, table, attempts)


def stricter(model: BayesianModel) -> BayesianModel:
    """Return a model with a fifth of the distance to acceptance 1, and twice the draws."""
    return model.model_copy(
        update={
            "target_accept": round(1 - (1 - model.target_accept) / 5, 6),
            "warmup": 2 * model.warmup,
            "draws": 2 * model.draws,
        }
    )


def complaint(fitted: Fitted) -> str:
    """Return one line: how many attempts, what is wrong with the last one, what to change."""
    model, last, count = fitted.model, fitted.attempts[-1], len(fitted.attempts)
    change = []
    if model.chains < 2:
        change.append("set chains: 4")
    else:
        if last["divergences"]:
            change.append(f"raise target_accept (last {model.target_accept:g})")
        if len(last["reasons"]) > bool(last["divergences"]):
            change.append(f"raise warmup and draws (last {model.warmup:,} and {model.draws:,})")
        change.append("drop a term of which the data say little, such as a group of two levels")
    return (
        f"not converged after {count} attempt{'s' if count > 1 else ''}: "
        f"{'; '.join(last['reasons'])}: {', or '.join(change)}"
    )
