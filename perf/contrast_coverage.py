"""Whether intervals of contrasts hold the truth as often as they say, and how often 0 is left out.

    python perf/contrast_coverage.py [--replications 100 --scenario variable ... --engine laplace]

Counts are simulated from the paper's design (33 runs x 9 phenomena x 500 pairs, no 100M of baby-f)
with the spread that the published judgements have: SDs of cells by category, and a misfit that the
seeds of a point share. In half of the replications the conditions have the same expected accuracy;
there a clear difference (outside the interval that is simultaneous over categories) is a false one.
Expected accuracies are set, not log odds: where seeds vary more the same log odds are another
accuracy. Scenarios:

- ``published``: three seeds, the published SDs;
- ``variable``: cells of baby-f vary three times as much;
- ``two-seeds``: two seeds instead of three;
- ``two-seeds-variable``: both;
- ``ceiling``: accuracies around 97%;
- ``ceiling-variable``: that, and baby-f three times as variable;
- ``bias``, ``bias-variable``: one size, five biases, three seeds; the second: of one bias.

The model ``condition`` (or ``bias``) of config/config.yaml is fitted, or one with ``--groups`` in
place of its groups. Engine ``laplace`` is that of perf/laplace.py, ``fast`` ours (short
chains), which is compared with it, too.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import logging
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from laplace import Approximation
from scipy.special import expit, logit

from poshgrid.commands.base import grid_of
from poshgrid.config import Contrast, Regression
from poshgrid.config.sizes import words
from poshgrid.core import resources
from poshgrid.statistics import contrasts, design
from poshgrid.statistics.predictor import mean_share
from poshgrid.statistics.schema import COUNTS

CONFIG = Path(__file__).parents[1] / "config" / "config.yaml"
SIZES = {"baby-f": ("10M", "30M", "50M"), "baby": ("10M", "30M", "50M", "100M")}
SIZES["wiki"] = SIZES["baby"]
BIASES = ("none", "dyck", "recency", "dyck+recency", "flat-brackets", "static-recency")
SEEDS, PAIRS = (42, 53, 76), 500
CELL_SDS = {"question-formation": 0.12, "binding": 0.18, "island": 0.38, "wanna": 0.61}
POINT_SD, SEED_SD, PHENOMENON_SD, SLOPE_SD = 0.32, 0.05, 0.7, 0.2  # log odds
MORE = 3.0  # times that cells vary in the scenarios that are variable
SCENARIOS = (
    "published", "variable", "two-seeds", "two-seeds-variable", "ceiling", "ceiling-variable",
    "bias", "bias-variable",
)  # fmt: skip


def published(table: str) -> pl.DataFrame:
    """Return a table of POSH-BENCH as printed."""
    path = resources.shipped("studies", "posh-bench", "published", "v1", f"{table}.csv")
    return pl.read_csv(path, comment_prefix="#")


def main() -> None:
    """Simulate, fit, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--scenario", choices=SCENARIOS, action="append", help="default: all")
    parser.add_argument("--engine", choices=["laplace", "fast"], default="laplace")
    parser.add_argument("--groups", help="instead of the shipped groups, e.g. (1|seed) + (1|cell)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    print("| scenario | contrast | coverage | false clear | bias, points | width, points |")
    print("|---|---|---:|---:|---:|---:|")
    for scenario in given.scenario or SCENARIOS:
        model = _model(scenario, given.groups)
        sys.stderr.write(f"{scenario}: {model.formula}\n")
        counts = _empty(scenario)
        made = design.design(counts, model.formula)
        decide = _decider(given.engine, made, model)
        tally, compared = defaultdict(list), []
        started = time.process_time()
        for replication in range(given.replications):
            rng = np.random.default_rng([given.seed, SCENARIOS.index(scenario), replication])
            null = replication % 2 == 0
            correct, share = simulate(made.frame, scenario, null, rng)
            decided = decide(correct)
            if given.engine == "fast":
                both = decided, _decider("laplace", made, model)(correct)
                compared.append([np.transpose(found[1:4]) for found in both])
            for (contrast, place), *ends in zip(*decided, strict=True):
                truth = float(_truth(made.frame, share, contrast, place))
                low, middle, high, joint_low, joint_high = ends
                name = contrast.name or ("dyck" if place.first == "dyck" else "other biases")
                kind = name, "by level" if place.by else "overall"
                tally[kind].append((
                    low <= truth <= high, (joint_low > 0 or joint_high < 0) if null else np.nan,
                    middle - truth, high - low,
                ))  # fmt: skip
            if replication % 10 == 9 or given.engine == "fast":
                said = {
                    " ".join(k): np.nanmean(v, axis=0).round(3).tolist() for k, v in tally.items()
                }
                sys.stderr.write(
                    f"{replication + 1}: {time.process_time() - started:.0f} s {said}\n"
                )
        if compared:
            ends = np.array(compared)  # engines x places x (low, middle, high), replications first
            off = np.abs(ends[:, 0, :, 1] - ends[:, 1, :, 1]).max()
            widths = ends[:, :, :, 2] - ends[:, :, :, 0]
            print(f"{scenario}: laplace's medians are at most {100 * off:.1f} points off, its "
                  f"intervals {(widths[:, 1] / widths[:, 0]).mean():.2f} as wide")  # fmt: skip
        for (name, where), rows in tally.items():
            held, clear, off, width = np.nanmean(np.array(rows, dtype=float), axis=0)
            print(f"| {scenario} | {name}, {where} | {100 * held:.1f}% | {100 * clear:.1f}% "
                  f"| {100 * off:+.1f} | {100 * width:.1f} |", flush=True)  # fmt: skip


def _model(scenario: str, groups: str | None) -> Regression:
    """Return the shipped model of a scenario, perhaps with other groups."""
    name = "bias" if scenario.startswith("bias") else "condition"
    model = grid_of([CONFIG], None).regressions[name]
    wanted = [contrast for contrast in model.contrasts if contrast.less != "controls"]
    update = {"only": None, "contrasts": wanted}
    if groups:
        update["formula"] = model.formula.split(" + (")[0] + " + " + groups
    return model.model_copy(update=update)


def _decider(
    engine: str, made: design.Design, model: Regression
) -> Callable[[np.ndarray], tuple[Any, ...]]:
    """Return a function of counts: places; low, middle, high, joint low and high of each."""
    n = made.frame["n"].to_numpy(dtype=float)
    approximation = Approximation(made, model, model.contrasts)
    places, tails = approximation.places, np.array(approximation.tails)

    def laplace(correct: np.ndarray) -> tuple[list, *tuple[np.ndarray, ...]]:
        found = approximation(correct, n)
        probabilities = (0.025, 0.5, 0.975, tails, 1 - tails)
        return places, *(found.quantile(np.broadcast_to(p, len(places))) for p in probabilities)

    def fast(correct: np.ndarray) -> tuple[list, *tuple[np.ndarray, ...]]:
        drawn = design.Design(made.frame.assign(correct=correct.astype(int)), made.formula)
        settings = {"draws": 400, "warmup": 300, "target_accept": 0.85, "chains": 2}
        settings["seed"] = int(correct.sum())
        sample = importlib.import_module("poshgrid.statistics.fast").sample
        inference = sample(drawn, model.model_copy(update=settings), 1)
        table, _ = contrasts.contrasts(inference.posterior, drawn, model.contrasts)
        names = ("share_low", "share", "share_high", "joint_low", "joint_high")
        return places, *(table[name].to_numpy() for name in names)

    return laplace if engine == "laplace" else fast


def simulate(
    frame: pd.DataFrame,
    scenario: str,
    null: bool,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return counts of pairs judged right, and the expected accuracy of each row.

    Args:
        frame: of the design.
        scenario: one of :data:`SCENARIOS`.
        null: the levels that are compared do not differ.
        rng: of this replication.
    """
    factor, odd = ("bias", "dyck") if scenario.startswith("bias") else ("condition", "baby-f")
    eta = np.full(len(frame), logit(0.97) if scenario.startswith("ceiling") else 0.5)
    eta = eta + _effects(
        frame, ["phenomenon"], PHENOMENON_SD / (2 if "ceil" in scenario else 1), rng
    )
    for also in ([], ["category"]):
        if factor == "condition":
            eta = eta + frame["size_z"].to_numpy() * _effects(frame, also, SLOPE_SD, rng)
        if not null:
            eta = eta + _effects(frame, [factor, *also], SLOPE_SD, rng)
            eta = eta + frame["size_z"].to_numpy() * _effects(frame, [factor, *also], SLOPE_SD, rng)
    cell = frame["category"].astype(str).map(CELL_SDS).to_numpy(dtype=float)
    if scenario.endswith("variable"):
        cell = cell * np.where(frame[factor] == odd, MORE, 1.0)
    share = expit(eta)
    around = np.sqrt(SEED_SD**2 + POINT_SD**2 + cell**2)[:, None]
    for _ in range(60):  # log odds whose mean accuracy, over seeds, points and cells, is that
        off = mean_share(eta[:, None], around)[:, 0] - share
        eta = eta - off / np.maximum(share * (1 - share), 1e-3)
    eta = eta + _effects(frame, ["seed"], SEED_SD, rng) + _effects(frame, ["point"], POINT_SD, rng)
    eta = eta + rng.normal(0, 1, len(eta)) * cell
    return rng.binomial(PAIRS, expit(eta)).astype(float), share


def _effects(
    frame: pd.DataFrame, names: list[str], sd: float, rng: np.random.Generator
) -> np.ndarray:
    """Return effects of the joint levels of factors, row by row."""
    if not names:
        return np.full(len(frame), rng.normal(0, sd))
    codes = frame.groupby(names, observed=True, sort=True).ngroup().to_numpy()
    return rng.normal(0, sd, codes.max() + 1)[codes]


def _truth(
    frame: pd.DataFrame, share: np.ndarray, contrast: Contrast, place: contrasts.Slice
) -> float:
    """Return the true difference over the sizes of both levels, categories weighing alike."""
    keep = (frame[place.by] == place.level).to_numpy() if place.by else np.ones(len(frame), bool)
    sides = []
    for level, other in ((place.first, contrast.less), (contrast.less, place.first)):
        sizes = set(frame["size"][(frame[contrast.factor] == other)])
        mine = keep & (frame[contrast.factor] == level) & frame["size"].isin(sizes)
        by = [frame.loc[mine, "category"].astype(str), frame.loc[mine, "phenomenon"].astype(str)]
        means = pl.DataFrame({"c": by[0].to_numpy(), "p": by[1].to_numpy(), "x": share[mine]})
        sides.append(
            means.group_by("c", "p").agg(pl.mean("x")).group_by("c").agg(pl.mean("x"))["x"].mean()
        )
    return sides[0] - sides[1]


def _empty(scenario: str) -> pl.DataFrame:
    """Return the rows of a scenario's design, nothing judged right yet."""
    phenomena = published("table8").filter(pl.col("phenomenon") != "average")
    pairs = phenomena.select("category", "phenomenon").unique().sort("category", "phenomenon")
    seeds = SEEDS[:2] if "two-seeds" in scenario else SEEDS
    points = [(c, size, "none") for c, sizes in SIZES.items() for size in sizes]
    if scenario.startswith("bias"):
        points = [("baby-f", "10M", bias) for bias in BIASES]
    rows = [
        {
            "condition": condition, "size": size, "model": "gpt2", "recipe": "packed",
            "bias": bias, "seed": seed, "suite": "posh", "category": category,
            "phenomenon": phenomenon, "template": "all", "lexical_set": "", "correct": 0.0,
            "ties": 0, "n": PAIRS, "words": words(size), "source": condition.removesuffix("-f"),
            "filtered": condition.endswith("-f"),
        }
        for (condition, size, bias), seed in itertools.product(points, seeds)
        for category, phenomenon in pairs.iter_rows()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=COUNTS)


if __name__ == "__main__":
    main()
