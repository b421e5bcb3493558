"""The section of the Bayesian models: contrasts, coefficients and the predictive check."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import polars as pl

from poshgrid.config import Contrast
from poshgrid.report import figures
from poshgrid.report.collect import Fit
from poshgrid.report.layout import title
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics.contrasts import called
from poshgrid.statistics.gate import MAX_R_HAT, MIN_ESS, OUTSIDE, doubts

TITLE, ORDER, AUDIENCE = "Bayesian models", 60, "reviewer"
ONE_SEED = "one seed only, so runs may differ by chance"
"""Warning on contrasts with one seed only."""


def write(page: Page) -> dict[str, Any] | None:
    """Write the tables and figures of each model; None if no model was fitted."""
    fits = page.collected.fits
    for name, fit in fits.items():
        rows, facts = contrasts(fit)
        sure = (pl.col("joint_low") > 0) | (pl.col("joint_high") < 0)
        marks = rows.select("low", "high", panel="name", row="of", value="median", filled=sure,
                            reference=pl.lit(0.0))  # fmt: skip
        draw = partial(figures.rows, label="Difference of log odds")
        page.picture(f"contrasts-{name}-forest", draw, marks, say("contrast_figure"))
        page.table("contrasts", rows, *facts, of=name)
        rows = coefficients(fit)
        page.table("fit", rows, bool(rows["implicit"].any()), of=name)
    limits = {"MAX_R_HAT": MAX_R_HAT, "MIN_ESS": MIN_ESS, "OUTSIDE": OUTSIDE}
    return {"fits": fits, "doubts": doubts, **limits} if fits else None


def coefficients(fit: Fit) -> pl.DataFrame:
    """Return the coefficients and group SDs of a fit; † marks implicit levels."""
    summary = fit.summary.filter(pl.col("kind").is_in(["common", "sd"]))
    marked = pl.when("implicit").then(pl.format("{} †", "label")).otherwise("label")
    return summary.with_columns(label=marked)


def one_seed(fit: Fit, row: dict[str, Any]) -> bool:
    """Return whether a contrast depends on one seed: all cells of the fit or of a level have one.

    Args:
        fit: of the contrast; without cells, the number of seeds is unknown and the result False.
        row: columns of ``CONTRASTS``.
    """
    cells = fit.predictive
    parts = [cells]
    if row["factor"] in cells.columns:
        parts += [cells.filter(pl.col(row["factor"]) == row[n]) for n in ("first", "less")]
    return any(part.height and (part["n_seeds"] == 1).all() for part in parts)


def contrasts(fit: Fit) -> tuple[pl.DataFrame, tuple[Any, ...]]:
    """Return the marginal contrasts with their names, and the facts of their caption.

    Returns:
        Columns of ``CONTRASTS``, ``name``, and ``of`` (the data that it is taken on, in words);
        ``planted`` and ``found_sign`` if effects are planted. The facts are: numbers of planted
        effects that were found and of all; names of contrasts with one seed; whether all have one
        seed; and the warning ``ONE_SEED``.
    """
    rows = fit.contrasts.to_dicts()
    effects = planted_effects(fit)
    keys = ((row["contrast"], row["level"] or "overall") for row in rows)
    signs = [effects.get(key, ("", ""))[0] for key in keys]
    single = [one_seed(fit, row) for row in rows]
    names = [contrast_name(row) for row in rows]
    counts = (sum(s == shown for s, shown in effects.values()), len(effects)) if effects else ()
    few = list(dict.fromkeys(n for n, alone in zip(names, single, strict=True) if alone))
    words: dict[str, Iterable[str]] = {"name": names, "of": map(slice_name, rows)}
    words |= {"planted": signs, "found_sign": map(found_sign, rows)} if any(signs) else {}
    frame = fit.contrasts.with_columns(
        *(pl.Series(name, list(values), pl.String) for name, values in words.items()),
        pl.when(by="").then(pl.lit("total")).alias("class"),
    )
    return frame, (counts, few, all(single), ONE_SEED)


def planted_effects(fit: Fit) -> dict[tuple[str, str], tuple[str, str]]:
    """Return (contrast, level) of each planted effect -> its planted sign and the estimated sign.

    A category and its only phenomenon may have the same name: they are one effect with two rows,
    which is missed if one row misses it. A level without a row has "no estimate": it is misspelt,
    or no run has it.
    """
    effects: dict[tuple[str, str], tuple[str, str]] = {}
    for contrast in map(Contrast.model_validate, fit.spec.get("contrasts") or []):
        rows = fit.contrasts.filter(factor=contrast.factor, less=contrast.less)
        if contrast.first is not None:
            rows = rows.filter(first=contrast.first)
        for name in dict.fromkeys(called(contrast, first) for first in rows["first"]):
            for level, sign in contrast.planted.items():
                own = rows.filter(contrast=name, level="" if level == "overall" else level)
                signs = map(found_sign, own.to_dicts())
                missed = [shown for shown in signs if shown != sign]
                effects[name, level] = sign, (*missed, sign if own.height else "no estimate")[0]
    return effects


def found_sign(row: dict[str, Any]) -> str:
    """Return "above" or "below" if the joint interval excludes 0, else "none"."""
    if row["joint_low"] > 0:
        return "above"
    return "below" if row["joint_high"] < 0 else "none"


def contrast_name(row: dict[str, Any]) -> str:
    """Return the name of a contrast: ``Filtering (baby-f − baby)``, ``dyck − none``."""
    levels, name = f"{row['first']} − {row['less']}", own_name(row)
    return f"{name} ({levels})" if name else levels


def own_name(row: dict[str, Any]) -> str:
    """Return the name of a contrast in the configuration; "" without one."""
    unnamed = row["contrast"] == f"{row['first']} - {row['less']}"
    return "" if unnamed else title(row["contrast"])


def slice_name(row: dict[str, Any]) -> str:
    """Return the data that a contrast is taken on: ``Overall``, a category, a level of a factor."""
    by, level = row["by"], row["level"]
    if not by:
        return title("overall")
    if by == "template":
        phenomenon, _, template = level.partition("/")
        level = template if template.startswith(phenomenon) else level
    return title(level) if by == "category" else f"{by} {level}"


def quotable(fit: Fit) -> bool:
    """Return whether a fit may be quoted: it converged, and its predictive check passes."""
    return not doubts(fit.diagnostics)
