"""What filtering changes: accuracy deltas, margins and perplexities (FiCT, Figures 2 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import style
from poshgrid.report.collect import Collected
from poshgrid.report.plain import (
    Column,
    PlainTable,
    count,
    decimals,
    listed,
    percent,
    points,
    probability,
    signed,
)
from poshgrid.report.shelf import Shelf
from poshgrid.statistics.deltas.differences import by_condition
from poshgrid.statistics.schema import RUN_AXES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS: Schema = {
    "row": pl.String,  # a condition; a phenomenon where there is one condition
    "series": pl.String,  # size, learner, regimen, bias: those that vary
    "kind": pl.String,  # TARGETED, OTHER or ALL
    "value": pl.Float64,  # accuracy delta, points
    "low": pl.Float64,  # null: nothing to show
    "high": pl.Float64,
}
"""The figure of deltas: one row per mark."""

MOVES: Schema = {
    "row": pl.String,  # as in MARKS, with series
    "series": pl.String,
    "before": pl.Float64,  # margin of the full models, nats
    "after": pl.Float64,  # of the filtered ones
}
"""The figure of margins: one row per mark."""

TARGETED, OTHER, ALL = "targeted phenomena", "other phenomena", "all phenomena"
FEW = 24
"""Phenomena that have a row each in a figure; of more, those that filters are aimed at have."""
LONG = 200
"""Rows that a table of phenomena may have on the page; of more, the targeted ones are shown."""

_MEASURES = {
    "accuracy": ("Accuracy (%)", 100),
    "delta": ("Accuracy delta (points)", 100),
    "targeted delta": ("Targeted accuracy delta (points)", 100),
    "margin": ("Margin of the full models (nats)", 1),
    "targeted margin delta": ("Targeted margin delta (nats)", 1),
    "targeted r": ("Targeted r of margins", 1),
    "perplexity": ("Perplexity", 1),
}


def section(collected: Collected, shelf: Shelf) -> dict[str, Any] | None:
    """Return what html/deltas.html shows; write its figures and tables.

    Args:
        collected: all results.
        shelf: where figures and tables are put.

    Returns:
        ``None`` where the target has no filtered models beside full ones.
    """
    if collected.deltas.is_empty() and collected.perplexity.is_empty():
        return None
    deltas = _named(collected.deltas)
    suites = deltas["suite"].unique(maintain_order=True).to_list()
    pairs = dict(sorted(deltas.select("condition", "full").unique().iter_rows()))
    return {
        "against": [f"{one} is set against {other}" for one, other in pairs.items()],
        "sentences": sentences(collected),
        "suites": [_suite(deltas.filter(pl.col("suite") == s), s, shelf) for s in suites],
        "tests": shelf.plain(tests(collected.delta_tests)),
        "perplexity": shelf.plain(perplexities(collected.perplexity)),
    }


def sentences(collected: Collected) -> list[str]:
    """Say in words what filtering changes, suite by suite."""
    return [
        text
        for suite in collected.deltas["suite"].unique(maintain_order=True)
        for text in _said(collected, suite)
    ]


def _said(collected: Collected, suite: str) -> Iterator[str]:
    within = by_condition(_named(collected.deltas).filter(pl.col("suite") == suite)).join(
        _named(collected.deltas).select(*RUN_AXES, "series").unique(), on=RUN_AXES, how="left"
    )
    aimed = within.filter(pl.col("targets") > 0)
    if aimed.is_empty():
        yield f"{suite}: no filter is aimed at any of its phenomena."
        return
    names = within["series"].unique(maintain_order=True).to_list()

    def changes(column: str) -> str:
        means = {name: aimed.filter(pl.col("series") == name)[column].mean() for name in names}
        return listed(
            [f"{points(v)} points" + (f" ({name})" if name else "")
             for name, v in means.items() if v is not None]
        )  # fmt: skip

    number = aimed["condition"].n_unique()
    averaged = f", averaged over {number} conditions" if number > 1 else ""
    yield (
        f"{suite}: on the phenomena that filters are aimed at, filtering changes accuracy by "
        f"{changes('targeted')}{averaged}; on all phenomena by "
        f"{changes('every')}."
    )
    found = collected.delta_tests.filter(
        (pl.col("suite") == suite)
        & (pl.col("measure") == "targeted delta")
        & pl.col("p").is_not_null()
    )
    for row in found.iter_rows(named=True):
        verdict = "differ" if row["p"] < 0.05 else "do not differ significantly"
        p = probability(row["p"])
        yield (
            f"{suite}: the targeted deltas of {row['first']} and {row['second']} {verdict} (paired "
            f"t({row['df']}) = {signed(row['t'])}, p {p if p[0] in '<>' else f'= {p}'})."
        )


# ---- figures -------------------------------------------------------------------------------------


def marks(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the figure of deltas of a suite (:data:`MARKS`), from top to bottom.

    With several conditions each has a row: the mean over targeted phenomena, from the lowest to the
    highest of them, and the mean over all phenomena. With one, phenomena have a row each, targeted
    ones first, with one SD over seeds to either side.

    Args:
        rows: columns of ``DELTAS``, row and series.
    """
    found: list[tuple[Any, ...]] = []
    if rows["condition"].n_unique() > 1:
        aimed = (pl.col("level") == "phenomenon") & pl.col("targeted")
        points_of = [*RUN_AXES, "row", "series"]
        for key, part in rows.group_by(points_of, maintain_order=True):
            row, series = key[-2:]
            values = part.filter(aimed)["delta"]
            if len(values):
                found.append((row, series, TARGETED, values.mean(), values.min(), values.max()))
            every = part.filter(pl.col("level") == "average")["delta"]
            found += [(row, series, ALL, value, None, None) for value in every]
    else:
        for part in _phenomena(rows).iter_rows(named=True):
            sd = part["delta_sd"]
            ends = (None, None) if sd is None else (part["delta"] - sd, part["delta"] + sd)
            found.append((part["label"], part["series"], part["kind"], part["delta"], *ends))
    frame = pl.DataFrame(found, schema=MARKS, orient="row")
    return frame.with_columns(pl.col("value", "low", "high") * 100)


def moves(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the figure of margins of a suite (:data:`MOVES`), with the rows of :func:`marks`.

    Args:
        rows: columns of ``DELTAS``, row and series.
    """
    if rows["condition"].n_unique() > 1:
        aimed = rows.filter((pl.col("level") == "phenomenon") & pl.col("targeted"))
        found = aimed.group_by(*RUN_AXES, "row", "series", maintain_order=True).agg(
            before=pl.col("margin_full").mean(), after=pl.col("margin").mean()
        )
    else:
        found = (
            _phenomena(rows)
            .filter(pl.col("margin").is_not_null())
            .with_columns(row="label", before="margin_full", after="margin")
        )
    return found.select(list(MOVES)).cast(MOVES)  # type: ignore[arg-type]


def draw_deltas(marks: pl.DataFrame, *, narrow: bool = False) -> Figure:
    """Draw accuracy deltas: a line for each condition or phenomenon, a mark for each series.

    Args:
        marks: :data:`MARKS`.
        narrow: for a telephone: names above their marks.

    Returns:
        Filled marks are targeted, hollow ones are not.
    """
    figure, axes, places = _rows(marks, narrow)
    for (row, series), part in marks.group_by("row", "series", maintain_order=True):
        y, (colour, marker, _) = places[row, series]
        for mark in part.iter_rows(named=True):
            if mark["low"] is not None:
                axes.plot([mark["low"], mark["high"]], [y, y], color=colour, linewidth=1.6,
                          alpha=0.55, solid_capstyle="butt")  # fmt: skip
            axes.plot([mark["value"]], [y], marker, color=colour, markersize=6, linestyle="none",
                      markerfacecolor=colour if mark["kind"] == TARGETED else style.PAGE.light,
                      zorder=4 if mark["kind"] == TARGETED else 3)  # fmt: skip
    axes.set_xlabel("Accuracy delta (points)")
    kinds = [kind for kind in (TARGETED, OTHER, ALL) if kind in set(marks["kind"])]
    _legend(figure, marks, [(kind == TARGETED, kind) for kind in kinds])
    return figure


def draw_margins(moves: pl.DataFrame, *, narrow: bool = False) -> Figure:
    """Draw margins before and after filtering, with a line from one to the other.

    Args:
        moves: :data:`MOVES`.
        narrow: for a telephone: names above their marks.
    """
    figure, axes, places = _rows(moves, narrow)
    for mark in moves.iter_rows(named=True):
        y, (colour, marker, _) = places[mark["row"], mark["series"]]
        axes.plot([mark["before"], mark["after"]], [y, y], color=colour, linewidth=1.6, alpha=0.55)
        for value, face in ((mark["before"], style.PAGE.light), (mark["after"], colour)):
            axes.plot([value], [y], marker, color=colour, markersize=6, linestyle="none",
                      markerfacecolor=face)  # fmt: skip
    axes.set_xlabel("log P(good) − log P(bad) (nats)")
    _legend(figure, moves, [(False, "full models"), (True, "filtered models")])
    return figure


def _rows(frame: pl.DataFrame, narrow: bool) -> tuple[Figure, Axes, dict[tuple[str, str], Any]]:
    """Return figure, axes, and where each series of each row stands and what it looks like."""
    from matplotlib.figure import Figure

    names = frame["row"].unique(maintain_order=True).to_list()
    series = frame["series"].unique(maintain_order=True).to_list()
    step = 0.2 * len(series) + (0.36 if narrow else 0.14)  # inches for a row
    figure = Figure(
        figsize=(style.NARROW if narrow else style.WIDE, 1.1 + step * len(names)),
        layout="constrained",
    )
    axes = figure.subplots()
    axes.axvline(0, color=style.MUTED.light, linewidth=1)
    between = 0.2 / step
    places = {}
    for i, name in enumerate(names):
        centre = len(names) - 1 - i
        ground = style.PANEL.light if i % 2 else style.PAGE.light
        if i % 2:
            axes.axhspan(centre - 0.5, centre + 0.5, color=ground, linewidth=0, zorder=0)
        if narrow:
            axes.annotate(
                name, (0, centre + 0.5), (0, -9), xycoords=("axes fraction", "data"), va="center",
                textcoords="offset points", fontsize=8, zorder=5,
                bbox={"facecolor": ground, "edgecolor": "none", "pad": 0.8},
            )  # fmt: skip
        below = 0.09 / step if narrow else 0
        for k, each in enumerate(series):
            shift = between * (k - (len(series) - 1) / 2)
            places[name, each] = (centre - shift - below, style.series(k))
    axes.set_yticks(range(len(names)), [] if narrow else names[::-1])
    axes.tick_params(axis="y", length=0, labelcolor=style.INK.light)
    axes.set_ylim(-0.55, len(names) - 0.45)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    return figure, axes, places


def _legend(figure: Figure, frame: pl.DataFrame, kinds: list[tuple[bool, str]]) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for k, name in enumerate(frame["series"].unique(maintain_order=True)):
        if name:
            colour, marker, _ = style.series(k)
            handles.append(Line2D([], [], color=colour, marker=marker, linestyle="none",
                                  label=name))  # fmt: skip
    grey = style.MUTED.light
    handles += [
        Line2D([], [], color=grey, marker="o", linestyle="none", label=label,
               markerfacecolor=grey if filled else style.PAGE.light)
        for filled, label in kinds
    ]  # fmt: skip
    style.legend(figure, handles)


# ---- tables --------------------------------------------------------------------------------------


def conditions(rows: pl.DataFrame, suite: str) -> PlainTable:
    """Return a suite's averages within conditions.

    Args:
        rows: columns of ``DELTAS``.
        suite: its name.
    """
    axes = _varying(rows)
    two = decimals(2)
    columns = [
        Column("Condition", text=True), *(Column(a.capitalize(), text=True) for a in axes),
        Column("Targeted phenomena", count), Column("Δ targeted", points), Column("Δ all", points),
        Column("SD", percent), Column("Margin, full", two), Column("Margin, filtered", two),
        Column("r", two),
    ]  # fmt: skip
    values = ("targets", "targeted", "every", "every_sd", "margin_full", "margin", "r")
    cells = [
        [row["condition"], *(row[axis] for axis in axes), *(row[name] for name in values)]
        for row in by_condition(rows).iter_rows(named=True)
    ]
    caption = (
        f"{suite}: accuracy deltas in points, filtered models less the mean of the full ones; "
        "targeted: mean over the phenomena that the condition's filters are aimed at; all: over "
        "all phenomena, SD over the filtered models' seeds. Margins (log P(good) − log P(bad), "
        "nats) and r (Pearson's, of the pairs' margins before and after filtering): means over "
        "targeted phenomena."
    )
    return PlainTable(f"deltas-{suite}", caption, columns, cells)


def phenomena(rows: pl.DataFrame, suite: str) -> PlainTable:
    """Return a suite's deltas by phenomenon; of many, those that filters are aimed at.

    Args:
        rows: columns of ``DELTAS``.
        suite: its name.
    """
    axes = _varying(rows)
    found = rows.filter(pl.col("level") == "phenomenon")
    some = found.height > LONG
    if some:
        found = found.filter("targeted")
    two = decimals(2)
    columns = [
        Column("Phenomenon", text=True), Column("Condition", text=True),
        *(Column(a.capitalize(), text=True) for a in axes), Column("Targeted", text=True),
        Column("Full (%)", percent), Column("Filtered (%)", percent),
        Column("Δ (points)", points), Column("SD", percent),
        Column("Margin, full", two), Column("Margin, filtered", two), Column("r", two),
    ]  # fmt: skip
    values = ("accuracy_full", "accuracy", "delta", "delta_sd", "margin_full", "margin", "r")
    cells = [
        [row["phenomenon"], row["condition"], *(row[axis] for axis in axes),
         "yes" if row["targeted"] else "", *(row[name] for name in values)]
        for row in found.iter_rows(named=True)
    ]  # fmt: skip
    shown = "the phenomena that filters are aimed at" if some else "phenomena"
    caption = (
        f"{suite}: {shown}. Means over seeds, SD of the delta over the filtered models' seeds; "
        "margins in nats, averaged over seeds before they are correlated."
    )
    return PlainTable(f"deltas-{suite}-phenomena", caption, columns, cells)


def tests(rows: pl.DataFrame) -> PlainTable | None:
    """Return the paired comparisons; none: there is nothing to compare.

    Args:
        rows: columns of ``DELTA_TESTS``.
    """
    if rows.is_empty():
        return None
    two = decimals(2)
    columns = [
        Column("Measure", text=True), Column("Suite", text=True), Column("First", text=True),
        Column("Second", text=True), Column("Pairs", count), Column("Mean, first", two),
        Column("Mean, second", two), Column("t", two), Column("df", count),
        Column("p", probability), Column("r", two),
    ]  # fmt: skip
    cells = []
    for row in rows.iter_rows(named=True):
        title, unit = _MEASURES.get(row["measure"], (row["measure"], 1))
        cells.append(
            [title, row["suite"] or None, row["first"], row["second"], row["pairs"],
             unit * row["mean_first"], unit * row["mean_second"],
             *(row[name] for name in ("t", "df", "p", "r"))]
        )  # fmt: skip
    caption = (
        "Paired comparisons, all else equal: two-sided t tests, uncorrected, and Pearson's r of "
        "the paired values. Pairs are conditions at each size (and each learner, regimen and bias, "
        "save what is compared): for accuracy, targeted accuracy delta and perplexity one pair "
        "each, for the other measures one for each phenomenon. Targeted deltas are "
        "averaged over phenomena within a condition first. Dashes: fewer than two pairs (three "
        "for r), or no variance."
    )
    return PlainTable("delta-tests", caption, columns, cells)


def perplexities(rows: pl.DataFrame) -> PlainTable | None:
    """Return perplexities by condition, over seeds; none: there are none.

    Args:
        rows: columns of ``PERPLEXITY``.
    """
    if rows.is_empty():
        return None
    axes = _varying(rows)
    found = rows.group_by(*RUN_AXES, "tested", maintain_order=True).agg(
        pl.len().alias("seeds"),
        *(pl.col(n).mean() for n in ("loss", "perplexity", "word_perplexity")),
        perplexity_sd=pl.col("perplexity").std(ddof=1),
        word_sd=pl.col("word_perplexity").std(ddof=1),
    )
    two = decimals(2)
    columns = [
        Column("Condition", text=True), *(Column(a.capitalize(), text=True) for a in axes),
        Column("Tested on", text=True), Column("Seeds", count), Column("Loss", decimals(4)),
        Column("Perplexity", two), Column("SD", two), Column("Per word", two),
        Column("SD per word", two),
    ]  # fmt: skip
    values = ("tested", "seeds", "loss", "perplexity", "perplexity_sd", "word_perplexity",
              "word_sd")  # fmt: skip
    cells = [
        [row["condition"], *(row[axis] for axis in axes), *(row[name] for name in values)]
        for row in found.iter_rows(named=True)
    ]
    caption = (
        "Perplexity of the base's held-out test sentences, which nothing was removed from; means "
        "over seeds. Loss in nats per token. Every condition and size has a tokenizer of its own: "
        "between them, perplexities compare by the word."
    )
    return PlainTable("perplexity", caption, columns, cells)


# ---- parts ---------------------------------------------------------------------------------------


def _suite(rows: pl.DataFrame, suite: str, shelf: Shelf) -> dict[str, Any]:
    several = rows["condition"].n_unique() > 1
    drawn, moved = marks(rows), moves(rows)
    spread = (
        "Lines: from the lowest to the highest targeted phenomenon."
        if several
        else "Lines: ± 1 SD over seeds."
    )
    of = "means over the phenomena that its filters are aimed at" if several else "by phenomenon"
    picture = shelf.picture(
        f"deltas-{suite}",
        f"What filtering does to accuracy on {suite}: filtered models less the mean of the full "
        f"ones. Filled: targeted phenomena; hollow: {'all' if several else 'other'} phenomena. "
        f"{spread}",
        draw_deltas,
        drawn,
    )
    margins = None
    if not moved.is_empty():
        margins = shelf.picture(
            f"margins-{suite}",
            f"How clearly models of full (hollow) and of filtered text (filled) prefer the good "
            f"members of {suite}: {of}.",
            draw_margins,
            moved,
        )
    shelf.table(f"deltas-{suite}-all", rows.drop("row", "series"))
    return {
        "name": suite,
        "figure": picture,
        "margins": margins,
        "conditions": shelf.plain(conditions(rows, suite)),
        "phenomena": shelf.plain(phenomena(rows, suite)),
    }


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Add row, the condition's short name, and series, the other axes that vary."""
    names = rows["condition"].unique().to_list()
    bases = {name.partition("~")[0] for name in names if "~" in name}
    short = len(bases) == 1 and all("~" in name for name in names)
    row = pl.col("condition").str.replace(r"^[^~]*~", "") if short else pl.col("condition")
    bias = pl.col("bias").replace("none", "no bias")
    series = [bias if axis == "bias" else pl.col(axis) for axis in _varying(rows)]
    named = pl.concat_str(series, separator=" · ") if series else pl.lit("")
    return rows.with_columns(row=row, series=named)


def _varying(rows: pl.DataFrame) -> list[str]:
    """Return the axes but the condition that vary; no learner where the size tells it."""
    found = [axis for axis in RUN_AXES[1:] if rows[axis].n_unique() > 1]
    others = [axis for axis in found if axis != "learner"]
    if "learner" in found and others:
        points_of = rows.select(others).unique().height
        if points_of == rows.select(*others, "learner").unique().height:
            return others
    return found


def _phenomena(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the phenomena of the only condition, targeted ones first; of many, those alone.

    A last row stands for all phenomena then.
    """
    targeted = pl.when("targeted").then(pl.lit(TARGETED)).otherwise(pl.lit(OTHER))
    each = rows.filter(pl.col("level") == "phenomenon").with_columns(
        label="phenomenon", kind=targeted
    )
    if each["phenomenon"].n_unique() > FEW:
        every = rows.filter(pl.col("level") == "average").with_columns(
            label=pl.lit(ALL), kind=pl.lit(ALL)
        )
        each = pl.concat([each.filter("targeted"), every])
    return each.sort(~pl.col("targeted"), maintain_order=True)
