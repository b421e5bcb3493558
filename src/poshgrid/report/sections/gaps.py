"""Sets of filler x gap: how often a gap is less surprising where a filler licenses it.

Figure 1 of Pistotti, Brown & Witbrock (2025): the share of sets with a positive delta with a
filler, and with a positive difference in differences, for each suite, with 95% intervals.
"""

from __future__ import annotations

import polars as pl

from poshgrid.config.runs import NULL_REGIMENS
from poshgrid.report import figures, style
from poshgrid.report.blocks import Block, Note, Page
from poshgrid.report.layout import model_names
from poshgrid.report.texts import say
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, texts
from poshgrid.tables.words import ABSENT, count, decimals, percent

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
    rows = shares(pl.concat(frames))

    return [
        Note(say("filler_gap_note")),
        summary(rows),
        page.shelf.picture("filler-gap", say("filler_gap"), draw, rows),
        page.shelf.table(table(rows)),
    ]


def summary(rows: pl.DataFrame) -> str | None:
    """Say in how many runs each phenomenon's difference in differences is above every null's.

    Args:
        rows: what :func:`shares` returns.

    Returns:
        A sentence; ``None``: there are no nulls, or no runs.
    """
    of = ["suite", "phenomenon"]
    did = rows.filter(measure="did")
    rivals = did.filter("null").group_by(of).agg(rival=pl.col("accuracy").max())
    runs = did.filter(~pl.col("null")).join(rivals, on=of, maintain_order="left")
    counts = runs.group_by(of, maintain_order=True).agg(
        above=(pl.col("low") > pl.col("rival")).sum(), runs=pl.len()
    )
    return None if counts.is_empty() else say("did", counts.drop("suite").rows())


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
    runs = runs.with_columns(model=pl.Series(model_names(runs), dtype=pl.String))
    return runs.sort("null", "model", "seed", maintain_order=True).select(
        "suite", "phenomenon", "model", "seed", "null", "measure", "n", "accuracy", "low", "high",
        "t", "p_one",
    )  # fmt: skip


def table(rows: pl.DataFrame) -> Table:
    """Lay the shares out, a row a run and phenomenon."""
    cells = []
    for key, group in rows.group_by("suite", "phenomenon", "model", "seed", maintain_order=True):
        by_measure = {row["measure"]: row for row in group.iter_rows(named=True)}
        row: list[object] = [*key[:3], key[3] or ABSENT, group["n"][0]]
        for name in CRITERIA:
            row += [by_measure.get(name, {}).get(value) for value in ("accuracy", "t", "p_one")]
        cells.append(row)
    columns = [*texts("Suite", "Phenomenon", "Model"), Column("Seed"), Column("Sets", count)]
    for short in ("Delta", "DiD"):
        columns += [
            Column(f"{short} > 0 (%)", percent), Column(f"{short}: t", decimals(2)),
            Column("p, one-tailed", decimals(3)),
        ]  # fmt: skip
    return Table("filler-gap", say("filler_gap_table"), columns, cells)


def draw(rows: pl.DataFrame) -> style.Figure:
    """Draw Figure 1: a panel a criterion and phenomenon; see :func:`shares`."""
    return figures.shares(rows, CRITERIA, "Sets (%)")
