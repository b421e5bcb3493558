"""The suites themselves: a pair of each phenomenon, their quality, nulls and given models."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from poshgrid.config.runs import NULLS, PRETRAINED, REFERENCE, UNTRAINED
from poshgrid.report.blocks import Block, Heading, Page, headed
from poshgrid.report.cells import FAR
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.records import place
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import count, decimals, percent, points

TITLE, ORDER, AUDIENCE = "Benchmark", 120, "reviewer"

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
    names = ["Model", *(null.capitalize() for null in shown)]
    columns = [
        *(text(name) for name in ("Phenomenon", "Difference", "Size", "Learner", "Regimen")),
        *(column for name in names for column in (
            Column(name, points), text(f"95%, {name.lower()}"))),
    ]  # fmt: skip
    caption = (
        "Difference between two bases in accuracy, percentage points [95% interval over lexical "
        "sets and, of neural models, seeds]: of models, and of the nulls of the same text. Where "
        "a null differs as much, register changes words, not syntax."
    )
    return Table(f"nulls-register-{suite}", caption, columns, rows)


def margins(collected: Collected, layout: Layout, suite: str) -> Table | None:
    """Show how far the margins of models go with those of their nulls, pair by pair."""
    mine = collected.nulls.filter(suite=suite).unique(
        [*RUN_AXES, "phenomenon", "null"], keep="first", maintain_order=True
    )
    if mine.is_empty():
        return None
    shown = [null for null in NULLS if null in mine["null"].unique()]
    show = decimals(2)
    rows: list[list[Any]] = []
    for _, phenomenon in layout.phenomena[suite]:
        row: list[Any] = [phenomenon]
        for null in shown:
            found = mine.filter(phenomenon=phenomenon, null=null).drop_nulls("r").sort("r")
            if found.is_empty():
                row += [None, None, None]
                continue
            most = found.row(-1, named=True)
            where = f"{most['condition']} {most['size']}"
            if most["r_low"] is not None:
                where += f" [{show(most['r_low'])}, {show(most['r_high'])}]"
            row += [found["r"].median(), most["r"], where]
        rows.append(row)
    columns = [
        text("Phenomenon"),
        *(column for null in shown for column in (
            Column(f"{null.capitalize()}, median", show), Column("Highest", show),
            text("Where"))),
    ]  # fmt: skip
    caption = (
        "Correlation of margins, log P(good) − log P(bad), between a model and a null of the same "
        "condition and size, over the pairs of a phenomenon: median over models, and the highest "
        "[95% interval, lexical sets as observations]. Near 1 the model prefers what the null "
        "prefers, pair by pair."
    )
    return Table(f"nulls-margins-{suite}", caption, columns, rows)


def _interval(row: dict[str, Any], name: str) -> list[Any]:
    if row.get(f"{name}_low") is None:
        return [row.get(name), None]
    return [row[name], f"[{points(row[f'{name}_low'])}, {points(row[f'{name}_high'])}]"]


_MARK = Markup("<mark>{}</mark>")
_PAIR = Markup(
    '<li><p class="item-head"><b>{}</b><span>{} · {} pairs</span></p>\n'
    '<p class="sentence good"><span class="sign" aria-label="grammatical">✓</span>{}</p>\n'
    '<p class="sentence bad"><span class="sign" aria-label="ungrammatical">*</span>{}</p></li>'
)
_QUALITY = Markup(
    "<p>Quality of {}: <strong>{}</strong>. Checks, balance, leaks and nulls: <code>{}</code></p>"
)


def blocks(page: Page) -> list[Block]:
    """Return each suite's examples, the verdict on its quality, and its nulls."""
    collected, layout = page.collected, page.layout
    found: list[Block] = []
    for suite, items in collected.items.items():
        if items.is_empty():
            found.append(f"{suite}: not run.")
        else:
            head = Heading(suite, f"{count(items.height)} pairs")
            found += [head, _examples(items, layout.phenomena[suite])]
        if quality := collected.quality[suite]:
            folder = Path(page.paths.quality(collected.spec.target, suite))
            address = place(folder / "index.html", page.paths)
            found.append(_QUALITY.format(suite, quality["verdict"], address))
        found += headed(f"Nulls of {suite}", page.table(nulls(collected, layout, suite)))
        found += [page.table(make(collected, layout, suite)) for make in (register, margins)]
    return found


def _examples(items: pl.DataFrame, phenomena: list[tuple[str, str]]) -> Markup:
    """List the first pair of each phenomenon; words that its members do not share are marked."""
    found = []
    for category, phenomenon in phenomena:
        rows = items.filter(category=category, phenomenon=phenomenon).sort("item_id")
        for first in rows.head(1).iter_rows(named=True):
            members = (
                Markup(" ").join(
                    _MARK.format(text) if differs else text for text, differs in member
                )
                for member in differences(first["good"], first["bad"])
            )
            contrast = first["contrast"].replace("-", " ")
            found.append(_PAIR.format(phenomenon, contrast, count(rows.height), *members))
    return Markup('<ul class="items">\n{}\n</ul>').format(Markup("\n").join(found))


def nulls(collected: Collected, layout: Layout, suite: str) -> Table | None:
    """Set what the nulls and the pretrained models make of each phenomenon side by side."""
    rows = collected.accuracy.filter(
        pl.col("regimen").is_in(REFERENCE), suite=suite, level="phenomenon"
    )
    if rows.is_empty():
        return None
    kind = pl.when(pl.col("regimen") == UNTRAINED).then(pl.lit(UNTRAINED)).otherwise("learner")
    spans = rows.group_by("phenomenon", kind.alias("kind")).agg(
        low=pl.col("mean").min(), mean=pl.col("mean").mean(), high=pl.col("mean").max()
    )
    found = {(phenomenon, of): values for phenomenon, of, *values in spans.iter_rows()}
    given = sorted(rows.filter(regimen=PRETRAINED)["learner"].unique())
    shown = [null for null in NULLS if any(k == null for _, k in found)]
    far = _far(collected, suite)
    table: list[list[Any]] = []
    classes = {}
    for _, phenomenon in layout.phenomena[suite]:
        if far.get(phenomenon):
            classes[len(table)] = "flag"
        table.append([
            phenomenon + (f" {FAR}" if far.get(phenomenon) else ""),
            *(value for null in shown for value in _mean_and_range(found.get((phenomenon, null)))),
            *(found.get((phenomenon, name), (None, None))[1] for name in given),
            ", ".join(far.get(phenomenon, [])) or None,
        ])  # fmt: skip
    columns = [
        text("Phenomenon"),
        *(column for null in shown for column in (
            Column(null.capitalize(), percent), text("Least–most"))),
        *(Column(name, percent) for name in given),
        text("Far from 50% in some cell"),
    ]  # fmt: skip
    caption = (
        "Accuracy in percent of models that know no syntax, mean over conditions, sizes and seeds "
        "(least–most)" + (", and of pretrained models" if given else "") + ". "
        f"{FAR} A null is far from 50% in some cell, so an accuracy there means less than it seems."
    )
    return Table(f"nulls-{suite}", caption, columns, table, classes)


def _far(collected: Collected, suite: str) -> dict[str, list[str]]:
    """Return phenomenon -> the nulls that are far from 50% in some cell."""
    rows = collected.accuracy.filter(pl.col("far") != "", suite=suite, level="phenomenon")
    found: dict[str, set[str]] = {}
    for phenomenon, far in rows.select("phenomenon", "far").iter_rows():
        found.setdefault(phenomenon, set()).update(far.split(", "))
    return {name: [null for null in NULLS if null in far] for name, far in found.items()}


def _mean_and_range(values: list[float] | None) -> tuple[float | None, str | None]:
    if values is None:
        return None, None
    low, mean, high = values
    return mean, f"{percent(low)}–{percent(high)}"


def differences(good: str, bad: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Cut two sentences into stretches of words that they share and that they do not share."""
    first, second = good.split(), bad.split()
    pairs: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    matcher = difflib.SequenceMatcher(a=first, b=second, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        for stretch, parts in ((first[a:b], pairs[0]), (second[c:d], pairs[1])):
            if stretch:
                parts.append((" ".join(stretch), kind != "equal"))
    return pairs
