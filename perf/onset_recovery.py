"""Whether onsets, their ratios and their order are found where they were planted.

    python perf/onset_recovery.py [--studies 200 --seeds 2 3 --over sizes checkpoints --shape ...]

A study has nine phenomena and two conditions. An onset lies between 8M and 90M words, log-uniform;
the second condition needs 1, 1.7 or 3 times as many words, three phenomena each. Sizes are 10M, 30M
and 100M, each seed of each size a model of its own; checkpoints are eight, 1M to 100M, of each run,
whose errors go together (r = .8 from one to the next).

Shapes: ``logistic`` in log words, from 50% to 100%; ``ceiling``, the same to 85%; ``late``, a
plateau at 50%, then a straight rise to 95% within a doubling of the words. The best rival is a
coin, so that the threshold is 55%. Of 500 pairs each has a log odds of its own (SD 1, the same for
all models); seeds vary in log odds, in each phenomenon by .2 times the root of a scaled inverse
chi-square with 2.4 degrees of freedom: by 6 points at the median, as the 33 published models do.
``shifted`` is the logistic with one thing more that the model of the variance does not know: the
curve of each model is moved along log words (SD .4). ``uneven`` is the logistic with seeds of the
second condition that vary three times as much (SD).

An interval ends at points, and so holds an onset between them in more than 95%. With ``--at-point``
all onsets lie on the middle point: there it is 95% if the limits are right, and no more.

The answer is a table in Markdown, in percent. Intervals that hold the planted onset; where both
ends are known, one, or none; ratios with both ends that hold the planted one, and how many there
were. Orders of two phenomena of a condition: claimed, of those whose onsets lie on two sides of a
point; wrong, of all pairs; studies with a wrong one. Conditions of one onset of which one was said
to come first. The last column: straight lines, in log words, through the true means without any
noise: how far they put the onset from where it is (median of the ratio, at least 1, within the
points).
"""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scipy import optimize, special

from poshgrid.config.specs import Cell
from poshgrid.statistics import development, verdicts
from poshgrid.statistics.curves import over_seeds
from poshgrid.statistics.development import CHECKPOINTS, SIZES
from poshgrid.statistics.schema import ACCURACY, CURVES
from poshgrid.statistics.verdicts import PRIOR_FREEDOM

GRIDS = {SIZES: np.array([10e6, 30e6, 100e6]), CHECKPOINTS: np.geomspace(1e6, 100e6, 8)}
SHAPES = ("logistic", "ceiling", "late", "shifted", "uneven")
THRESHOLD, SHIFT, PAIRS = 0.55, 0.4, 500
CELLS = {
    "one/10M": Cell(words=1, source="base", filtered=False),
    "two/10M": Cell(words=1, source="base", filtered=True),
}
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS /= WEIGHTS.sum()


def main() -> None:
    """Plant, estimate, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seeds", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--over", nargs="+", choices=GRIDS, default=list(GRIDS))
    parser.add_argument("--at-point", action="store_true")
    parser.add_argument("--shape", nargs="+", choices=SHAPES, default=SHAPES)
    given = parser.parse_args()
    print("| over | seeds | shape | held | both ends | one end | none | ratio | (of) | claimed "
          "| wrong | studies | equal | lines |")  # fmt: skip
    print("|---|---:|---|" + "---:|" * 11)
    for over in given.over:
        for seeds in given.seeds:
            for shape in given.shape:
                studies = [
                    study(over, seeds, shape, number, at_point=given.at_point)
                    for number in range(given.studies)
                ]
                print(line(over, seeds, shape, studies))
                sys.stdout.flush()


def study(
    over: str, seeds: int, shape: str, number: int, *, at_point: bool
) -> dict[str, np.ndarray]:
    """Return what was said of one study, each measure an array of 0 and 1 (or ratios)."""
    generator = np.random.default_rng([number, seeds])
    words, x = GRIDS[over], np.log(GRIDS[over])
    base = np.exp(generator.uniform(np.log(8e6), np.log(90e6), 9))
    spread = 0.2 * np.sqrt(PRIOR_FREEDOM / generator.chisquare(PRIOR_FREEDOM, 9))
    steep = generator.uniform(1.5, 4, 9)
    if at_point:
        base[:] = words[len(words) // 2]
    of_pairs = generator.normal(size=(9, PAIRS))
    runs: list[dict[str, Any]] = []
    rows, truth, bend = [], {}, []
    for condition, factors in (("one", [1.0]), ("two", [1.0] if at_point else [1.0, 1.7, 3.0])):
        for p, pairs in enumerate(of_pairs):
            crossing = base[p] * factors[p % len(factors)]
            place = {
                "condition": condition, "model": "l", "recipe": "r", "bias": "none",
                "suite": "s", "category": "c", "phenomenon": f"p{p}",
            }  # fmt: skip
            mean, of_models = planted(shape, x, np.log(crossing), steep[p], generator, seeds, over)
            own = spread[p] * (3 if shape == "uneven" and condition == "two" else 1)
            at = _centres(of_models, np.hypot(own, 1))
            at += own * _errors(generator, seeds, len(x), over)
            chance = special.expit(at[..., None] + pairs)
            right = generator.random(chance.shape) < chance  # seeds x points x pairs
            truth[condition, f"p{p}"] = crossing
            drawn = _line(x, mean)
            if 0 < drawn < np.inf:
                bend.append(np.exp(abs(np.log(drawn / crossing))))
            for k, number_of_words in enumerate(words):
                if over == SIZES or k == len(words) - 1:
                    runs += [
                        {**place, "size": f"{number_of_words / 1e6:.0f}M", "seed": seed,
                         "correct": float(correct), "n": PAIRS}
                        for seed, correct in enumerate(right[:, k].sum(-1))
                    ]  # fmt: skip
                rows.append({**place, "words": number_of_words, "share": right[:, k].mean(0)})
    counts = pl.DataFrame(runs, schema_overrides={"seed": pl.UInt32})
    onsets = development.onsets(_points(over, seeds, rows, counts))
    return judged(onsets, truth, words) | {"bend": np.array(bend)}


def _points(
    over: str, seeds: int, rows: list[dict[str, Any]], counts: pl.DataFrame
) -> pl.DataFrame:
    """Return the points of a study, from the tables that a target would have."""
    spreads = verdicts.spreads(counts, {("c", f"p{p}"): PAIRS for p in range(9)})
    accuracy, curves = [], []
    for row in rows:
        share, size = row.pop("share"), f"{row['words'] / 1e6:.0f}M"
        own = [spreads["c", row["phenomenon"]].of_mean(seeds)]
        beside = verdicts.compare(share, np.full(PAIRS, 0.5), np.ones(PAIRS), own)
        low, high = beside.interval()
        same = {**row, "level": "phenomenon", "n_seeds": seeds, "mean": share.mean()}
        if over == SIZES or row["words"] == GRIDS[over][-1]:
            accuracy.append({
                **same, "size": size, "rival": verdicts.COIN, "rival_mean": 0.5,
                "above_rival": beside.difference, "above_rival_low": low, "above_rival_high": high,
            })  # fmt: skip
        if over == CHECKPOINTS:
            last = GRIDS[over][-1]
            curves.append({
                **same, "size": f"{last / 1e6:.0f}M", "kept": False, "step": 1, "pairs": PAIRS,
                "epoch": row["words"] / last,
            })  # fmt: skip
    return development.points(
        pl.DataFrame(accuracy, schema=ACCURACY),
        pl.DataFrame(curves, schema=over_seeds(pl.DataFrame(schema=CURVES)).schema),
        counts,
    )


def judged(
    rows: pl.DataFrame, truth: dict[tuple[str, str], float], words: np.ndarray
) -> dict[str, np.ndarray]:
    """Compare the rows of a study with what was planted."""
    curves = {(row["condition"], row["phenomenon"]): row for row in rows.iter_rows(named=True)}
    found: dict[str, list[float]] = {key: [] for key in (
        "held", "within", "one end", "none", "ratio", "claimed", "wrong", "equal")}  # fmt: skip
    for key, row in curves.items():
        found["held"].append(_holds(row["low"], row["high"], truth[key]))
        found["within"].append(row["status"] == "within")
        found["one end"].append(row["status"] in ("by", "after"))
        found["none"].append(row["status"] == "cannot tell")
    for condition in ("one", "two"):
        for pair in combinations([key for key in curves if key[0] == condition], 2):
            p, q = sorted(pair, key=lambda key: truth[key])
            right = _sooner(curves[p], curves[q])
            if ((words > truth[p]) & (words < truth[q])).any():
                found["claimed"].append(right)
            same = truth[p] == truth[q]
            found["wrong"].append(_sooner(curves[q], curves[p]) or (same and right))
    for row in development.ratios(rows, CELLS).iter_rows(named=True):
        one, two = (truth[condition, row["phenomenon"]] for condition in ("two", "one"))
        if row["low"] and row["high"]:
            found["ratio"].append(_holds(row["low"], row["high"], one / two))
        if one == two:
            found["equal"].append(any(
                _sooner(curves[a, row["phenomenon"]], curves[b, row["phenomenon"]])
                for a, b in (("one", "two"), ("two", "one"))
            ))  # fmt: skip
    return {key: np.array(values, dtype=float) for key, values in found.items()}


def planted(
    shape: str, x: np.ndarray, onset: float, steep: float, generator: np.random.Generator,
    seeds: int, over: str,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return true means at points, and those of each model (seeds x points)."""
    if shape == "late":
        top, rise = 0.95, np.log(2)
        start = onset - (THRESHOLD - 0.5) / (top - 0.5) * rise
        mean = 0.5 + (top - 0.5) * np.clip((x - start) / rise, 0, 1)
        return mean, np.tile(mean, (seeds, 1))
    top = 0.85 if shape == "ceiling" else 1.0

    def curve(at: np.ndarray | float, middle: float) -> np.ndarray:
        return 0.5 + (top - 0.5) / (1 + np.exp(-steep * (np.asarray(at) - middle)))

    if shape != "shifted":
        middle = onset + np.log((top - THRESHOLD) / (THRESHOLD - 0.5)) / steep
        mean = curve(x, middle)
        return mean, np.tile(mean, (seeds, 1))

    def average(at: float, middle: float) -> float:
        return float((curve(at, middle + SHIFT * NODES) * WEIGHTS).sum())

    middle = optimize.brentq(lambda m: average(onset, m) - THRESHOLD, onset - 9, onset + 9)
    size = (seeds, len(x)) if over == SIZES else (seeds, 1)
    moved = middle + SHIFT * generator.normal(size=size)
    mean = np.array([average(at, middle) for at in x])
    return mean, 0.5 + (top - 0.5) / (1 + np.exp(-steep * (x[None, :] - moved)))


def _centres(means: np.ndarray, spread: float) -> np.ndarray:
    """Return log odds whose accuracy is this on average over normal deviates of an SD."""
    centres = special.logit(np.clip(means, 0.01, 0.995))
    for _ in range(20):
        chance = special.expit(centres[..., None] + spread * NODES)
        slope = (chance * (1 - chance) * WEIGHTS).sum(-1)
        centres -= ((chance * WEIGHTS).sum(-1) - np.clip(means, 0.01, 0.995)) / slope
    return centres


def _errors(generator: np.random.Generator, seeds: int, points: int, over: str) -> np.ndarray:
    z = generator.normal(size=(seeds, points))
    if over == CHECKPOINTS:
        for k in range(1, points):
            z[:, k] = 0.8 * z[:, k - 1] + 0.6 * z[:, k]
    return z


def _line(x: np.ndarray, mean: np.ndarray) -> float:
    """Return where straight lines through the true means cross; 0 before them, infinity after."""
    above = mean - THRESHOLD
    if above[0] > 0:
        return 0.0
    if not (above > 0).any():
        return np.inf
    k = int((above > 0).argmax())
    return float(np.exp(np.interp(0, above[k - 1 : k + 1], x[k - 1 : k + 1])))


def _sooner(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return (development.ratio(one, other)["high"] or np.inf) <= development.SLACK


def _holds(low: float | None, high: float | None, value: float) -> bool:
    return (low or 0) < value * (1 - 1e-9) and value * (1 + 1e-9) < (high or np.inf)


def line(over: str, seeds: int, shape: str, studies: list[dict[str, np.ndarray]]) -> str:
    """Return a row of the table."""
    whole = {key: np.concatenate([each[key] for each in studies]) for key in studies[0]}
    share = {key: f"{100 * values.mean():.1f}" for key, values in whole.items() if len(values)}
    wrong = 100 * np.mean([each["wrong"].any() for each in studies])
    return (
        f"| {over} | {seeds} | {shape} | {share['held']} | {share['within']} | "
        f"{share['one end']} | {share['none']} | {share.get('ratio', '–')} | "
        f"{len(whole['ratio'])} | {share.get('claimed', '–')} | {share['wrong']} | {wrong:.1f} | "
        f"{share['equal']} | {np.median(whole['bend']):.2f} |"
    )


if __name__ == "__main__":
    main()
