"""Judgements of a grid that has not been run: drawn from the model that will be fitted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from poshgrid.config import BayesianModel, Contrast
from poshgrid.config.formula import without_sets
from poshgrid.statistics import design
from poshgrid.statistics.power.components import Components
from poshgrid.statistics.power.layout import Layout


class Size(NamedTuple):
    """How much is run: seeds of each point, and times the items of the configuration."""

    seeds: int
    items: int


class Simulation:
    """One size of a grid, from which judgements are drawn.

    Attributes:
        made: rows and formula of the model.
    """

    def __init__(
        self, found: Layout, model: BayesianModel, components: Components, size: Size
    ) -> None:
        """Lay out the rows that a model is fitted to.

        Args:
            found: what is judged, by whom.
            model: its formula is fitted.
            components: what accuracies vary around, and how much.
            size: of the grid.

        Raises:
            PoshgridError: the formula cannot be read or fitted.
        """
        formula, _ = without_sets(model.formula)
        counts = found.counts(size.seeds, size.items)
        # Some right: the layout is the same whatever the counts are
        counts = counts.with_columns(correct=(pl.col("n") // 2).cast(pl.Float64))
        self.made = design.design(
            counts, formula, found.suite, model.only, model.phenomena, fractions=True
        )
        frame = self.made.frame
        self._categories = frame["category"].astype(str)
        named = zip(self._categories, frame["phenomenon"].astype(str), strict=True)
        share = np.array([components.accuracy(*names) for names in named])
        self._base = np.log(share / (1 - share))
        # The group of each row, and its SD there
        self._groups = [
            (
                frame[group].cat.codes.to_numpy(),
                np.array([components.sd(group, category) for category in self._categories]),
            )
            for group in ("seed", "run", "point", "cell")
        ]

    def expected(self, contrast: Contrast, effect: float) -> np.ndarray:
        """Return the log odds of each row but for what varies.

        The first level (or each that is not ``less``) and the level that is subtracted lie as far
        above and below the base accuracies, in log odds, as makes their difference ``effect`` in
        each category.

        Args:
            contrast: whose levels differ.
            effect: share.
        """
        levels = self.made.frame[contrast.factor].astype(str).to_numpy()
        first = levels == contrast.first if contrast.first else levels != contrast.less
        signs = first.astype(float) - (levels == contrast.less)
        return self._base + signs * self._half(effect)

    def draw(self, expected: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return how many pairs of each row are judged right.

        Args:
            expected: log odds.
            rng: groups are drawn before counts, so that another effect sees the same groups.
        """
        eta = expected.copy()
        for codes, sds in self._groups:
            eta += rng.standard_normal(codes.max() + 1)[codes] * sds
        return rng.binomial(self.made.frame["n"].to_numpy(), 1 / (1 + np.exp(-eta))).astype(float)

    def _half(self, effect: float) -> np.ndarray:
        """Return half the difference in log odds that makes ``effect`` points, row by row."""
        from scipy.optimize import brentq
        from scipy.special import expit

        phenomena = self.made.frame.assign(base=self._base).drop_duplicates("phenomenon")
        halves = {}
        for category, rows in phenomena.groupby("category", observed=True):
            at = rows["base"].to_numpy()
            halves[str(category)] = brentq(
                lambda half, at=at: (expit(at + half) - expit(at - half)).mean() - effect, -20, 20
            )
        return self._categories.map(halves).to_numpy(dtype=float)


def stream(seed: int, contrast: int, replication: int) -> np.random.Generator:
    """Return the numbers of one replication: others leave them as they are."""
    return np.random.default_rng([seed, contrast, replication])
