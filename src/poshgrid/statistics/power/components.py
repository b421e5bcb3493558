"""How much accuracies vary, and around what: the spreads that simulated judgements have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid import files
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.statistics import published
from poshgrid.statistics.schema import PREDICTIVE, SUMMARY
from poshgrid.statistics.tests import CHANCE

GROUPS = ("seed", "run", "point", "cell", "set")
"""What has effects of its own; phenomena have the accuracies of :attr:`Components.base`."""
PAIRS = 500
"""Pairs of each phenomenon, and seeds of each point, in the published tables."""
SEEDS = 3
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_EDGE = 0.005  # accuracies are kept so far from 0 and 1: their log odds are numbers


@dataclass(frozen=True)
class Components:
    """Where judgements are simulated from.

    Attributes:
        source: where the numbers come from, for people.
        base: phenomenon, or ``category/``, or "" (all of them) -> accuracy (share).
        sds: group, or ``cell[category]`` -> SD, log odds; a group that is not there does not vary.
    """

    source: str
    base: Mapping[str, float]
    sds: Mapping[str, float]

    def accuracy(self, category: str, phenomenon: str) -> float:
        """Return the accuracy that a phenomenon varies around: its own, or that of its kind."""
        names = (phenomenon, f"{category}/", "")
        return next(self.base[name] for name in names if name in self.base)

    def sd(self, group: str, category: str = "") -> float:
        """Return the SD of a group, in a category if it has one of its own there."""
        return self.sds.get(f"{group}[{category}]", self.sds.get(group, 0.0))

    def overruled(self, given: Sequence[str]) -> Components:
        """Return them with SDs of the user's: ``group=0.3``, ``cell[wanna]=0.6``.

        Raises:
            PoshgridError: one cannot be read, or names an unknown group.
        """
        sds = dict(self.sds)
        for text in given:
            name, _, number = text.partition("=")
            group, _, category = name.partition("[")
            if group not in GROUPS or (category and not category.endswith("]")):
                raise PoshgridError(
                    f"--sd: {text!r}: unknown group {group!r}{did_you_mean(group, GROUPS)}; write "
                    f"GROUP=SD or GROUP[CATEGORY]=SD, e.g. cell=0.3 (groups: {', '.join(GROUPS)})"
                )
            try:
                sds[name] = float(number)
            except ValueError:
                sds[name] = -1.0
            if not 0 <= sds[name] < 10:
                raise PoshgridError(f"--sd: {text!r}: an SD in log odds is a number from 0 to 10")
            if not category:  # what is said of all goes before what the source says of each
                sds = {k: v for k, v in sds.items() if not k.startswith(f"{name}[")}
        said = f"; {', '.join(given)} as given" if given else ""
        return replace(self, sds=sds, source=self.source + said)


def of_paper() -> Components:
    """Return what the published tables bear: 33 models of POSH-BENCH, version 1 of the items.

    Table 8 has the mean and the SD over three seeds of each cell. The variance over seeds is that
    of 500 pairs, ``p (1 - p) / 500``, and ``(p (1 - p) sd)^2`` of the cell, category by category
    (a ratio estimator, so that cells near 100% do not weigh more). What seeds of a point share is
    the variance of the log odds of the means about their regression on size by category by
    condition and on phenomena, less what three seeds and 1,500 pairs leave. The SD of seeds is
    Table 12's; that of lexical sets gives the mean correlation of two models' judgements of an
    item (``items.csv``).

    Raises:
        PoshgridError: the tables are missing.
    """
    table = published.accuracy().filter(pl.col("level") == "phenomenon")
    mean = table["mean"].to_numpy()
    unit = mean * (1 - mean)
    extra = table["sd"].to_numpy() ** 2 - unit / PAIRS
    sds = {}
    of_cell = np.zeros(len(mean))
    for category in sorted(table["category"].unique()):
        mine = (table["category"] == category).to_numpy()
        of_cell[mine] = max(0.0, extra[mine].sum() / (unit[mine] ** 2).sum())
        sds[f"cell[{category}]"] = float(np.sqrt(of_cell[mine][0]))
    residual, freedom = _misfit(table, _logit(mean))
    left = np.mean((of_cell + 1 / (PAIRS * unit)) / SEEDS)
    sds["point"] = float(np.sqrt(max(0.0, residual @ residual / freedom - left)))
    printed = dict(published.coefficients().select("term", "median").iter_rows())
    sds["seed"] = printed["1|seed_sigma"]
    items = published.load("posh-bench", "v2", "items")
    sds["set"] = spread_of(*items.select(pl.mean("correlation", "accuracy")).row(0))
    return Components("published tables 8 and 12 (POSH-BENCH)", _bases(table), sds)


def of_fit(folder: Path) -> Components:
    """Return what a finished fit says: posterior medians of its SDs, observed accuracies.

    Args:
        folder: of the model, with summary.parquet and predictive.parquet.

    Raises:
        PoshgridError: the folder has no such tables.
    """
    summary = files.read_table(folder / "summary.parquet", SUMMARY)
    cells = files.read_table(folder / "predictive.parquet", PREDICTIVE)
    sds = {}
    for term, median in summary.filter(kind="sd").select("term", "median").iter_rows():
        effect, _, rest = term.partition("|")
        group, _, level = rest.partition("_sigma")
        if group in GROUPS and effect in ("1", "category"):
            sds[group + level] = median
    if not sds:
        raise PoshgridError(
            f"{folder}/summary.parquet: no SD of {', '.join(GROUPS)}; name a fit whose formula has "
            "such a group"
        )
    return Components(f"the fit {folder}", _bases(cells.rename({"observed": "mean"})), sds)


def spread_of(correlation: float, accuracy: float) -> float:
    """Return the SD of items, log odds, at which judgements of one item correlate so.

    Two models of the same accuracy agree on an item by ``Var(p) / (p (1 - p))`` (the intraclass
    correlation of binary judgements), where ``p`` is the inverse logit of a normal variable.
    """
    from scipy.optimize import brentq

    def excess(sd: float) -> float:
        shares = _expit(middle_of(accuracy, sd) + sd * _NODES)
        variance = _WEIGHTS @ (shares - accuracy) ** 2
        return float(variance / (accuracy * (1 - accuracy)) - correlation)

    return float(brentq(excess, 1e-6, 9.0))


def middle_of(mean: float, sd: float) -> float:
    """Return the log odds around which accuracies with a normal SD have this mean."""
    from scipy.optimize import brentq

    return float(brentq(lambda middle: _WEIGHTS @ _expit(middle + sd * _NODES) - mean, -60, 60))


def _misfit(table: pl.DataFrame, values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the residuals of points about the fixed effects, and their degrees of freedom."""
    words = table["size"].str.strip_suffix("M").cast(pl.Float64).to_numpy()
    kinds = table.select(pl.concat_str("category", "condition", separator="\0")).to_series()
    of_kind, of_phenomenon = (
        np.eye(values.n_unique())[values.rank("dense").to_numpy() - 1]
        for values in (kinds, table["phenomenon"])
    )
    design = np.hstack([of_kind, of_kind * words[:, None], of_phenomenon])
    fitted, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    return values - design @ fitted, len(values) - int(rank)


def _bases(table: pl.DataFrame) -> dict[str, float]:
    """Return accuracies by phenomenon, category and overall, of cells with column mean."""
    by_phenomenon = table.group_by("category", "phenomenon").agg(pl.col("mean").mean())
    found = dict(by_phenomenon.select("phenomenon", "mean").sort("phenomenon").iter_rows())
    categories = by_phenomenon.group_by("category").agg(pl.col("mean").mean()).sort("category")
    found |= {f"{name}/": mean for name, mean in categories.iter_rows()}
    found[""] = categories["mean"].mean() if categories.height else CHANCE
    return {name: float(np.clip(mean, _EDGE, 1 - _EDGE)) for name, mean in found.items()}


def _logit(share: np.ndarray) -> np.ndarray:
    kept = np.clip(share, _EDGE, 1 - _EDGE)
    return np.log(kept / (1 - kept))


def _expit(eta: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-eta))
