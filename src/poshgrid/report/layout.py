"""The order and names of rows, columns and lines in tables and figures, from the grid's axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from poshgrid.config.runs import BASELINE_RECIPES, COUNTED, UNTRAINED
from poshgrid.core.table import varying
from poshgrid.report.collect import Collected
from poshgrid.statistics.schema import RUN_AXES

CATEGORY_ORDER = ("island", "question-formation", "binding", "wanna")  # of POSH-BENCH


@dataclass(frozen=True)
class Layout:
    """The order of everything that the page lists.

    An arm is a point of the grid without its size: a line in figures, a row per size in tables.
    """

    sizes: list[str]
    # a row for each point of the grid, sorted by size, then arm: RUN_AXES; arm, its number;
    # variant, the axes with several values except condition and size, in words; models, the
    # condition and the variant; series, models without the condition if there is only one; and
    # words that it was trained on (if unknown, the words that the size names)
    points: pl.DataFrame
    phenomena: dict[str, list[tuple[str, str]]]  # suite -> (category, phenomenon)

    def categories(self, suite: str) -> list[str]:
        """Return a suite's categories, in the order of the page."""
        return list(dict.fromkeys(category for category, _ in self.phenomena[suite]))


def lay_out(collected: Collected) -> Layout:
    """Order sizes by words, arms by condition, categories of POSH-BENCH first."""
    spec = collected.spec
    words = {key.split("/")[1]: cell.words for key, cell in spec.cells.items()}
    sizes = sorted(words, key=lambda size: words[size])
    trained = [
        (*cell, facts["splits"]["train"]["words"] if "splits" in facts else words[cell[1]])
        for cell, facts in collected.conditions.items()
    ]
    columns = {"condition": pl.String, "size": pl.String, "words": pl.UInt64}
    known = pl.DataFrame(trained, schema=columns, orient="row")
    runs = [
        [getattr(model.run, axis) for axis in RUN_AXES] for model in collected.without_baselines
    ]
    points = pl.DataFrame(runs, schema=dict.fromkeys(RUN_AXES, pl.String), orient="row").unique()
    vary = [axis for axis in varied(points) if axis != "size"]
    by_condition, by_size = (
        pl.col(axis).cast(pl.Enum(levels))
        for axis, levels in (("condition", spec.conditions), ("size", sizes))
    )
    label = pl.concat_str(
        "condition", pl.col("variant").replace("", None), separator=" · ", ignore_nulls=True
    )
    points = (
        points.join(known, on=["condition", "size"], how="left")
        .with_columns(variant=naming(vary))
        .with_columns(models=label)
        .sort(by_condition, pl.col("bias") != "none", "bias", "recipe", "model")
        .with_columns(arm=pl.col("models").rle_id())
        .sort(by_size, "arm")
    )
    one = points["condition"].n_unique() == 1 and bool(vary)
    points = points.with_columns(series="variant" if one else "models")
    phenomena = {suite: _phenomena(collected, suite) for suite in spec.suites}
    return Layout(sizes, points, phenomena)


def _phenomena(collected: Collected, suite: str) -> list[tuple[str, str]]:
    known = set(collected.items[suite].select("category", "phenomenon").iter_rows())
    judged = collected.accuracy.filter(suite=suite, level="phenomenon")
    known |= set(judged.select("category", "phenomenon").iter_rows())
    rank = {category: number for number, category in enumerate(CATEGORY_ORDER)}
    return sorted(known, key=lambda pair: (rank.get(pair[0], len(rank)), pair))


def title(name: str) -> str:
    """Return a category's name as the page shows it."""
    return "Islands" if name == "island" else name.replace("-", " ").replace("_", " ").capitalize()


def groups(layout: Layout) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the comparisons of the grid: of the conditions, and of the variants of a condition.

    The first group has one arm of each condition: that of the variant that most conditions have (as
    a rule, no bias), or the only arm of a condition that lacks this variant. A condition with
    several variants also has a group of its own.

    Returns:
        For each figure the condition, "" if it has several, and the name there and the models of
        each arm.
    """
    points = layout.points.unique("arm").sort("arm")
    arms = points.select("condition", "variant", "models").rows()
    counts = Counter(variant for _, variant, _ in arms)
    common = max(counts, key=lambda variant: counts[variant], default="")
    number = Counter(condition for condition, _, _ in arms)
    first = [arm for arm in arms if arm[1] == common or number[arm[0]] == 1]
    alike = len({variant for _, variant, _ in first}) == 1
    compared = [("", [(condition if alike else models, models) for condition, _, models in first])]
    several = [condition for condition, arms_of in number.items() if arms_of > 1]
    compared = compared if len(first) > 1 or not several else []
    return compared + [
        (
            condition,
            [(variant or condition, models) for of, variant, models in arms if of == condition],
        )
        for condition in several
    ]


def varied(rows: pl.DataFrame) -> list[str]:
    """Return the axes, except the condition, with several values.

    The model is left out if the other axes, such as the size, determine it.

    Args:
        rows: columns of ``RUN_AXES`` and any others.
    """
    vary = varying(rows, RUN_AXES)
    others = [axis for axis in vary if axis != "model"]
    same = others and rows.select(others).n_unique() == rows.select(*others, "model").n_unique()
    return [axis for axis in (others if same else vary) if axis != "condition"]


def naming(axes: Sequence[str]) -> pl.Expr:
    """Join the values of some axes to one name; without axes, return "".

    A baseline is named by the axes that it has; an untrained model says so.
    """
    baseline, counted = pl.col("recipe").is_in(BASELINE_RECIPES), pl.col("recipe") == COUNTED
    no_bias = pl.col("bias") == "none"
    shown = {
        "recipe": pl.when(~baseline).then("recipe"),
        "bias": pl.when(~no_bias).then("bias").when(~baseline).then(pl.lit("no bias")),
        "seed": pl.when(~counted).then("seed"),
    }
    parts = [shown.get(axis, pl.col(axis)) for axis in axes]
    untrained = pl.when(recipe=UNTRAINED).then(pl.lit(" untrained")).otherwise(pl.lit(""))
    return (
        pl.concat_str(parts, separator=" · ", ignore_nulls=True) + untrained
        if parts
        else pl.lit("")
    )


def model_names(rows: pl.DataFrame, *, seeds: bool = False) -> pl.Expr:
    """Return a name for each row: its model, and the axes with several values.

    Args:
        rows: columns of ``RUN_AXES``, and seed.
        seeds: whether the seed is one of the axes.
    """
    known = rows.filter(~pl.col("recipe").is_in(BASELINE_RECIPES))
    axes = (*RUN_AXES, "seed") if seeds else RUN_AXES
    return naming(varying(known, axes, always=("model",)))
