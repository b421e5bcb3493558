"""Whether the intervals of the Bayesian model hold the truth as often as they say.

    python perf/interval_coverage.py [--replications 50 --engine fast --seed 1 --arm fixed ...]

Counts are simulated from the paper's design (33 runs x 9 phenomena x 500 pairs), fitted and
compared with what they were simulated from:

- ``fixed``: coefficients and group SDs are those of the paper's Table 12, and each replication
  draws phenomenon and seed effects afresh;
- ``prior``: each replication draws everything from the model's priors, so that exact inference
  covers 95% on average over all parameters (Cook, Gelman & Rubin, 2006, Validation of software for
  Bayesian models using posterior quantiles, J. Computational and Graphical Statistics 15);
- ``cells``: ``fixed``, and every cell (a run and a phenomenon) differs from what the formula says
  by Normal(0, --cell-sd), much as seeds differ in the paper's Table 8. The paper's model, which has
  no such term, is fitted;
- ``cells-fitted``: the same data, fitted with ``(1|cell)``.

Contrasts: perf/contrast_coverage.py.

The answer is a table in Markdown: for each parameter the share of 95% intervals that hold the
truth, and the mean of the posterior medians less the truth.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import logging
import re
import sys
import time
import warnings
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import polars as pl

from poshgrid.config import Regression
from poshgrid.config.sizes import words
from poshgrid.core import resources
from poshgrid.statistics import design, fit, gate, summary
from poshgrid.statistics.schema import COUNTS

SIZES = {"baby-f": ("10M", "30M", "50M"), "baby": ("10M", "30M", "50M", "100M")}
SIZES["wiki"] = SIZES["baby"]
SEEDS, PAIRS = (42, 53, 76), 500
CELL = " + (1|cell)"
_SETTINGS = ("chains", "warmup", "draws", "target_accept")
ARMS = ("fixed", "prior", "cells", "cells-fitted")


@dataclass
class Tally:
    """What the replications of one arm have shown."""

    truth: dict[str, list[float]] = field(default_factory=dict)
    median: dict[str, list[float]] = field(default_factory=dict)
    width: dict[str, list[float]] = field(default_factory=dict)
    held: dict[str, list[bool]] = field(default_factory=dict)
    divergences: int = 0
    diverged: int = 0  # fits with a divergence
    failed: int = 0  # fits that the gate would refuse
    seconds: float = 0.0

    def add(self, found: pl.DataFrame, truth: dict[str, float], divergences: int) -> None:
        """Count one fit."""
        for row in found.iter_rows(named=True):
            term = row["term"]
            if term not in truth:  # single seeds and phenomena; the SD of cells that have none
                continue
            self.truth.setdefault(term, []).append(truth[term])
            self.median.setdefault(term, []).append(row["median"])
            self.width.setdefault(term, []).append(row["high"] - row["low"])
            self.held.setdefault(term, []).append(row["low"] <= truth[term] <= row["high"])
        self.divergences += divergences
        self.diverged += divergences > 0
        self.failed += not gate.diagnose(found, divergences)["converged"]

    def coverage(self) -> float:
        """Return the share of intervals that hold the truth, over all parameters."""
        return float(np.mean([held for one in self.held.values() for held in one]))


def published(table: str) -> pl.DataFrame:
    """Return a table of POSH-BENCH as printed."""
    path = resources.shipped("studies", "posh-bench", "published", "v1", f"{table}.csv")
    return pl.read_csv(path, comment_prefix="#")


def main() -> None:
    """Simulate, fit, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=50)
    parser.add_argument("--engine", choices=["fast", "bambi"], default="fast")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arm", choices=ARMS, action="append", help="default: all")
    parser.add_argument("--cell-sd", type=float, default=0.3)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--target-accept", type=float, default=0.9)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    engine = fit if given.engine == "bambi" else importlib.import_module("poshgrid.statistics.fast")
    settings = {name: getattr(given, name) for name in _SETTINGS}
    tallies = {}
    for arm in given.arm or ARMS:
        model = _model(arm).model_copy(update=settings)
        tallies[arm] = tally = Tally()
        for replication in range(given.replications):
            # Arms of the same truth get the same data, whatever is fitted.
            number = ARMS.index(arm.removesuffix("-fitted"))
            rng = np.random.default_rng([given.seed, number, replication])
            counts, truth = simulate(arm, model, rng, given.cell_sd)
            made = design.design(counts, model.formula)
            started = time.process_time()
            inference = engine.sample(
                made, model.model_copy(update={"seed": replication + 1}), given.threads
            )
            tally.seconds += time.process_time() - started
            found = summary.summarise(inference.posterior, made.frame)
            tally.add(found, truth, int(inference.sample_stats["diverging"].sum()))
            done = replication + 1
            sys.stderr.write(f"{arm}: {done} fits, {tally.coverage():.3f}, {tally.seconds:.0f} s\n")
    shown = ", ".join(f"{name} {value:g}" for name, value in settings.items())
    print(f"{given.replications} replications, engine {given.engine} ({shown}), seed {given.seed}, "
          f"SD of cells {given.cell_sd:g}\n")  # fmt: skip
    print(markdown(tallies))


def _model(arm: str) -> Regression:
    """Return the model that is fitted in an arm."""
    paper = Regression(name="paper")
    more = CELL if arm == "cells-fitted" else ""
    return paper.model_copy(update={"formula": paper.formula + more})


def simulate(
    arm: str, model: Regression, rng: np.random.Generator, cell_sd: float
) -> tuple[pl.DataFrame, dict[str, float]]:
    """Return counts of the paper's design, and the parameters that they were drawn from.

    Args:
        arm: one of :data:`ARMS`.
        model: that is fitted: the paper's priors are drawn from in arm ``prior``.
        rng: of this replication.
        cell_sd: SD of the cells' effects in arms ``cells`` and ``cells-fitted``, log odds.

    Returns:
        Columns of ``COUNTS``; and term -> true value, the implicit levels included.
    """
    counts = _empty()
    made = design.design(counts, Regression(name="paper").formula)
    matrix = design.common_matrix(made.formula, made.frame)
    if arm == "prior":
        truth = _drawn(matrix, model, rng)
    else:
        table = published("table12")
        truth = dict(table.select("term", "median").iter_rows())
    if arm.startswith("cells"):
        truth["1|cell_sigma"] = cell_sd
    eta = matrix.to_numpy() @ np.array([truth[_term(name)] for name in matrix.columns])
    for name, value in truth.items():
        if name.endswith("_sigma"):
            group = name.removeprefix("1|").removesuffix("_sigma")
            codes = made.frame[group].cat.codes.to_numpy()
            eta += rng.normal(0, value, codes.max() + 1)[codes]
    rows = _ordered(counts)
    correct = rng.binomial(PAIRS, 1 / (1 + np.exp(-eta))).astype(float)
    return rows.with_columns(correct=pl.Series(correct)), _with_implicit(truth, made.frame)


def _empty() -> pl.DataFrame:
    """Return the rows of the paper's design, nothing judged right yet."""
    phenomena = published("table8").filter(pl.col("phenomenon") != "average")
    pairs = phenomena.select("category", "phenomenon").unique().sort("category", "phenomenon")
    rows = [
        {
            "condition": condition, "size": size, "model": "gpt2", "recipe": "packed",
            "bias": "none", "seed": seed, "suite": "posh", "category": category,
            "phenomenon": phenomenon,
            "template": "all", "lexical_set": "", "correct": 0.0, "ties": 0, "n": PAIRS,
            "words": words(size), "source": condition.removesuffix("-f"),
            "filtered": condition.endswith("-f"),
        }
        for condition, sizes in SIZES.items()
        for size, seed in itertools.product(sizes, SEEDS)
        for category, phenomenon in pairs.iter_rows()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=COUNTS)


def _ordered(counts: pl.DataFrame) -> pl.DataFrame:
    """Return the counts in the order of the rows of a design."""
    return counts.sort(
        "condition", "words", "size", "model", "recipe", "bias", "seed", "category", "phenomenon"
    )


def _term(column: str) -> str:
    """Return a coefficient's name in summaries: ``S(a)[x]:S(b)[y]`` is ``S(a):S(b)[x, y]``."""
    levels = re.findall(r"\[(.+?)\]", column)
    return re.sub(r"\[.+?\]", "", column) + (f"[{', '.join(levels)}]" if levels else "")


def _drawn(matrix: pd.DataFrame, model: Regression, rng: np.random.Generator) -> dict[str, float]:
    """Draw coefficients and group SDs from the priors; that of the intercept is on centred data."""
    slopes = [name for name in matrix.columns if name != "Intercept"]
    truth = {_term(name): rng.normal(0, model.slope_sd) for name in slopes}
    centre = sum(truth[_term(name)] * matrix[name].mean() for name in slopes)
    truth["Intercept"] = rng.normal(0, model.intercept_sd) - centre
    for group in ("seed", "phenomenon"):
        truth[f"1|{group}_sigma"] = rng.exponential(1 / model.group_rate)
    return truth


def _with_implicit(truth: dict[str, float], frame: pd.DataFrame) -> dict[str, float]:
    """Add the last category's coefficients: minus the sum of the others'."""
    *coded, last = frame["category"].cat.categories
    found = dict(truth)
    for shape in ("S(category)[{}]", "S(category):S(filter)[{}, yes]"):
        found[shape.format(last)] = -sum(truth[shape.format(level)] for level in coded)
    return found


def _width(tally: Tally) -> str:
    """Return the mean width of the interval of the filter's effect, or contrast."""
    return f"{np.mean(tally.width['S(filter)[yes]']):.3f}"


def markdown(tallies: dict[str, Tally]) -> str:
    """Return coverage (percent) and bias of the medians (log odds), by parameter and arm."""
    names = list(tallies)
    terms = list(dict.fromkeys(term for tally in tallies.values() for term in tally.held))
    lines = [
        f"| parameter | {' | '.join(names)} |",
        f"|---|{'---:|' * len(names)}",
    ]
    for term in terms:
        cells = []
        for name in names:
            tally = tallies[name]
            if term not in tally.held:
                cells.append("–")
                continue
            bias = np.mean(np.subtract(tally.median[term], tally.truth[term])) + 0.0
            cells.append(f"{100 * np.mean(tally.held[term]):.0f}% ({bias:+.3f})")
        shown = term.replace("|", "\\|")
        lines.append(f"| `{shown}` | {' | '.join(cells)} |")
    whole = [f"**{100 * tally.coverage():.1f}%**" for tally in tallies.values()]
    lines.append(f"| **all** | {' | '.join(whole)} |")
    for label, show in (
        ("mean width of the interval of the filter's effect", _width),
        ("divergences (fits with one)", lambda t: f"{t.divergences} ({t.diverged})"),
        ("fits that fail the gate", lambda t: str(t.failed)),
        ("CPU seconds a fit",
         lambda t: f"{t.seconds / max(1, len(next(iter(t.held.values())))):.1f}"),
    ):  # fmt: skip
        lines.append(f"| {label} | {' | '.join(show(tally) for tally in tallies.values())} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
