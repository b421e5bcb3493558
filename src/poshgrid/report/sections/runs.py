"""The runs: how many the grid asks for, how they were trained, learners beside each other."""

from __future__ import annotations

import statistics
from typing import Any

from poshgrid.config.runs import REFERENCE
from poshgrid.report import figures, frames
from poshgrid.report.blocks import Block, Page, drawer, headed
from poshgrid.report.collect import Collected, Trained
from poshgrid.report.layout import Layout
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import NOT_RUN, count, decimals, duration

TITLE, ORDER, AUDIENCE = "Runs", 150, "engineer"


def blocks(page: Page) -> list[Block]:
    """Return the grid, the losses of the runs, their learners, and every run."""
    collected, layout, shelf = page.collected, page.layout, page.shelf
    losses = frames.curves(collected, layout)
    caption = (
        "Loss on the dev split during training, from the first evaluation after the start; one "
        "line for each seed."
    )
    return [
        shelf.table(grid(collected, layout)),
        page.picture("learning-curves", caption, figures.learning, losses),
        *headed("Learners", page.table(learners(collected))),
        drawer("Every run", shelf.table(runs(collected)), 16),
    ]


def grid(collected: Collected, layout: Layout) -> Table:
    """Say how many runs of each condition and size are there, of how many that were asked for."""
    learners = sorted({t.run.learner for t in collected.asked})
    rows: list[list[Any]] = []
    flags = {}
    for condition in collected.spec.conditions:
        row: list[Any] = [condition]
        for size in layout.sizes:
            here = [
                t for t in collected.asked if (t.run.condition, t.run.size) == (condition, size)
            ]
            done = sum(t.done for t in here)
            row.append(f"{done} of {len(here)}" if here else None)
            if done < len(here):
                flags[len(rows)] = "flag"
        rows.append(row)
    caption = f"Trained models, of those that the grid asks for. Learners: {', '.join(learners)}."
    columns = [text("Condition"), *(Column(size) for size in layout.sizes)]
    return Table("grid", caption, columns, rows, flags)


def runs(collected: Collected) -> Table:
    """List every run: how it was trained, how far it got, what it cost."""
    axes = ("condition", "size", "learner", "regimen", "bias", "seed")
    rows: list[list[Any]] = []
    flags = {}
    for item in collected.trained:
        s, m = item.statistics, item.manifest
        if not item.done:
            flags[len(rows)] = "flag"
        null = item.run.regimen in REFERENCE
        rows.append(
            [
                *(getattr(item.run, axis) for axis in axes),
                s.get("parameters"),
                s.get("steps") if item.done else NOT_RUN,
                None if null else s.get("best_step"),
                s.get("stopped"),
                s.get("dev_loss"),
                s.get("test_perplexity"),
                None if null else s.get("tokens_per_second"),
                m.get("wall_seconds"),
                m.get("peak_memory_mb"),
                s.get("device") or m.get("device"),
            ]
        )
    columns = [
        *(text(axis.capitalize()) for axis in axes), Column("Parameters", count),
        Column("Steps", count),
        Column("Best step", count), text("Stopped by"), Column("Dev loss", decimals(4)),
        Column("Test perplexity", decimals(2)), Column("Tokens/s", count),
        Column("Wall time", duration), Column("Peak memory (MB)", count), text("Device"),
    ]  # fmt: skip
    return Table(
        "runs",
        "Every run. Losses in nats per token; perplexities of different tokenizers are not "
        "comparable.",
        columns,
        rows,
        flags,
    )


def learners(collected: Collected) -> Table:
    """Set learners of the same text side by side, the lowest dev loss first.

    A cell is a condition, size, regimen and bias: its learners share tokenizer and dev split, so
    that the losses of causal ones compare.
    """
    cells: dict[tuple[str, str, str, str], dict[str, list[Trained]]] = {}
    for item in collected.asked:
        r = item.run
        cell = cells.setdefault((r.condition, r.size, r.regimen, r.bias), {})
        cell.setdefault(r.learner, []).append(item)
    rows: list[list[Any]] = []
    for axes, by_learner in cells.items():
        if len(by_learner) > 1:
            found = [[*axes, *_learner(*pair)] for pair in sorted(by_learner.items())]
            rows += sorted(found, key=lambda row: (row[_LOSS] is None, row[_LOSS] or 0))
    flags = {i: "flag" for i, row in enumerate(rows) if row[_LOSS] is None}
    four = decimals(4)
    columns = [
        *(text(name) for name in (
            "Condition", "Size", "Regimen", "Bias", "Learner", "Seeds")),
        Column("Parameters", count), Column("Dev loss", four), Column("SD", four),
        Column("Test loss", four), Column("Test perplexity", decimals(2)),
        Column("Best step", count), Column("Steps", count), Column("Tokens/s", count),
    ]  # fmt: skip
    caption = (
        "Learners of the same text, in each cell by dev loss (nats per token). Means over seeds; "
        "SD of the dev loss. A masked learner's loss covers masked tokens only and is not "
        "comparable with a causal one's."
    )
    return Table("learners", caption, columns, rows, flags)


_LOSS = 7  # the place of the dev loss in a row of learners


def _learner(learner: str, items: list[Trained]) -> list[Any]:
    """Return a learner's cells from its name on; empty ones if no seed has been trained."""
    done = [item.statistics for item in items if item.statistics]

    def values(key: str) -> list[float]:
        return [facts[key] for facts in done if facts.get(key) is not None]

    def mean(key: str) -> float | None:
        return statistics.fmean(values(key)) if values(key) else None

    losses = values("dev_loss")
    return [
        learner,
        f"{len(done)} of {len(items)}" if done else NOT_RUN,
        mean("parameters"),
        mean("dev_loss"),
        statistics.stdev(losses) if len(losses) > 1 else None,
        *map(mean, ("test_loss", "test_perplexity", "best_step", "steps", "tokens_per_second")),
    ]
