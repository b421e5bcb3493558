"""The suites themselves: a pair of each phenomenon, their quality, nulls and given models."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from poshgrid.config.runs import COUNTED, NULLS, PRETRAINED, UNTRAINED
from poshgrid.report import nulls as beside
from poshgrid.report.blocks import Block, Heading, Page, headed
from poshgrid.report.cells import FAR
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.records import link
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import count, percent

TITLE, ORDER, AUDIENCE = "Benchmark", 120, "reviewer"
_MARK = Markup("<mark>{}</mark>")
_PAIR = Markup(
    '<li><p class="item-head"><b>{}</b><span>{} · {} pairs</span></p>\n'
    '<p class="sentence good"><span class="sign" aria-label="grammatical">✓</span>{}</p>\n'
    '<p class="sentence bad"><span class="sign" aria-label="ungrammatical">*</span>{}</p></li>'
)
_QUALITY = Markup(
    '<p>Quality of {}: <strong>{}</strong>. <a href="{}">Checks, balance, leaks and nulls</a></p>'
)


def blocks(page: Page) -> list[Block]:
    """Return each suite's examples, the verdict on its quality, and its nulls."""
    collected, layout, shelf = page.collected, page.layout, page.shelf
    found: list[Block] = []
    for suite, items in collected.items.items():
        if shown := of_items(items, layout.phenomena[suite]):
            found += [Heading(suite, f"{count(items.height)} pairs"), _listed(shown)]
        else:
            found.append(f"{suite}: not run.")
        if quality := collected.quality[suite]:
            folder = Path(page.paths.quality(collected.spec.target, suite))
            address = link(folder / "index.html", shelf.output)
            found.append(_QUALITY.format(suite, quality["verdict"], address))
        found += headed(f"Nulls of {suite}", shelf.table(nulls(collected, layout, suite)))
        tables = (make(collected, layout, suite) for make in (beside.register, beside.margins))
        found += [shelf.table(table) for table in tables]
    return found


def _listed(examples: list[dict[str, Any]]) -> Markup:
    rows = Markup("\n").join(
        _PAIR.format(each["phenomenon"], each["contrast"], each["n"], *(
            Markup(" ").join(_MARK.format(text) if differs else text for text, differs in member)
            for member in (each["good"], each["bad"])
        ))
        for each in examples
    )  # fmt: skip
    return Markup('<ul class="items">\n{}\n</ul>').format(rows)


def nulls(collected: Collected, layout: Layout, suite: str) -> Table | None:
    """Set what the nulls and the pretrained models make of each phenomenon side by side."""
    rows = collected.accuracy.filter(
        (pl.col("suite") == suite)
        & (pl.col("level") == "phenomenon")
        & pl.col("regimen").is_in([UNTRAINED, COUNTED, PRETRAINED])
    )
    if rows.is_empty():
        return None
    kind = pl.when(pl.col("regimen") == UNTRAINED).then(pl.lit(UNTRAINED)).otherwise("learner")
    found = {
        key: tuple(values)
        for *key_, low, mean, high in rows.group_by("phenomenon", kind.alias("kind"))
        .agg(low=pl.col("mean").min(), mean=pl.col("mean").mean(), high=pl.col("mean").max())
        .select("phenomenon", "kind", "low", "mean", "high")
        .iter_rows()
        for key, values in [(tuple(key_), (low, mean, high))]
    }
    given = sorted(rows.filter(pl.col("regimen") == PRETRAINED)["learner"].unique())
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
    rows = collected.accuracy.filter(
        (pl.col("suite") == suite) & (pl.col("level") == "phenomenon") & (pl.col("far") != "")
    )
    found: dict[str, set[str]] = {}
    for phenomenon, far in rows.select("phenomenon", "far").iter_rows():
        found.setdefault(phenomenon, set()).update(far.split(", "))
    return {name: [null for null in NULLS if null in far] for name, far in found.items()}


def _mean_and_range(value: tuple[float, float, float] | None) -> tuple[float | None, str | None]:
    if value is None:
        return None, None
    low, mean, high = value
    return mean, f"{percent(low)}–{percent(high)}"


def of_items(items: pl.DataFrame, phenomena: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the first pair of each phenomenon.

    Args:
        items: :data:`poshgrid.benchmark.schema.ITEMS`.
        phenomena: (category, phenomenon) in the order of the page.

    Returns:
        ``phenomenon``, ``contrast``, ``n`` (pairs, with thousands apart), ``good`` and ``bad``:
        lists of (words, whether they differ from the other member).
    """
    found = []
    for category, phenomenon in phenomena:
        rows = items.filter(
            (pl.col("category") == category) & (pl.col("phenomenon") == phenomenon)
        ).sort("item_id")
        if rows.is_empty():
            continue
        row = rows.row(0, named=True)
        good, bad = differences(row["good"], row["bad"])
        found.append({
            "phenomenon": phenomenon,
            "contrast": row["contrast"].replace("-", " "),
            "n": f"{rows.height:,}",
            "good": good,
            "bad": bad,
        })  # fmt: skip
    return found


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
