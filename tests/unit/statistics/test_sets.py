"""Lexical sets integrated out, templates, and SDs by level: densities, gradients, planted SDs."""

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.special import expit
from scipy.stats import norm

from poshgrid.config import BayesianModel
from poshgrid.errors import PoshgridError
from poshgrid.statistics import design, fit
from poshgrid.statistics.fast.density import Density
from poshgrid.statistics.fast.sets import Sets
from poshgrid.statistics.schema import COUNTS
from tests.unit.statistics.test_design import make_counts
from tests.unit.statistics.test_fast import against_bambi, check_gradient

BY_SET = "p(correct, n) ~ S(condition) + (1|phenomenon) + (1|template) + (1|set)"
BY_CATEGORY = "p(correct, n) ~ S(condition) + (1|seed) + (0 + category|cell) + (1|point)"


def by_set(sets=12, templates=3, pairs=2, set_sd=1.0, template_sd=0.5, runs=None, seed=3):
    """Counts of pairs by set; each set has one template, and effects of both are planted."""
    rng = np.random.default_rng(seed)
    rows = runs if runs is not None else make_counts()
    phenomena = sorted(rows["phenomenon"].unique())
    u = rng.normal(0, set_sd, (len(phenomena), sets))
    t = rng.normal(0, template_sd, (len(phenomena), templates))
    found = []
    for row in rows.iter_rows(named=True):
        p = phenomena.index(row["phenomenon"])
        for s in range(sets):
            eta = 0.4 + 0.3 * row["filtered"] + u[p, s] + t[p, s % templates]
            n = pairs + (s == 0)  # one set is larger
            found.append(
                row
                | {"template": f"t{s % templates}", "lexical_set": f"s{s}", "n": n,
                   "correct": float(rng.binomial(n, expit(eta)))}
            )  # fmt: skip
    return pl.DataFrame(found, schema=COUNTS), u, t


def settings(formula, **changed):
    return BayesianModel(**{"name": "m", "formula": formula, "target_accept": 0.9} | changed)


def test_design_by_template_and_set():
    counts, _, _ = by_set()
    made = design.design(counts, BY_SET)
    runs = 3 * 2 * 2
    assert len(made.frame) == runs * 5 * 3  # by template
    assert made.frame["template"].nunique() == 5 * 3  # of each phenomenon its own
    assert "set" not in made.formula
    assert made.shown.endswith("+ (1|set)")
    assert len(made.sets) == runs * 5 * 12
    assert made.sets["set"].nunique() == 5 * 12
    assert made.sets["correct"].sum() == counts["correct"].sum() == made.frame["correct"].sum()
    without = design.design(counts, "p(correct, n) ~ S(condition) + (1|phenomenon)")
    assert without.sets is None
    assert len(without.frame) == runs * 5


def test_where_sets_are_refused():
    with pytest.raises(PoshgridError, match="not by lexical set"):
        design.design(make_counts(), BY_SET)
    made = design.design(by_set(sets=3)[0], BY_SET)
    with pytest.raises(PoshgridError, match="engine fast alone"):
        fit.choose(made, settings(BY_SET, engine="bambi"))


@pytest.mark.parametrize("sigma", [0.05, 0.6, 1.5, 2.5])
def test_sets_likelihood_against_quadrature(sigma):
    """Each set's integral by scipy's adaptive rule, pair by pair, at extreme counts, too."""
    rng = np.random.default_rng(1)
    eta = rng.normal(0, 1.5, 6)
    # Two patterns over six rows; rows are runs x templates.
    rows, names, n, correct = [], [], [], []
    for s in range(9):
        members = [0, 1, 2] if s % 3 else [2, 3, 4, 5]
        share = [0.0, 1.0][s] if s < 2 else rng.uniform()
        for r in members:
            rows.append(r)
            names.append(s)
            n.append(1 + r % 2)
            correct.append(rng.binomial(1 + r % 2, share))
    arrays = [np.array(x) for x in (rows, names, n, correct)]
    sets = Sets.of(*arrays)
    assert len(sets.patterns) == 2
    assert sets.times.sum() == 9
    expected = 0.0
    for s in range(9):
        mine = arrays[1] == s
        r, m, y = arrays[0][mine], arrays[2][mine], arrays[3][mine].sum()

        def integrand(x, r=r, m=m, y=y):
            u = sigma * x
            return np.exp(u * y - m @ np.logaddexp(0, eta[r] + u)) * norm.pdf(x)

        expected += np.log(quad(integrand, -9, 9, epsabs=0, epsrel=1e-11, limit=400)[0])
    value, slope, curvature = sets.slope_and_curvature(eta, sigma)
    # Nodes are meant for SDs up to 2.
    assert value == pytest.approx(expected, abs=1e-6 if sigma < 2 else 1e-4)
    numerical = approx_fprime(eta, lambda e: sets.slope_and_curvature(e, sigma)[0], 1e-6)
    assert slope == pytest.approx(numerical, abs=1e-4)
    second = [approx_fprime(eta, lambda e, i=i: -sets.slope_and_curvature(e, sigma)[1][i], 1e-6)
              for i in range(6)]  # fmt: skip
    assert curvature == pytest.approx(np.array(second), abs=1e-4)
    assert np.linalg.eigvalsh(curvature).min() > -1e-9


@pytest.mark.parametrize("formula", [BY_SET, BY_CATEGORY])
def test_gradient(formula):
    counts, _, _ = by_set(sets=4)
    check_gradient(Density(design.design(counts, formula), settings(formula)))


@pytest.mark.parametrize(
    ("sets", "pairs", "log_sd"),
    [(5, 2, 0.4), (5, 60, 0.4), (5, 60, 1.6), (90, 3, 1.2), (90, 3, 2.4)],
)
def test_compiled_sets_against_numpy(sets, pairs, log_sd):
    """The density's change from one SD of sets to another is the likelihood's and the prior's.

    Totals that follow each other, that lie far apart, and ties; SDs beyond what floats can hold in
    one go.
    """
    counts, _, _ = by_set(sets=sets, pairs=pairs)
    tie = pl.int_range(pl.len()) % 7 == 0
    correct = pl.col("correct")
    counts = counts.with_columns(
        pl.when(tie & (correct > 0)).then(correct - 0.5).otherwise(correct)
    )
    model = settings(BY_SET, group_rate=1.7)
    found = Density(design.design(counts, BY_SET), model)
    rng = np.random.default_rng(4)
    point = rng.normal(0, 0.5, found.size)
    theta = found.coefficients(point)
    eta = found.predictors @ theta[len(found.group) :] + theta[found.levels].sum(axis=1)
    values = []
    for log in (-1.5, log_sd):
        point[-1] = log
        likelihood = found.sets.slope_and_curvature(eta, np.exp(log))[0]
        values.append(found(point)[0] - likelihood - (log - 1.7 * np.exp(log)))
    assert values[0] == pytest.approx(values[1], rel=1e-12, abs=1e-8)


def test_sds_by_category_are_bambis_density():
    """Where every combination has data the parameters are the same."""
    formula = "p(correct, n) ~ S(condition) + (1|seed) + (0 + category|condition)"
    made = design.design(make_counts(), formula)
    model = settings(formula)
    found = Density(made, model)
    assert len(found.rates) == 1 + 4
    # Every condition has every category, so that the parameters are the same: by condition, in
    # each by category.
    assert [term.size for term in found.arranged[:2]] == [12, 2]
    assert against_bambi(made, model, found, found) < 1e-3
    wrong = Density(made, model)
    wrong.group = wrong.group.copy()
    wrong.group[:12] = np.repeat(np.arange(4), 3)
    wrong.information, wrong.pull = found.information, found.pull
    assert against_bambi(made, model, wrong, found) > 0.02
