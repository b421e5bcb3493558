"""The suites themselves: a pair of each phenomenon, their quality, nulls and given models."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config.runs import NULLS, PRETRAINED, REFERENCE, UNTRAINED
from poshgrid.report.blocks import Block, Heading, Page, headed
from poshgrid.report.cells import FAR
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.records import place
from poshgrid.report.texts import markup, say
from poshgrid.tables.table import Column, Table, numbers, text
from poshgrid.tables.words import count, percent, span

TITLE, ORDER, AUDIENCE = "Benchmark", 120, "reviewer"

Stretches = list[tuple[str, bool]]
"""Words, and whether the other sentence lacks them."""


def blocks(page: Page) -> list[Block]:
    """Return each suite's examples, the verdict on its quality, and its nulls."""
    collected, layout = page.collected, page.layout
    found: list[Block] = []
    for suite, items in collected.items.items():
        if items.is_empty():
            found.append(f"{suite}: not run.")
        else:
            head = Heading(suite, f"{count(items.height)} pairs")
            found += [head, markup("examples", examples(items, layout.phenomena[suite]))]
        if quality := collected.quality[suite]:
            folder = Path(page.paths.quality(collected.spec.target, suite))
            address = place(folder / "index.html", page.paths)
            found.append(markup("quality", suite, quality["verdict"], address))
        found += headed(f"Baselines of {suite}", page.table(nulls(collected, layout, suite)))
    return found


def examples(
    items: pl.DataFrame, phenomena: list[tuple[str, str]]
) -> Iterator[tuple[str, str, str, list[tuple[str, str, str, Stretches]]]]:
    """Yield the first pair of each phenomenon: its name, contrast, number of pairs and members."""
    for category, phenomenon in phenomena:
        rows = items.filter(category=category, phenomenon=phenomenon).sort("item_id")
        for first in rows.head(1).iter_rows(named=True):
            good, bad = differences(first["good"], first["bad"])
            members = [("good", "✓", "grammatical", good), ("bad", "*", "ungrammatical", bad)]
            yield phenomenon, first["contrast"].replace("-", " "), count(rows.height), members


def nulls(collected: Collected, layout: Layout, suite: str) -> Table:
    """Set what the nulls and the pretrained models make of each phenomenon side by side."""
    rows = collected.accuracy.filter(
        pl.col("regimen").is_in(REFERENCE), suite=suite, level="phenomenon"
    )
    kind = pl.when(pl.col("regimen") == UNTRAINED).then(pl.lit(UNTRAINED)).otherwise("learner")
    spans = rows.group_by("phenomenon", kind.alias("kind")).agg(
        low=pl.col("mean").min(), mean=pl.col("mean").mean(), high=pl.col("mean").max()
    )
    means = {(phenomenon, of): values for phenomenon, of, *values in spans.iter_rows()}
    given = sorted(rows.filter(regimen=PRETRAINED)["learner"].unique())
    shown = [null for null in NULLS if any(k == null for _, k in means)]
    far = _far(collected, suite)
    table: list[list[Any]] = []
    for _, phenomenon in layout.phenomena[suite] if means else ():
        row: list[Any] = [phenomenon + (f" {FAR}" if far.get(phenomenon) else "")]
        for null in shown:
            low, mean, high = means.get((phenomenon, null), (None, None, None))
            row += [mean, span(low, high, percent)]
        row += [means.get((phenomenon, name), (None, None))[1] for name in given]
        table.append([*row, ", ".join(far.get(phenomenon, [])) or None])
    columns = [text("Phenomenon")]
    for null in shown:
        columns += [Column(null.capitalize(), percent), text("Least–most")]
    columns += [*numbers(percent, *given), text("Far from 50% in some cell")]
    flags = {i: "flag" for i, row in enumerate(table) if row[-1]}
    return Table(f"nulls-{suite}", say("nulls", given, FAR), columns, table, flags)


def _far(collected: Collected, suite: str) -> dict[str, list[str]]:
    """Return phenomenon -> the nulls that are far from 50% in some cell."""
    rows = collected.accuracy.filter(pl.col("far") != "", suite=suite, level="phenomenon")
    far = rows.group_by("phenomenon").agg(pl.col("far").str.split(", ").explode())
    return {name: [null for null in NULLS if null in nulls] for name, nulls in far.iter_rows()}


def differences(good: str, bad: str) -> tuple[Stretches, Stretches]:
    """Cut two sentences into stretches of words that they share and that they do not share."""
    first, second = good.split(), bad.split()
    pair: tuple[Stretches, Stretches] = ([], [])
    matcher = difflib.SequenceMatcher(a=first, b=second, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        for stretch, parts in ((first[a:b], pair[0]), (second[c:d], pair[1])):
            if stretch:
                parts.append((" ".join(stretch), kind != "equal"))
    return pair
