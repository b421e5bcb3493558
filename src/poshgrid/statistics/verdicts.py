"""Is a phenomenon learned? The verdict of each cell: yes, no, cannot tell, or not testable.

The estimand is the difference between two accuracies: that of the cell's models, on average over
seeds, and that of their best rival, on the templates of the suite and on words of the same kind.
``docs/statistics.md`` has the formula; ``perf/verdict_errors.py`` measures how often a verdict is
wrong.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import optimize, special

from poshgrid.config.runs import BASELINES, COUNTED, REFERENCE, UNTRAINED
from poshgrid.evaluation.heuristics import table
from poshgrid.statistics import tests
from poshgrid.statistics.intervals import SetSums
from poshgrid.statistics.schema import ACCURACY, CANNOT_TELL, NO, NOT_TESTABLE, RUN_AXES, YES

SOLVED = 0.95
"""The pairs cannot test a phenomenon if a rival's accuracy is at least this."""
MARGIN = 0.05
"""Share of pairs: a model that is surely less than this above its best rival has not learned."""
ERROR = 0.025
"""Probability of a wrong *yes* (and of a wrong *no*) anywhere in the table of a suite."""
PRIOR_FREEDOM = 2.4
"""How much the variance over seeds differs between phenomena, as degrees of freedom of a scaled
inverse chi-square: estimated from the 33 published models of POSH-BENCH."""
LEAST_SPREAD = 0.01
"""Smallest SD over seeds, log odds, because the logarithm of 0 is not defined."""
COIN = "50%"
"""Name of the rival that guesses."""
VERDICTS = {
    name: ACCURACY[name]
    for name in (
        "rival", "rival_mean", "above_rival", "above_rival_low", "above_rival_high", "learned"
    )
}  # fmt: skip

Phenomenon = tuple[str, str]
_PHENOMENON = ("category", "phenomenon")


class Variance(NamedTuple):
    """An estimated variance and its degrees of freedom."""

    value: float
    freedom: float

    def of_mean(self, number: int) -> Variance:
        """Return the variance of a mean of this many values."""
        return Variance(self.value / number, self.freedom)


class Comparison(NamedTuple):
    """A model compared with a rival on one phenomenon.

    Attributes:
        rival: its accuracy, a share.
        difference: accuracy of the model less that of the rival.
        sets: variance of the difference over lexical sets.
        seeds: variances over seeds of the mean log odds: of the model, and of the rival if it has
            seeds, too (the untrained baseline).
    """

    rival: float
    difference: float
    sets: Variance
    seeds: list[Variance]

    def p(self, difference: float = 0.0) -> float:
        """Return the one-sided p of the hypothesis that the true difference is at most this.

        Seeds have one variance in log odds; their variance in accuracy is taken at the accuracy
        under the hypothesis (a score test), so that a cell that is near 100% by chance does not
        look more certain. The test is Student's t with Satterthwaite's degrees of freedom.
        """
        accuracy = self.rival + difference
        slope = (accuracy * (1 - accuracy)) ** 2
        parts = [self.sets, *(Variance(v.value * slope, v.freedom) for v in self.seeds)]
        variance = sum(part.value for part in parts)
        freedom = variance**2 / sum(part.value**2 / part.freedom for part in parts)
        t = (self.difference - difference) / math.sqrt(variance)
        return float(special.stdtr(freedom, -t))

    @property
    def known(self) -> bool:
        """Whether the variance over seeds is known and both accuracies are numbers."""
        return bool(self.seeds) and math.isfinite(self.difference)

    def interval(self) -> tuple[float | None, float | None]:
        """Return the 95% interval: the differences that the test does not reject."""
        return (self._bound(ERROR), self._bound(1 - ERROR)) if self.known else (None, None)

    def _bound(self, p: float) -> float:
        """Return the difference whose one-sided p is this, within what is possible."""
        lowest, highest = -self.rival, 1 - self.rival
        if self.p(lowest) >= p:
            return lowest
        if self.p(highest) <= p:
            return highest
        return float(optimize.brentq(lambda value: self.p(value) - p, lowest, highest, xtol=1e-6))


def verdicts(
    sums: SetSums,
    heuristics: Mapping[str, np.ndarray],
    counts: pl.DataFrame,
    solved: Collection[Phenomenon] = (),
) -> pl.DataFrame:
    """Return the best rival and the verdict of each trained point, phenomenon by phenomenon.

    Rivals are the baselines of the point's condition and size, the heuristics that are not
    hierarchical, and guessing (``COIN``). The best rival has the highest accuracy.

    - *not testable*: a rival is right on ``SOLVED`` of the pairs, or the phenomenon is ``solved``.
    - *no*: the model is surely less than ``MARGIN`` above the best rival.
    - *yes*: the model is surely above every rival, and the verdict is not *no*. The largest p of
      the rivals counts; as the model must be above all of them, no correction for their number is
      needed (Berger 1982, Technometrics 24).
    - *cannot tell*: neither is sure; or no model has a second seed; or an accuracy is not a number.

    *Yes* and *no* are corrected over all points and phenomena of the suite (Holm).

    Args:
        sums: right pairs of each point in each lexical set of the suite.
        heuristics: name -> right pairs in each set; a pair without a decision counts as half.
        counts: right pairs of each run: columns of ``COUNTS``.
        solved: see :func:`read_heuristics`.

    Returns:
        The columns of a point, suite, category, phenomenon, and those of ``VERDICTS``.
    """
    points, strata = sums.points.to_dicts(), sums.of("phenomenon")
    sets = {phenomenon: len(at) for phenomenon, at in strata}
    counts = counts.filter(suite=sums.suite)
    trained = spreads(counts.filter(~pl.col("recipe").is_in(REFERENCE)), sets)
    untrained = spreads(counts.filter(recipe=UNTRAINED), sets) or trained
    pairs = sums.sets["n"].to_numpy().astype(float)
    right = sums.correct / sums.points["seeds"].to_numpy()
    rows: list[dict[str, Any]] = []
    for i, axes, baselines in _trained(points):
        others = {name: right[:, j] for name, j in baselines.items()} | dict(heuristics)
        for phenomenon, at in strata:
            n = pairs[at]
            seeds = [] if not trained else [trained[phenomenon].of_mean(points[i]["seeds"])]
            compared: dict[str, Comparison] = {}
            for name, choices in others.items():
                own = seeds
                if name == UNTRAINED and trained:
                    number = points[baselines[name]]["seeds"]
                    own = [*seeds, untrained[phenomenon].of_mean(number)]
                if not np.array_equal(choices[at], n / 2):  # else it decides nothing: as guessing
                    compared[name] = compare(right[at, i], choices[at], n, own)
            compared[COIN] = compare(right[at, i], n / 2, n, seeds)
            names = dict(zip(_PHENOMENON, phenomenon, strict=True))
            rows.append({**axes, "suite": sums.suite, **names, **_best_rival(compared)})
    texts = dict.fromkeys((*RUN_AXES, "suite", *_PHENOMENON), pl.String)
    p_values = {"p_yes": pl.Float64, "p_no": pl.Float64}
    schema = {**texts, **{k: v for k, v in VERDICTS.items() if k != "learned"}, **p_values}
    frame = pl.DataFrame(rows, schema=schema)
    untestable = [phenomenon in solved for phenomenon in frame.select(*_PHENOMENON).iter_rows()]
    sure = {
        name: pl.Series(tests.holm(frame[name].to_list()), dtype=pl.Float64) < ERROR
        for name in p_values
    }
    learned = (
        pl.when((pl.col("rival_mean") >= SOLVED) | pl.Series(untestable, dtype=pl.Boolean))
        .then(pl.lit(NOT_TESTABLE))
        .when(sure["p_no"])
        .then(pl.lit(NO))
        .when(sure["p_yes"])
        .then(pl.lit(YES))
        .otherwise(pl.lit(CANNOT_TELL))
    )
    return frame.select(*texts, *(k for k in VERDICTS if k != "learned"), learned=learned)


def read_heuristics(
    path: Path, pairs: pl.DataFrame, judged: pl.DataFrame
) -> tuple[pl.DataFrame, set[tuple[str, str]]]:
    """Return the choices of the heuristics that are not hierarchical, and what they solve.

    A choice is 1 (the good member), 0 (the bad one), or .5 if the heuristic does not decide. Pairs
    that are judged together are one choice: the member that the heuristic prefers in most of them.

    Args:
        path: columns of ``HEURISTICS``.
        pairs: pairs of the suite, columns of ``PAIRS``.
        judged: the units that are judged, sorted by item_id.

    Returns:
        A column of choices for each heuristic, with the rows of ``judged``; and the (category,
        phenomenon) that are solved: one of the heuristics is right on ``SOLVED`` of the pairs on
        which a hierarchical heuristic decides. On the other pairs, structure does not decide.

    Raises:
        PoshgridError: the file is missing, or its pairs are not those of the suite.
    """
    heuristics = table.read(path, pairs)
    wide = table.wide(table.of_words(heuristics, pairs), judged)
    names = [name for name in wide.columns if name in set(heuristics["heuristic"])]
    hierarchical = set(heuristics.filter("hierarchical")["heuristic"]).intersection(names)
    tested = wide.filter(pl.any_horizontal(False, pl.col(sorted(hierarchical)).is_not_null()))
    others = [name for name in names if name not in hierarchical]
    means = tested.group_by("category", "phenomenon").agg(pl.col(others).fill_null(0.5).mean())
    best = pl.max_horizontal(0.0, *others)
    solved = means.filter(best >= SOLVED).select("category", "phenomenon")
    return wide.select(pl.col(others).fill_null(0.5)), set(solved.iter_rows())


def _trained(points: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, str], dict[str, int]]]:
    """Yield the number and axes of each trained point, and baseline -> the number of its point."""
    numbers = {tuple(point[axis] for axis in RUN_AXES): j for j, point in enumerate(points)}
    for i, point in enumerate(points):
        if point["recipe"] in REFERENCE:
            continue
        cell = point["condition"], point["size"]
        names = {
            baseline: (*cell, point["model"], UNTRAINED, "none")
            if baseline == UNTRAINED
            else (*cell, baseline, COUNTED, "none")
            for baseline in BASELINES
        }
        baselines = {key: numbers[name] for key, name in names.items() if name in numbers}
        yield i, {axis: point[axis] for axis in RUN_AXES}, baselines


def compare(
    model: np.ndarray, rival: np.ndarray, n: np.ndarray, seeds: Sequence[Variance]
) -> Comparison:
    """Compare a model with a rival on one phenomenon.

    Args:
        model: right pairs of the model in each set, mean over its seeds.
        rival: right pairs of the rival in each set.
        n: pairs in each set.
        seeds: variances of the mean log odds over seeds.
    """
    number, total = len(n), n.sum()
    difference = (model - rival).sum() / total
    residual = (model - rival - n * difference) / total
    variance = float((residual**2).sum()) * number / max(number - 1, 1)
    if variance == 0:  # add a right and a wrong set (Agresti and Coull 1998)
        share = (model.sum() / total * number + 1) / (number + 2)
        variance = share * (1 - share) / number
    over_sets = Variance(variance, max(number - 1, 1))
    return Comparison(float(rival.sum() / total), float(difference), over_sets, list(seeds))


def spreads(counts: pl.DataFrame, sets: Mapping[Phenomenon, int]) -> dict[Phenomenon, Variance]:
    """Return the variance over seeds in each phenomenon, in log odds.

    The cells of a phenomenon are pooled: in the 33 published models of POSH-BENCH their variances
    differ no more than by chance. Phenomena do differ, so that they are only partly pooled
    (moderated variances: Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3).
    The degrees of freedom are at most those of all cells together.

    Args:
        counts: right pairs of each run: columns of ``COUNTS``.
        sets: number of lexical sets of each phenomenon.

    Returns:
        Empty if no cell has several seeds.
    """
    cells: dict[Phenomenon, list[np.ndarray]] = {phenomenon: [] for phenomenon in sets}
    runs = counts.group_by(*RUN_AXES, "seed", *_PHENOMENON).agg(pl.col("correct", "n").sum())
    share = pl.col("correct") / pl.col("n")
    for (category, phenomenon, *_), seeds in (
        runs.with_columns(share=share).drop_nans("share").sort(*RUN_AXES, "seed", *_PHENOMENON)
        .group_by(*_PHENOMENON, *RUN_AXES, maintain_order=True)
    ):  # fmt: skip
        number = sets[category, phenomenon]
        # Add half a right and half a wrong set, so that the odds are finite
        shares = (seeds["share"].to_numpy() * number + 0.5) / (number + 1)
        cells[category, phenomenon].append(special.logit(shares))
    return moderated(cells)


def moderated(cells: Mapping[Phenomenon, Sequence[np.ndarray]]) -> dict[Phenomenon, Variance]:
    """Return moderated variances: see :func:`spreads`.

    Args:
        cells: phenomenon -> the log odds of each seed of each cell.
    """
    freedom = {name: sum(len(seeds) - 1 for seeds in own) for name, own in cells.items()}
    total = sum(freedom.values())
    if not total:
        return {}
    squares = {name: sum(seeds.var() * len(seeds) for seeds in own) for name, own in cells.items()}
    own = {
        name: max(squares[name] / degrees, LEAST_SPREAD**2)
        for name, degrees in freedom.items() if degrees
    }  # fmt: skip
    prior = math.exp(
        np.mean([math.log(own[name]) - _log_bias(freedom[name]) for name in own])
        + _log_bias(PRIOR_FREEDOM)
    )
    return {
        name: Variance(
            (PRIOR_FREEDOM * prior + degrees * own.get(name, 0)) / (PRIOR_FREEDOM + degrees),
            min(PRIOR_FREEDOM + degrees, total),
        )
        for name, degrees in freedom.items()
    }


def _log_bias(freedom: float) -> float:
    """Return the mean of log(chi-square / its degrees of freedom)."""
    return float(special.digamma(freedom / 2) - math.log(freedom / 2))


def _best_rival(compared: Mapping[str, Comparison]) -> dict[str, Any]:
    """Return the columns of the best rival, and the p values of *yes* and of *no*."""
    best = max(compared, key=lambda name: np.nan_to_num(compared[name].rival))
    rival = compared[best]
    low, high = rival.interval()
    known = all(one.known for one in compared.values())
    return {
        "rival": best, "rival_mean": rival.rival, "above_rival": rival.difference,
        "above_rival_low": low, "above_rival_high": high,
        "p_yes": max(one.p() for one in compared.values()) if known else 1.0,
        "p_no": 1 - rival.p(MARGIN) if rival.known and rival.rival < SOLVED else 1.0,
    }  # fmt: skip
