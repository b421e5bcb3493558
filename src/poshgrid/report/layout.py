"""What stands where: the rows, columns and names of tables and figures, from the grid's axes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polars as pl

from poshgrid.config.runs import BASELINE_RECIPES, COUNTED, UNTRAINED, Run
from poshgrid.report.collect import Collected
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import varying
from poshgrid.tables.words import listed

CATEGORY_ORDER = ("island", "question-formation", "binding", "wanna")  # of POSH-BENCH


@dataclass(frozen=True)
class Arm:
    """One line of a figure, one row per size of a table: the grid's axes but for size and seed."""

    condition: str
    model: str | None  # None: one model for each size, which needs no name
    recipe: str
    bias: str
    variant: str  # the axes that vary beside the condition, in words; "" if none does

    @property
    def label(self) -> str:
        """The arm in words."""
        return f"{self.condition} · {self.variant}" if self.variant else self.condition

    def has(self, condition: str, model: str, recipe: str, bias: str) -> bool:
        """Say whether models of these axes are the arm's, at whatever size."""
        mine = (self.condition, self.model or model, self.recipe, self.bias)
        return mine == (condition, model, recipe, bias)


@dataclass(frozen=True)
class Layout:
    """Order of everything that the page lists."""

    sizes: list[str]
    arms: list[Arm]
    # a row for each cell of the grid, by size, then arm: models (the arm's label), RUN_AXES, and
    # words that were trained on; if unknown, the size's
    points: pl.DataFrame
    phenomena: dict[str, list[tuple[str, str]]]  # suite -> (category, phenomenon)

    def categories(self, suite: str) -> list[str]:
        """Return a suite's categories, in the order of the page."""
        return list(dict.fromkeys(category for category, _ in self.phenomena[suite]))

    def series(self, arm: Arm) -> str:
        """Return what an arm is called in a figure of all arms: not by the only condition."""
        one = len({other.condition for other in self.arms}) == 1
        return arm.variant if one and arm.variant else arm.label

    @property
    def names(self) -> list[list[str]]:
        """What has a colour, kind by kind: conditions, arms, what varies beside them, sizes."""
        kinds = ([getattr(arm, kind) for arm in self.arms]
                 for kind in ("condition", "label", "variant"))  # fmt: skip
        return [list(dict.fromkeys(names)) for names in (*kinds, self.sizes)]


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
    """Return a category's name for people."""
    return "Islands" if name == "island" else name.replace("-", " ").replace("_", " ").capitalize()


def category_names(layout: Layout, suite: str) -> str:
    """Return a suite's categories in words, for the methods."""
    names = [title(category) for category in layout.categories(suite)]
    return listed([name[0].lower() + name[1:] for name in names])


@dataclass(frozen=True)
class Group:
    """Arms that are drawn in one figure, and what they are called there."""

    condition: str  # "": arms of several conditions
    arms: list[tuple[str, Arm]]  # name, arm


def groups(layout: Layout) -> list[Group]:
    """Return what is compared: the conditions, and within a condition its biases.

    The conditions are compared where all else is alike: under the variant (no bias, as a rule) that
    most of them have. A condition with several variants, has a
    group of its own. An arm that would be nowhere stands with the conditions.
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
    """Name the model of each row by its model and the axes that vary among models.

    Args:
        rows: columns of ``RUN_AXES``, and seed.
        seeds: the seed is one of the axes.
    """
    known = rows.filter(~pl.col("recipe").is_in(BASELINE_RECIPES))
    axes = varying(known, (*RUN_AXES, "seed") if seeds else RUN_AXES, always=("model",))
    names = []
    for row in rows.iter_rows(named=True):
        silent = set()
        if row["recipe"] in BASELINE_RECIPES:
            silent |= {"recipe"} if row["bias"] != "none" else {"recipe", "bias"}
        if row["recipe"] == COUNTED:
            silent.add("seed")
        name = " · ".join(str(row[axis]) for axis in axes if axis not in silent)
        names.append(f"{name} untrained" if row["recipe"] == UNTRAINED else name)
    return names
