"""The figures of filtering: accuracy deltas and margins, a row for each condition or phenomenon."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.files import Schema
from poshgrid.report import figures, style
from poshgrid.statistics.schema import RUN_AXES

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
        for key, part in rows.group_by(*RUN_AXES, "row", "series", maintain_order=True):
            row, series = key[-2:]
            values = part.filter("targeted", level="phenomenon")["delta"]
            if len(values):
                found.append((row, series, TARGETED, values.mean(), values.min(), values.max()))
            every = part.filter(level="average")["delta"]
            found += [(row, series, ALL, value, None, None) for value in every]
    else:
        for one in _phenomena(rows).iter_rows(named=True):
            sd = one["delta_sd"]
            ends = (None, None) if sd is None else (one["delta"] - sd, one["delta"] + sd)
            found.append((one["label"], one["series"], one["kind"], one["delta"], *ends))
    frame = pl.DataFrame(found, schema=MARKS, orient="row")
    return frame.with_columns(pl.col("value", "low", "high") * 100)


def moves(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the figure of margins of a suite (:data:`MOVES`), with the rows of :func:`marks`.

    Args:
        rows: columns of ``DELTAS``, row and series.
    """
    if rows["condition"].n_unique() > 1:
        aimed = rows.filter("targeted", level="phenomenon")
        found = aimed.group_by(*RUN_AXES, "row", "series", maintain_order=True).agg(
            before=pl.col("margin_full").mean(), after=pl.col("margin").mean()
        )
    else:
        found = (
            _phenomena(rows)
            .filter(pl.col("margin").is_not_null())
            .with_columns(row="label", before="margin_full", after="margin")
        )
    return found.select(list(MOVES)).cast(pl.Schema(MOVES))


def draw_heat(cells: pl.DataFrame) -> style.Figure:
    """Draw phenomena down, conditions across, a panel for each series (FiCT, 2 and 6).

    Args:
        cells: row (condition), series, phenomenon, targeted, value (points).

    Returns:
        The stronger the colour, the further from 0; framed squares are targeted.
    """
    series = cells["series"].unique(maintain_order=True).to_list()
    across = cells["row"].unique(maintain_order=True).to_list()
    down = cells["phenomenon"].unique(maintain_order=True).to_list()
    figure = style.figure(1.6 + 0.13 * len(down))
    panels = figure.subplots(1, len(series), squeeze=False, sharey=True).flat
    largest = max(cells["value"].abs().max() or 0, 1e-9)
    for axes, name in zip(panels, series, strict=True):
        part = cells.filter(series=name)
        for sign, colour in ((1, style.ABOVE), (-1, style.BELOW)):
            mine = part.filter(sign * pl.col("value") > 0)
            axes.scatter(
                [across.index(row) for row in mine["row"]],
                [down.index(row) for row in mine["phenomenon"]],
                s=34, marker="s", color=colour.light, linewidths=0,
                alpha=(mine["value"].abs() / largest).to_list() or None,
            )  # fmt: skip
        aimed = part.filter("targeted")
        axes.scatter(
            [across.index(row) for row in aimed["row"]],
            [down.index(row) for row in aimed["phenomenon"]],
            s=44, marker="s", facecolors="none", edgecolors=style.INK.light, linewidths=0.8,
        )  # fmt: skip
        axes.set_title(name)
        axes.set_xticks(range(len(across)), across, rotation=90)
        axes.set_yticks(range(len(down)), down, fontsize=6)
        axes.set_xlim(-0.6, len(across) - 0.4)
        axes.set_ylim(len(down) - 0.4, -0.6)
        axes.grid(visible=False)
    return figure


def heat(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the delta of every phenomenon in every condition, in points (:func:`draw_heat`)."""
    return _cells(rows.with_columns(value="delta"))


def heat_of_accuracies(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the accuracy of every phenomenon in every condition less 50%, in points.

    The full conditions come first; nothing is targeted in them.

    Args:
        rows: columns of ``DELTAS``, row and series.
    """
    place = ["row", "series", "level", "category", "phenomenon"]
    full = rows.with_columns(row="full", value="accuracy_full", targeted=pl.lit(value=False))
    both = pl.concat([full.unique(place, maintain_order=True), rows.with_columns(value="accuracy")])
    return _cells(both.with_columns(pl.col("value") - 0.5))


def _cells(rows: pl.DataFrame) -> pl.DataFrame:
    return (
        rows.filter(pl.col("value").is_finite(), level="phenomenon")
        .sort("category", "phenomenon", maintain_order=True)
        .select("row", "series", "phenomenon", "targeted", pl.col("value") * 100)
    )


def draw_deltas(marks: pl.DataFrame) -> style.Figure:
    """Draw accuracy deltas: a line for each condition or phenomenon, a mark for each series.

    Args:
        marks: :data:`MARKS`.

    Returns:
        Filled marks are targeted, hollow ones are not.
    """
    figure, (axes,), places = figures.rows(*_names(marks))
    axes.axvline(0, color=style.MUTED.light, linewidth=1)
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


def draw_margins(moves: pl.DataFrame) -> style.Figure:
    """Draw margins before and after filtering, with a line from one to the other.

    Args:
        moves: :data:`MOVES`.
    """
    figure, (axes,), places = figures.rows(*_names(moves))
    axes.axvline(0, color=style.MUTED.light, linewidth=1)
    for mark in moves.iter_rows(named=True):
        y, (colour, marker, _) = places[mark["row"], mark["series"]]
        axes.plot([mark["before"], mark["after"]], [y, y], color=colour, linewidth=1.6, alpha=0.55)
        for value, face in ((mark["before"], style.PAGE.light), (mark["after"], colour)):
            axes.plot([value], [y], marker, color=colour, markersize=6, linestyle="none",
                      markerfacecolor=face)  # fmt: skip
    axes.set_xlabel("log P(good) − log P(bad) (nats)")
    _legend(figure, moves, [(False, "full models"), (True, "filtered models")])
    return figure


def _names(frame: pl.DataFrame) -> tuple[list[str], list[str]]:
    rows, series = (frame[name].unique(maintain_order=True).to_list() for name in ("row", "series"))
    return rows, series


def _legend(figure: style.Figure, frame: pl.DataFrame, kinds: list[tuple[bool, str]]) -> None:
    names = [name for name in _names(frame)[1] if name]
    handles = style.series_handles(names, linestyle="none")
    handles += [
        style.handle(label, marker="o", linestyle="none",
                     markerfacecolor=style.MUTED.light if filled else style.PAGE.light)
        for filled, label in kinds
    ]  # fmt: skip
    style.legend(figure, handles)


def _phenomena(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the phenomena of the only condition, targeted ones first; of many, those alone.

    A last row stands for all phenomena then.
    """
    targeted = pl.when("targeted").then(pl.lit(TARGETED)).otherwise(pl.lit(OTHER))
    each = rows.filter(level="phenomenon").with_columns(label="phenomenon", kind=targeted)
    if each["phenomenon"].n_unique() > FEW:
        every = rows.filter(level="average").with_columns(label=pl.lit(ALL), kind=pl.lit(ALL))
        each = pl.concat([each.filter("targeted"), every])
    return each.sort(~pl.col("targeted"), maintain_order=True)
