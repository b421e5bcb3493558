"""The engine ``fast``: the same density as bambi's, the same draws, at a cost that stays flat."""

import warnings

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from threadpoolctl import threadpool_limits

from poshgrid.config import Prior, Regression
from poshgrid.config.formula import RESPONSE
from poshgrid.statistics import design, fast, fit, summary
from poshgrid.statistics.fast.density import Density
from tests.unit.statistics.test_design import FORMULA, make_counts

SMALL = "p(correct, n) ~ size_z * S(filter) + S(category) + (1|seed) + (1|phenomenon)"
PRIORS = [
    Prior(term="size_z", sd=0.3),
    Prior(term="S(category)", sd=0.8),
    Prior(term="1|seed", rate=3.0),
]


def make(formula=SMALL, seeds=(9, 42, 7), n=40):
    """Counts drawn from the model: 45 cells of n pairs, at phenomena .8 apart."""
    rng = np.random.default_rng(5)
    rows = make_counts(seeds=seeds)
    names = sorted(rows["phenomenon"].unique())
    eta = np.array([[0.9, -0.5, 1.4, 0.1, 0.6][names.index(name)] for name in rows["phenomenon"]])
    eta += 0.3 * np.where(rows["filtered"], 1, -1) + 0.2 * (rows["seed"].to_numpy() == 9)
    correct = rng.binomial(n, 1 / (1 + np.exp(-eta))).astype(float)
    counts = rows.with_columns(correct=correct, n=np.full(len(eta), n, dtype=np.uint32))
    return design.design(counts, formula)


def settings(**changed):
    return Regression(**{"name": "m", "formula": SMALL, "target_accept": 0.9} | changed)


def points(density, count=6):
    """Points where SDs are anything from tiny to large."""
    rng = np.random.default_rng(2)
    drawn = rng.normal(size=(count, density.size))
    drawn[:, density.width :] = rng.uniform(-5, 1, size=(count, len(density.rates)))
    return drawn


@pytest.fixture(scope="module")
def made():
    return make()


def bambis(made, model):
    """Return the log density of bambi's PyMC model, and the shapes of its variables."""
    built = fit.build(made, model)
    built.build()
    pymc = built.backend.model
    shapes = {name: np.shape(value) for name, value in pymc.initial_point().items()}
    return pymc.compile_logp(mode="FAST_COMPILE"), shapes


def differing(of_bambi, evaluate, density):
    """Return at points: fast's log density minus that of bambi's PyMC model and its Jacobian."""
    theirs, shapes = of_bambi
    names = [f"{t.name}_offset" if t.group else t.name for t in density.arranged]
    names += [f"{t.name}_sigma_log__" for t in density.arranged if t.group]
    ends = np.cumsum([np.prod(shapes[name], dtype=int) for name in names])[:-1]

    def on_their_scale(point):
        """Return the values of PyMC's variables: offsets in place of group coefficients."""
        theta, log_sds = density.coefficients(point), point[density.width :]
        theta[: len(density.group)] /= np.exp(log_sds)[density.group]
        return np.concatenate([theta, log_sds])

    def values(flat):
        parts = np.split(flat, ends)
        return {n: p.reshape(shapes[n]) for n, p in zip(names, parts, strict=True)}

    differences = []
    for point in points(density):
        steps = 1e-6 * np.eye(density.size)
        jacobian = [(on_their_scale(point + s) - on_their_scale(point - s)) / 2e-6 for s in steps]
        logdet = np.linalg.slogdet(np.array(jacobian))[1]
        differences.append(evaluate(point)[0] - logdet - theirs(values(on_their_scale(point))))
    return np.ptp(differences)


def test_density_is_that_of_bambi_but_for_a_constant(made):
    model = settings(priors=PRIORS, slope_sd=0.4, intercept_sd=1.1, group_rate=1.7)
    density, of_bambi = Density(made, model), bambis(made, model)
    assert differing(of_bambi, density, density) < 1e-3  # the numerical Jacobian's error

    # Faults that a slip would make: no Jacobian of an SD, another rate, an intercept's prior.
    def without_jacobian(point):
        return density(point)[0] - point[-1], None

    assert differing(of_bambi, without_jacobian, density) > 1
    for slip in ({"group_rate": 1.8}, {"intercept_sd": 1.0}, {"priors": PRIORS[:2]}):
        wrong = Density(made, model.model_copy(update=slip))
        # The same quadratic approximation: a point means the same coefficients.
        wrong.information, wrong.pull = density.information, density.pull
        assert differing(of_bambi, wrong, density) > 0.02, slip


def test_sds_by_category_are_bambis_density():
    """Where every combination has data the parameters are the same."""
    formula = "p(correct, n) ~ S(condition) + (1|seed) + (0 + category|condition)"
    made = design.design(make_counts(), formula)
    model = settings(formula=formula)
    density, of_bambi = Density(made, model), bambis(made, model)
    assert len(density.rates) == 1 + 4
    # By condition, in each by category
    assert [term.size for term in density.arranged[:2]] == [12, 2]
    assert differing(of_bambi, density, density) < 1e-3
    wrong = Density(made, model)
    wrong.group = wrong.group.copy()
    wrong.group[:12] = np.repeat(np.arange(4), 3)
    wrong.information, wrong.pull = density.information, density.pull
    assert differing(of_bambi, wrong, density) > 0.02


@pytest.mark.parametrize(
    "formula",
    [
        SMALL,
        FORMULA,
        "p(correct, n) ~ S(condition) + (1|seed) + (1|phenomenon) + (1|condition:seed)",
        "p(correct, n) ~ S(condition) + (1|seed) + (0 + category|cell) + (1|point)",
    ],
)
def test_gradient(formula):
    """The gradient is that of differences of the density's values."""
    density = Density(make(formula), settings(formula=formula))
    for point in points(density):
        value, gradient = density(point)
        numerical = approx_fprime(point, lambda x: density(x)[0], 1e-6)
        assert np.abs(gradient - numerical).max() / (1 + np.abs(gradient).max()) < 1e-4
        assert np.isfinite(value)


def test_no_density_far_away(made):
    """Steps that are far too long overflow: no warning, no exception, no density."""
    density = Density(made, settings())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for far in (400.0, -400.0, np.nan):
            value, gradient = density(np.full(density.size, far))
            assert value == -np.inf
            assert not gradient.any()


def apart(first, second):
    """Return the largest distance of two posteriors' means and SDs, in Monte-Carlo errors."""
    import arviz

    names = [name for name in map(str, first.posterior.data_vars) if not name.endswith("__")]
    ours, theirs = (arviz.summary(of, names, round_to="none") for of in (first, second))
    assert list(ours.index) == list(theirs.index)
    distances = [
        abs(ours[name] - theirs[name]) / np.hypot(ours[f"mcse_{name}"], theirs[f"mcse_{name}"])
        for name in ("mean", "sd")
    ]
    return np.max(distances)


@pytest.mark.slow
def test_draws_are_those_of_bambi(made):
    """Same names, dimensions, coordinates and, within Monte-Carlo error, the same statistics."""
    model = settings()
    theirs = fit.build(made, model).fit(
        inference_method="nutpie", draws=1_000, tune=700, chains=4, cores=1, random_seed=1,
        target_accept=0.9, progressbar=False, compute_convergence_checks=False,
    )  # fmt: skip
    ours = fast.sample(made, model)
    for name in map(str, ours.posterior.data_vars):
        one, other = ours.posterior[name], theirs.posterior[name]
        assert (one.dims, one.dtype) == (other.dims, other.dtype)
        for dim in one.dims:
            assert list(map(str, one[dim].values)) == list(map(str, other[dim].values))
    response, same = ours.observed_data[RESPONSE], theirs.observed_data[RESPONSE]
    assert response.dims == same.dims
    assert response.to_numpy() == pytest.approx(same.to_numpy())

    assert apart(ours, theirs) < 5
    terms = summary.summarise(ours.posterior, made.frame)["term"].to_list()
    assert terms == summary.summarise(theirs.posterior, made.frame)["term"].to_list()
    # Another posterior, if only a little: SDs that are 1/4 rather than 1/2 beforehand.
    assert apart(fast.sample(made, settings(group_rate=4.0)), theirs) > 7


def test_draws_repeat_for_any_number_of_threads(made):
    model = settings(warmup=100, draws=50, chains=3)
    first = fast.sample(made, model, threads=1)
    for threads in (1, 2, 3):
        again = fast.sample(made, model, threads=threads)
        for name in first.posterior.data_vars:
            assert np.array_equal(first.posterior[name], again.posterior[name]), name
    other = fast.sample(made, model.model_copy(update={"seed": 43}))
    assert not np.array_equal(first.posterior["size_z"], other.posterior["size_z"])


def test_threads_of_blas_change_no_bit():
    """A grid of 300 cells, where BLAS divides its sums among threads."""
    counts = make(formula=FORMULA, seeds=tuple(range(60)))
    model = settings(formula=FORMULA)
    pulls = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            pulls.append(Density(counts, model).pull)
    assert np.array_equal(*pulls)


def test_effects_of_cells_are_one_number_each_with_sds_by_category_and_condition():
    formula = "p(correct, n) ~ S(condition) + (1|seed) + (0 + category:condition|cell)"
    counts = make(formula)
    drawn = fast.sample(counts, settings(formula=formula, warmup=50, draws=20, chains=2)).posterior
    cells, sds = drawn["category:condition|cell"], drawn["category:condition|cell_sigma"]
    assert cells.dims == ("chain", "draw", "cell__factor_dim")
    assert sorted(cells["cell__factor_dim"].values) == sorted(set(counts.frame["cell"]))
    assert list(sds[sds.dims[2]].values[:2]) == ["binding, baby", "binding, baby-f"]
