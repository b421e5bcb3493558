"""What filtering changes: accuracy deltas, margins and perplexities (FiCT, Figures 2, 4 to 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from markupsafe import Markup

from poshgrid.report.blocks import Block, Fold, Heading, Note, Page, drawer, headed
from poshgrid.report.collect import Collected
from poshgrid.report.sections.filtering import figures, scatter, tables
from poshgrid.report.sections.filtering.tables import named
from poshgrid.statistics.deltas.differences import by_condition
from poshgrid.statistics.deltas.paired import correlation
from poshgrid.statistics.deltas.tables import conditions
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.words import listed, points, probability, signed

TITLE, ORDER, AUDIENCE = "What filtering changes", 55, "reader"
_ALL = Markup(
    '<p class="downloads">Every phenomenon, category and mean: '
    '<a href="tables/deltas-{}-all.csv" download>CSV</a></p>'
)


def blocks(page: Page) -> list[Block] | None:
    """Return what filtering changes, suite by suite, the comparisons, and perplexities.

    ``None``: the target has no filtered models beside full ones.
    """
    collected = page.collected
    if collected.deltas.is_empty() and collected.perplexity.is_empty():
        return None
    deltas = named(collected.deltas)
    suites = deltas["suite"].unique(maintain_order=True).to_list()
    pairs = dict(sorted(deltas.select("condition", "full").unique().iter_rows()))
    against = "; ".join(f"{one} is compared with {other}" for one, other in pairs.items())
    compared: Block = None
    if len(pairs) > 3:
        title = "Which condition is compared with which"
        compared = Fold(title, f"({len(pairs)})", [Note(f"{against}.")])
    elif pairs:
        compared = Note(f"{against}: same size, learner, regimen and bias.")
    return [
        *sentences(collected),
        compared,
        drawer(
            "What filters take out",
            page.table(tables.taken(deltas, collected.conditions, collected.tokens)),
        ),
        *(
            block
            for suite in suites
            for block in _suite(
                deltas.filter(suite=suite), collected.delta_items.filter(suite=suite), suite, page
            )
        ),
        *headed("Comparisons", page.table(tables.tests(collected.delta_tests))),
        *_perplexity(page),
    ]


def _perplexity(page: Page) -> list[Block]:
    table = page.table(tables.perplexities(page.collected.perplexity))
    if table is None:
        return []
    said = _more_text(page.collected.perplexity, page.collected.tokens)
    return [Heading("Perplexity of unfiltered text"), *said, drawer("By condition", table)]


def _more_text(found: pl.DataFrame, tokens: Mapping[Any, Any]) -> Iterator[str]:
    """Say how perplexity falls with the tokens that conditions hold (FiCT, section 5.1).

    Each model is a pair, and perplexity is on its log scale: so are the paper's -.970 and -.976.
    """
    for key, part in found.group_by(RUN_AXES[1:], maintain_order=True):
        cells = [(row["condition"], row["size"]) for row in part.iter_rows(named=True)]
        counts = [tables.train_tokens(tokens, cell) for cell in cells]
        if None in counts:
            continue
        r = correlation(np.array(counts, float), np.log(part["perplexity"].to_numpy()))
        if r is not None:
            place = " · ".join(word for word in map(str, key) if word != "none")
            over = f"over {len(cells)} models of {len(set(cells))} conditions"
            yield f"{place}: {over}, r(training tokens, log perplexity) = {signed(r, 3)}."


def sentences(collected: Collected) -> list[str]:
    """Say in words what filtering changes, suite by suite."""
    return [
        text
        for suite in collected.deltas["suite"].unique(maintain_order=True)
        for text in _said(collected, suite)
    ]


def _said(collected: Collected, suite: str) -> Iterator[str]:
    deltas = named(collected.deltas)
    series = deltas.select(*RUN_AXES, "series").unique()
    within = by_condition(deltas.filter(suite=suite)).join(series, on=RUN_AXES, how="left")
    aimed = within.filter(pl.col("targets") > 0)
    if aimed.is_empty():
        yield f"{suite}: no filter is aimed at any of its phenomena."
        return
    names = within["series"].unique(maintain_order=True).to_list()

    def changes(column: str) -> str:
        means = {n: aimed.filter(series=n).select(pl.mean(column)).item() for n in names}
        return listed(
            [f"{points(v)} points" + (f" ({name})" if name else "")
             for name, v in means.items() if v is not None]
        )  # fmt: skip

    number = aimed["condition"].n_unique()
    averaged = f", averaged over {number} conditions" if number > 1 else ""
    yield (
        f"{suite}: on the phenomena that filters are aimed at, filtering changes accuracy by "
        f"{changes('targeted')}{averaged}; on all phenomena by {changes('every')}."
    )
    found = collected.delta_tests.filter(
        pl.col("p").is_not_null(), suite=suite, measure="targeted delta"
    )
    for row in found.iter_rows(named=True):
        verdict = "differ" if row["p"] < 0.05 else "do not differ significantly"
        p = probability(row["p"])
        yield (
            f"{suite}: the targeted deltas of {row['first']} and {row['second']} {verdict} (paired "
            f"t({row['df']}) = {signed(row['t'])}, p {p if p[0] in '<>' else f'= {p}'})."
        )


def _suite(rows: pl.DataFrame, items: pl.DataFrame, suite: str, page: Page) -> list[Block]:
    shelf = page.shelf
    several = rows["condition"].n_unique() > 1
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
        figures.marks(rows),
    )
    margins = page.picture(
        f"margins-{suite}",
        f"How clearly models of full (hollow) and of filtered text (filled) prefer the good "
        f"members of {suite}: {of}.",
        figures.draw_margins,
        figures.moves(rows),
    )
    heat, accuracies = None, None
    if several and rows["phenomenon"].n_unique() > 1:
        heat = shelf.picture(
            f"deltas-heat-{suite}",
            f"Every accuracy delta on {suite}: phenomena by condition. The stronger the colour, "
            "the larger the change; framed: phenomena that the condition's filters are aimed at.",
            figures.draw_heat,
            figures.heat(rows),
        )
        accuracies = shelf.picture(
            f"accuracies-heat-{suite}",
            f"Every accuracy on {suite}: phenomena by condition, full text first. The stronger the "
            "colour, the further above or below 50%; framed: phenomena that the condition's "
            "filters are aimed at.",
            figures.draw_heat,
            figures.heat_of_accuracies(rows),
        )
    clouds = page.picture(
        f"margins-pairs-{suite}",
        f"log P(good) − log P(bad) of every pair of {suite} at which a filter is aimed, means "
        "over seeds: one learner against the other, of full and of filtered text. The "
        "conditions: where each learner loses most beside the other, and where least changes.",
        scatter.draw,
        scatter.points(items, rows),
    )
    shelf.numbers(f"deltas-{suite}-all", rows.drop("row", "series"))
    return [
        Heading(suite),
        picture,
        margins,
        drawer("By condition", shelf.table(conditions(rows, suite))),
        drawer("By phenomenon", shelf.table(tables.phenomena(rows, suite))),
        heat and Fold("Every phenomenon in every condition", "", [heat, accuracies]),
        clouds and Fold("Pair by pair", "", [clouds]),
        _ALL.format(suite),
    ]
