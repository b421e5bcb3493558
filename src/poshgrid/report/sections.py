"""The plain tables of the report: the grid, runs, effects, accuracies beside the published."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.grid import REFERENCE
from poshgrid.report.collect import Collected, Fit
from poshgrid.report.layout import Layout, title
from poshgrid.report.tables import (
    ABSENT,
    NOT_RUN,
    Cell,
    Column,
    PlainTable,
    Scores,
    count,
    decimals,
    duration,
    percent,
)


def _text(name: str) -> Column:
    return Column(name, text=True)


def grid(collected: Collected, layout: Layout) -> PlainTable:
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
    columns = [_text("Condition"), *(Column(size) for size in layout.sizes)]
    return PlainTable("grid", caption, columns, rows, flags)


def runs(collected: Collected) -> PlainTable:
    """List every run: how it was trained, how far it got, what it cost."""
    axes = ("condition", "size", "learner", "regimen", "bias", "seed")
    rows: list[list[Any]] = []
    flags = {}
    for item in collected.trained:
        s, m = item.statistics, item.manifest
        if not item.done:
            flags[len(rows)] = "flag"
        null = item.run.regimen in REFERENCE
        rows.append([
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
        ])  # fmt: skip
    columns = [
        *(_text(axis.capitalize()) for axis in axes), Column("Parameters", count),
        Column("Steps", lambda v: v if isinstance(v, str) else count(v)),
        Column("Best step", count), _text("Stopped by"), Column("Dev loss", decimals(4)),
        Column("Test perplexity", decimals(2)), Column("Tokens/s", count),
        Column("Wall time", duration), Column("Peak memory (MB)", count), _text("Device"),
    ]  # fmt: skip
    return PlainTable(
        "runs",
        "Every run. Losses in nats per token; perplexities of different tokenizers do not compare.",
        columns, rows, flags,
    )  # fmt: skip


def fit(found: Fit) -> PlainTable:
    """Lay a fit out as the paper's Table 12: coefficients and group SDs."""
    summary = found.summary.filter(pl.col("kind").is_in(["common", "sd"]))
    rows = [
        [
            row["label"] + (" †" if row["implicit"] else ""),
            row["median"], row["low"], row["high"], row["r_hat"], row["ess_bulk"], row["ess_tail"],
        ]
        for row in summary.iter_rows(named=True)
    ]  # fmt: skip
    two = decimals(2)
    columns = [
        _text("Term"), Column("Median", two), Column("2.5%", two), Column("97.5%", two),
        Column("R-hat", decimals(3)), Column("ESS bulk", count), Column("ESS tail", count),
    ]  # fmt: skip
    note = " † minus the sum of the factor's other levels." if summary["implicit"].any() else ""
    return PlainTable(
        f"fit-{found.name}",
        f"Posterior on the log-odds scale; group SDs last.{note}",
        columns, rows,
    )  # fmt: skip


def published(collected: Collected, layout: Layout, suite: str) -> PlainTable | None:
    """Set the categories beside the paper's Table 3 where condition and size are the paper's."""
    from poshgrid.errors import PoshgridError
    from poshgrid.statistics import published as paper

    try:
        theirs = paper.accuracy().filter(pl.col("level").is_in(["category", "overall"]))
    except PoshgridError:  # installed without its checkout: a page without the comparison
        return None
    known = {(r["condition"], r["size"], r["category"]): r for r in theirs.iter_rows(named=True)}
    scores = Scores(collected.accuracy)
    categories = [
        c for c in [*layout.categories[suite], ""] if any(key[2] == c for key in known)
    ]  # fmt: skip
    rows = []
    for size in layout.sizes:
        for arm in layout.arms:
            row: list[Any] = [size, arm.label]
            for category in categories:
                level = "category" if category else "overall"
                cell = scores.cell(layout, arm, size, suite, level, category)
                paper_row = known.get((arm.condition, size, category))
                row.append(cell.mean if isinstance(cell, Cell) else None)
                row.append(paper_row and paper_row["mean"])
            if arm.bias == "none" and any(
                row[i] is not None and row[i + 1] is not None for i in range(2, len(row), 2)
            ):
                rows.append(row)
    if not rows:
        return None
    columns = [_text("Size"), _text("Condition")]
    for category in categories:
        columns += [Column(title(category or "overall"), percent), Column("paper", percent)]
    return PlainTable(
        f"published-{suite}",
        "Means beside those of the paper's Table 3, in percent. Its items are not these.",
        columns,
        rows,
    )


def provenance(collected: Collected) -> dict[str, list[dict[str, Any]]]:
    """Return stage -> its manifests: name, link, cost, host and fingerprint, as texts."""
    found: dict[str, list[dict[str, Any]]] = {}
    for record in collected.records:
        m = record.content
        found.setdefault(record.stage, []).append({
            "name": record.name,
            "link": record.link,
            "started": str(m.get("started", ABSENT)).replace("T", " ").replace("+00:00", " UTC"),
            "wall": duration(m["wall_seconds"]) if "wall_seconds" in m else ABSENT,
            "memory": f"{m['peak_memory_mb']:,.0f} MB" if "peak_memory_mb" in m else ABSENT,
            "host": str(m.get("host", ABSENT)),
            "code": str(m.get("code", "") or ABSENT),
        })  # fmt: skip
    return found


def csv_frame(table: PlainTable) -> pl.DataFrame:
    """Return a plain table's values, unrounded, with its columns' titles made unique."""
    names: list[str] = []
    for column in table.columns:
        name = column.title
        while name in names:
            name += " (again)"
        names.append(name)
    data = {name: [row[i] for row in table.rows] for i, name in enumerate(names)}
    mixed = {
        name: [None if v is None else str(v) for v in values]
        for name, values in data.items()
        if any(isinstance(v, str) for v in values)
    }  # fmt: skip
    return pl.DataFrame({**data, **mixed}, strict=False)
