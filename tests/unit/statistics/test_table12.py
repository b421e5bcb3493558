"""The paper's Table 12 from its own Table 8: the published means, given to the published model."""

from dataclasses import replace

import polars as pl
import pytest

from poshgrid.config import Regression
from poshgrid.statistics import design, fit, gate, summary
from poshgrid.statistics.schema import COUNTS
from tests.shipped import posh_table

TABLE_12 = posh_table("table12")
PAIRS, SEEDS = 500, (42, 53, 76)
MEANS = ("Intercept", "1|phenomenon_sigma", "1|seed_sigma")
"""Rows of Table 12 that are posterior means; the others are medians."""
WIDE = 0.5
"""An interval wider than this is wide: it hangs on nine phenomena."""


def counts_of_table_8():
    """Return the counts of three seeds, each of them 500 times the published mean.

    They are fractions. Rounded seed by seed they would be up to half a pair in 500 away, all three
    to the same side.
    """
    rows = [
        {
            **{name: cell[name] for name in ("condition", "size", "category", "phenomenon")},
            "model": "gpt2", "recipe": "packed", "bias": "none", "seed": seed,
            "suite": "posh", "correct": PAIRS * cell["accuracy"] / 100, "ties": 0, "n": PAIRS,
            "words": int(cell["size"][:-1]) * 10**6,
            "source": "wiki" if cell["condition"] == "wiki" else "baby",
            "filtered": cell["condition"] == "baby-f",
        }
        for cell in posh_table("table8").iter_rows(named=True)
        if cell["phenomenon"] != "average"
        for seed in SEEDS
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=COUNTS)


@pytest.fixture(scope="module")
def our_summary():
    """Our summary of the paper's model, term by term."""
    model = Regression(name="paper", engine="fast", draws=4_000)
    made = design.design(counts_of_table_8(), model.formula)
    assert len(made.notes) == 1  # counts are rounded: here they are not
    exact = made.frame.assign(correct=made.frame["accuracy"] * made.frame["n"])
    made = replace(made, frame=exact)
    assert made.frame["n"].sum() == 148_500
    assert (made.frame["correct"] % 1 > 0).sum() > 100
    engine, sample = fit.choose(made, model)
    assert engine == "fast"
    inference = sample(made, model)
    table = summary.summarise(inference.posterior, made.frame)
    assert gate.diagnose(table, int(inference.sample_stats["diverging"].sum()))["converged"]
    return {row["term"]: row for row in table.iter_rows(named=True)}


@pytest.mark.slow
@pytest.mark.parametrize("term", TABLE_12["term"].to_list())
def test_table_12(term, our_summary):
    """Estimates within .01 (.02: categories); interval ends within .01, of wide ones .04.

    Half a unit of the last printed digit, .005, is in that. The SD over seeds is not here:
    means over seeds do not tell how far the seeds were apart, and seeds that are given the same
    share have hardly any. Only that it stays below the published one can be said. The interval of
    the intercept lacks the seeds' spread, too: with 32,000 draws its lower end is .09 where .05 is
    printed, and a quantile so far out moves by .01 with the random seed; it gets .06.
    """
    theirs = TABLE_12.row(by_predicate=pl.col("term") == term, named=True)
    ours = our_summary[term]
    if term == "1|seed_sigma":
        assert ours["mean"] <= theirs["median"] + 0.01
        return
    estimate = ours["mean" if term in MEANS else "median"]
    is_category = term.startswith("S(category)[")
    assert estimate == pytest.approx(theirs["median"], abs=0.02 if is_category else 0.01)
    within = 0.04 if theirs["high"] - theirs["low"] > WIDE else 0.01
    within = 0.06 if term == "Intercept" else within
    assert ours["low"] == pytest.approx(theirs["low"], abs=within)
    assert ours["high"] == pytest.approx(theirs["high"], abs=within)
