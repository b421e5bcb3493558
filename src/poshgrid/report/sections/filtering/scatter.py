"""Pairs by how clearly two learners prefer their good members (FiCT, Figure 4)."""

from __future__ import annotations

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import style
from poshgrid.statistics.deltas.differences import by_condition

POINTS: Schema = {
    "row": pl.String,  # a condition
    "text": pl.String,  # FULL or FILTERED: what the models were trained on
    "phenomenon": pl.String,
    "item_id": pl.String,
    "first": pl.String,  # learner
    "second": pl.String,  # learner
    "x": pl.Float32,  # the first's margin, nats, mean over seeds
    "y": pl.Float32,  # the second's
}
"""The figure: one row per mark."""

FULL, FILTERED = "full", "filtered"
MOST = 3
"""Conditions that the figure has: as in the paper, those in which most is to be seen."""
_QUADRANTS = {
    2: ("both right", style.SERIES[2]), 1: ("one right", style.SERIES[1]),
    0: ("neither right", style.SERIES[3]),
}  # fmt: skip
"""Learners that are right -> what its marks are called, and their colour.

A picture of marks keeps its colours on a dark page: these are seen on either.
"""


def learners(rows: pl.DataFrame) -> tuple[str, str] | None:
    """Return the two learners that are set against each other; ``None``: there are not two.

    Args:
        rows: columns of ``RUN_AXES`` and any others.
    """
    found = sorted(rows["learner"].unique())
    others = rows.select("size", "regimen", "bias").unique().height
    return (found[0], found[1]) if len(found) == 2 and others == 1 else None


def chosen(rows: pl.DataFrame) -> list[str]:
    """Return the conditions of the figure, as the paper chose its own (section 5.4).

    Of many they are each learner's greatest loss beside the other's, and the one in which least
    changes.

    Args:
        rows: columns of ``DELTAS``, of one suite and two learners.
    """
    pair = learners(rows)
    within = by_condition(rows).filter(pl.col("targets") > 0)
    if pair is None or within.is_empty():
        return []
    first, second = (
        within.filter(learner=name).select("condition", name="targeted") for name in pair
    )
    both = first.join(second, on="condition", suffix="_second").sort("condition")
    if both.height <= MOST:
        return both["condition"].to_list()
    apart = pl.col("name") - pl.col("name_second")
    change = pl.col("name").abs() + pl.col("name_second").abs()
    orders = (apart, -apart, change)
    found = [both.sort(order, maintain_order=True)["condition"][:1].to_list() for order in orders]
    return list(dict.fromkeys(name for names in found for name in names))[:MOST]


def points(items: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the figure (:data:`POINTS`).

    Args:
        items: columns of ``DELTA_ITEMS``, of one suite.
        rows: columns of ``DELTAS``, row and series, of the same suite.
    """
    pair, conditions = learners(rows), chosen(rows)
    if pair is None or not conditions or items.is_empty():
        return pl.DataFrame(schema=POINTS)
    names = dict(rows.select("condition", "row").unique().iter_rows())
    key = ["condition", "phenomenon", "item_id"]
    long = items.unpivot(
        ["margin_full", "margin"], index=[*key, "learner"], variable_name="text", value_name="x"
    ).with_columns(pl.col("text").replace_strict({"margin_full": FULL, "margin": FILTERED}))
    first, second = (long.filter(learner=name).drop("learner") for name in pair)
    both = first.join(second.rename({"x": "y"}), on=[*key, "text"])
    order = pl.col("condition").replace_strict(
        {name: place for place, name in enumerate(conditions)}, default=None
    )
    return (
        both.with_columns(order=order)
        .filter(pl.col("order").is_not_null())
        .sort("order", pl.col("text") == FILTERED, "phenomenon", "item_id")
        .with_columns(
            row=pl.col("condition").replace(names), first=pl.lit(pair[0]), second=pl.lit(pair[1])
        )
        .select(list(POINTS))
        .cast(pl.Schema(POINTS))
    )


def draw(found: pl.DataFrame) -> style.Figure:
    """Draw Figure 4: conditions down, full and filtered text across, a mark a pair.

    Args:
        found: :data:`POINTS`.
    """
    down = found["row"].unique(maintain_order=True).to_list()
    side = 0.35 * style.WIDE
    # Thousands of marks: one picture for all of them, sharp enough to be enlarged.
    height = 0.6 + side * len(down)
    figure = style.figure(height, figsize=(2 * side, height), dpi=200)
    panels = figure.subplots(len(down), 2, squeeze=False, sharex="row", sharey="row")
    for condition, across in zip(down, panels, strict=True):
        for text, axes in zip((FULL, FILTERED), across, strict=True):
            part = found.filter(row=condition, text=text)
            x, y = part["x"].to_numpy(), part["y"].to_numpy()
            right = (x > 0).astype(int) + (y > 0)
            for number, (_, colour) in _QUADRANTS.items():
                mine = right == number
                axes.scatter(
                    x[mine], y[mine], s=3, color=colour.light, alpha=0.5, linewidths=0,
                    rasterized=True,
                )  # fmt: skip
            axes.axhline(0, color=style.MUTED.light, linewidth=0.8)
            axes.axvline(0, color=style.MUTED.light, linewidth=0.8)
            axes.set_title(f"{condition}, {text}")
            axes.set_xlabel(f"{found['first'][0]} (nats)")
        across[0].set_ylabel(f"{found['second'][0]} (nats)")
    style.legend(figure, [
        style.handle(name, linestyle="none", marker="o", color=colour.light)
        for name, colour in _QUADRANTS.values()
    ])  # fmt: skip
    return figure
