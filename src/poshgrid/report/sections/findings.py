"""The findings: a verdict on each planned contrast, strongest first, then on each phenomenon."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from poshgrid.benchmark.reading.table10 import key
from poshgrid.benchmark.schema import PAIRS
from poshgrid.config.formula import suite_of
from poshgrid.core.writing import listed, points
from poshgrid.models.training import bias
from poshgrid.report import figures
from poshgrid.report.accuracies import BASELINE_NAMES, drawn, of_level
from poshgrid.report.collect import Collected, Fit
from poshgrid.report.layout import Layout, groups, naming, varied
from poshgrid.report.parts import Page
from poshgrid.report.sections import model
from poshgrid.report.texts import say
from poshgrid.statistics.gate import doubts
from poshgrid.statistics.schema import CANNOT_TELL, NO, NOT_TESTABLE, YES
from poshgrid.statistics.verdicts import MARGIN

TITLE, ORDER, AUDIENCE = "Findings", 10, "reader"
MOST_COLUMNS = 4  # with more points, the table counts verdicts instead of listing them
VERDICTS = (YES, NO, CANNOT_TELL, NOT_TESTABLE)
NEARLY = 0.01  # conditions of one size differ by a few words, which is not shown
HIGHER, LOWER, ALIKE = "higher", "lower", "alike"
Row = dict[str, Any]
"""A contrast: columns of ``CONTRASTS``."""


def write(page: Page) -> dict[str, Any]:
    """Write the figure and the tables; return the positive control and what is not quoted."""
    collected = page.collected
    pairs = sum(items.height for items in collected.items.values())
    if collected.accuracy.is_empty():
        return {"judged": False, "pairs": pairs}
    for suite in collected.suites[:1]:
        page.picture(f"opening-{suite}", figures.lines, opening(page, suite), say("opening", suite))
    compared = contrasts(collected)
    noted = [name for name in ("structure", "seeds") if compared.height and compared[name].count()]
    page.table("findings", compared, noted, model.ONE_SEED)
    page.table("learned", *learned(collected, page.layout))
    page.table("treatments", treatments(collected))
    doubted = {fit.name: doubts(fit.diagnostics) for fit in collected.fits.values()}
    unquoted = {name: reasons for name, reasons in doubted.items() if reasons}
    return {
        "judged": True,
        "pairs": pairs,
        "opening": f"figure-opening-{collected.suites[0]}" if collected.suites else "",
        "control": control(collected),
        "sources": [f"contrasts-{f.name}" for f in _quotable(collected) if f.contrasts.height],
        "failed": any(collected.fits[name].contrasts.height for name in unquoted),
        "unquoted": unquoted,
        "rewritten": list(_rewriters(collected)),
    }


def opening(page: Page, suite: str) -> pl.DataFrame:
    """Return the data of the first figure: the categories in the grid's first comparison."""
    collected, layout = page.collected, page.layout
    frame = drawn(collected, layout, (
        ("", panel, name, models, where)
        for name, models in groups(layout)[0][1]
        for _, panel, where in of_level(layout, suite, "category")
    ))  # fmt: skip
    return frame.with_columns(pl.col("series").replace(_condition_names(collected)))


def _condition_names(collected: Collected) -> dict[str, str]:
    """Return condition -> its name with what was changed: ``baby-f (without binding)``."""
    changes: dict[str, list[str]] = {}
    cells = collected.spec.cells.items()
    for condition in dict.fromkeys(cell.split("/")[0] for cell, facts in cells if facts.filtered):
        filters = listed(list(collected.spec.removed.get(condition, {})))
        changes[condition] = [f"without {filters}" if filters else "filtered"]
    for condition, rewriters in _rewriters(collected).items():
        changes.setdefault(condition, []).append(f"rewritten by {listed(rewriters)}")
    return {name: f"{name} ({', '.join(parts)})" for name, parts in changes.items()}


def _rewriters(collected: Collected) -> dict[str, list[str]]:
    """Return rewritten condition -> its rewriters."""
    return {
        condition: list(facts["rewritten"]["rewriters"])
        for (condition, _), facts in collected.conditions.items()
        if facts.get("rewritten")
    }


def control(collected: Collected) -> dict[str, Any] | None:
    """Return whether the planted effects were found; None if nothing is planted.

    Returns:
        ``what`` and ``why`` in words; ``good``, whether the control held; ``tables``, the names of
        the tables with its contrasts.
    """
    planted = [
        (fit.name, contrast, level, sign, shown)
        for fit in collected.fits.values()
        for (contrast, level), (sign, shown) in model.planted_effects(fit).items()
    ]
    if not planted:
        return None
    missed = [effect for effect in planted if effect[-2] != effect[-1]]
    names = {effect[0] for effect in planted}
    broken = [f.name for f in collected.fits.values()
              if f.name in names and not model.quotable(f)]  # fmt: skip
    verdict = "failed" if missed else "says nothing" if broken else "held"
    return {
        "what": f"The positive control {verdict}.", "good": verdict == "held",
        "why": say("control", len(planted), missed, broken),
        "tables": [f"contrasts-{name}" for name in sorted(names)],
    }  # fmt: skip


# ---- contrasts -----------------------------------------------------------------------------------


def contrasts(collected: Collected) -> pl.DataFrame:
    """Return a row for each contrast of the models that may be quoted, the strongest first.

    The contrasts of a bias's control come beneath the contrast of the bias.

    Returns:
        Model (null if no other has this comparison), comparison, columns of ``CONTRASTS``, verdict,
        the parts that are ``higher``, ``lower`` or ``alike``, words of training if they differ by
        more than 1%, whether the structure of a bias helps, whether one seed is all.
    """
    compared = [(fit, rows) for fit in _quotable(collected) for rows in _groups(fit)]
    strengths: dict[tuple[str, str | None], float] = {}  # model, bias -> of its own contrasts
    for fit, rows in compared:
        if not _bias_of_control(rows[0]):
            key = fit.name, rows[0]["first"]
            strengths[key] = max(strengths.get(key, -1.0), _strength(rows))

    def order(pair: tuple[Fit, list[Row]]) -> tuple[float, bool, float]:
        fit, rows = pair
        own, controlled = _strength(rows), _bias_of_control(rows[0])
        return -strengths.get((fit.name, controlled), own), controlled is not None, -own

    ordered = sorted(compared, key=order)
    table = pl.DataFrame([_finding(collected, *pair) for pair in ordered], infer_schema_length=None)
    if table.is_empty():
        return table
    return table.with_columns(model=pl.when(pl.col("comparison").is_duplicated()).then("model"))


def _quotable(collected: Collected) -> list[Fit]:
    """Return the models that may be quoted."""
    return [fit for fit in collected.fits.values() if model.quotable(fit)]


def _groups(fit: Fit) -> Iterator[list[Row]]:
    """Yield the rows of each contrast: overall, then its parts.

    The parts are categories and phenomena; in a model of selected phenomena, templates.
    """
    parts = ["template"] if fit.spec.get("phenomena") else ["category", "phenomenon"]
    for _, rows in fit.contrasts.group_by("contrast", "first", "less", maintain_order=True):
        if overall := rows.filter(by="").to_dicts():
            yield overall[:1] + rows.filter(pl.col("by").is_in(parts)).to_dicts()


def _strength(rows: list[Row]) -> float:
    """Return the largest distance of an interval from 0; negative if all include it."""
    return max(float(max(row["joint_low"], -row["joint_high"])) for row in rows)


def decided(row: Row) -> str:
    """Return the verdict on a difference: higher, lower, alike (within ``MARGIN``), cannot tell."""
    sign = model.found_sign(row)
    if sign != "none":
        return HIGHER if sign == "above" else LOWER
    alike = row["joint_low"] > -MARGIN and row["joint_high"] < MARGIN
    return ALIKE if alike else CANNOT_TELL


def _finding(collected: Collected, fit: Fit, rows: list[Row]) -> Row:
    """Return a row of the table of findings.

    A part is named if its verdict is not "cannot tell"; a phenomenon, only if its category has
    another verdict.

    Args:
        collected: all results.
        fit: the model of the contrast.
        rows: of the contrast, overall and at its parts.
    """
    overall, *parts = rows
    suites = collected.spec.suites
    suite = suite_of(fit.spec.get("suite"), suites)
    items = collected.items.get(suite, pl.DataFrame(schema=PAIRS))
    category_of = dict(items.select("phenomenon", "category").unique().iter_rows())
    of_category = {row["level"]: decided(row) for row in parts if row["by"] == "category"}
    untouched = _untouched_categories(_removed(collected, overall), category_of)
    named: dict[str, list[str]] = {HIGHER: [], LOWER: [], ALIKE: []}
    for row in parts:
        verdict = decided(row)
        same = verdict == of_category.get(category_of.get(row["level"], ""))
        if verdict in named and not (row["by"] == "phenomenon" and same):
            name = model.slice_name(row).removeprefix(f"{row['by']} ")
            name += " (evidence kept)" if row["level"] in untouched else ""
            named[verdict].append(f"{name} {_in_points(row)}")
    shown = _condition_names(collected) if overall["factor"] == "condition" else {}
    sides = [shown.get(side, side) for side in (overall["first"], _less_name(overall))]
    heading = [own] if (own := model.own_name(overall)) else []
    where = [f"on {suite}"] if len(suites) > 1 else []
    where += [f"{listed(fit.spec['phenomena'])} alone"] if fit.spec.get("phenomena") else []
    return {
        "model": fit.name,
        "comparison": ", ".join([": ".join([*heading, " − ".join(sides)]), *where]),
        "difference": _in_points(overall),
        **{name: overall[name] for name in ("share", "joint_low", "joint_high", "raw")},
        "verdict": decided(overall),
        **{verdict: "; ".join(names) or None for verdict, names in named.items()},
        "words": _words(overall),
        "structure": _structure(fit, overall),
        "seeds": "one" if model.one_seed(fit, overall) else None,
    }


def _words(row: Row) -> str | None:
    """Return the words of training of both sides; None if they are unknown or nearly equal."""
    first, less = row["words_first"] or 0, row["words_less"] or 0
    differ = min(first, less) > 0 and abs(first - less) > NEARLY * max(first, less)
    return f"{first:,} and {less:,}" if differ else None


def _removed(collected: Collected, row: Row) -> dict[str, list[str]]:
    """Return the filters of one side of a contrast -> the phenomena that each is aimed at.

    The factor ``filter`` joins all filtered conditions: it has filters only if all have the same.
    Empty if both sides of a contrast are filtered.
    """
    removed = collected.spec.removed
    if row["factor"] == "condition":
        sides = [removed[level] for level in (row["first"], row["less"]) if level in removed]
        return sides[0] if len(sides) == 1 else {}
    first = next(iter(removed.values()), {}) if row["factor"] == "filter" else {}
    return first if all(filters == first for filters in removed.values()) else {}


def _untouched_categories(removed: dict[str, list[str]], category_of: dict[str, str]) -> set[str]:
    """Return the categories that no filter is aimed at; empty if a filter names no phenomenon."""
    aims = {key(name) for names in removed.values() for name in names}
    hit = {category for phenomenon, category in category_of.items() if key(phenomenon) in aims}
    # Without any hit, the suite may have other names for the phenomena that filters are aimed at
    return {*category_of.values()} - hit if hit and all(removed.values()) else set()


def _bias_of_control(row: Row) -> str | None:
    """Return the bias whose control is one side of a contrast; None if no side is a control."""
    if row["factor"] != "bias":
        return None
    first = row["first"]
    controlled = "+".join(bias.bias_of_control(part) or part for part in first.split("+"))
    return controlled if controlled != first or bias.is_control(row["less"], first) else None


def _structure(fit: Fit, row: Row) -> str | None:
    """Return whether the structure of a bias helps: it must be clearly above all its controls.

    None for a contrast of a control, and for a bias without one.
    """
    own = [
        overall
        for overall, *_ in _groups(fit)
        if overall["first"] == row["first"] and bias.is_control(overall["less"], overall["first"])
    ]
    if not own or _bias_of_control(row):
        return None
    short = [_less_name(r) for r in (row, *own) if decided(r) != HIGHER]
    return f"{CANNOT_TELL}: not clearly above {listed(short)}" if short else YES


def treatments(collected: Collected) -> pl.DataFrame:
    """Return what was removed from each condition, put back and rewritten, by filter and size."""
    rows = []
    for (condition, size), facts in collected.conditions.items():
        whole = facts.get("whole", {}).get("sentences", 0)
        cell = {"condition": condition, "size": size,
                "refilled": facts.get("refilled", {}).get("sentences") or None}  # fmt: skip
        if whole and facts.get("control"):
            share = facts["removed_sentences"] / whole
            name = f"at random, as many as {facts['control']}"
            rows.append(cell | {"filter": name, "removed": share})
            continue
        if changes := facts.get("rewritten"):
            share = changes["sentences"] / whole if whole else None
            rows.append(cell | {"filter": listed(list(changes["rewriters"])), "changed": share})
        back = dict(facts.get("reinserted", {}))
        for name, taken in facts.get("removed", {}).items():
            gone = taken["rule"] + taken["backstop"]
            returned = back.pop(name.partition(".")[0], {})  # only in the row of the first reading
            rows.append(cell | {
                "filter": name, "removed": gone / whole if whole else None,
                "direct": _share(taken.get("direct"), gone), "evidence": taken.get("direct"),
                "evidence_whole": taken.get("direct_whole"), "back": returned.get("rate"),
                "back_direct": _share(returned.get("direct"), returned.get("sentences")),
                **{key: taken.get(key) for key in ("rule", "backstop", "words")},
                **{key: returned.get(key)
                   for key in ("sentences", "different", "available", "from_larger_sizes")},
            })  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _share(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


def _less_name(row: Row) -> str:
    """Return the name of the level that is subtracted; the bias ``none`` is "no bias"."""
    return "no bias" if (row["factor"], row["less"]) == ("bias", "none") else row["less"]


def _in_points(row: Row) -> str:
    """Return a difference in points with its joint interval, as a text."""
    low, high = points(row["joint_low"]), points(row["joint_high"])
    return f"{points(row['share'])} [{low}, {high}]"


# ---- phenomena -----------------------------------------------------------------------------------


def learned(collected: Collected, layout: Layout) -> tuple[pl.DataFrame, bool, list[str], bool]:
    """Return the verdicts on each phenomenon, and which other suites can test it.

    Up to ``MOST_COLUMNS`` points of the grid (seeds taken together) have a column each; with more,
    each verdict has a column with its number of points. All points are in the table, so that none
    is selected for its result.

    Returns:
        The table, empty if no verdict is possible; whether some point is not testable; the
        baselines that were not run; whether points are counted.
    """
    rows = collected.accuracy.filter(pl.col("learned").is_not_null())
    untestable = NOT_TESTABLE in set(rows["learned"])
    if not untestable and rows["above_rival_low"].null_count() == rows.height:
        return pl.DataFrame(), False, [], False
    key = ["suite", "category", "phenomenon"]
    rows = rows.with_columns(point=naming(["condition", *varied(rows)]))
    points_of_grid = rows["point"].unique(maintain_order=True).to_list()
    counted = len(points_of_grid) > MOST_COLUMNS
    best = pl.col("rival").replace(BASELINE_NAMES).drop_nulls().unique(maintain_order=True)
    if counted:
        columns = [
            (pl.col("learned") == verdict).sum().replace(0, None).alias(verdict)
            for verdict in VERDICTS
        ]
    else:
        columns = [
            pl.col("learned").filter(point=point).first().alias(f"in {point}")
            for point in points_of_grid
        ]
    verdicts = rows.group_by(key).agg(
        *columns,
        untestable=(pl.col("learned") == NOT_TESTABLE).any(),
        rival=best.str.join(", "),
    )
    testable = rows.filter(pl.col("learned") != NOT_TESTABLE)
    suites_of = testable.group_by("category").agg(pl.col("suite").unique(maintain_order=True))
    names = [(suite, *pair) for suite, pairs in layout.phenomena.items() for pair in pairs]
    others = pl.col("suites").list.set_difference(pl.concat_list("suite")).list.join(", ")
    table = (
        pl.DataFrame(names, schema=dict.fromkeys(key, pl.String), orient="row")
        .join(verdicts, on=key, how="left", maintain_order="left")
        .join(suites_of.rename({"suite": "suites"}), on="category", how="left",
              maintain_order="left")
        .with_columns(elsewhere=pl.when("untestable").then(others))
    )  # fmt: skip
    if len(layout.phenomena) == 1:
        table = table.drop("suite", "elsewhere")
    without = [
        name
        for baseline, name in BASELINE_NAMES.items()
        if rows[baseline].null_count() == rows.height
    ]
    return table.drop("category", "suites", "untestable"), untestable, without, counted
