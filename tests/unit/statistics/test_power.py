"""What a grid can show: hand-worked probabilities, and an independent simulation."""

import numpy as np
import pytest
from scipy import stats

from poshgrid.config import Contrast, Regression
from poshgrid.core.errors import PoshgridError
from poshgrid.statistics.power import power
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
    return power(counts, model, effects=effects, sds=sds, accuracy=accuracy)[0]


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
