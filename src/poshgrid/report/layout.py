"""What stands where: the rows, columns and names of tables and figures, from the grid's axes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polars as pl

from poshgrid.report.collect import Collected
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


@dataclass(frozen=True)
class Layout:
    """Order of everything that the page lists."""

    sizes: list[str]
    words: dict[str, int]  # size -> the words that it names
    trained: dict[tuple[str, str], int]  # (condition, size) -> the words that are trained on
    arms: list[Arm]
    categories: dict[str, list[str]]  # suite -> categories
    phenomena: dict[str, list[tuple[str, str]]]  # suite -> (category, phenomenon)
    asked: set[tuple[str, str, str, str, str]]  # condition, size, learner, regimen, bias

    def read(self, condition: str, size: str) -> int:
        """Return the words that a condition's models were trained on; if unknown, the size's."""
        return self.trained.get((condition, size), self.words[size])

    def learner(self, arm: Arm, size: str) -> str | None:
        """Return the learner that an arm has at a size; ``None``: the grid leaves the cell out."""
        for condition, at, learner, regimen, bias in sorted(self.asked):
            if (condition, at, regimen, bias) == (arm.condition, size, arm.regimen, arm.bias) and (
                arm.learner in (None, learner)
            ):
                return learner
        return None


def lay_out(collected: Collected) -> Layout:
    """Order sizes by words, arms by condition, categories and phenomena as the paper does."""
    runs = [t.run for t in collected.asked]
    asked = {(r.condition, r.size, r.learner, r.regimen, r.bias) for r in runs}
    one_learner = len(asked) == len({(c, s, g, b) for c, s, _, g, b in asked})
    many_learners = len({r.learner for r in runs}) > 1
    many_regimens = len({r.regimen for r in runs}) > 1
    many_biases = len({r.bias for r in runs}) > 1
    arms = set()
    for r in runs:
        variant = []
        if many_biases:
            variant.append("no bias" if r.bias == "none" else r.bias)
        if many_regimens:
            variant.append(r.regimen)
        if many_learners and not one_learner:
            variant.append(r.learner)
        learner = None if one_learner else r.learner
        arms.add(Arm(r.condition, learner, r.regimen, r.bias, " · ".join(variant)))
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
    judged = collected.accuracy.filter(
        (pl.col("suite") == suite) & (pl.col("level") == "phenomenon")
    )
    found |= set(judged.select("category", "phenomenon").iter_rows())
    return sorted(found, key=lambda pair: (_rank(pair[0]), pair))


def _rank(category: str) -> int:
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
