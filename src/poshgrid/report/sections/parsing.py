"""Parsers, how much evidence they find, and what was removed and put back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from poshgrid.report.blocks import Block, Bullets, Page, headed
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.texts import say
from poshgrid.report.treatment import treatment
from poshgrid.tables.table import Column, Table, numbers, of_frame, text, texts, without
from poshgrid.tables.words import count, decimals, percent

TITLE, ORDER, AUDIENCE = "Parsing and evidence", 90, "reviewer"


def blocks(page: Page) -> list[Block] | None:
    """Return the tables of parsing and evidence; ``None``: no condition rests on parses."""
    collected, layout, write = page.collected, page.layout, page.table
    if not collected.spec.parsers:
        return None
    measured = write(recall(collected))
    title = "How much of the evidence each parser finds"
    made = [
        f"{condition} at {size}: {said}."
        for size, condition, statistics in _cells(collected, layout)
        if (said := treatment(statistics))
    ]
    return [
        *headed("Parsers", write(parsers(collected))),
        *headed(title, measured),
        write(constructions(collected)) if measured else None,
        *headed("Agreement of parsers", write(agreement(collected))),
        *headed("Evidence removed and put back", write(removed(collected, layout))),
        Bullets(made) if made else None,
        write(words_difference(collected, layout)),
    ]


def parsers(collected: Collected) -> Table:
    """Lay out what the parsers reach on gold trees: those held out, and those of ``gold``."""
    measured = [(parser, "held out", facts) for parser, facts in collected.parsers.items() if facts]
    measured += [
        (record.name, str(gold), facts)
        for record in collected.records
        if record.stage == "recall"
        for gold, facts in record.content.get("gold", {}).items()
    ]
    relations = list(dict.fromkeys(r for *_, facts in measured for r in facts.get("relations", {})))
    rows = [
        [
            parser, "decides" if parser == collected.spec.evidence_parser else "compared", trees,
            *(facts.get(key) for key in ("sentences", "upos", "uas", "las")),
            *(facts.get("relations", {}).get(relation, {}).get(key)
              for relation in relations for key in ("precision", "recall", "f1")),
        ]
        for parser, trees, facts in measured
    ]  # fmt: skip
    columns = [
        *texts("Parser", "Role", "Trees"), Column("Sentences", count),
        *numbers(percent, "UPOS", "UAS", "LAS"),
        *numbers(percent, *(f"{r} {m}" for r in relations for m in ("precision", "recall", "F1"))),
    ]  # fmt: skip
    return Table("parsers", say("parsers"), columns, rows)


def _ratio(part: str, whole: str) -> pl.Expr:
    return pl.when(pl.col(whole) > 0).then(pl.col(part) / pl.col(whole))


def agreement(collected: Collected) -> Table:
    """Lay out how far two parsers' labels of evidence agree, by filter and reading."""
    rows = [
        [
            base, f"{first} / {second}", name, reading,
            *(facts[k] for k in ("both", "first_only", "second_only", "neither", "kappa")),
        ]
        for base, first, second, answer in collected.agreement
        for name, readings in sorted(answer.items())
        for reading, facts in readings.items()
    ]  # fmt: skip
    columns = [
        *texts("Base", "Parsers", "Filter", "Reading"),
        *numbers(count, "Both", "First only", "Second only", "Neither"),
        Column("Kappa", decimals(3)),
    ]
    return Table("agreement", say("agreement"), columns, rows)


def _cells(collected: Collected, layout: Layout) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield size, condition and statistics of each cell that was made."""
    for size in layout.sizes:
        for condition in collected.spec.conditions:
            yield size, condition, collected.conditions.get((condition, size)) or {}


def removed(collected: Collected, layout: Layout) -> Table:
    """Lay out what each filter took from the training sentences, and what was put back."""
    rows: list[list[Any]] = []
    for size, condition, statistics in _cells(collected, layout):
        returned = dict(statistics.get("reinserted", {}))
        for name, taken in statistics.get("removed", {}).items():
            facts = returned.pop(name.partition(".")[0], {})  # once, of several readings
            rows.append([
                size, condition, name, *(taken.get(k) for k in ("rule", "backstop", "words")),
                *(facts.get(key) for key in ("sentences", "different", "available",
                                             "from_larger_sizes")),
            ])  # fmt: skip
    columns = [
        *texts("Size", "Condition", "Filter"),
        *numbers(count, "By its rule", "By words alone", "Words", "Put back", "Different",
                 "Available", "From larger sizes"),
    ]  # fmt: skip
    alone = any(row[4] for row in rows)
    table = Table("removed", say("removed", alone), columns, rows)
    return table if alone else without(table, ["By words alone"])


def words_difference(collected: Collected, layout: Layout) -> Table:
    """Lay out how far putting sentences back changed the words of each source."""
    changes = [
        (size, condition, name, facts["words_difference"])
        for size, condition, statistics in _cells(collected, layout)
        for name, facts in sorted(statistics.get("reinserted", {}).items())
        if facts.get("words_difference")
    ]
    sources = list(dict.fromkeys(source for *_, shares in changes for source in shares))
    rows = [[*place, *(shares.get(source) for source in sources)] for *place, shares in changes]

    def change(share: float) -> str:
        return f"{100 * share:+.3f}".replace("-", "−")

    columns = [*texts("Size", "Condition", "Filter"), *numbers(change, *sources)]
    return Table("words-difference", say("words_difference"), columns, rows)


# ---- recall --------------------------------------------------------------------------------------

FEW = 20
"""Sentences with evidence: rows with fewer are marked, since their rates say little."""


def recall(collected: Collected) -> Table:
    """Lay out each filter's recall, precision and price behind each parser, by gold trees."""
    return _table(collected, "recall", collected.recall.filter(construction=""))


def constructions(collected: Collected) -> Table:
    """Lay out the recall of each rule of a filter, over all gold trees together."""
    one = collected.recall["gold"].n_unique() == 1
    rows = collected.recall.filter(pl.col("construction") != "", one | (pl.col("gold") == ""))
    return _table(collected, "recall-constructions", rows)


def _table(collected: Collected, name: str, rows: pl.DataFrame) -> Table:
    """Lay rows of ``RECALL`` out, the parsers of a filter side by side, the deciding one first."""
    place = {parser: number for number, parser in enumerate(collected.spec.parsers)}
    readings = {key: n for n, key in enumerate(rows.select("filter", "reading").iter_rows())}
    order = sorted(
        range(rows.height),
        key=lambda i: (
            (row := rows.row(i, named=True))["filter"], readings[row["filter"], row["reading"]],
            row["construction"], row["gold"] == "", row["gold"], place[row["parser"]],
            row["backstop"],
        ),
    )  # fmt: skip
    shown = rows[order].with_columns(
        gold=pl.col("gold").replace("", "all"),
        backstop=pl.when("backstop").then(pl.lit("with")).otherwise(pl.lit("without")),
        share=_ratio("removed", "sentences"),
        share_of_words=_ratio("words_removed", "words"),
    )
    by_rule = name == "recall-constructions"
    whole = {} if by_rule else {
        "sentences": Column("Sentences", count), "skipped": Column("Left out", count),
    }  # fmt: skip
    price = {} if by_rule else {
        "removed": Column("Removed", count), **_interval("precision"),
        "share": Column("Sentences removed (%)", percent),
        "share_of_words": Column("Words removed (%)", percent),
    }  # fmt: skip
    trees = {"construction": text("Construction")} if by_rule else {"gold": text("Gold trees")}
    columns = {
        "filter": text("Filter"), "reading": text("Reading"), **trees, "parser": text("Parser"),
        "backstop": text("Backstop"), **whole, "evidence": Column("Evidence", count),
        "right": Column("Found", count), **_interval("recall"), **price,
    }  # fmt: skip
    if not rows["backstop"].any():
        del columns["backstop"]
    few = {i: "flag" for i, number in enumerate(shown["evidence"]) if number < FEW}
    caption = say("recall", by_rule, few and FEW)
    return of_frame(name, caption, shown, columns, few)


def _interval(name: str) -> dict[str, Column]:
    ends = {"": " (%)", "_low": ", from", "_high": ", to"}
    return {f"{name}{end}": Column(name.capitalize() + what, percent) for end, what in ends.items()}
