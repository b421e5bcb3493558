"""What filtering changes: accuracy deltas, margins and perplexities (FiCT, Figures 2 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from poshgrid.report.collect import Collected
from poshgrid.report.deltas import figures, tables
from poshgrid.report.deltas.naming import named
from poshgrid.report.shelf import Shelf
from poshgrid.statistics.deltas.differences import by_condition
from poshgrid.statistics.deltas.tables import conditions
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.words import listed, points, probability, signed


def section(collected: Collected, shelf: Shelf) -> dict[str, Any] | None:
    """Return what html/deltas.html shows; write its figures and tables.

    Args:
        collected: all results.
        shelf: where figures and tables are put.

    Returns:
        ``None`` where the target has no filtered models beside full ones.
    """
    if collected.deltas.is_empty() and collected.perplexity.is_empty():
        return None
    deltas = named(collected.deltas)
    suites = deltas["suite"].unique(maintain_order=True).to_list()
    pairs = dict(sorted(deltas.select("condition", "full").unique().iter_rows()))
    return {
        "against": [f"{one} is set against {other}" for one, other in pairs.items()],
        "sentences": sentences(collected),
        "suites": [_suite(deltas.filter(pl.col("suite") == s), s, shelf) for s in suites],
        "tests": shelf.table(tables.tests(collected.delta_tests)),
        "perplexity": shelf.table(tables.perplexities(collected.perplexity)),
    }


def sentences(collected: Collected) -> list[str]:
    """Say in words what filtering changes, suite by suite."""
    return [
        text
        for suite in collected.deltas["suite"].unique(maintain_order=True)
        for text in _said(collected, suite)
    ]


def _said(collected: Collected, suite: str) -> Iterator[str]:
    within = by_condition(named(collected.deltas).filter(pl.col("suite") == suite)).join(
        named(collected.deltas).select(*RUN_AXES, "series").unique(), on=RUN_AXES, how="left"
    )
    aimed = within.filter(pl.col("targets") > 0)
    if aimed.is_empty():
        yield f"{suite}: no filter is aimed at any of its phenomena."
        return
    names = within["series"].unique(maintain_order=True).to_list()

    def changes(column: str) -> str:
        means = {name: aimed.filter(pl.col("series") == name)[column].mean() for name in names}
        return listed(
            [f"{points(v)} points" + (f" ({name})" if name else "")
             for name, v in means.items() if v is not None]
        )  # fmt: skip

    number = aimed["condition"].n_unique()
    averaged = f", averaged over {number} conditions" if number > 1 else ""
    yield (
        f"{suite}: on the phenomena that filters are aimed at, filtering changes accuracy by "
        f"{changes('targeted')}{averaged}; on all phenomena by "
        f"{changes('every')}."
    )
    found = collected.delta_tests.filter(
        (pl.col("suite") == suite)
        & (pl.col("measure") == "targeted delta")
        & pl.col("p").is_not_null()
    )
    for row in found.iter_rows(named=True):
        verdict = "differ" if row["p"] < 0.05 else "do not differ significantly"
        p = probability(row["p"])
        yield (
            f"{suite}: the targeted deltas of {row['first']} and {row['second']} {verdict} (paired "
            f"t({row['df']}) = {signed(row['t'])}, p {p if p[0] in '<>' else f'= {p}'})."
        )


def _suite(rows: pl.DataFrame, suite: str, shelf: Shelf) -> dict[str, Any]:
    several = rows["condition"].n_unique() > 1
    drawn, moved = figures.marks(rows), figures.moves(rows)
    spread = (
        "Lines: from the lowest to the highest targeted phenomenon."
        if several
        else "Lines: ± 1 SD over seeds."
    )
    of = "means over the phenomena that its filters are aimed at" if several else "by phenomenon"
    picture = shelf.picture(
        f"deltas-{suite}",
        f"What filtering does to accuracy on {suite}: filtered models less the mean of the full "
        f"ones. Filled: targeted phenomena; hollow: {'all' if several else 'other'} phenomena. "
        f"{spread}",
        figures.draw_deltas,
        drawn,
    )
    margins = None
    if not moved.is_empty():
        margins = shelf.picture(
            f"margins-{suite}",
            f"How clearly models of full (hollow) and of filtered text (filled) prefer the good "
            f"members of {suite}: {of}.",
            figures.draw_margins,
            moved,
        )
    shelf.numbers(f"deltas-{suite}-all", rows.drop("row", "series"))
    return {
        "name": suite,
        "figure": picture,
        "margins": margins,
        "conditions": shelf.table(conditions(rows, suite)),
        "phenomena": shelf.table(tables.phenomena(rows, suite)),
    }
