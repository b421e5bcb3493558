"""Before a run: what a grid can show, worked by hand; regressions are checked against the grid."""

import re

import numpy as np
import pytest
from scipy import stats

from poshgrid.config import Contrast, Regression
from poshgrid.config.runs import agrees, parse_only
from poshgrid.core.errors import PoshgridError
from poshgrid.grid import coherence, configfile
from poshgrid.grid.grid import Grid
from poshgrid.statistics import power
from tests.shipped import TOY, shipped, shipped_name
from tests.unit.statistics.test_design import make_counts

FILTERING = Contrast(name="filtering", factor="condition", first="baby-f", less="baby", by=[])
N = 400


def found(seeds, effects, formula="S(condition) + (1|cell)", accuracy=0.5, **sds):
    """One phenomenon, two conditions, a flat prior."""
    counts = make_counts(
        conditions=("baby", "baby-f"), sizes=("10M",), seeds=tuple(range(seeds)), n=N
    ).filter(phenomenon="wanna")
    model = Regression(
        name="m", formula=f"p(correct, n) ~ {formula}", contrasts=[FILTERING], slope_sd=1e3
    )
    return power.power(counts, model, effects=effects, sds=sds, accuracy=accuracy)[0]


def logit(share):
    return np.log(share / (1 - share))


@pytest.mark.parametrize("sd", [0.0, 0.3])
def test_one_phenomenon_has_the_power_of_a_z_test(sd):
    """Two means of four log odds each: variances of cells, and of 400 coin tosses at 60%."""
    error = np.sqrt(2 * (sd**2 + 1 / (N * 0.6 * 0.4)) / 4)
    rows = found(4, [0, 0.05, -0.1], accuracy=0.6, cell=sd)
    for row, effect in zip(rows.iter_rows(named=True), (0, 0.05, -0.1), strict=True):
        shift = (logit(0.6 + effect / 2) - logit(0.6 - effect / 2)) / error
        above, below = stats.norm.sf(1.96 - shift), stats.norm.cdf(-1.96 - shift)
        right, wrong = (below, above) if effect < 0 else (above, below)
        assert row["power"] == pytest.approx(right if effect else 0.05, abs=1e-4)
        assert row["wrong"] == (pytest.approx(wrong, abs=1e-4) if effect else None)
    least = rows["least"][0]
    shift = (logit(0.6 + least / 2) - logit(0.6 - least / 2)) / error
    assert stats.norm.sf(1.96 - shift) == pytest.approx(0.8, abs=1e-3)


def test_what_the_formula_lacks_raises_false_alarms():
    """The model's error is that of coin tosses, the true one has the cells' variance, too."""
    tosses = 1 / (N * 0.25)
    row = found(4, [0], "S(condition) + (1|seed)", cell=0.2).row(0, named=True)
    expected = 2 * stats.norm.sf(1.96 * np.sqrt(tosses / (tosses + 0.2**2)))
    assert row["power"] == pytest.approx(expected, abs=1e-3)


def test_an_effect_beyond_certainty_is_refused():
    with pytest.raises(PoshgridError, match="--effects"):
        found(2, [0.5], accuracy=0.8)


# ---- formulas and priors -------------------------------------------------------------------------

FORMULA = "p(correct, n) ~ S(condition) + (1|phenomenon)"


@pytest.fixture(scope="module")
def tiny():
    return configfile.load(TOY)


def grid(tiny, **model):
    made = Regression(**{"name": "mine", "formula": FORMULA} | model)
    return Grid(tiny.model_copy(update={"regressions": [*tiny.regressions, made]}))


@pytest.mark.parametrize("path", shipped(), ids=shipped_name)
def test_shipped_models_pass(path):
    power.check_regressions(Grid(configfile.load(path)))


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
        power.check_regressions(made)


@pytest.mark.parametrize(
    ("term", "prior"),
    [("S(conditon)", {"sd": 1}), ("1|run", {"rate": 1}), ("phenomenon", {"sd": 1})],
)
def test_a_prior_is_of_a_term_of_the_formula(tiny, term, prior):
    formula = "p(correct, n) ~ S(condition) * size_z + (1|phenomenon)"
    known = {"size_z:S(condition)": {"sd": 1}, "Intercept": {"sd": 1}, "1|phenomenon": {"rate": 1}}
    priors = [{"term": name, **value} for name, value in known.items()]
    power.check_regressions(grid(tiny, formula=formula, priors=priors))
    with pytest.raises(PoshgridError, match=r"^regressions: mine: .*no term"):
        power.check_regressions(grid(tiny, formula=formula, priors=[{"term": term, **prior}]))
