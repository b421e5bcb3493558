"""Bayesian models are held to the grid before any job runs."""

import re

import pytest

from poshgrid.config import Regression
from poshgrid.config.runs import agrees, parse_only
from poshgrid.core.errors import PoshgridError
from poshgrid.grid import coherence, configfile
from poshgrid.grid.grid import Grid
from poshgrid.statistics import forecheck
from tests.shipped import TOY, shipped, shipped_name

FORMULA = "p(correct, n) ~ S(condition) + (1|phenomenon)"


@pytest.fixture(scope="module")
def tiny():
    return configfile.load(TOY)


def grid(tiny, **model):
    made = Regression(**{"name": "mine", "formula": FORMULA} | model)
    return Grid(tiny.model_copy(update={"regressions": [*tiny.regressions, made]}))


@pytest.mark.parametrize("path", shipped(), ids=shipped_name)
def test_shipped_models_pass(path):
    forecheck.check(Grid(configfile.load(path)))


@pytest.mark.parametrize("path", shipped(), ids=shipped_name)
def test_contrasts_of_shipped_models_take_seeds_of_a_point_for_one_witness(path):
    """Seeds share text and guess: without a group of points their misses pass for effects.

    With one size a condition has one point, and no group can tell them apart.
    """
    made = Grid(configfile.load(path))
    for name, model in made.regressions.items():
        kept = parse_only(model.only, "only")
        runs = {run for target in made.targets.values() for run in target if agrees(run, kept)}
        seeds, sizes = ({getattr(run, axis) for run in runs} for axis in ("seed", "size"))
        if model.contrasts and len(seeds) > 1 and len(sizes) > 1:
            assert re.search(r"\|point(:template)?\)", model.formula), name


def test_a_formula_that_only_data_refuse(tiny):
    """It names nothing unknown; but nobody takes the logarithm of a word."""
    made = grid(tiny, formula="p(correct, n) ~ np.log(category)")
    coherence.check(made)
    with pytest.raises(PoshgridError, match=r"^regressions: mine: formula .* cannot be fitted"):
        forecheck.check(made)


@pytest.mark.parametrize(
    ("term", "prior"),
    [("S(conditon)", {"sd": 1}), ("1|run", {"rate": 1}), ("phenomenon", {"sd": 1})],
)
def test_a_prior_is_of_a_term_of_the_formula(tiny, term, prior):
    formula = "p(correct, n) ~ S(condition) * size_z + (1|phenomenon)"
    known = {"size_z:S(condition)": {"sd": 1}, "Intercept": {"sd": 1}, "1|phenomenon": {"rate": 1}}
    priors = [{"term": name, **value} for name, value in known.items()]
    forecheck.check(grid(tiny, formula=formula, priors=priors))
    with pytest.raises(PoshgridError, match=r"^regressions: mine: .*no term"):
        forecheck.check(grid(tiny, formula=formula, priors=[{"term": term, **prior}]))
