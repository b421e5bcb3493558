"""What a grid can show: hand-worked probabilities, and an independent simulation."""

import io

import numpy as np
import polars as pl
import pytest
from scipy import stats
from typer.testing import CliRunner

from poshgrid import files
from poshgrid.benchmark.schema import ITEMS
from poshgrid.cli import app
from poshgrid.config import Contrast, Regression
from poshgrid.errors import PoshgridError
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


def test_a_simulation_agrees():
    """Binomial counts of seeds and cells; seeds are paired, cells are not; a z test of log odds."""
    rng, seeds, cell = np.random.default_rng(3), 8, 0.25
    row = found(seeds, [0.08], "S(condition) + (1|seed) + (1|cell)", 0.7, seed=1.0, cell=cell)
    share = np.array([0.74, 0.66])
    eta = logit(share) + rng.normal(0, cell, (20_000, seeds, 2))
    right = rng.binomial(N, 1 / (1 + np.exp(-eta))) + 0.5
    odds = np.log(right / (N + 1 - right))
    difference = (odds[..., 0] - odds[..., 1]).mean(axis=1)
    error = np.sqrt((2 * cell**2 + (1 / (N * share * (1 - share))).sum()) / seeds)
    assert row["power"][0] == pytest.approx((difference / error > 1.96).mean(), abs=0.015)


def test_an_effect_beyond_certainty_and_a_missing_level_are_refused():
    with pytest.raises(PoshgridError, match="--effects"):
        found(2, [0.5], accuracy=0.8)
    counts = make_counts(conditions=("baby",))
    model = Regression(
        name="m", formula="p(correct, n) ~ S(category) + (1|seed)", contrasts=[FILTERING]
    )
    with pytest.raises(PoshgridError, match="nothing to find"):
        power(counts, model, effects=[0.1])


def test_the_command_counts_the_items_of_a_grid(root, tmp_path):
    config = str(root / "studies/posh-bench/toy.yaml")

    def call(*words):
        return CliRunner().invoke(app, ("power", config, "--results", str(tmp_path), *words))

    missing = call().exception
    assert isinstance(missing, PoshgridError)
    path = str(missing).partition(":")[0]
    pairs = [
        {"item_id": f"{c}-{i}", "category": c, "phenomenon": c, "template": "t", "good": "a",
         "bad": "b", "lexical_set": str(i), "joint": c == "wanna" and i < 2}
        for c in ("binding", "island", "question-formation", "wanna") for i in range(50)
    ]  # fmt: skip
    files.write_table(pl.DataFrame(pairs, schema=ITEMS), path, ITEMS)
    answer = call("--effects", "0,20", "--seeds", "2,9", "--sd", "cell=0.4")
    assert answer.exit_code == 0, answer.output
    rows = pl.read_csv(io.StringIO(answer.stdout)).filter(pl.col("by").fill_null("") == "")
    assert set(rows["contrast"]) == {"filtering", "register"}
    few, many = (rows.filter(effect=0.2, seeds=n)["power"].min() for n in (2, 9))
    assert 0.05 < few < many
