"""Sets of filler x gap: how often a gap is less surprising where a filler licenses it.

Figure 1 of Pistotti, Brown & Witbrock (2025): the share of sets with a positive delta with a
filler, and with a positive difference in differences, for each suite, with 95% intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from poshgrid.config.runs import NULL_REGIMENS
from poshgrid.report import marks
from poshgrid.report.blocks import Block, Note, Page
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import ABSENT, count, counted, decimals, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE, ORDER, AUDIENCE = "Filler and gap", 125, "reader"
CRITERIA = {
    "delta_plus_filler": "A gap is expected after a filler\n(delta > 0)",
    "did": "More so than without a filler\n(DiD > 0)",
}
"""Of the measures, those that Figure 1 has: what a set must do to count."""


def blocks(page: Page) -> list[Block] | None:
    """Return the figure and its table; ``None``: no suite of the target is of filler x gap."""
    frames = [
        frame
        for suite, task in page.collected.spec.measured.items()
        if task == "paradigms" and (frame := page.collected.measures.get(suite)) is not None
    ]
    if not frames:
        return None
    found = shares(pl.concat(frames))
    caption = (
        "Share of sets that meet each criterion, by model and phenomenon, with 95% intervals; "
        "dotted: half of the sets. Hollow marks are nulls: untrained models and counts of words."
    )
    return [
        Note(
            "Where a filler licenses a gap, the gap should surprise a model less than no gap does "
            "(delta above 0), by more than where there is no filler (difference in differences, "
            "DiD, above 0). Compare models with the nulls rather than with one half: delta "
            "compares different words, so that a model that knows nothing may be far from it."
        ),
        summary(found),
        page.shelf.picture("filler-gap", caption, draw, found),
        page.shelf.table(table(found)),
    ]


def summary(found: pl.DataFrame) -> str | None:
    """Say in how many runs each phenomenon's difference in differences is above every null's.

    Args:
        found: what :func:`shares` returns.

    Returns:
        A sentence; ``None``: there are no nulls, or no runs.
    """
    of = ["suite", "phenomenon"]
    did = found.filter(measure="did")
    rivals = did.filter("null").group_by(of).agg(rival=pl.col("accuracy").max())
    runs = did.filter(~pl.col("null")).join(rivals, on=of, maintain_order="left")
    counts = runs.group_by(of, maintain_order=True).agg(
        above=(pl.col("low") > pl.col("rival")).sum(), runs=pl.len()
    )
    parts = [f"{p} in {a} of {counted(n, 'run')}" for _, p, a, n in counts.iter_rows()]
    told = "; ".join(parts)
    return f"DiD clearly more often above 0 than in the best null: {told}." if parts else None


def shares(measures: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the figure: one a run, phenomenon and criterion.

    A suite in which some sets are ambiguous stands there twice, with and without them.

    Args:
        measures: columns of ``PARADIGM_MEASURES``.
    """
    of = (*RUN_AXES, "seed", "suite", "phenomenon", "measure")
    # Where no set is ambiguous the subset is the suite: none of it is left out.
    clear = (pl.col("subset") == "unambiguous") & (pl.col("n") < pl.col("n").max().over(of))
    runs = measures.filter(
        (pl.col("subset") == "all") | clear, pl.col("measure").is_in(list(CRITERIA))
    ).with_columns(
        phenomenon=pl.when(pl.col("subset") == "all")
        .then("phenomenon")
        .otherwise(pl.format("{}, unambiguous", "phenomenon")),
        null=pl.col("regimen").is_in(NULL_REGIMENS),
    )
    runs = runs.with_columns(model=pl.Series(marks.names(runs), dtype=pl.String))
    return runs.sort("null", "model", "seed", maintain_order=True).select(
        "suite", "phenomenon", "model", "seed", "null", "measure", "n", "accuracy", "low", "high",
        "t", "p_one",
    )  # fmt: skip


def table(found: pl.DataFrame) -> Table:
    """Lay the shares out, a row a run and phenomenon."""
    rows = []
    for keys, group in found.group_by("suite", "phenomenon", "model", "seed", maintain_order=True):
        each = {row["measure"]: row for row in group.iter_rows(named=True)}
        cells: list[object] = [*keys[:3], keys[3] or ABSENT, group["n"][0]]
        for name in CRITERIA:
            row = each.get(name, {})
            cells += [row.get("accuracy"), row.get("t"), row.get("p_one")]
        rows.append(cells)
    columns = [
        text("Suite"), text("Phenomenon"), text("Model"), Column("Seed"), Column("Sets", count),
    ]  # fmt: skip
    for short in ("Delta", "DiD"):
        columns += [
            Column(f"{short} > 0 (%)", percent), Column(f"{short}: t", decimals(2)),
            Column("p, one-tailed", decimals(3)),
        ]  # fmt: skip
    caption = (
        "Sets of filler × gap that meet each criterion, and t tests of the means of delta and DiD "
        "against 0."
    )
    return Table("filler-gap", caption, columns, rows)


def draw(found: pl.DataFrame) -> Figure:
    """Draw Figure 1.

    Args:
        found: what :func:`shares` returns.
    """
    return marks.draw(found, CRITERIA, "Sets (%)")
