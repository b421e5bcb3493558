"""What stands where: the rows, columns and names of tables and figures, from the grid's axes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from poshgrid.config.runs import COUNTED, NULL_REGIMENS, UNTRAINED
from poshgrid.report.collect import Collected
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import varying
from poshgrid.tables.words import listed

CATEGORY_ORDER = ("island", "question-formation", "binding", "wanna")  # the paper's Table 3
TITLES = {
    "island": "Islands",
    "question-formation": "Question formation",
    "binding": "Binding",
    "wanna": "Wanna",
    "overall": "Overall",
    "average": "Average",
}

Point = tuple[str, str, str, str, str]
"""Condition, size, learner, regimen, bias."""


@dataclass(frozen=True)
class Arm:
    """One line of a figure, one row per size of a table: the grid's axes but for size and seed."""

    condition: str
    learner: str | None  # None: one learner for each size, which needs no naming
    regimen: str
    bias: str
    variant: str  # the axes that vary beside the condition, in words; "" if none does

    @property
    def label(self) -> str:
        """The arm in words."""
        return f"{self.condition} · {self.variant}" if self.variant else self.condition

    def has(self, condition: str, learner: str, regimen: str, bias: str) -> bool:
        """Say whether models of these axes are the arm's, at whatever size."""
        mine = (self.condition, self.learner or learner, self.regimen, self.bias)
        return mine == (condition, learner, regimen, bias)


@dataclass(frozen=True)
class Layout:
    """Order of everything that the page lists."""

    sizes: list[str]
    words: dict[str, int]  # size -> the words that it names
    trained: dict[tuple[str, str], int]  # (condition, size) -> the words that are trained on
    arms: list[Arm]
    categories: dict[str, list[str]]  # suite -> categories
    phenomena: dict[str, list[tuple[str, str]]]  # suite -> (category, phenomenon)
    asked: set[Point]

    def read(self, condition: str, size: str) -> int:
        """Return the words that a condition's models were trained on; if unknown, the size's."""
        return self.trained.get((condition, size), self.words[size])

    def series(self, arm: Arm) -> str:
        """Return what an arm is called in a figure of all arms: not by the only condition."""
        one = len({other.condition for other in self.arms}) == 1
        return arm.variant if one and arm.variant else arm.label

    def point(self, arm: Arm, size: str) -> Point | None:
        """Return what an arm is at a size; ``None``: the grid leaves the cell out."""
        here = (p for p in sorted(self.asked) if p[1] == size and arm.has(p[0], *p[2:]))
        return next(here, None)

    @cached_property
    def places(self) -> list[tuple[str, Arm]]:
        """The cells that the grid has: sizes, and arms within them."""
        return [(size, arm) for size in self.sizes for arm in self.arms if self.point(arm, size)]


def lay_out(collected: Collected) -> Layout:
    """Order sizes by words, arms by condition, categories and phenomena as the paper does."""
    runs = [t.run for t in collected.asked]
    asked = {(r.condition, r.size, r.learner, r.regimen, r.bias) for r in runs}
    one_learner = len(asked) == len({(c, s, g, b) for c, s, _, g, b in asked})
    axes = ("bias", "regimen") if one_learner else ("bias", "regimen", "learner")
    varying = [axis for axis in axes if len({getattr(r, axis) for r in runs}) > 1]
    arms = set()
    for r in runs:
        said = {"bias": "no bias"} if r.bias == "none" else {}
        variant = " · ".join(said.get(axis, getattr(r, axis)) for axis in varying)
        learner = None if one_learner else r.learner
        arms.add(Arm(r.condition, learner, r.regimen, r.bias, variant))
    order = collected.spec.conditions
    words = {key.split("/")[1]: cell.words for key, cell in collected.spec.cells.items()}
    phenomena = {suite: _phenomena(collected, suite) for suite in collected.spec.suites}
    return Layout(
        sizes=sorted(words, key=lambda size: words[size]),
        words=words,
        trained={
            cell: statistics["splits"]["train"]["words"]
            for cell, statistics in collected.conditions.items()
            if statistics
        },
        arms=sorted(
            arms,
            key=lambda a: (
                order.index(a.condition), a.bias != "none", a.bias, a.regimen, a.learner or ""
            ),
        ),
        categories={s: list(dict.fromkeys(c for c, _ in found)) for s, found in phenomena.items()},
        phenomena=phenomena,
        asked=asked,
    )  # fmt: skip


def _phenomena(collected: Collected, suite: str) -> list[tuple[str, str]]:
    found = set(collected.items[suite].select("category", "phenomenon").iter_rows())
    judged = collected.accuracy.filter(suite=suite, level="phenomenon")
    found |= set(judged.select("category", "phenomenon").iter_rows())
    return sorted(found, key=lambda pair: (rank(pair[0]), pair))


def rank(category: str) -> int:
    """Return a category's place in the paper's order; the others come after it."""
    return CATEGORY_ORDER.index(category) if category in CATEGORY_ORDER else len(CATEGORY_ORDER)


def title(name: str) -> str:
    """Return a category's name for people."""
    return TITLES.get(name) or name.replace("-", " ").replace("_", " ").capitalize()


def category_names(layout: Layout, suite: str) -> str:
    """Return a suite's categories in words, for the methods."""
    names = [title(c) for c in layout.categories[suite]]
    return listed([n[0].lower() + n[1:] for n in names])


@dataclass(frozen=True)
class Group:
    """Arms that are drawn in one figure, and what they are called there."""

    condition: str  # "": arms of several conditions
    arms: list[tuple[str, Arm]]  # name, arm


def groups(layout: Layout) -> list[Group]:
    """Return what is compared: the conditions, and within a condition its biases.

    The conditions are compared where all else is alike: under the variant (no bias, as a rule) that
    most of them have. A condition with several variants, as in the paper's Experiment 3, has a
    group of its own. An arm that would be nowhere stands with the conditions.
    """
    conditions = list(dict.fromkeys(arm.condition for arm in layout.arms))
    counts = Counter(arm.variant for arm in layout.arms)
    common = max(counts, key=lambda variant: counts[variant], default="")
    several = {c: [a for a in layout.arms if a.condition == c] for c in conditions}
    several = {c: arms for c, arms in several.items() if len(arms) > 1}
    first = [a for a in layout.arms if a.variant == common or a.condition not in several]
    alike = len({a.variant for a in first}) == 1
    found = []
    if len(first) > 1 or not several:
        found.append(Group("", [(a.condition if alike else a.label, a) for a in first]))
    for condition, arms in several.items():
        found.append(Group(condition, [(a.variant or a.condition, a) for a in arms]))
    return found


def model_names(rows: pl.DataFrame, *, seeds: bool = False) -> list[str]:
    """Name the model of each row by its learner and the axes that vary among models.

    Args:
        rows: columns of ``RUN_AXES``, and seed.
        seeds: the seed is one of the axes.
    """
    known = rows.filter(~pl.col("regimen").is_in(NULL_REGIMENS))
    axes = varying(known, (*RUN_AXES, "seed") if seeds else RUN_AXES, always=("learner",))
    names = []
    for row in rows.iter_rows(named=True):
        silent = set()
        if row["regimen"] in NULL_REGIMENS:
            silent |= {"regimen"} if row["bias"] != "none" else {"regimen", "bias"}
        if row["regimen"] == COUNTED:
            silent.add("seed")
        name = " · ".join(str(row[axis]) for axis in axes if axis not in silent)
        names.append(f"{name} untrained" if row["regimen"] == UNTRAINED else name)
    return names
