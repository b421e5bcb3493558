"""Judgements of a grid that has not been run: drawn from the model that will be fitted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from poshgrid.config import BayesianModel, Contrast
from poshgrid.config.formula import without_sets
from poshgrid.statistics import design
from poshgrid.statistics.power.components import Components
from poshgrid.statistics.power.layout import Layout

if TYPE_CHECKING:
    import pandas as pd


class Size(NamedTuple):
    """How much is run: seeds of each point, and times the items of the configuration."""

    seeds: int
    items: int


@dataclass(frozen=True)
class Simulation:
    """One size of a grid, from which judgements are drawn.

    Attributes:
        made: rows and formula of the model.
        components: what accuracies vary around, and how much.
    """

    made: design.Design
    components: Components

    @classmethod
    def of(
        cls, found: Layout, model: BayesianModel, components: Components, size: Size
    ) -> Simulation:
        """Return the simulation of a model's rows.

        Raises:
            PoshgridError: the formula cannot be read or fitted.
        """
        formula, _ = without_sets(model.formula)
        counts = found.counts(size.seeds, size.items)
        # Some right: the layout is the same whatever the counts are
        counts = counts.with_columns(correct=(pl.col("n") // 2).cast(pl.Float64))
        made = design.design(
            counts, formula, found.suite, model.only, model.phenomena, fractions=True
        )
        return cls(made, components)

    def expected(self, contrast: Contrast, effect: float) -> np.ndarray:
        """Return the log odds of each row but for what varies.

        The first level (or each that is not ``less``) and the level that is subtracted lie as far
        above and below the base accuracies, in log odds, as makes their difference ``effect`` in
        each category.

        Args:
            contrast: whose levels differ.
            effect: share.
        """
        frame = self.made.frame
        return self._base(frame) + self._signs(frame, contrast) * self._half(frame, effect)

    def draw(self, expected: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return how many pairs of each row are judged right.

        Args:
            expected: log odds.
            rng: groups are drawn before counts, so that another effect sees the same groups.
        """
        eta = expected.copy()
        for codes, sds in self._groups:
            eta += rng.standard_normal(codes.max() + 1)[codes] * sds
        return rng.binomial(self._pairs, 1 / (1 + np.exp(-eta))).astype(float)

    @cached_property
    def _pairs(self) -> np.ndarray:
        return self.made.frame["n"].to_numpy()

    @cached_property
    def _groups(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The group of each row, and its SD there."""
        frame = self.made.frame
        categories = frame["category"].astype(str)
        return [
            (
                frame[group].cat.codes.to_numpy(),
                np.array([self.components.sd(group, category) for category in categories]),
            )
            for group in ("seed", "run", "point", "cell")
        ]

    def _base(self, frame: pd.DataFrame) -> np.ndarray:
        names = zip(frame["category"].astype(str), frame["phenomenon"].astype(str), strict=True)
        share = np.array([self.components.accuracy(*name) for name in names])
        return np.log(share / (1 - share))

    @staticmethod
    def _signs(frame: pd.DataFrame, contrast: Contrast) -> np.ndarray:
        levels = frame[contrast.factor].astype(str).to_numpy()
        first = levels == contrast.first if contrast.first else levels != contrast.less
        return first.astype(float) - (levels == contrast.less)

    def _half(self, frame: pd.DataFrame, effect: float) -> np.ndarray:
        """Return half the difference in log odds that makes ``effect`` points, row by row."""
        from scipy.optimize import brentq
        from scipy.special import expit

        base = self._base(frame)
        phenomena = frame.assign(base=base).drop_duplicates("phenomenon")
        halves = {}
        for category, rows in phenomena.groupby("category", observed=True):
            at = rows["base"].to_numpy()
            halves[str(category)] = brentq(
                lambda half, at=at: (expit(at + half) - expit(at - half)).mean() - effect, -20, 20
            )
        return frame["category"].astype(str).map(halves).to_numpy(dtype=float)


def stream(seed: int, contrast: int, replication: int) -> np.random.Generator:
    """Return the numbers of one replication: others leave them as they are."""
    return np.random.default_rng([seed, contrast, replication])
