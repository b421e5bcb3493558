"""The order and names of rows, columns and lines in tables and figures, from the grid's axes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polars as pl

from poshgrid.config.runs import BASELINE_RECIPES, COUNTED, UNTRAINED, Run
from poshgrid.core.table import varying
from poshgrid.report.collect import Collected
from poshgrid.statistics.schema import RUN_AXES

CATEGORY_ORDER = ("island", "question-formation", "binding", "wanna")  # of POSH-BENCH


@dataclass(frozen=True)
class Arm:
    """The axes of the grid without size and seed: a line in figures, a row per size in tables."""

    condition: str
    model: str | None  # None: each size has one model only, which needs no name
    recipe: str
    bias: str
    variant: str  # the other axes with several values, in words; "" without such an axis

    @property
    def label(self) -> str:
        """The name of the arm."""
        return f"{self.condition} · {self.variant}" if self.variant else self.condition

    def has(self, condition: str, model: str, recipe: str, bias: str) -> bool:
        """Return whether a model with these axes belongs to the arm, at any size."""
        mine = (self.condition, self.model or model, self.recipe, self.bias)
        return mine == (condition, model, recipe, bias)


@dataclass(frozen=True)
class Layout:
    """The order of everything that the page lists."""

    sizes: list[str]
    arms: list[Arm]
    # a row for each point of the grid, sorted by size, then arm: models (the arm's label),
    # RUN_AXES, and words that it was trained on (if unknown, the words that the size names)
    points: pl.DataFrame
    phenomena: dict[str, list[tuple[str, str]]]  # suite -> (category, phenomenon)

    def categories(self, suite: str) -> list[str]:
        """Return a suite's categories, in the order of the page."""
        return list(dict.fromkeys(category for category, _ in self.phenomena[suite]))

    def series(self, arm: Arm) -> str:
        """Return the name of an arm in a figure of all arms, without the condition if only one."""
        one = len({other.condition for other in self.arms}) == 1
        return arm.variant if one and arm.variant else arm.label


def lay_out(collected: Collected) -> Layout:
    """Order sizes by words, arms by condition, categories of POSH-BENCH first."""
    runs = [trained.run for trained in collected.asked]
    asked = {(r.condition, r.size, r.model, r.recipe, r.bias) for r in runs}
    one_model = len(asked) == len({(c, s, g, b) for c, s, _, g, b in asked})
    axes = ("bias", "recipe") if one_model else ("bias", "recipe", "model")
    vary = [axis for axis in axes if len({getattr(r, axis) for r in runs}) > 1]
    order = collected.spec.conditions
    words = {key.split("/")[1]: cell.words for key, cell in collected.spec.cells.items()}
    sizes = sorted(words, key=lambda size: words[size])

    def arm(run: Run) -> Arm:
        names = ("no bias" if getattr(run, a) == "none" else getattr(run, a) for a in vary)
        model = None if one_model else run.model
        return Arm(run.condition, model, run.recipe, run.bias, " · ".join(names))

    arms = sorted(
        {arm(run) for run in runs},
        key=lambda a: (
            order.index(a.condition), a.bias != "none", a.bias, a.recipe, a.model or ""
        ),
    )  # fmt: skip
    points = {}
    for run in sorted(runs, key=lambda run: (sizes.index(run.size), arms.index(arm(run)))):
        splits = collected.conditions.get((run.condition, run.size), {}).get("splits")
        trained = splits["train"]["words"] if splits else words[run.size]
        point = tuple(getattr(run, axis) for axis in RUN_AXES)
        points[point] = (arm(run).label, *point, trained)
    kinds = {"models": pl.String, **dict.fromkeys(RUN_AXES, pl.String), "words": pl.UInt64}
    return Layout(
        sizes, arms, pl.DataFrame(list(points.values()), schema=kinds, orient="row"),
        {suite: _phenomena(collected, suite) for suite in collected.spec.suites},
    )  # fmt: skip


def _phenomena(collected: Collected, suite: str) -> list[tuple[str, str]]:
    known = set(collected.items[suite].select("category", "phenomenon").iter_rows())
    judged = collected.accuracy.filter(suite=suite, level="phenomenon")
    known |= set(judged.select("category", "phenomenon").iter_rows())
    rank = {category: number for number, category in enumerate(CATEGORY_ORDER)}
    return sorted(known, key=lambda pair: (rank.get(pair[0], len(rank)), pair))


def title(name: str) -> str:
    """Return a category's name as the page shows it."""
    return "Islands" if name == "island" else name.replace("-", " ").replace("_", " ").capitalize()


@dataclass(frozen=True)
class Group:
    """Arms that are drawn in one figure, with their names there."""

    condition: str  # "": the arms have several conditions
    arms: list[tuple[str, Arm]]  # name, arm


def groups(layout: Layout) -> list[Group]:
    """Return the comparisons of the grid: of the conditions, and of the variants of a condition.

    The first group has one arm of each condition: that of the variant that most conditions have (as
    a rule, no bias), or the only arm of a condition that lacks this variant. A condition with
    several variants also has a group of its own.
    """
    counts = Counter(arm.variant for arm in layout.arms)
    common = max(counts, key=lambda variant: counts[variant], default="")
    several: dict[str, list[Arm]] = {}
    for arm in layout.arms:
        several.setdefault(arm.condition, []).append(arm)
    several = {condition: arms for condition, arms in several.items() if len(arms) > 1}
    first = [a for a in layout.arms if a.variant == common or a.condition not in several]
    alike = len({a.variant for a in first}) == 1
    compared = [Group("", [(a.condition if alike else a.label, a) for a in first])]
    compared = compared if len(first) > 1 or not several else []
    return compared + [
        Group(condition, [(a.variant or a.condition, a) for a in arms])
        for condition, arms in several.items()
    ]


def model_names(rows: pl.DataFrame, *, seeds: bool = False) -> list[str]:
    """Return a name for each row: its model, and the axes with several values.

    Args:
        rows: columns of ``RUN_AXES``, and seed.
        seeds: whether the seed is one of the axes.
    """
    known = rows.filter(~pl.col("recipe").is_in(BASELINE_RECIPES))
    axes = varying(known, (*RUN_AXES, "seed") if seeds else RUN_AXES, always=("model",))
    names = []
    for row in rows.iter_rows(named=True):
        unnamed = set()
        if row["recipe"] in BASELINE_RECIPES:
            unnamed |= {"recipe"} if row["bias"] != "none" else {"recipe", "bias"}
        if row["recipe"] == COUNTED:
            unnamed.add("seed")
        name = " · ".join(str(row[axis]) for axis in axes if axis not in unnamed)
        names.append(f"{name} untrained" if row["recipe"] == UNTRAINED else name)
    return names
