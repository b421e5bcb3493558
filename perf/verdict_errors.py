"""How often a verdict on learning is wrong, and how often it is found, in simulated tables.

    python perf/verdict_errors.py [--tables 1000 --seed 1]

A table has nine phenomena of 100 lexical sets with two pairs each, one or four cells, and an
untrained twin of each cell. Seeds vary evenly in log odds, by the points (at 50%) of the column, in
all phenomena alike or, ``uneven``, by what a scaled inverse chi-square with 2.4 degrees of freedom
makes of it. ``coins``: the untrained models are at 50% without any spread. Models are as good as
their rival on average (columns 50% and 80%: where that is), or 10 points better (``power``, the
share of the phenomena that are called learned).

The answer is a table in Markdown: the share of tables with any wrong *yes*, and its standard error.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product

import numpy as np
import polars as pl
from scipy import special

from poshgrid.statistics import verdicts
from poshgrid.statistics.intervals import SetSums
from poshgrid.statistics.verdicts import PRIOR_FREEDOM

PHENOMENA, SETS, PAIRS = 9, 100, 2
_PLACES = pl.DataFrame({"phenomenon": [f"p{p}" for p in range(PHENOMENA)]})
_SETS = _PLACES.join(
    pl.DataFrame({"lexical_set": [f"{s:03}" for s in range(SETS)]}), how="cross"
).select(
    pl.lit("phenomenon").alias("level"), pl.lit("c").alias("category"), "phenomenon",
    pl.lit("").alias("part"), "lexical_set", pl.lit(PAIRS).alias("n"),
)  # fmt: skip


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    untrained = {"coins": 0.0, "untrained SD .2": 0.2, "untrained SD .8": 0.8}
    columns = [*untrained, "uneven", "at 80%", "power"]
    print("| cells | seeds | SD (points) |", " | ".join(columns), "|")
    print("|" + " ---: |" * (3 + len(columns)))
    for cells, seeds, points in product((1, 4), (2, 3, 5), (2, 8, 16)):
        corpus = {"cells": cells, "seeds": seeds, "spread": 4 * points / 100}
        scenarios = [{"untrained": spread} for spread in untrained.values()]
        scenarios += [{"uneven": True}, {"level": 0.8}, {"untrained": 0.2, "above": 0.1}]
        shares = []
        for number, scenario in enumerate(scenarios):
            generator = np.random.default_rng([options.seed, cells, seeds, points, number])
            verdict = [table(generator, **corpus, **scenario) for _ in range(options.tables)]
            power = "above" in scenario
            values = [np.mean(one) if power else np.any(one) for one in verdict]
            mean = float(np.mean(values))
            error = float(np.std(values, ddof=1) / len(values) ** 0.5)
            shares.append(f"{100 * mean:.1f} ± {100 * error:.1f}")
        print(f"| {cells} | {seeds} | {points} |", " | ".join(shares), "|")
        sys.stdout.flush()


def table(
    generator: np.random.Generator, cells: int, seeds: int, spread: float, untrained: float = 0.0,
    level: float = 0.5, above: float = 0.0, *, uneven: bool = False,
) -> np.ndarray:  # fmt: skip
    """Return which of a table's cells and phenomena are called learned.

    Args:
        generator: of the noise.
        cells: how many.
        seeds: of each, and of its untrained twin.
        spread: SD of trained models, log odds.
        untrained: SD of untrained ones.
        level: mean accuracy of the rival.
        above: how much better models are.
        uneven: whether phenomena differ in their spread.
    """
    factors = np.ones(PHENOMENA)
    if uneven:
        factors = np.sqrt(PRIOR_FREEDOM / generator.chisquare(PRIOR_FREEDOM, PHENOMENA))
    spreads = np.array([spread, untrained])[:, None] * factors
    normal = generator.standard_normal((2, cells, seeds, PHENOMENA))
    means = np.array([level + above, level])
    # Log odds whose accuracy is this on average over seeds: by Gauss-Hermite quadrature
    centres = _centres(means, spreads)
    chance = special.expit(centres[:, None, None] + spreads[:, None, None] * normal)
    shape = (2, cells, seeds, PHENOMENA, SETS)
    right = generator.binomial(PAIRS, np.broadcast_to(chance[..., None], shape))
    axes = [
        {"condition": f"c{c}", "size": "10M", "model": "mini", "recipe": recipe, "bias": "none"}
        for recipe in ("packed", "untrained") for c in range(cells)
    ]  # fmt: skip
    correct = right.sum(axis=-1).reshape(len(axes), seeds, PHENOMENA)
    counts = pl.DataFrame([
        {**axes[i], "seed": k, "suite": "posh", "category": "c", "phenomenon": f"p{p}",
         "correct": float(correct[i, k, p]), "n": PAIRS * SETS}
        for i, k, p in np.ndindex(correct.shape)
    ])  # fmt: skip
    of_points = pl.DataFrame([{**point, "seeds": seeds} for point in axes])
    sums = right.sum(axis=2).reshape(len(axes), -1).T.astype(float)
    learned = verdicts.verdicts(SetSums("posh", _SETS, of_points, sums), {}, counts)
    return (learned["learned"] == "yes").to_numpy()


def _centres(means: np.ndarray, spreads: np.ndarray) -> np.ndarray:
    """Return log odds (sides x phenomena) whose mean accuracy over seeds is ``means``."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(21)
    weights = weights / weights.sum()
    centres = np.broadcast_to(special.logit(means)[:, None], spreads.shape).copy()
    for _ in range(30):
        chance = special.expit(centres[..., None] + spreads[..., None] * nodes)
        slope = (chance * (1 - chance) * weights).sum(axis=-1)
        centres -= ((chance * weights).sum(axis=-1) - means[:, None]) / np.maximum(slope, 1e-3)
    return centres


if __name__ == "__main__":
    main()
