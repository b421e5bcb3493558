"""The terms of a formula with their columns and priors, and whether the engine can fit them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from poshgrid.config import Regression
from poshgrid.statistics.design import Design, matrices


@dataclass(frozen=True)
class Term:
    """The coefficients of one term of the formula. Each has a column of the design.

    Attributes:
        name: of bambi's variable, e.g. ``S(category)`` or ``1|seed``.
        dimension: bambi's name of the coefficients' dimension; None for a single number.
        labels: the coefficients' coordinates.
        columns: predictors, one row per count, coded as in bambi: centred if the term is common and
            not the intercept, 0 and 1 if it is a group.
        means: the means that were subtracted from the columns.
        scale: SD of the coefficients' normal prior; for a group, the rate of its SD's exponential
            prior.
        group: whether the SD of the coefficients is a parameter.
        of: levels of a group's predictor, each of which has an SD; empty: the group has one SD.
        sd_of: number of the SD of each coefficient of a group, from 0 to ``sds`` - 1.
        placed: index of each coefficient among all combinations of a group's level and a level of
            the predictor. Combinations without data have no coefficient in this engine.
    """

    name: str
    dimension: str | None
    labels: list[object]
    columns: np.ndarray
    means: np.ndarray
    scale: float
    group: bool
    of: Sequence[str] = ()
    sd_of: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    placed: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return self.columns.shape[1]

    @property
    def sds(self) -> int:
        """Number of SDs of a group."""
        return max(1, len(self.of))

    @property
    def nested(self) -> bool:
        """Whether each level of the group has one level of the predictor, as cell and category."""
        return bool(self.of) and np.array_equal(
            self.placed // self.sds, np.arange(len(self.labels))
        )


def refuses(made: Design) -> str | None:
    """Return why the engine cannot fit a formula; None if it can.

    Args:
        made: the data, and a formula without terms that the data cannot estimate.
    """
    coded = matrices(made.formula, made.frame)
    common = coded.common.terms if coded.common is not None else {}
    if "Intercept" not in common:
        return "the formula has no intercept"
    for name, term in common.items():
        if term.kind not in {"intercept", "numeric", "categoric", "interaction"}:
            return f"{name} has no coefficient"  # an offset
    if coded.group is None:
        return "the formula has no group, such as (1|seed)"
    for name in coded.group.terms:
        columns = coded.group.design_matrix[:, coded.group.slices[name]]
        if columns.max() != 1 or (columns.sum(axis=1) != 1).any():  # not one level in each row
            return (
                f"({name}) is a slope by group: only intercepts such as (1|seed) and SDs by level "
                "such as (0 + category|cell) are known"
            )
    return None


def terms(made: Design, model: Regression) -> list[Term]:
    """Return the terms of a formula with their priors: common ones, intercept first, then groups.

    Args:
        made: the data, and a formula that :func:`refuses` accepts.
        model: priors. ``model.priors`` overrides the defaults for single terms.
    """
    coded = matrices(made.formula, made.frame)
    own = {
        prior.term: value for prior in model.priors if (value := prior.sd or prior.rate) is not None
    }
    collected = []
    for name, term in coded.common.terms.items():
        columns = np.asarray(coded.common[name], dtype=float).reshape(len(made.frame), -1)
        means = columns.mean(axis=0) * (name != "Intercept")  # over rows, as in bambi
        usual = model.intercept_sd if name == "Intercept" else model.slope_sd
        labels: list[object] = []
        if any(part.kind == "categoric" for part in getattr(term, "components", [])):
            labels = list(term.levels)
        elif columns.shape[1] > 1:  # e.g. a polynomial
            labels = list(range(columns.shape[1]))
        scale = own.get(name, usual)
        dimension = f"{name}_dim" if labels else None
        collected.append(Term(name, dimension, labels, columns - means, means, scale, group=False))
    for name, term in coded.group.terms.items():
        columns = coded.group.design_matrix[:, coded.group.slices[name]]
        effect, _, group = name.partition("|")
        of = list(term.expr.levels) if effect != "1" else []
        # Columns are sorted by group, then level of the predictor. Combinations without data get
        # no coefficient
        placed = np.unique(columns.nonzero()[1]) if of else np.arange(columns.shape[1])
        collected.append(
            Term(
                name, f"{group}__factor_dim", list(term.groups), columns[:, placed].toarray(),
                np.zeros(len(placed)), own.get(name, model.group_rate), group=True, of=of,
                sd_of=placed % max(1, len(of)), placed=placed,
            )
        )  # fmt: skip
    return collected
