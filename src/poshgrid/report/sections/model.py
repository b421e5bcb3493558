"""The section of the Bayesian models, and its figures of contrasts and of the predictive check."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.report import figures, posterior, style
from poshgrid.report.blocks import Alert, Block, Facts, Heading, Note, Page
from poshgrid.report.collect import Fit
from poshgrid.report.frames import effects
from poshgrid.report.layout import title
from poshgrid.report.shelf import Picture
from poshgrid.tables.words import count, counted, decimals, duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE, ORDER, AUDIENCE = "Bayesian models", 60, "reviewer"


def blocks(page: Page) -> list[Block]:
    """Return what each model says: contrasts, coefficients, checks."""
    names = page.collected.spec.models
    if not names:
        return ["Not run: the grid names no model."]
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
        title = Heading(f"Contrasts of {name}", level=4)
        blocks += [title, _contrasts(found, page), contrasted]
    return [
        *blocks,
        Heading(f"Coefficients of {name}", level=4),
        _forest(found, page),
        page.shelf.table(posterior.coefficients(found)),
        Heading(f"Checks of {name}", level=4),
        posterior.check(found) or "Posterior predictive check: not run.",
        _check(found, page),
        Facts(list(_facts(diagnostics))),
        page.table(posterior.attempts(found)),
    ]


def _forest(found: Fit, page: Page) -> Picture | None:
    caption = (
        "Effects on the log-odds of a correct judgement: posterior medians with 95% intervals; "
        "hollow where the interval holds zero."
    )
    if halved := posterior.halves(found.summary):
        caption += f" {halved}"
    return page.picture(f"forest-{found.name}", caption, figures.forest, effects(found.summary))


def _contrasts(found: Fit, page: Page) -> Picture | None:
    caption = (
        "Marginal contrasts in log odds: posterior medians with 95% intervals, overall (diamond) "
        "and at each level; hollow where the difference in points is not clear."
    )
    return page.picture(f"contrasts-{found.name}-forest", caption, contrasts, found.contrasts)


def _check(found: Fit, page: Page) -> Picture | None:
    cells = found.predictive.drop_nulls(["observed", "predicted", "low", "high"])
    caption = (
        "Posterior predictive check: observed accuracy of every cell against what the model "
        "predicts (median and 95% interval). Orange squares: cells outside their interval."
    )
    return page.picture(f"predictive-{found.name}", caption, predictive, cells)


def _facts(diagnostics: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield name, number and note of what the fit rests on; older files lack some of it."""
    sampler, engine = diagnostics.get("sampler"), diagnostics.get("engine")
    if engine or sampler:
        note = f"sampler {sampler}" if engine and sampler else ""
        yield "Engine" if engine else "Sampler", str(engine or sampler), note
    tried = diagnostics.get("attempts") or []
    if tried:
        last = tried[-1]
        accept = last.get("target_accept")
        retries = len(tried) - 1
        note = counted(retries, "retry", "retries") if retries else "no retry"
        if accept is not None:
            note += f"; target acceptance {accept:g}"
        yield "Attempts", count(len(tried)), note
    rows = (
        counted(diagnostics["rows"], "row of counts", "rows of counts")
        if diagnostics.get("rows")
        else ""
    )
    shown = (
        ("Divergences", "divergences", count, "0 to pass"),
        ("Largest R-hat", "max_r_hat", decimals(3), "at most 1.01"),
        ("Smallest ESS", "min_ess", count, "at least 400"),
        ("Pairs judged", "pairs", count, rows),
        ("Time", "seconds", duration, ""),
    )
    for label, key, show, note in shown:
        if diagnostics.get(key) is not None:
            yield label, show(diagnostics[key]), note


# ---- figures -------------------------------------------------------------------------------------


def contrasts(rows: pl.DataFrame) -> Figure:
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
        labels = [fill(posterior.place(row), 60) for row in group]
        _contrast_panel(axes, group)
        axes.set_title(posterior.contrast_name(group[0]))
        first = axes in firsts
        # The names stand once in a line of panels that have the same rows.
        repeated = not first and labels == places
        axes.set_yticks(range(len(group))[::-1], [] if repeated else labels)
        places = labels
    for axes in flat[-3:]:
        axes.tick_params(axis="x", labelbottom=True)
        axes.set_xlabel("Difference of log odds")
    return figure


def _contrast_panel(axes: Axes, group: list[dict[str, Any]]) -> None:
    axes.axvline(0, color=style.MUTED.light, linewidth=1)
    for y, row in zip(range(len(group))[::-1], group, strict=True):
        sure = posterior.found_sign(row) != "none"
        colour = style.SERIES[0 if row["median"] > 0 else 1].light if sure else style.MUTED.light
        marker, size = ("o", 5.5) if row["by"] else ("D", 6.5)
        axes.plot([row["low"], row["high"]], [y, y], color=colour, linewidth=2.2)
        axes.plot(
            [row["median"]], [y], marker, color=colour, markersize=size,
            markerfacecolor=colour if sure else style.PAGE.light,
            label=f"{row['contrast']}: {posterior.place(row)}",
        )  # fmt: skip
    axes.set_ylim(-0.6, len(group) - 0.4)
    axes.tick_params(axis="y", labelcolor=style.INK.light, length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)


def predictive(cells: pl.DataFrame) -> Figure:
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
