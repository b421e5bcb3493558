"""Which tables of results there are: name -> place in the results folder, and contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from poshgrid.config.paths import Paths
from poshgrid.files import Schema
from poshgrid.rules import schema as rules
from poshgrid.statistics import schema as statistics


@dataclass(frozen=True)
class Table:
    """A kind of table that statistics write.

    Attributes:
        folder: of a target, or of a target and a fitted model, in a results folder.
        schema: its columns.
        module: where the columns are described, and by what name.
        name: of the contract in ``module``.
    """

    folder: Callable[..., str]
    schema: Schema
    module: str
    name: str


def _of(folder: Callable[..., str], name: str, module: object = statistics) -> Table:
    return Table(folder, getattr(module, name), getattr(module, "__name__", ""), name)


TARGETS = {
    "accuracy": _of(Paths.statistics, "ACCURACY"),
    "counts": _of(Paths.statistics, "COUNTS"),
    "nulls": _of(Paths.statistics, "BESIDE_NULLS"),
    "training": _of(Paths.curves, "TRAINED"),
    "curves": _of(Paths.curves, "CURVES"),
    "curves_mean": _of(Paths.curves, "CURVES_MEAN"),
    "deltas": _of(Paths.deltas, "DELTAS"),
    "delta_items": _of(Paths.deltas, "DELTA_ITEMS"),
    "delta_tests": _of(Paths.deltas, "DELTA_TESTS"),
    "perplexity": _of(Paths.deltas, "PERPLEXITY"),
    "shares": _of(Paths.rule_shares, "SHARES", rules),
    "mixture": _of(Paths.rule_shares, "MIXTURE", rules),
    "identifiability": _of(Paths.rule_shares, "IDENTIFIABILITY", rules),
}
"""Tables of a target."""

MODELS = {
    "summary": _of(Paths.fit, "SUMMARY"),
    "contrasts": _of(Paths.fit, "CONTRASTS"),
    "predictive": _of(Paths.fit, "PREDICTIVE"),
}
"""Tables of a fitted model of a target."""
