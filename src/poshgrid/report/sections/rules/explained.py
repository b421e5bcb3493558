"""What the stage found, as the tables and the figure ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files
from poshgrid.config.runs import GIVEN, PRETRAINED
from poshgrid.report.layout import Layout
from poshgrid.rules.mixture import GUESSING
from poshgrid.rules.schema import IDENTIFIABILITY, MIXTURE, SHARES
from poshgrid.rules.table import rivals
from poshgrid.statistics.schema import RUN_AXES


@dataclass(frozen=True)
class Learner:
    """Runs that differ in nothing but the seed."""

    label: str  # its arm, in words
    axes: tuple[str, ...]

    @property
    def size(self) -> str:
        """Of what it was trained on."""
        return self.axes[1]

    @property
    def name(self) -> str:
        """The learner in words."""
        return self.label if self.size == GIVEN else f"{self.label} at {self.size}"


@dataclass(frozen=True)
class Explained:
    """The three tables, of all suites or of one."""

    shares: pl.DataFrame  # SHARES
    mixture: pl.DataFrame  # MIXTURE
    identifiability: pl.DataFrame  # IDENTIFIABILITY

    def of(self, suite: str) -> Explained:
        """Return what is of a suite."""
        return Explained(
            *(t.filter(suite=suite) for t in (self.shares, self.mixture, self.identifiability))
        )

    def hierarchical(self, rule: str) -> bool:
        """Say whether a rule, or one of equal ones, stands for the hierarchical hypothesis."""
        return not self._hierarchical.isdisjoint(rule.split(" = "))

    @cached_property
    def _hierarchical(self) -> frozenset[str]:
        rules = rivals().items()
        return frozenset(name for name, rule in rules if getattr(rule, "HIERARCHICAL", False))

    def phenomena(self, *, hierarchical: bool = False) -> list[tuple[str, str]]:
        """Return category and phenomenon, as sorted.

        Args:
            hierarchical: those alone that a hierarchical rule has a say in.
        """
        rows = self.mixture.select("category", "phenomenon", "rule").unique()
        return sorted(
            {
                (category, phenomenon)
                for category, phenomenon, rule in rows.iter_rows()
                if not hierarchical or self.hierarchical(rule)
            }
        )

    def weights(self, learner: Learner, category: str, phenomenon: str) -> list[dict[str, Any]]:
        """Return a learner's rows of ``MIXTURE``, the largest weight first, guessing last."""
        rows = self.mixture.filter(
            category=category,
            phenomenon=phenomenon,
            **dict(zip(RUN_AXES, learner.axes, strict=True)),
        )
        return sorted(
            rows.to_dicts(), key=lambda r: (r["rule"] == GUESSING, -r["weight"], r["rule"])
        )


def read(folder: str) -> Explained | None:
    """Read what the stage wrote; none: it has not run.

    Raises:
        PoshgridError: a file is broken.
    """
    there = Path(folder)
    if not (there / "shares.parquet").is_file():
        return None
    schemas = {"shares": SHARES, "mixture": MIXTURE, "identifiability": IDENTIFIABILITY}
    return Explained(*(files.read_table(there / f"{n}.parquet", s) for n, s in schemas.items()))


def learners(found: Explained, layout: Layout) -> list[Learner]:
    """Return the learners that were judged, in the order of arms and sizes, then given ones.

    Args:
        found: of a suite.
        layout: order of the rows.
    """
    known = set(found.mixture.select(RUN_AXES).unique().iter_rows())
    trained = [
        Learner(arm.label, axes)
        for arm in layout.arms
        for size in layout.sizes
        if (axes := layout.point(arm, size)) in known
    ]
    given = sorted(axes for axes in known if axes[0] == PRETRAINED)
    return trained + [Learner(axes[2], axes) for axes in given]
