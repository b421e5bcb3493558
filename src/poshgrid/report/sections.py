"""The plain tables of the report: the grid, runs, accuracies beside the published, manifests."""

from __future__ import annotations

from typing import Any

from poshgrid.errors import PoshgridError
from poshgrid.grid.runs import REFERENCE
from poshgrid.report.cells import CHANCE, Cell, Scores
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, title
from poshgrid.report.plain import (
    ABSENT,
    NOT_RUN,
    Column,
    PlainTable,
    count,
    counted,
    decimals,
    duration,
    percent,
    points,
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


def published(
    collected: Collected, layout: Layout, suite: str, table: int = 3
) -> PlainTable | None:
    """Set a suite beside the paper's Table 3 or 8 where condition and size are the paper's.

    Args:
        collected: the results.
        layout: order of the rows.
        suite: of minimal pairs; the paper's, if it has one of its phenomena.
        table: 3: categories and overall; 8: phenomena and average.

    Returns:
        Both means and stars (pooled chi-square) and the signed difference; ``None`` where no cell
        that was run is the paper's.
    """
    from poshgrid.statistics import published as paper

    try:
        theirs = paper.accuracy()
    except PoshgridError:  # installed without its checkout: a page without the comparison
        return None
    known = {
        (r["condition"], r["size"], r["level"], r["category"], r["phenomenon"]): r
        for r in theirs.iter_rows(named=True)
    }
    if not {p for _, p in layout.phenomena[suite]} & set(theirs["phenomenon"]):
        return None  # other items, whose categories may bear the same names
    places = _places(layout, suite, table)
    scores = Scores(collected.accuracy)
    rows: list[list[Any]] = []
    absent, pairs = [], []
    for size in layout.sizes:
        for arm in layout.arms:
            if arm.bias != "none":
                continue
            here = []
            for place in places:
                cell = scores.cell(layout, arm, size, suite, *place)
                row = known.get((arm.condition, size, *place))
                if row and isinstance(cell, Cell):
                    here.append((place, cell, row))
                elif row and cell == NOT_RUN:
                    absent.append(f"{arm.label} {size}")
            pairs += [(cell, row) for _, cell, row in here]
            rows += [[
                size, arm.label, *_named(place, table),
                cell.mean, cell.stars_pooled or None,
                row["mean"], row["stars"] or None, cell.mean - row["mean"],
            ] for place, cell, row in here]  # fmt: skip
    if not rows:
        return None
    named = ["Category"] if table == 3 else ["Category", "Phenomenon"]
    columns = [
        _text("Size"), _text("Condition"), *map(_text, named),
        Column("Ours", percent), _text("Stars"), Column("Paper", percent), _text("Paper’s stars"),
        Column("Difference", points),
    ]  # fmt: skip
    caption = f"Accuracy in percent beside the paper’s Table {table}. {_compared(pairs)}"
    if absent:
        caption += f" Not run: {', '.join(dict.fromkeys(absent))}."
    name = f"published-{suite}" + ("" if table == 3 else "-phenomena")
    return PlainTable(name, caption, columns, rows)


def _places(layout: Layout, suite: str, table: int) -> list[tuple[str, str, str]]:
    """Return level, category and phenomenon of the rows of a published table."""
    if table == 3:
        return [*(("category", c, "") for c in layout.categories[suite]), ("overall", "", "")]
    return [*(("phenomenon", c, p) for c, p in layout.phenomena[suite]), ("average", "", "")]


def _named(place: tuple[str, str, str], table: int) -> list[str | None]:
    level, category, phenomenon = place
    if table == 3:
        return [title(category or level)]
    return [title(category) if category else None, phenomenon or title(level)]


def _compared(pairs: list[tuple[Cell, dict[str, Any]]]) -> str:
    """Say how far both are from each other, and how often the tests agree."""
    differences = [cell.mean - row["mean"] for cell, row in pairs]
    higher, lower = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    away = sum(map(abs, differences)) / len(differences)
    tested = [(cell, row) for cell, row in pairs if cell.p_pooled is not None]
    agree = sum(
        bool(cell.stars_pooled) == bool(row["stars"])
        and (not row["stars"] or (cell.mean > CHANCE) == (row["mean"] > CHANCE))
        for cell, row in tested
    )
    return (
        f"Of {counted(len(pairs), 'cell')} {higher} {_are(higher)} higher than the paper’s and "
        f"{lower} lower, by {100 * away:.1f} points on average either way. The pooled χ² test "
        f"against 50% says the same (above, below or neither) in {agree} of {len(tested)}. "
        "The paper’s items and models are not these."
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


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
