"""Side effects of filtering: what else was removed with the evidence. A table and a figure.

:mod:`poshgrid.evidence.side_effects` counts.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config.sizes import words
from poshgrid.core.files import read_table
from poshgrid.core.writing import listed
from poshgrid.evidence.constructions import CONSTRUCTIONS
from poshgrid.evidence.schema import SIDE_EFFECTS
from poshgrid.evidence.side_effects import ALL, LONG, OVER
from poshgrid.report import figures
from poshgrid.report.collect import Collected
from poshgrid.report.parts import Page
from poshgrid.report.texts import say

TITLE, ORDER, AUDIENCE = "What was removed, and what went with it", 100, "reviewer"
KINDS = {
    name: {"wh_question": "wh-questions", "relative": "relative clauses",
           OVER: f"sentences over {LONG} words"}.get(name, f"{name.replace('_', ' ')}s")
    for name in (*CONSTRUCTIONS, OVER)
}  # fmt: skip
"""Measure -> its plural on the page, in the order of the columns."""
MORE, LESS = "more than its share", "no more than its share"


def write(page: Page) -> dict[str, Any] | None:
    """Write the figure and the table; None if nothing was removed or counted."""
    counts = read(page.collected)
    if counts.is_empty():
        return None
    figure = partial(figures.rows, label="Removed (%)")
    page.picture("side_effects", figure, bars(counts), say("side_effects_figure"))
    page.table("side_effects", table(counts))
    return {}


def read(collected: Collected) -> pl.DataFrame:
    """Read the side effects of all conditions of a target.

    Returns:
        Columns of ``SIDE_EFFECTS``; ``share`` (removed, as a share of the corpus), ``condition``,
        ``size``, ``largest`` (whether it is the condition's largest size).
    """
    frames = [pl.DataFrame(schema=SIDE_EFFECTS)]
    largest: dict[str, str] = {}
    for (condition, size), statistics in collected.conditions.items():
        path = Path(collected.paths.side_effects(condition, size), "side_effects.parquet")
        if path.is_file():
            largest[condition] = max(size, largest.get(condition, size), key=words)
            control = statistics.get("control")
            frames.append(read_table(path, SIDE_EFFECTS).with_columns(
                condition=pl.lit(condition), size=pl.lit(size),
                name=pl.lit(f"{condition} (control of {control})" if control else condition),
            ))  # fmt: skip
    counts = pl.concat(frames, how="diagonal")
    if counts.is_empty():
        return counts
    before = pl.col("before")
    most = pl.col("condition").replace_strict(largest, default=None)
    return counts.with_columns(
        largest=pl.col("size") == most, share=pl.when(before > 0).then(pl.col("removed") / before),
    )  # fmt: skip


def table(counts: pl.DataFrame) -> pl.DataFrame:
    """Return the table: at each condition's largest size with a row per source, else one row.

    Args:
        counts: from :func:`read`.
    """
    by = ["condition", "size", "source"]
    there = counts.filter(pl.col("before") > 0, measure="sentences")
    several = pl.len().over("condition", "size") > 2  # a single source equals the sum
    shown = (pl.col("source") == ALL) | (several & pl.col("largest"))
    rows = there.filter(shown).with_columns(of="share")
    kinds = {measure: kind[:1].upper() + kind[1:] for measure, kind in KINDS.items()}
    shares = counts.pivot("measure", index=by, values="share").select(*by, "words", *KINDS)
    whole = counts.filter(measure="words").select(*by, words_before="before", words_after="after")
    total = (pl.col("source") == ALL) & (pl.len().over("condition", "size") > 1)
    return (
        rows.drop("share", "measure", "after", "removed", "largest").join(
            whole, on=by, maintain_order="left"
        )
        .join(shares.rename(kinds), on=by, how="left", maintain_order="left")
        .drop("condition")
        .rename({"name": "condition"})
        .with_columns(
            pl.when(total).then(pl.lit("total")).alias("class"),
            source=pl.col("source").replace(ALL, "all sources"),
        )
    )  # fmt: skip


def bars(counts: pl.DataFrame) -> pl.DataFrame:
    """Return the data of the figure: the removed share of each construction and of all words.

    Args:
        counts: from :func:`read`.

    Returns:
        :data:`poshgrid.report.figures.ROWS`, each condition at its largest size; conditions with
        the same counts are one panel.
    """
    alike: dict[object, list[pl.DataFrame]] = {}
    for one in counts.filter("largest", source=ALL).partition_by("condition", maintain_order=True):
        counted = one.select("measure", "before", "removed").rows()
        control = one["name"][0] != one["condition"][0]
        alike.setdefault((one["size"][0], control, *counted), []).append(one)
    rows = []
    for group in alike.values():
        names = [one["name"][0] for one in group]
        name = f"{names[0]} and {len(names) - 1} others" if len(names) > 2 else listed(names)
        by_measure = {row["measure"]: row for row in group[0].iter_rows(named=True)}
        line = by_measure["words"]["share"]
        for measure, kind in KINDS.items() if line is not None else ():
            row = by_measure[measure]
            share = row["share"]
            none = "not known" if row["before"] is None else "none found"
            rows.append({
                "panel": f"{name}, {group[0]['size'][0]}", "row": kind,
                "series": MORE if (share or 0) > line else LESS, "lane": "",
                "value": None if share is None else 100 * share,
                "low": None if share is None else 100 * min(share, line),
                "high": None if share is None else 100 * max(share, line),
                "note": none if share is None else f"{100 * share:.2f}", "reference": 100 * line,
            })  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64}, infer_schema_length=None)
