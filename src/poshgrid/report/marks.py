"""Shares of items or sets with their intervals: a panel a measure and place, a row a model."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING

import polars as pl

from poshgrid.config.runs import COUNTED, NULL_REGIMENS, UNTRAINED
from poshgrid.report import style
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import varying

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def names(rows: pl.DataFrame, *, seeds: bool = False) -> list[str]:
    """Name the model of each row by its learner and the axes that vary among models.

    Args:
        rows: columns of ``RUN_AXES``, and seed.
        seeds: the seed is one of the axes.
    """
    known = rows.filter(~pl.col("regimen").is_in(NULL_REGIMENS))
    axes = varying(known, (*RUN_AXES, "seed") if seeds else RUN_AXES, always=("learner",))
    found = []
    for row in rows.iter_rows(named=True):
        silent = set()
        if row["regimen"] in NULL_REGIMENS:
            silent |= {"regimen"} if row["bias"] != "none" else {"regimen", "bias"}
        if row["regimen"] == COUNTED:
            silent.add("seed")
        name = " · ".join(str(row[axis]) for axis in axes if axis not in silent)
        found.append(f"{name} untrained" if row["regimen"] == UNTRAINED else name)
    return found


def draw(found: pl.DataFrame, measures: Mapping[str, str], label: str) -> Figure:
    """Draw shares.

    Args:
        found: suite, phenomenon, model, null (hollow), measure, accuracy, low, high (shares), in
            the order of places and models, several rows where a model has seeds; chance: of a
            place, null where there is none; without this column it is one half.
        measures: measure -> title of its panels.
        label: of the axis of shares.
    """
    places = found.select("suite", "phenomenon").unique(maintain_order=True).rows()
    models = found["model"].unique(maintain_order=True).to_list()
    panels = [(measure, place) for measure in measures for place in places]
    columns = min(4, len(panels) if len(places) == 1 else len(places))
    figure, flat, _ = style.panels(
        len(panels), columns, (0.3, 0.95 + 0.15 * len(models)), sharey=True
    )
    several = len({suite for suite, _ in places}) > 1
    colour = style.SERIES[0].light
    for axes, (measure, (suite, phenomenon)) in zip(flat, panels, strict=True):
        place = " · ".join(filter(None, (suite if several or not phenomenon else "", phenomenon)))
        lines = f"{measures[measure]}\n{place}".strip().splitlines()
        axes.set_title("\n".join(fill(x, 22 if columns > 2 else 34) for x in lines), fontsize=7.5)
        here = found.filter(suite=suite, phenomenon=phenomenon, measure=measure).to_dicts()
        for row in here:
            share = 100 * row["accuracy"]
            # An interval that ends at its share may end a rounding error beyond it.
            ends = [share - 100 * row["low"], 100 * row["high"] - share]
            axes.errorbar(
                share, models.index(row["model"]), xerr=[[max(end, 0.0)] for end in ends],
                fmt="o", markersize=4, color=colour, linewidth=1, alpha=0.8,
                markerfacecolor="white" if row["null"] else colour,
            )  # fmt: skip
        chance = here[0].get("chance", 0.5) if here else None
        if chance is not None:
            axes.axvline(100 * chance, linestyle=":", color="0.5", linewidth=1)
        axes.set_yticks(range(len(models)), models, fontsize=7)
        axes.set_ylim(len(models) - 0.4, -0.6)
        axes.set_xlim(-3, 103)
        axes.set_xlabel(label, fontsize=8)
    return figure
