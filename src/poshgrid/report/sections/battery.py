"""A battery of language tests: what models achieve on each, as which age, and on which items.

Figure 1 of Capone, Suozzi, Lebani and Lenci (2024): the accuracy on every test, here with its
interval and with guessing. Suites of minimal pairs of the same target stand beside the others.
"""

from __future__ import annotations

import polars as pl

from poshgrid.config.runs import NULL_REGIMENS
from poshgrid.files import Schema
from poshgrid.report import figures, style
from poshgrid.report.blocks import Block, Heading, Note, Page, drawer
from poshgrid.report.collect import Collected
from poshgrid.report.layout import model_names
from poshgrid.report.texts import say
from poshgrid.statistics import intervals
from poshgrid.statistics.measures import subsets
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, texts, without
from poshgrid.tables.words import ABSENT, interval, percent, probability

TITLE, ORDER, AUDIENCE = "Tests of language", 128, "reader"
TASKS = ("choices", "completions")
_KINDS: Schema = {
    **dict.fromkeys(("suite", *RUN_AXES), pl.String),
    "n": pl.UInt32,  # items
    "raw": pl.Float64,  # right, mean over seeds
    "chance": pl.Float64,  # share by guessing; null: of completions nobody guesses
    "blocks": pl.UInt32,
    "blocks_passed": pl.Float64,  # mean over seeds
}


def blocks(page: Page) -> list[Block] | None:
    """Return the figure, its table, and the subsets of items; ``None``: no such suite is there."""
    collected, shelf = page.collected, page.shelf
    rows = tests(collected)
    if rows is None:
        return None
    blocks: list[Block] = [
        shelf.picture("tests", say("language_tests"), draw, rows),
        shelf.table(table(rows, ages(collected))),
    ]
    by_tag = [frame for frame in collected.tags.values() if not frame.is_empty()]
    if by_tag:
        crossed = shelf.table(tagged(pl.concat(by_tag), crossed=True))
        blocks += [
            Heading("Subsets of items"),
            Note(say("subsets")),
            shelf.table(tagged(pl.concat(by_tag))),
            drawer("Two tags crossed", crossed),
        ]
    return blocks


def tests(collected: Collected) -> pl.DataFrame | None:
    """Return a row a suite and model; ``None``: no suite of choices or completions has results."""
    asked = [suite for suite, task in collected.spec.measured.items() if task in TASKS]
    frames = [collected.measures[suite] for suite in asked if suite in collected.measures]
    if not frames:
        return None
    rows = pl.concat(frames).filter(level="suite")
    means = rows.group_by("suite", *RUN_AXES, maintain_order=True).agg(
        pl.first("n", "chance", "blocks"), pl.col("raw", "blocks_passed").mean()
    )
    pairs = (
        collected.accuracy.filter(level="phenomenon")
        .group_by("suite", *RUN_AXES, maintain_order=True)
        .agg(n=pl.col("n_pairs").sum(), raw=(pl.col("mean") * pl.col("n_pairs")).sum())
        .with_columns(
            chance=pl.lit(0.5), blocks=pl.lit(None), blocks_passed=pl.lit(None, dtype=pl.Float64)
        )
    )
    both = pl.concat(
        [frame.select(list(_KINDS)).cast(pl.Schema(_KINDS)) for frame in (means, pairs)]
    )
    ends = [intervals.wilson(raw, n) for raw, n in both.select("raw", "n").iter_rows()]
    return both.select(
        pl.col("suite", *RUN_AXES),
        pl.lit("").alias("phenomenon"),
        pl.Series("model", model_names(both)),
        pl.col("regimen").is_in(NULL_REGIMENS).alias("null"),
        pl.lit("accuracy").alias("measure"),
        pl.col("n", "raw"),
        accuracy=pl.col("raw") / pl.col("n"),
        low=pl.Series([low for low, _ in ends], dtype=pl.Float64),
        high=pl.Series([high for _, high in ends], dtype=pl.Float64),
        chance="chance",
        blocks="blocks",
        blocks_passed="blocks_passed",
    ).sort("null", "model", maintain_order=True)


def ages(collected: Collected) -> dict[tuple[str, ...], str]:
    """Return the age equivalents, by norms, of each suite and point of ``RUN_AXES``, in words.

    Several stand there where seeds differ, or where the suite leaves items of the normed test out.
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for frame in collected.norms.values():
        known = frame.filter(pl.col("age_equivalent") != "")
        several = known.select("category", "score").n_unique() > 1
        for key, part in known.group_by(
            "suite", *RUN_AXES, "category", "score", maintain_order=True
        ):
            said = ", ".join(part["age_equivalent"].unique(maintain_order=True))
            name = f" ({key[-2]}, {key[-1]})" if several else ""
            found.setdefault(tuple(map(str, key[:-2])), []).append(said + name)
    return {key: "; ".join(said) for key, said in found.items()}


def draw(rows: pl.DataFrame) -> style.Figure:
    """Draw Figure 1: a panel a test, a row a model; see :func:`tests`."""
    return figures.shares(rows, {"accuracy": ""}, "Items right (%)")


def table(rows: pl.DataFrame, of_ages: dict[tuple[str, ...], str]) -> Table:
    """Lay the tests out, a row a test and model.

    Args:
        rows: what :func:`tests` returns.
        of_ages: what :func:`ages` returns.
    """
    cells = []
    for row in rows.sort("suite", maintain_order=True).iter_rows(named=True):
        passed = row["blocks"] and f"{row['blocks_passed']:.4g}/{row['blocks']}"
        point = tuple(row[axis] for axis in ("suite", *RUN_AXES))
        cells.append([
            row["suite"], row["model"], _of(row["raw"], row["n"]), row["accuracy"],
            interval(row["low"], row["high"], percent), row["chance"], passed or ABSENT,
            of_ages.get(point, ABSENT),
        ])  # fmt: skip
    columns = [
        *texts("Test", "Model"), Column("Right"), Column("%", percent), Column("95% CI"),
        Column("Guessing", percent), Column("Blocks passed"), Column("Age equivalent"),
    ]  # fmt: skip
    gone = ["Blocks passed"] * (rows["blocks"].count() == 0) + ["Age equivalent"] * (not of_ages)
    return without(Table("tests", say("language_table", of_ages), columns, cells), gone)


def _of(right: float, n: int) -> str:
    return f"{right:.4g}/{n}"


def tagged(tags: pl.DataFrame, *, crossed: bool = False) -> Table:
    """Lay the subsets of items out, over all suites and without nulls: a row a model and tag.

    Args:
        tags: columns of ``TAGS``.
        crossed: a row a model and each two tags instead.
    """
    rows = subsets.pooled(tags.filter(~pl.col("regimen").is_in(NULL_REGIMENS)))
    rows = rows.filter((pl.col("other") != "") == crossed)
    models = model_names(rows, seeds=True)
    cells = [
        [model, row["tag"], row["other"], _of(row["raw"], row["n"]), row["accuracy"],
         interval(row["low"], row["high"], percent), _of(row["raw_rest"], row["n_rest"]), row["p"]]
        for model, row in zip(models, rows.iter_rows(named=True), strict=True)
    ]  # fmt: skip
    columns = [
        *texts("Model", "Tag", "Together with"),
        Column("Right"),
        Column("%", percent),
        Column("95% CI"),
        Column("The others"),
        Column("p", probability, tex="$p$"),
    ]
    name = "tags-crossed" if crossed else "tags"
    return without(
        Table(name, say("tags", crossed), columns, cells), [] if crossed else ["Together with"]
    )
