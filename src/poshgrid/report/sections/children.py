"""Children and models on one axis: the paper's Figure 1 and Table 7.

Both are set on the number of words that they have met. What a model has read is known; what a child
has heard is an estimate: the paper (section 3.1) takes 10M words as the lower bound, 30M as the
midrange and 50M as the upper bound of what a child has heard by the age of five, after Hart and
Risley (1992), Gilkerson et al. (2017) and Frank (2023). Spread evenly over five years, these are 2,
6 and 10 million words a year. A child is drawn at the midrange of its age, with a bar from the
lower to the upper bound; a model is drawn at its words and never at an age, so that a grid of other
sizes than the paper's stands where it belongs.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.config.runs import WORD_NULLS
from poshgrid.errors import PoshgridError
from poshgrid.files import Schema
from poshgrid.report import figures, style
from poshgrid.report.blocks import Block, Page
from poshgrid.report.cells import Cell, Scores
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, groups
from poshgrid.report.texts import say
from poshgrid.statistics import published
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import percent

TITLE, ORDER, AUDIENCE = "Children and models", 40, "reader"
A_YEAR = (2_000_000, 6_000_000, 10_000_000)
"""Words that a child hears in a year: lower bound, midrange, upper bound."""

CHILDREN = "children"

POINTS: Schema = {
    # Panel: a row of Table 7; series: CHILDREN, or an arm. Models that count words have no age
    **{k: v for k, v in figures.POINTS.items() if k not in WORD_NULLS},
    "words": pl.Float64,  # heard by the middle of the age (midrange), or trained on
    "age": pl.String,  # of children, as printed; null of models
    "words_low": pl.Float64,  # lower and upper bound of what children have heard
    "words_high": pl.Float64,
}
"""Figure 1: one row per mark."""


def years(age: str) -> float:
    """Return an age of Table 7 in years; of a range, its middle.

    Args:
        age: years, or years;months, or a range of them: ``3``, ``3-4``, ``3;2-4;7``.

    Raises:
        PoshgridError: something else.
    """
    ends = [end.partition(";") for end in age.split("-")]
    try:
        return sum(int(year) + int(month or 0) / 12 for year, _, month in ends) / len(ends)
    except ValueError as error:
        raise PoshgridError(
            f"{'/'.join(published.POSH)}/table7.csv: {age!r} is no age; write 3, 3-4 or 3;2-4;7"
        ) from error


def suite_of(layout: Layout, names: list[str]) -> str | None:
    """Return the suite that has most of these phenomena and categories; none: no suite has any."""
    found = {
        suite: len(set(names) & ({p for _, p in pairs} | set(layout.categories[suite])))
        for suite, pairs in layout.phenomena.items()
    }
    best = max(found, key=lambda suite: found[suite], default=None)
    return best if best is not None and found[best] else None


def _place(layout: Layout, suite: str, name: str) -> tuple[str, str, str] | None:
    """Return (level, category, phenomenon) of a name in Table 7; none: the suite lacks it."""
    for category, phenomenon in layout.phenomena[suite]:
        if name == phenomenon:
            return "phenomenon", category, phenomenon
    return ("category", name, "") if name in layout.categories[suite] else None


def points(collected: Collected, layout: Layout, table: pl.DataFrame, suite: str) -> pl.DataFrame:
    """Return the marks of Figure 1 (:data:`POINTS`).

    Args:
        collected: all results.
        layout: order of arms and sizes.
        table: Table 7.
        suite: whose phenomena are set beside it.
    """
    rows: list[dict[str, Any]] = []
    marks = []
    for row in table.iter_rows(named=True):
        panel = _title(row["category"])
        for end in ("younger", "older"):
            age = row[f"{end}_age"]
            low, middle, high = (rate * years(age) for rate in A_YEAR)
            rows.append({
                "panel": panel, "series": CHILDREN, "age": age, "words": middle, "words_low": low,
                "words_high": high, "mean": row[end] / 100,
            })  # fmt: skip
        if place := _place(layout, suite, row["name"]):
            marks += [
                ("", panel, name, arm, (suite, *place)) for name, arm in groups(layout)[0].arms
            ]
    models = figures.points(collected, layout, marks).filter(pl.col("mean").is_not_null())
    models = models.drop(WORD_NULLS).cast({"words": pl.Float64})
    both = pl.concat([pl.DataFrame(rows, schema=POINTS), models], how="diagonal")
    order = {_title(name): number for number, name in enumerate(table["category"])}
    return both.sort(pl.col("panel").replace_strict(order), maintain_order=True)


def table7(collected: Collected, layout: Layout, table: pl.DataFrame, suite: str) -> Table:
    """Set the children of Table 7 beside the models, in percent."""
    scores = Scores(collected.accuracy)
    arms = groups(layout)[0].arms
    cells = [(s, name, arm) for s in layout.sizes for name, arm in arms if layout.point(arm, s)]
    rows: list[list[Any]] = []
    for row in table.iter_rows(named=True):
        place = _place(layout, suite, row["name"])
        models = []
        for size, _, arm in cells:
            cell = scores.cell(layout, arm, size, suite, *place) if place else None
            models.append(cell.mean if isinstance(cell, Cell) else cell)
        rows.append([
            _title(row["category"]), _dash(row["younger_age"]), row["younger"] / 100,
            _dash(row["older_age"]), row["older"] / 100, *models,
        ])  # fmt: skip
    columns = [
        text("Phenomenon"), text("Younger: age"),
        Column("Younger", percent), text("Older: age"), Column("Older", percent),
        *(Column(f"{size} {name}", percent) for size, name, _ in cells),
    ]  # fmt: skip
    return Table("children", say("table7", suite), columns, rows)


def blocks(page: Page) -> list[Block] | None:
    """Return the figure (or that no model has a score yet), and the table.

    ``None``: no suite has what Table 7 reports of children.
    """
    collected, layout, shelf = page.collected, page.layout, page.shelf
    table = published.load(*published.POSH, "table7")
    suite = suite_of(layout, table["name"].to_list())
    if suite is None or not layout.arms:
        return None
    frame = points(collected, layout, table, suite)
    # Of a model that was given nobody knows how many words it has read: it has no place on the axis
    frame = frame.filter((pl.col("series") == CHILDREN) | (pl.col("words") > 0))
    figure: Block = "Not run: no model has a score yet on what these children were tested on."
    models = frame.filter(pl.col("series") != CHILDREN)
    if not models.is_empty():
        caption = say(
            "children", groups(layout)[0].condition, suite, figures.spread(models),
            [rate // 1_000_000 for rate in A_YEAR], moved=models["size"].n_unique() == 1,
            nulls=figures.nulls_of(models),
        )  # fmt: skip
        figure = shelf.picture("children-and-models", caption, draw, frame)
    return [figure, shelf.table(table7(collected, layout, table, suite))]


# ---- Figure 1 ------------------------------------------------------------------------------------


def draw(frame: pl.DataFrame) -> style.Figure:
    """Draw children and models, a panel for each row of Table 7.

    Args:
        frame: :data:`POINTS`.

    Returns:
        Accuracy by words on a log scale; see the module.
    """
    panels = frame["panel"].unique(maintain_order=True).to_list()
    models = frame.filter(pl.col("series") != CHILDREN)
    names = models["series"].unique(maintain_order=True).to_list()
    sizes = figures.sizes_of(models)
    if sizes.height == 1:  # the series would lie on top of each other
        middle = (len(names) - 1) / 2
        places = {name: 1.12 ** (index - middle) for index, name in enumerate(names)}
        models = models.with_columns(
            words=pl.col("words") * pl.col("series").replace_strict(places, return_dtype=pl.Float64)
        )
    figure, flat, firsts = style.panels(len(panels), 4, (1.05, 2.35), sharex=True, sharey=True)
    low, high = figures.limits(frame)
    heard = frame.filter(series=CHILDREN)
    words = [*models["words"], *heard["words_low"], *heard["words_high"]]
    ends = min(words) / 1.4, max(words) * 1.3
    for panel, axes in zip(panels, flat, strict=True):
        figures.accuracy_panel(axes, models.filter(panel=panel), names, sizes)
        _children(axes, heard.filter(panel=panel))
        axes.set_title(panel)
        axes.set_ylim(low, high)
        figures.log_words(axes, *ends)
        axes.tick_params(labelbottom=True)
    for axes in firsts:
        axes.set_ylabel("Accuracy (%)")
    figure.supxlabel("Words heard or trained on", fontsize=8.5, color=style.INK.light)
    ink = style.INK.light
    bar = f"{A_YEAR[0] // 10**6}M–{A_YEAR[-1] // 10**6}M words a year"
    band = [style.patch("± 1 SD over seeds", alpha=0.25)] if models["sd"].count() else []
    style.legend(figure, [
        style.handle(CHILDREN, color=ink, marker="*", markersize=9),
        style.handle(bar, color=ink, linewidth=1, alpha=0.55),
        *style.series_handles(names), *band, *figures.null_handles(figures.nulls_of(models)),
        style.handle("chance", **style.CHANCE),
    ])  # fmt: skip
    return figure


def _children(axes: style.Axes, rows: pl.DataFrame) -> None:
    """Draw the children of a panel: a star for each age, a bar for what is not known of it."""
    colour = style.INK.light
    for index, row in enumerate(rows.iter_rows(named=True)):
        y = 100 * row["mean"]
        axes.plot(
            [row["words_low"], row["words_high"]], [y, y], color=colour, linewidth=1, alpha=0.55
        )
        axes.annotate(
            _dash(row["age"]), (row["words"], y), (0, -9 if index == 0 else 7),
            textcoords="offset points", ha="center", va="center", fontsize=7.5, color=colour,
            bbox={"facecolor": style.PAGE.light, "edgecolor": "none", "pad": 0.6, "alpha": 0.75},
        )  # fmt: skip
    axes.plot(rows["words"], [100 * v for v in rows["mean"]], color=colour, marker="*",
              markersize=9, linewidth=1.4, label=CHILDREN)  # fmt: skip


def _title(category: str) -> str:
    return category[:1].upper() + category[1:]


def _dash(age: str) -> str:
    return age.replace("-", "–")
