"""The plain tables of the report: corpora, parsers, tokens, runs, effects, published numbers."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.grid import UNTRAINED
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


def words_by_source(collected: Collected, layout: Layout) -> PlainTable | None:
    """Lay out the words that each source gives to each size (the paper's Table 2)."""
    places = [*layout.sizes, "dev", "test"]
    rows: list[list[Any]] = []
    flags = {}
    for base, statistics in collected.bases.items():
        if not statistics:
            continue
        parts = {p: statistics.get(p) or statistics.get("train", {}).get(p) or {} for p in places}
        sources = list(dict.fromkeys(s for p in parts.values() for s in p.get("sources", {})))
        for source in sources:
            words = [parts[p].get("sources", {}).get(source, {}).get("words") for p in places]
            rows.append([base, source, *words])
        flags[len(rows)] = "total"
        rows.append([base, "all sources", *(parts[p].get("words") for p in places)])
    if not rows:
        return None
    columns = [_text("Base"), _text("Source"), *(Column(p, count) for p in places)]
    return PlainTable(
        "words-by-source",
        "Words by source and size, before evidence is removed. Sizes are nested; dev and test are "
        "the same for all sizes.",
        columns, rows, flags,
    )  # fmt: skip


def conditions(collected: Collected, layout: Layout) -> PlainTable | None:
    """Lay out what a learner sees (the paper's Table 4), and what filters took and gave back."""
    filters = sorted(
        {f for s in collected.conditions.values() for f in s.get("removed", {}).get("train", {})}
    )
    rows: list[list[Any]] = []
    for size in layout.sizes:
        for condition in collected.spec.conditions:
            statistics = collected.conditions.get((condition, size))
            if statistics is None:
                continue
            train = statistics.get("splits", {}).get("train", {})
            sentences, words = train.get("sentences"), train.get("words")
            mean = words / sentences if sentences and words is not None else None
            row: list[Any] = [size, condition, sentences, words, mean]
            for name in filters:
                row.append(statistics.get("removed", {}).get("train", {}).get(name))
                row.append(statistics.get("reinserted", {}).get(name, {}).get("sentences"))
            rows.append(row)
    if not any(collected.conditions.values()):
        return None
    columns = [
        _text("Size"), _text("Condition"), Column("Sentences", count), Column("Words", count),
        Column("Words/sentence", decimals(2)),
    ]  # fmt: skip
    for name in filters:
        columns += [Column(f"{name}: removed", count), Column(f"{name}: put back", count)]
    return PlainTable(
        "conditions",
        "What the learners see. Removed and put back: sentences with direct evidence, by filter; a "
        "sentence may hold evidence for several.",
        columns, rows,
    )  # fmt: skip


def tokens(collected: Collected, layout: Layout) -> PlainTable | None:
    """Lay out vocabularies and token counts (the paper's Table 9)."""
    rows = [
        [
            size, condition, found.get("vocabulary_size"), found["train"]["tokens"],
            found["train"].get("tokens_per_word"), found["dev"]["tokens"], found["test"]["tokens"],
        ]
        for size in layout.sizes
        for condition in collected.spec.conditions
        if (found := collected.tokens.get((condition, size)))
    ]  # fmt: skip
    if not rows:
        return None
    columns = [
        _text("Size"), _text("Condition"), Column("Vocabulary", count),
        Column("Training tokens", count), Column("Tokens/word", decimals(3)),
        Column("Dev tokens", count), Column("Test tokens", count),
    ]  # fmt: skip
    return PlainTable("tokens", "Byte-level BPE, one tokenizer for each cell.", columns, rows)


def parsers(collected: Collected) -> PlainTable | None:
    """Lay out what the parsers reach on held-out gold trees."""
    relations = list(
        dict.fromkeys(r for e in collected.parsers.values() for r in e.get("relations", {}))
    )
    rows = []
    for parser, found in collected.parsers.items():
        if not found:
            continue
        role = "decides" if parser == collected.spec.evidence_parser else "compared"
        row = [
            parser,
            role,
            found.get("sentences"),
            *(found.get(k) for k in ("upos", "uas", "las")),
        ]
        for relation in relations:
            facts = found.get("relations", {}).get(relation, {})
            row += [facts.get("precision"), facts.get("recall")]
        rows.append(row)
    if not rows:
        return None
    columns = [
        _text("Parser"), _text("Role"), Column("Test sentences", count), Column("UPOS", percent),
        Column("UAS", percent), Column("LAS", percent),
    ]  # fmt: skip
    for relation in relations:
        columns += [Column(f"{relation} precision", percent), Column(f"{relation} recall", percent)]
    return PlainTable(
        "parsers",
        "Parsers on held-out gold trees, from words alone, in percent. A relation counts when "
        "label and governor are right.",
        columns, rows,
    )  # fmt: skip


def runs(collected: Collected) -> PlainTable:
    """List every run: how it was trained, how far it got, what it cost."""
    axes = ("condition", "size", "learner", "regimen", "bias", "seed")
    rows: list[list[Any]] = []
    flags = {}
    for item in collected.trained:
        s, m = item.statistics, item.manifest
        if not item.done:
            flags[len(rows)] = "flag"
        null = item.run.regimen == UNTRAINED
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


def agreement(collected: Collected) -> PlainTable | None:
    """Lay out how far two parsers' labels of evidence agree, by filter and kind of label."""
    rows = [
        [
            found["base"],
            f"{found['first']} / {found['second']}",
            name,
            kind,
            *(facts[k] for k in ("both", "first_only", "second_only", "neither", "kappa")),
        ]
        for found in collected.agreement
        for name, kinds in sorted(found["answer"].items())
        for kind, facts in sorted(kinds.items(), reverse=True)
    ]
    if not rows:
        return None
    columns = [
        _text("Base"), _text("Parsers"), _text("Filter"), _text("Label"), Column("Both", count),
        Column("First only", count), Column("Second only", count), Column("Neither", count),
        Column("Kappa", decimals(3)),
    ]  # fmt: skip
    caption = (
        "Sentences that two parsers' trees label as evidence. Removed: the inclusive reading, of "
        "what a condition drops; evidence: the strict one, of what may be put back. Kappa: Cohen's."
    )
    return PlainTable("agreement", caption, columns, rows)


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
