"""What a Bayesian model says, in tables and sentences: coefficients, contrasts, checks."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from poshgrid.config import BayesianModel, Contrast
from poshgrid.report.collect import Fit
from poshgrid.report.layout import title
from poshgrid.statistics.contrasts import called
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import count, counted, decimals, listed, points, probability, signed

OUTSIDE = 0.05  # share of cells that a fitting model leaves outside its 95% intervals
SURE = 0.05  # probability below which a misfit is not put down to chance
ONE_SEED = "one seed only, so runs may differ by chance"
"""What contrasts are that rest on one seed: a run's own luck is part of them."""


def coefficients(found: Fit) -> Table:
    """Lay a fit out as the paper's Table 12: coefficients and group SDs.

    The published values stand beside where the model is the paper's: its formula and its terms.
    """
    summary = found.summary.filter(pl.col("kind").is_in(["common", "sd"]))
    theirs = published(found)
    rows = []
    for row in summary.iter_rows(named=True):
        beside = theirs.get(row["term"], (None, None, None)) if theirs else ()
        rows.append([
            row["label"] + (" †" if row["implicit"] else ""), row["median"], row["mean"],
            row["low"], row["high"], *beside, row["r_hat"], row["ess_bulk"], row["ess_tail"],
        ])  # fmt: skip
    two = decimals(2)
    columns = [
        text("Term"), Column("Median", two), Column("Mean", two), Column("2.5%", two),
        Column("97.5%", two),
        *(Column(f"Paper{what}", two) for what in ("", " 2.5%", " 97.5%") if theirs),
        Column("R-hat", decimals(3)), Column("ESS bulk", count), Column("ESS tail", count),
    ]  # fmt: skip
    caption = "Posterior on the log-odds scale; group SDs last."
    if summary["implicit"].any():
        caption += " † minus the sum of the factor’s other levels."
    if halved := halves(summary):
        caption += f" {halved}"
    if theirs:
        caption += (
            " Paper: its Table 12, of its own models and items; its intercept and SDs are means, "
            "the other estimates medians."
        )
    return Table(f"fit-{found.name}", caption, columns, rows)


def halves(summary: pl.DataFrame) -> str:
    """Say which coefficients are half a difference: those of sum-coded factors of two levels.

    The levels are coded +1 and -1, so that they differ by twice the coefficient.

    Args:
        summary: columns of ``SUMMARY``.

    Returns:
        A sentence; "": there is none.
    """
    common = summary.filter(kind="common").select("term", "label")
    pairs = dict.fromkeys(
        found.groups()
        for term, label in common.iter_rows()
        for part, word in zip(term.partition("[")[0].split(":"), label.split(" × "), strict=False)
        if part.startswith("S(") and (found := re.search(r"\(([^()]+) vs\. ([^()]+)\)$", word))
    )
    if not pairs:
        return ""
    said = "; ".join(f"{one} and {other}" for one, other in pairs)
    return f"A coefficient of two levels is half the difference between them ({said})."


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


def published(found: Fit) -> dict[str, tuple[float, float, float]]:
    """Return term -> the paper's estimate and interval; empty unless the model is the paper's."""
    from poshgrid.statistics import published as paper

    if not _papers(found.spec):
        return {}
    table = paper.coefficients()
    ours = found.summary.filter(
        pl.col("kind").is_in(["common", "sd"]) & ~pl.col("implicit").fill_null(value=False)
    )
    if set(ours["term"]) != set(table["term"]):
        return {}
    return {
        term: (median, low, high)
        for term, median, low, high in table.select("term", "median", "low", "high").iter_rows()
    }


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
    rows = [
        [
            contrast_name(row), place(row), row["median"], row["low"], row["high"], row["above"],
            row["share"], row["joint_low"], row["joint_high"],
        ]
        for row in contrasts
    ]  # fmt: skip
    columns = [
        text("Contrast"), text("Of"), Column("Log odds", signed),
        Column("2.5%", signed), Column("97.5%", signed),
        Column("P(> 0), log odds", probability), Column("Points", points),
        Column("Points 2.5%", points), Column("Points 97.5%", points),
    ]  # fmt: skip
    caption = (
        "Marginal contrasts: posterior medians and 95% intervals of the difference between two "
        "levels over the cells that both have, in log odds and in percentage points of "
        "accuracy. Intervals of points are simultaneous over the levels of one factor (Bonferroni)."
    )
    signs = [planted(found, row) for row in contrasts]
    if any(signs):
        columns += [text("Planted"), text("Found")]
        # A category of one phenomenon with its name is one truth, in two rows.
        known: dict[tuple[str, str], bool] = {}
        for row, contrast, sign in zip(rows, contrasts, signs, strict=True):
            row += [sign, found_sign(contrast)]
            if sign:
                truth = row[0], contrast["level"]
                known[truth] = known.get(truth, True) and sign == row[-1]
        caption += (
            f" Planted: what the language was made to show; found: whether the interval of the "
            f"points leaves 0 out. As planted: {sum(known.values())} of {len(known)}."
        )
    single = [one_seed(found, row) for row in contrasts]
    if all(single):
        caption += f" {ONE_SEED[0].upper()}{ONE_SEED[1:]}."
    elif any(single):
        few = dict.fromkeys(row[0] for row, alone in zip(rows, single, strict=True) if alone)
        caption += f" {ONE_SEED[0].upper()}{ONE_SEED[1:]} ({listed(list(few))})."
    totals = {i: "total" for i, row in enumerate(contrasts) if not row["by"]}
    return Table(f"contrasts-{found.name}", caption, columns, rows, totals)


def planted(found: Fit, row: dict[str, Any]) -> str:
    """Return the sign that a contrast was made to have: above, below or none; "": not known."""
    for contrast in map(Contrast.model_validate, found.spec.get("contrasts") or []):
        if (called(contrast, row["first"]), contrast.less) == (row["contrast"], row["less"]):
            return contrast.planted.get(row["level"] or "overall", "")
    return ""


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


def checked(found: Fit) -> tuple[int, int] | None:
    """Return the cells of the posterior predictive check, and those outside; ``None``: unchecked.

    From diagnostics.json, or failing that from the table of cells.
    """
    facts = found.diagnostics.get("predictive") or {}
    if facts.get("cells") and facts.get("inside") is not None:
        return int(facts["cells"]), int(facts["cells"]) - int(facts["inside"])
    cells = found.predictive.drop_nulls(["observed", "low", "high"])
    return (cells.height, outside(cells).height) if cells.height else None


def outside(predictive: pl.DataFrame) -> pl.DataFrame:
    """Return the cells whose observed accuracy lies outside the interval of the predicted."""
    return predictive.filter(
        (pl.col("observed") < pl.col("low")) | (pl.col("observed") > pl.col("high"))
    )


def too_narrow(found: Fit) -> bool:
    """Say whether cells, or single runs, differ by more than the model's intervals allow."""
    numbers, p = checked(found), discrepancy(found)
    return (numbers is not None and not fits_cells(*numbers)) or (p is not None and p < SURE)


def fits_cells(cells: int, out: int) -> bool:
    """Say whether so many cells outside are what 95% intervals leave outside by chance."""
    from scipy.stats import binom

    return float(binom.sf(out - 1, cells, OUTSIDE)) >= SURE


def discrepancy(found: Fit) -> float | None:
    """Return the posterior predictive p of the chi-square discrepancy over single runs."""
    return (found.diagnostics.get("predictive") or {}).get("p")


def check(found: Fit) -> str:
    """Return the posterior predictive check in sentences; "" if the model was not checked."""
    numbers = checked(found)
    if numbers is None:
        return ""
    cells, out = numbers
    verdict = "fit" if fits_cells(cells, out) else "are too narrow for"
    text = (
        f"Outside the model’s 95% predictive intervals: {out} of {counted(cells, 'cell')}; about "
        f"{count(max(1, round(OUTSIDE * cells)))} would be by chance. The intervals {verdict} the "
        "differences between cells"
    )
    p = discrepancy(found)
    if p is None:
        return f"{text}."
    said = f"posterior predictive p {probability(p) if p < 0.001 else f'= {probability(p)}'}"
    verdict = "are too narrow for" if p < SURE else "fit"
    return f"{text}, and {verdict} those between single runs ({said})."


def attempts(found: Fit) -> Table | None:
    """List the attempts at a fit, if there was more than one."""
    tried = found.diagnostics.get("attempts") or []
    if len(tried) < 2:
        return None
    shown = {
        "target_accept": Column("Target acceptance"), "warmup": Column("Warm-up", count),
        "draws": Column("Draws", count), "seconds": Column("Seconds", decimals(1)),
        "divergences": Column("Divergences", count),
        "max_r_hat": Column("Largest R-hat", decimals(3)), "min_ess": Column("Smallest ESS", count),
    }  # fmt: skip
    rows = []
    for i, each in enumerate(tried, start=1):
        reasons = "; ".join(each.get("reasons") or []) or "no"
        rows.append([i, *map(each.get, shown), "yes" if each.get("converged") else reasons])
    columns = [Column("Attempt"), *shown.values(), text("Converged")]
    caption = "Attempts: one that does not converge is followed by a stricter one; the last counts."
    return Table(f"attempts-{found.name}", caption, columns, rows)
