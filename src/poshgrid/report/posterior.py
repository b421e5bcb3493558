"""What a Bayesian model says, in tables and sentences: coefficients, contrasts, checks."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.config import BayesianModel, Contrast
from poshgrid.files import Schema
from poshgrid.report.collect import Fit
from poshgrid.report.layout import title
from poshgrid.report.texts import say
from poshgrid.statistics.contrasts import called
from poshgrid.statistics.gate import OUTSIDE, SURE, doubts, fits_cells
from poshgrid.tables.table import Column, Table, numbers, of_frame, text, texts
from poshgrid.tables.words import count, decimals, points, probability, signed

ONE_SEED = "one seed only, so runs may differ by chance"
"""What contrasts are that rest on one seed: a run's own luck is part of them."""


EFFECTS: Schema = {
    "name": pl.String,
    "median": pl.Float64,  # log odds
    "low": pl.Float64,
    "high": pl.Float64,
}
"""The forest plot: one row per effect, from top to bottom."""


def effects(summary: pl.DataFrame) -> pl.DataFrame:
    """Return the effects of a fit (:data:`EFFECTS`): all common terms but the intercept."""
    intercept = pl.col("term").str.to_lowercase().str.contains("intercept")
    common = summary.filter(~intercept, kind="common")
    return common.select(name="label", median="median", low="low", high="high").cast(
        pl.Schema(EFFECTS)
    )


def coefficients(found: Fit) -> Table:
    """Lay a fit out as the paper's Table 12: coefficients and group SDs.

    The published values stand beside where the model is the paper's: its formula and its terms.
    """
    summary = found.summary.filter(pl.col("kind").is_in(["common", "sd"]))
    theirs = published(found)
    two = decimals(2)
    columns = {
        "label": text("Term"), "median": Column("Median", two), "mean": Column("Mean", two),
        "low": Column("2.5%", two), "high": Column("97.5%", two),
    }  # fmt: skip
    if not theirs.is_empty():
        summary = summary.join(theirs, on="term", how="left", maintain_order="left")
        columns |= {
            "paper": Column("Paper", two), "paper_low": Column("Paper 2.5%", two),
            "paper_high": Column("Paper 97.5%", two),
        }  # fmt: skip
    columns |= {
        "r_hat": Column("R-hat", decimals(3)), "ess_bulk": Column("ESS bulk", count),
        "ess_tail": Column("ESS tail", count),
    }  # fmt: skip
    implicit = bool(summary["implicit"].any())
    marked = pl.when("implicit").then(pl.format("{} †", "label")).otherwise("label")
    caption = say("coefficients", implicit, paper=not theirs.is_empty())
    return of_frame(f"fit-{found.name}", caption, summary.with_columns(label=marked), columns)


def one_seed(found: Fit, row: dict[str, Any]) -> bool:
    """Say whether a contrast rests on one seed: all cells of its fit, or those of a level of it.

    Args:
        found: the fit; one without cells is not known to.
        row: columns of ``CONTRASTS``.
    """
    cells = found.predictive

    def single(part: pl.DataFrame) -> bool:
        return bool(part.height and (part["n_seeds"] == 1).all())

    if row["factor"] not in cells.columns:
        return single(cells)
    levels = (row["first"], row["less"])
    return single(cells) or any(single(cells.filter(pl.col(row["factor"]) == v)) for v in levels)


def published(found: Fit) -> pl.DataFrame:
    """Return the paper's estimates by term; empty unless the model is the paper's."""
    from poshgrid.statistics import published as paper

    table = paper.coefficients()
    ours = found.summary.filter(
        pl.col("kind").is_in(["common", "sd"]) & ~pl.col("implicit").fill_null(value=False)
    )
    if not _papers(found.spec) or set(ours["term"]) != set(table["term"]):
        return pl.DataFrame()
    return table.select("term", paper="median", paper_low="low", paper_high="high")


def _papers(spec: dict[str, Any]) -> bool:
    """Say whether formula and priors are the paper's, which are the defaults of the config."""
    default = BayesianModel(name="paper").model_dump()
    read = ("formula", "slope_sd", "intercept_sd", "group_rate", "priors")

    def bare(value: object) -> object:
        return value.replace(" ", "") if isinstance(value, str) else value

    return all(bare(spec.get(key, default[key])) == bare(default[key]) for key in read)


def contrasts(found: Fit) -> Table:
    """Lay the marginal contrasts out: log odds, their probability above 0, percentage points."""
    contrasts = found.contrasts.to_dicts()
    columns = [
        text("Contrast"), text("Of"), *numbers(signed, "Log odds", "2.5%", "97.5%"),
        Column("P(> 0), log odds", probability),
        *numbers(points, "Points", "Points 2.5%", "Points 97.5%", "Raw points"),
        *numbers(count, "Words", "Words, other"),
    ]  # fmt: skip
    rows = [
        [contrast_name(row), place(row), row["median"], row["low"], row["high"], row["above"],
         row["share"], row["joint_low"], row["joint_high"], row["raw"],
         row["words_first"], row["words_less"]]
        for row in contrasts
    ]  # fmt: skip
    signs = [planted(found, row) for row in contrasts]
    if any(signs):
        columns += texts("Planted", "Found")
        for row, contrast, sign in zip(rows, contrasts, signs, strict=True):
            row += [sign, found_sign(contrast)]
    single = [one_seed(found, row) for row in contrasts]
    few = dict.fromkeys(row[0] for row, alone in zip(rows, single, strict=True) if alone)
    effects = planted_effects(found).values()
    held = (sum(sign == shown for sign, shown in effects), len(effects)) if effects else ()
    caption = say("contrasts", held, list(few), all(single), ONE_SEED)
    totals = {i: "total" for i, row in enumerate(contrasts) if not row["by"]}
    return Table(f"contrasts-{found.name}", caption, columns, rows, totals)


def planted(found: Fit, row: dict[str, Any]) -> str:
    """Return the sign that a contrast was made to have: above, below or none; "": not known."""
    for contrast in map(Contrast.model_validate, found.spec.get("contrasts") or []):
        if (called(contrast, row["first"]), contrast.less) == (row["contrast"], row["less"]):
            return contrast.planted.get(row["level"] or "overall", "")
    return ""


def planted_effects(found: Fit) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the contrast and the level of each planted effect -> its sign, and the one found.

    A category of one phenomenon with its name is one effect, in two rows.
    """
    effects: dict[tuple[str, str], tuple[str, str]] = {}
    for row in found.contrasts.to_dicts():
        if sign := planted(found, row):
            name = row["contrast"], row["level"] or "overall"
            missed = name in effects and effects[name][0] != effects[name][1]
            effects[name] = effects[name] if missed else (sign, found_sign(row))
    for contrast in map(Contrast.model_validate, found.spec.get("contrasts") or []):
        rows = found.contrasts.filter(factor=contrast.factor, less=contrast.less)
        if contrast.first is not None:
            rows = rows.filter(first=contrast.first)
        levels = {level or "overall" for level in rows["level"]}
        for level, sign in contrast.planted.items():
            if levels and level not in levels:  # misspelt, or no run has it
                effects[contrast.name or contrast.factor, level] = sign, "no estimate"
    return effects


def found_sign(row: dict[str, Any]) -> str:
    """Return where the joint interval of a contrast's points lies: above or below 0, or none."""
    if row["joint_low"] > 0:
        return "above"
    return "below" if row["joint_high"] < 0 else "none"


def contrast_name(row: dict[str, Any]) -> str:
    """Return a contrast in words: ``Filtering (baby-f − baby)``, ``dyck − none``."""
    levels = f"{row['first']} − {row['less']}"
    if row["contrast"] == f"{row['first']} - {row['less']}":  # it has no name of its own
        return levels
    return f"{title(row['contrast'])} ({levels})"


def place(row: dict[str, Any]) -> str:
    """Return what of the data a contrast is of: ``Overall``, a category, a level of a factor."""
    by, level = row["by"], row["level"]
    if not by:
        return title("overall")
    if by == "template":
        phenomenon, _, template = level.partition("/")
        level = template if template.startswith(phenomenon) else level
    return title(level) if by == "category" else f"{by} {level}"


def quotable(found: Fit) -> bool:
    """Say whether a fit may be quoted: it converged, and its predictive check passes."""
    return not doubts(found.diagnostics)


def checked(found: Fit) -> tuple[int, int] | None:
    """Return the cells of the predictive check, and those outside; ``None``: unchecked."""
    facts = found.diagnostics.get("predictive") or {}
    return (facts["cells"], facts["cells"] - facts["inside"]) if facts.get("cells") else None


def outside(predictive: pl.DataFrame) -> pl.DataFrame:
    """Return the cells whose observed accuracy lies outside the interval of the predicted."""
    return predictive.filter(
        (pl.col("observed") < pl.col("low")) | (pl.col("observed") > pl.col("high"))
    )


def check(found: Fit) -> str:
    """Return the posterior predictive check in sentences; "" if the model was not checked."""
    counts = checked(found)
    if counts is None:
        return ""
    cells, out = counts
    expected, p = max(1, round(OUTSIDE * cells)), found.diagnostics["predictive"].get("p")
    return say("check", out, cells, expected, fits_cells(cells, out), p, SURE)
