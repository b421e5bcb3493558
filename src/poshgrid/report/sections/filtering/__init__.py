"""What filtering changes: accuracy deltas, margins and perplexities (FiCT, Figures 2, 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from poshgrid.report.blocks import Block, Fold, Heading, Note, Page, drawer, headed
from poshgrid.report.collect import Collected
from poshgrid.report.sections.filtering import figures, tables
from poshgrid.report.sections.filtering.tables import named
from poshgrid.report.texts import markup, say
from poshgrid.statistics.deltas.differences import by_condition
from poshgrid.statistics.deltas.paired import correlation
from poshgrid.statistics.schema import RUN_AXES

TITLE, ORDER, AUDIENCE = "What filtering changes", 55, "reader"


def blocks(page: Page) -> list[Block] | None:
    """Return what filtering changes, suite by suite, the comparisons, and perplexities.

    ``None``: the target has no filtered models beside full ones.
    """
    collected = page.collected
    if collected.deltas.is_empty() and collected.perplexity.is_empty():
        return None
    deltas = named(collected.deltas)
    pairs = dict(sorted(deltas.select("condition", "full").unique().iter_rows()))
    compared: Block = Note(say("compared", pairs)) if pairs else None
    if len(pairs) > 3:
        compared = Fold("Which condition is compared with which", f"({len(pairs)})", [compared])
    taken = tables.taken(deltas, collected.conditions, collected.tokens)
    perplexity = page.table(tables.perplexities(collected.perplexity))
    return [
        *sentences(collected),
        compared,
        drawer("What filters take out", page.table(taken)),
        *(
            block
            for (suite,), rows in deltas.group_by("suite", maintain_order=True)
            for block in _suite(rows, str(suite), page)
        ),
        *headed("Comparisons", page.table(tables.tests(collected.delta_tests))),
        Heading("Perplexity of unfiltered text") if perplexity else None,
        *falling(collected.perplexity, collected.tokens),
        drawer("By condition", perplexity),
    ]


def falling(perplexity: pl.DataFrame, tokens: Mapping[Any, Any]) -> Iterator[str]:
    """Say how perplexity falls with the tokens that conditions hold (FiCT, section 5.1).

    Each model is a pair, and perplexity is on its log scale: so are the paper's -.970 and -.976.
    """
    for key, part in perplexity.group_by(RUN_AXES[1:], maintain_order=True):
        cells = list(part.select("condition", "size").iter_rows())
        counts = [tables.train_tokens(tokens, cell) for cell in cells]
        if None in counts:
            continue
        r = correlation(np.array(counts, float), np.log(part["perplexity"].to_numpy()))
        if r is not None:
            place = " · ".join(word for word in map(str, key) if word != "none")
            yield say("correlated", place, len(cells), len(set(cells)), r)


def sentences(collected: Collected) -> list[str]:
    """Say in words what filtering changes, suite by suite."""
    deltas = named(collected.deltas)
    series = deltas.select(*RUN_AXES, "series").unique()
    said = []
    for (suite,), rows in deltas.group_by("suite", maintain_order=True):
        within = by_condition(rows).join(series, on=RUN_AXES, how="left")
        aimed = within.filter(pl.col("targets") > 0)
        if aimed.is_empty():
            said.append(say("unaimed", suite))
            continue
        means = [
            {
                name: mean
                for name in within["series"].unique(maintain_order=True)
                if (mean := aimed.filter(series=name).select(pl.mean(column)).item()) is not None
            }
            for column in ("targeted", "every")
        ]
        said.append(say("filtering", suite, aimed["condition"].n_unique(), *means))
        tested = collected.delta_tests.filter(
            pl.col("p").is_not_null(), suite=suite, measure="targeted delta"
        )
        said += [say("paired", row) for row in tested.iter_rows(named=True)]
    return said


def _suite(rows: pl.DataFrame, suite: str, page: Page) -> list[Block]:
    several = rows["condition"].n_unique() > 1
    deltas = page.picture(
        f"deltas-{suite}", say("deltas", suite, several), figures.draw_deltas, figures.marks(rows)
    )
    margins = page.picture(
        f"margins-{suite}", say("margins", suite, several), figures.draw_margins,
        figures.moves(rows),
    )  # fmt: skip
    heats: list[Block] = []
    if several and rows["phenomenon"].n_unique() > 1:
        frames = {"deltas": figures.heat(rows), "accuracies": figures.heat_of_accuracies(rows)}
        heats = [
            page.shelf.picture(
                f"{what}-heat-{suite}", say("heat", suite, what), figures.draw_heat, frame
            )
            for what, frame in frames.items()
        ]
    page.shelf.numbers(f"deltas-{suite}-all", rows.drop("row", "series"))
    return [
        Heading(suite),
        deltas,
        margins,
        drawer("By condition", page.table(tables.conditions(rows, suite))),
        drawer("By phenomenon", page.table(tables.phenomena(rows, suite))),
        Fold("Every phenomenon in every condition", "", heats) if heats else None,
        markup("all_deltas", suite),
    ]
