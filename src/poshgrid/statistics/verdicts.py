"""Is a phenomenon learned? The verdict of each cell: yes, no, cannot tell, or not testable.

The estimand is the accuracy that a model of the cell has on average over seeds, on the templates of
the suite and on words like theirs, less that of its best rival. ``docs/statistics.md`` has the
formula; ``perf/verdict_errors.py`` measures how often a verdict is wrong.
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
from poshgrid.heuristics import table
from poshgrid.statistics import tests
from poshgrid.statistics.intervals import SetSums
from poshgrid.statistics.schema import ACCURACY, CANNOT_TELL, NO, NOT_TESTABLE, RUN_AXES, YES

SOLVED = 0.95
"""Accuracy of a rival from which on the pairs cannot test a phenomenon."""
MARGIN = 0.05
"""Share of pairs: a model that is surely not this far above its best rival has not learned."""
ERROR = 0.025
"""Probability of a wrong *yes* (and of a wrong *no*) anywhere in the table of a suite."""
PRIOR_FREEDOM = 2.4
"""How much phenomena differ in how far seeds vary, as degrees of freedom of a scaled inverse
chi-square: that of the 33 published models of POSH-BENCH."""
LEAST_SPREAD = 0.01
"""SD over seeds, log odds: no estimate is below it, since 0 has no logarithm."""
COIN = "50%"
VERDICTS = {
    name: ACCURACY[name]
    for name in (
        "rival", "rival_mean", "above_rival", "above_rival_low", "above_rival_high", "learned"
    )
}  # fmt: skip

Phenomenon = tuple[str, str]
_PLACE = ("category", "phenomenon")


class Variance(NamedTuple):
    """An estimated variance and its degrees of freedom."""

    value: float
    freedom: float

    def of_mean(self, number: int) -> Variance:
        """Return the variance of a mean of this many."""
        return Variance(self.value / number, self.freedom)


class Comparison(NamedTuple):
    """A model compared with a rival on one phenomenon.

    Attributes:
        rival: its accuracy, a share.
        difference: accuracy of the model less that of the rival.
        sets: variance of the difference over lexical sets.
        seeds: variances over seeds of the mean log odds, one for each side that was trained or
            initialised with a seed.
    """

    rival: float
    difference: float
    sets: Variance
    seeds: list[Variance]

    def p(self, difference: float = 0.0) -> float:
        """Return the one-sided p of a model that is no further above its rival than this.

        Seeds vary evenly in log odds, so that their variance in accuracy is what it would be at the
        accuracy that is tested (a score test): a lucky cell near 100% does not look surer for it.
        Student's t at Satterthwaite's degrees of freedom.
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
        """Whether seeds tell how sure it is, and both accuracies are numbers."""
        return bool(self.seeds) and math.isfinite(self.difference)

    def interval(self) -> tuple[float | None, float | None]:
        """Return the 95% interval of the difference: what the test does not rule out."""
        return (self._bound(ERROR), self._bound(1 - ERROR)) if self.known else (None, None)

    def _bound(self, p: float) -> float:
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
    hierarchical, and a coin. The best is right most often.

    - *not testable*: a rival is right on ``SOLVED`` of the pairs, or the phenomenon is ``solved``.
    - *no*: the model is less than ``MARGIN`` above the best rival.
    - *yes*: it is above every rival, and not surely by so little. All must hold, so that the
      largest p counts and needs no correction for their number (Berger 1982, Technometrics 24).
    - *cannot tell*: neither is sure; or no model has a second seed; or an accuracy is no number.

    *Yes* and *no* are corrected over all points and phenomena of the suite (Holm).

    Args:
        sums: what each point made of the suite, set by set.
        heuristics: how many pairs of each set a heuristic has right; a coin where it has no say.
        counts: pairs right of each run: columns of ``COUNTS``.
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
                if not np.array_equal(choices[at], n / 2):  # without a say: a coin
                    compared[name] = compare(right[at, i], choices[at], n, own)
            compared[COIN] = compare(right[at, i], n / 2, n, seeds)
            names = dict(zip(_PLACE, phenomenon, strict=True))
            rows.append({**axes, "suite": sums.suite, **names, **_best(compared)})
    texts = dict.fromkeys((*RUN_AXES, "suite", *_PLACE), pl.String)
    p_values = {"p_yes": pl.Float64, "p_no": pl.Float64}
    schema = {**texts, **{k: v for k, v in VERDICTS.items() if k != "learned"}, **p_values}
    frame = pl.DataFrame(rows, schema=schema)
    untestable = [phenomenon in solved for phenomenon in frame.select(*_PLACE).iter_rows()]
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
    """Return what the heuristics that are not hierarchical choose, and what they solve.

    A heuristic that has no say tosses a coin, .5. Pairs that are judged as one are one choice: the
    member that the heuristic prefers in most of them.

    Args:
        path: columns of ``HEURISTICS``.
        pairs: the suite's, columns of ``ITEMS``.
        judged: the units that are judged, sorted by item_id.

    Returns:
        A column for each heuristic, with the rows of ``judged``; and the categories and phenomena
        of which one is right on ``SOLVED`` of the pairs that a hierarchical heuristic has a say on.
        On the other pairs of such a phenomenon something else decides.

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
    """Yield the place and the axes of points that are no reference, and their baselines' places."""
    places = {tuple(point[axis] for axis in RUN_AXES): j for j, point in enumerate(points)}
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
        baselines = {baseline: places[name] for baseline, name in names.items() if name in places}
        yield i, {axis: point[axis] for axis in RUN_AXES}, baselines


def compare(
    model: np.ndarray, rival: np.ndarray, n: np.ndarray, seeds: Sequence[Variance]
) -> Comparison:
    """Return how a model compares with a rival.

    Args:
        model: pairs of each set that the model has right, mean over its seeds.
        rival: likewise.
        n: pairs of each set.
        seeds: variances of the mean log odds over seeds.
    """
    number, total = len(n), n.sum()
    difference = (model - rival).sum() / total
    residual = (model - rival - n * difference) / total
    variance = float((residual**2).sum()) * number / max(number - 1, 1)
    if variance == 0:  # as if one set more had gone either way (Agresti and Coull 1998)
        share = (model.sum() / total * number + 1) / (number + 2)
        variance = share * (1 - share) / number
    over_sets = Variance(variance, max(number - 1, 1))
    return Comparison(float(rival.sum() / total), float(difference), over_sets, list(seeds))


def spreads(counts: pl.DataFrame, sets: Mapping[Phenomenon, int]) -> dict[Phenomenon, Variance]:
    """Return how far seeds vary in each phenomenon: the variance of their log odds.

    The cells of a phenomenon are pooled: in the 33 published models of POSH-BENCH their variances
    differ by no more than chance. Phenomena do differ, and are pooled in part (moderated variances:
    Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3). The degrees of
    freedom are never more than those of all cells together.

    Args:
        counts: pairs right of each run: columns of ``COUNTS``.
        sets: lexical sets of each phenomenon.

    Returns:
        Nothing where no cell has several seeds.
    """
    cells: dict[Phenomenon, list[np.ndarray]] = {phenomenon: [] for phenomenon in sets}
    runs = counts.group_by(*RUN_AXES, "seed", *_PLACE).agg(pl.col("correct", "n").sum())
    share = pl.col("correct") / pl.col("n")
    for (category, phenomenon, *_), seeds in (
        runs.with_columns(share=share).drop_nans("share").sort(*RUN_AXES, "seed", *_PLACE)
        .group_by(*_PLACE, *RUN_AXES, maintain_order=True)
    ):  # fmt: skip
        number = sets[category, phenomenon]
        # Half a set more of either kind keeps the odds finite
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
    """Return the mean logarithm of a chi-square over its degrees of freedom."""
    return float(special.digamma(freedom / 2) - math.log(freedom / 2))


def _best(compared: Mapping[str, Comparison]) -> dict[str, Any]:
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
