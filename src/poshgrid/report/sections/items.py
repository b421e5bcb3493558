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
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, numbers, text, texts
from poshgrid.tables.words import count, decimals, interval, percent, points, span

TITLE, ORDER, AUDIENCE = "Benchmark", 120, "reviewer"

Stretches = list[tuple[str, bool]]
"""Words, and whether the other sentence lacks them."""
_POINT = ["condition", "less", *RUN_AXES[1:]]


def register(collected: Collected, layout: Layout, suite: str) -> Table:
    """Set the difference of two bases in a model's accuracy beside that in its nulls' accuracies.

    Models with a bias are left out: what it does is another question.
    """
    mine = collected.nulls.filter(pl.col("less") != "", suite=suite, bias="none")
    shown = [null for null in NULLS if null in mine["null"].unique()]
    rows: list[list[Any]] = []
    for _, phenomenon in layout.phenomena[suite]:
        for key, part in mine.filter(phenomenon=phenomenon).group_by(_POINT, maintain_order=True):
            point = dict(zip(_POINT, key, strict=True))
            by_null = {row["null"]: row for row in part.iter_rows(named=True)}
            model = next(iter(by_null.values()))
            row: list[Any] = [
                phenomenon,
                f"{point['condition']} − {point['less']}",
                *(point[axis] for axis in ("size", "learner", "regimen")),
                *_interval(model, "difference"),
            ]
            for null in shown:
                row += _interval(by_null.get(null, {}), "null_difference")
            rows.append(row)
    columns = texts("Phenomenon", "Difference", "Size", "Learner", "Regimen")
    for name in ("Model", *(null.capitalize() for null in shown)):
        columns += [Column(name, points), text(f"95%, {name.lower()}")]
    return Table(f"nulls-register-{suite}", say("register"), columns, rows)


def margins(collected: Collected, layout: Layout, suite: str) -> Table:
    """Show how far the margins of models go with those of their nulls, pair by pair."""
    mine = collected.nulls.filter(suite=suite).unique(
        [*RUN_AXES, "phenomenon", "null"], keep="first", maintain_order=True
    )
    shown = [null for null in NULLS if null in mine["null"].unique()]
    show = decimals(2)
    rows: list[list[Any]] = []
    for _, phenomenon in layout.phenomena[suite] if shown else ():
        row: list[Any] = [phenomenon]
        for null in shown:
            known = mine.filter(phenomenon=phenomenon, null=null).drop_nulls("r").sort("r")
            if known.is_empty():
                row += [None, None, None]
                continue
            most = known.row(-1, named=True)
            ends = interval(most["r_low"], most["r_high"], show)
            where = " ".join(filter(None, (most["condition"], most["size"], ends)))
            row += [known["r"].median(), most["r"], where]
        rows.append(row)
    columns = [text("Phenomenon")]
    for null in shown:
        columns += [*numbers(show, f"{null.capitalize()}, median", "Highest"), text("Where")]
    return Table(f"nulls-margins-{suite}", say("margins_of_nulls"), columns, rows)


def _interval(row: dict[str, Any], name: str) -> list[Any]:
    return [row.get(name), interval(row.get(f"{name}_low"), row.get(f"{name}_high"), points)]


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
        found += headed(f"Nulls of {suite}", page.table(nulls(collected, layout, suite)))
        found += [page.table(make(collected, layout, suite)) for make in (register, margins)]
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
    by_phenomenon: dict[str, set[str]] = {}
    for phenomenon, far in rows.select("phenomenon", "far").iter_rows():
        by_phenomenon.setdefault(phenomenon, set()).update(far.split(", "))
    return {name: [null for null in NULLS if null in far] for name, far in by_phenomenon.items()}


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
