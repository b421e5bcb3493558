"""The section of the Bayesian models: tables, figures and checks hold the numbers of the fit."""

from dataclasses import replace

import polars as pl
import pytest

from poshgrid.report.sections import model
from tests.unit.report import report_results
from tests.unit.report.report_results import fit

# ---- coefficients --------------------------------------------------------------------------------


def test_coefficients_are_common_terms_and_sds():
    table = model.coefficients(fit("condition"))
    rows = {row[0]: row[1:] for row in table.select("label", "median", "low", "high").iter_rows()}
    assert rows["Category (wanna) †"] == pytest.approx((-0.33, -0.37, -0.29))
    assert rows["Phenomenon intercept SD"] == pytest.approx((0.69, 0.65, 0.73), abs=0.005)
    assert "Seed 42" not in rows


# ---- contrasts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("seeds", "single"), [((3, 3), None), ((1, 1), ""), ((3, 1), "dyck")])
def test_contrasts_that_rest_on_one_seed_are_named(seeds, single):
    """Seeds of no bias and recency, and of dyck."""
    number = pl.when(bias="dyck").then(seeds[1]).otherwise(seeds[0]).cast(pl.UInt32)
    cells = pl.concat([
        report_results.predictive().with_columns(bias=pl.lit(bias))
        for bias in ("none", "recency", "dyck")
    ]).with_columns(n_seeds=number)  # fmt: skip
    _, few, every, _ = model.contrasts(replace(fit("bias"), predictive=cells))[1]
    assert bool(few) == (single is not None) and every == (single == "")
    if single:
        assert few == ["dyck − none"]


# ---- predictive check ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "out", "p", "passes"),
    [(99, 41, None, False), (1, 1, None, True), (40, 1, 0.049, False), (40, 1, 0.4, True),
     # P(X >= 3 | 20, .05) = 0.0755, P(X >= 4 | 20, .05) = 0.0159: by hand
     (20, 3, None, True), (20, 4, None, False)],
)  # fmt: skip
def test_what_does_not_converge_or_predict_its_cells_is_not_quoted(cells, out, p, passes):
    facts = {"cells": cells, "inside": cells - out} | ({} if p is None else {"p": p})
    made = replace(fit("paper"), diagnostics={"predictive": facts, "converged": True})
    assert model.quotable(made) == passes
    assert not model.quotable(replace(made, diagnostics={"predictive": facts}))
    assert not model.quotable(replace(made, diagnostics={"converged": True}))
