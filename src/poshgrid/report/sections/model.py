"""The section of the Bayesian models, and its figures of contrasts and of the predictive check."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import Any

import polars as pl

from poshgrid.report import posterior, style
from poshgrid.report.blocks import Alert, Block, Facts, Heading, Note, Page
from poshgrid.report.collect import Fit
from poshgrid.report.layout import title
from poshgrid.report.texts import say
from poshgrid.statistics.gate import ESS_LEAST, R_HAT_MOST
from poshgrid.tables.words import count, decimals, duration

TITLE, ORDER, AUDIENCE = "Bayesian models", 60, "reviewer"


def blocks(page: Page) -> list[Block] | None:
    """Return what each model says: contrasts, coefficients, checks; ``None``: there is no model."""
    names = page.collected.spec.models
    if not names:
        return None
    fits = page.collected.fits
    return [b for name in names for b in of_model(name, fits.get(name), page)]


def of_model(name: str, found: Fit | None, page: Page) -> list[Block]:
    """Return the part of a model; write its figures and tables."""
    if found is None:
        return [Heading(name), "Not fitted, or did not converge: see its log."]
    diagnostics = found.diagnostics
    blocks: list[Block] = [
        Heading(name, code=diagnostics.get("formula") or found.spec.get("formula", ""))
    ]
    if not found.converged:
        reasons = "; ".join(diagnostics.get("reasons", [])) or "There are no diagnostics"
        blocks.append(Alert("Not converged.", f"{reasons}. Do not quote these estimates."))
    blocks += map(Note, diagnostics.get("notes", []))
    if contrasted := page.table(posterior.contrasts(found)):
        forest = page.picture(
            f"contrasts-{name}-forest", say("contrast_figure"), contrasts, found.contrasts
        )
        blocks += [Heading(f"Contrasts of {name}", level=4), forest, contrasted]
    cells = found.predictive.drop_nulls(["observed", "predicted", "low", "high"])
    return [
        *blocks,
        Heading(f"Coefficients of {name}", level=4),
        page.picture(f"forest-{name}", say("forest"), forest_of, posterior.effects(found.summary)),
        page.shelf.table(posterior.coefficients(found)),
        Heading(f"Checks of {name}", level=4),
        posterior.check(found) or "Posterior predictive check: not run.",
        page.picture(f"predictive-{name}", say("predictive"), predictive, cells),
        Facts(list(_facts(diagnostics))),
    ]


def _facts(diagnostics: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield name, number and note of what the fit rests on; older files lack some of it."""
    sampler, engine = diagnostics.get("sampler"), diagnostics.get("engine")
    if engine or sampler:
        note = f"sampler {sampler}" if engine and sampler else ""
        yield "Engine" if engine else "Sampler", str(engine or sampler), note
    if tried := diagnostics.get("attempts"):
        accept = tried[-1].get("target_accept")
        note = "" if accept is None else f"target acceptance {accept:g}"
        yield "Attempts", count(len(tried)), note
    rows = f"{diagnostics['rows']:,} rows of counts" if diagnostics.get("rows") else ""
    shown = (
        ("Divergences", "divergences", count, "0 to pass"),
        ("Largest R-hat", "max_r_hat", decimals(3), f"at most {R_HAT_MOST:g}"),
        ("Smallest ESS", "min_ess", count, f"at least {ESS_LEAST:g}"),
        ("Pairs judged", "pairs", count, rows),
        ("Time", "seconds", duration, ""),
    )
    for label, key, show, note in shown:
        if diagnostics.get(key) is not None:
            yield label, show(diagnostics[key]), note


# ---- figures -------------------------------------------------------------------------------------


def forest_of(effects: pl.DataFrame) -> style.Figure:
    """Draw posterior medians and 95% intervals of a model's effects, on the log-odds scale.

    Args:
        effects: :data:`poshgrid.report.posterior.EFFECTS`, in the order of the rows.

    Returns:
        Filled marks where the interval excludes zero, hollow ones where it does not.
    """
    figure = style.figure(0.75 + 0.27 * effects.height)
    axes = figure.subplots()
    axes.axvline(0, color=style.MUTED.light, linewidth=1)
    for y, row in enumerate(effects.iter_rows(named=True)):
        style.estimate(axes, y, row, sure=row["low"] > 0 or row["high"] < 0)
        value = f"{row['median']:+.2f} [{row['low']:.2f}, {row['high']:.2f}]".replace("-", "−")
        axes.annotate(
            value, (1, y), (4, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", fontsize=8, va="center", color=style.MUTED.light,
            annotation_clip=False,
        )  # fmt: skip
    style.names_axis(axes, effects["name"].to_list())
    axes.set_xlabel("Log-odds (posterior median, 95% interval)")
    return figure


def contrasts(rows: pl.DataFrame) -> style.Figure:
    """Draw marginal contrasts: a panel for each, a row for each level.

    Args:
        rows: columns of ``CONTRASTS``.

    Returns:
        Diamonds for all of the data, circles for the levels of a factor; hollow where the
        difference in points is not clear.
    """
    groups = [
        list(group.iter_rows(named=True))
        for _, group in rows.group_by("contrast", "first", "less", maintain_order=True)
    ]
    height = 0.42 + 0.24 * max(map(len, groups))
    figure, flat, firsts = style.panels(len(groups), 3, (0.55, height), sharex=True)
    places: list[str] = []
    for axes, group in zip(flat, groups, strict=True):
        axes.axvline(0, color=style.MUTED.light, linewidth=1)
        for y, row in enumerate(group):
            marker, size = ("o", 5.5) if row["by"] else ("D", 6.5)
            sure = posterior.found_sign(row) != "none"
            style.estimate(axes, y, row, sure=sure, marker=marker, size=size)
        labels = [fill(posterior.place(row), 60) for row in group]
        # The names stand once in a line of panels that have the same rows.
        repeated = axes not in firsts and labels == places
        style.names_axis(axes, [""] * len(group) if repeated else labels)
        axes.set_title(posterior.contrast_name(group[0]))
        places = labels
    for axes in flat[-3:]:
        axes.tick_params(axis="x", labelbottom=True)
        axes.set_xlabel("Difference of log odds")
    return figure


def predictive(cells: pl.DataFrame) -> style.Figure:
    """Draw observed accuracy against predicted, with intervals: a panel for each category.

    Args:
        cells: columns of ``PREDICTIVE``.

    Returns:
        A diagonal on which a perfect model's cells lie; cells outside their interval as squares.
    """
    categories = cells["category"].unique(maintain_order=True).to_list()
    columns = min(4, len(categories))
    side = min((style.WIDE - 0.6) / columns, 3.2)
    figure, flat, firsts = style.panels(
        len(categories), columns, (0.7, side + 0.3), sharex=True, sharey=True
    )
    ends = cells.select(
        pl.min_horizontal("observed", "low").min().alias("least"),
        pl.max_horizontal("observed", "high").max().alias("most"),
    ).row(0)
    least, most = max(0.0, 100 * ends[0] - 4), min(100.0, 100 * ends[1] + 4)
    for axes, category in zip(flat, categories, strict=True):
        mine = cells.filter(category=category)
        out = posterior.outside(mine)
        axes.axline((50, 50), slope=1, color=style.MUTED.light, linewidth=1)
        inside = mine.join(out, on=mine.columns, how="anti", nulls_equal=True)
        for drawn, index, marker, word in ((inside, 0, "o", "inside"), (out, 1, "s", "outside")):
            colour = style.SERIES[index].light
            axes.hlines(
                [100 * v for v in drawn["observed"]], [100 * v for v in drawn["low"]],
                [100 * v for v in drawn["high"]], color=colour, linewidth=1.3, alpha=0.7,
            )  # fmt: skip
            axes.plot(
                [100 * v for v in drawn["predicted"]], [100 * v for v in drawn["observed"]],
                marker, color=colour, markersize=4.2, label=word,
                markerfacecolor=style.PAGE.light if word == "inside" else colour,
            )  # fmt: skip
        axes.set_title(f"{title(category)}\n{out.height} of {mine.height} outside")
        axes.set_xlim(least, most)
        axes.set_ylim(least, most)
        axes.set_aspect("equal")
    for axes in flat[-columns:]:
        axes.tick_params(axis="x", labelbottom=True)
        axes.set_xlabel("Predicted (%)")
    for axes in firsts:
        axes.set_ylabel("Observed (%)")
    return figure
