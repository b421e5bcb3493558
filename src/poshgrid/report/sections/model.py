"""The section of the Bayesian models: contrasts, coefficients and the predictive check."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from poshgrid.report import figures, posterior
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics.gate import MAX_R_HAT, MIN_ESS, OUTSIDE, doubts

TITLE, ORDER, AUDIENCE = "Bayesian models", 60, "reviewer"


def write(page: Page) -> dict[str, Any] | None:
    """Write the tables and figures of each model; None if no model was fitted."""
    fits = page.collected.fits
    for name, fit in fits.items():
        rows, facts = posterior.contrasts(fit)
        sure = (pl.col("joint_low") > 0) | (pl.col("joint_high") < 0)
        marks = rows.select("low", "high", panel="name", row="of", value="median", filled=sure,
                            reference=pl.lit(0.0))  # fmt: skip
        draw = partial(figures.rows, label="Difference of log odds")
        page.picture(f"contrasts-{name}-forest", draw, marks, say("contrast_figure"))
        page.table("contrasts", rows, *facts, of=name)
        draw = partial(figures.rows, label="Log-odds (posterior median, 95% interval)")
        page.picture(f"forest-{name}", draw, posterior.effects(fit.summary), say("forest"))
        rows = posterior.coefficients(fit)
        page.table("fit", rows, bool(rows["implicit"].any()), of=name)
    limits = {"MAX_R_HAT": MAX_R_HAT, "MIN_ESS": MIN_ESS, "OUTSIDE": OUTSIDE}
    return {"fits": fits, "doubts": doubts, **limits} if fits else None
