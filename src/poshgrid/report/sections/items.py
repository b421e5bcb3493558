"""The suites themselves: a pair of each phenomenon, their quality, baselines and given models."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config.runs import NULLS, PRETRAINED, REFERENCE, UNTRAINED
from poshgrid.report.accuracies import MARKS, NULL_NAMES
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.parts import Page
from poshgrid.report.records import place, read_json
from poshgrid.tables.words import percent, span

TITLE, ORDER, AUDIENCE = "Benchmark", 120, "reviewer"

Stretches = list[tuple[str, bool]]
"""Words, and whether the other sentence lacks them."""


def write(page: Page) -> dict[str, Any]:
    """Write each suite's baselines; return its examples, and the verdict on its quality."""
    collected, layout = page.collected, page.layout
    suites = []
    for suite, items in collected.items.items():
        rows = nulls(collected, layout, suite)
        given = collected.accuracy.filter(regimen=PRETRAINED, suite=suite)
        page.table("nulls", rows, not given.is_empty(), MARKS["far"], of=suite)
        folder = Path(collected.paths.quality(collected.spec.target, suite))
        suites.append({
            "name": suite, "pairs": items.height,
            "examples": list(examples(items, layout.phenomena[suite])),
            "verdict": read_json(folder / "quality.json").get("verdict"),
            "address": place(folder / "index.html", collected.paths),
        })  # fmt: skip
    return {"suites": suites}


def examples(
    items: pl.DataFrame, phenomena: list[tuple[str, str]]
) -> Iterator[tuple[dict[str, Any], int, list[tuple[str, str, str, Stretches]]]]:
    """Yield the first pair of each phenomenon, the number of its pairs, and the members."""
    for category, phenomenon in phenomena:
        rows = items.filter(category=category, phenomenon=phenomenon).sort("item_id")
        for first in rows.head(1).iter_rows(named=True):
            good, bad = differences(first["good"], first["bad"])
            members = [("good", "✓", "grammatical", good), ("bad", "*", "ungrammatical", bad)]
            yield first, rows.height, members


def nulls(collected: Collected, layout: Layout, suite: str) -> pl.DataFrame:
    """Return what the baselines and the pretrained models make of each phenomenon.

    Returns:
        ``phenomenon``; of each baseline its mean and ``X_range``, least to most; of each pretrained
        model its mean; ``far``, the baselines that are far from 50% in some cell.
    """
    judged = collected.accuracy.filter(suite=suite, level="phenomenon")
    rows = judged.filter(pl.col("regimen").is_in(REFERENCE))
    kind = pl.when(regimen=UNTRAINED).then(pl.lit(UNTRAINED)).otherwise("learner").alias("kind")
    mean = pl.col("mean")
    ends = rows.group_by("phenomenon", kind).agg(mean.mean(), low=mean.min(), high=mean.max())
    known = {(phenomenon, of): values for phenomenon, of, *values in ends.iter_rows()}
    given = sorted(rows.filter(regimen=PRETRAINED)["learner"].unique())
    shown = [null for null in NULLS if any(name == null for _, name in known)]
    names = pl.col("far").str.split(", ").explode()
    far = dict(judged.filter(pl.col("far") != "").group_by("phenomenon").agg(names).iter_rows())
    table = []
    for _, phenomenon in layout.phenomena[suite] if known else ():
        of = [null for null in NULLS if null in far.get(phenomenon, [])]
        row: dict[str, Any] = {"phenomenon": phenomenon + f" {MARKS['far']}" * bool(of)}
        for null in shown:
            average, low, high = known.get((phenomenon, null), (None, None, None))
            name = NULL_NAMES[null]
            row |= {name: average, f"{name}, least–most": span(low, high, percent)}
        row |= {name: known.get((phenomenon, name), (None,))[0] for name in given}
        table.append(row | {"far": ", ".join(of) or None, "class": "flag" if of else None})
    return pl.DataFrame(table, infer_schema_length=None)


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
