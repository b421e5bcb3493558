"""Parsers, how much evidence they find, screening, and what was removed and put back."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.report.blocks import Block, Heading, Page, headed
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.tables.table import Column, Table, text, without
from poshgrid.tables.words import count, decimals, duration, percent

TITLE, ORDER, AUDIENCE = "Parsing and evidence", 90, "reviewer"
_SUMMED = ("sentences", "distinct_texts", "parsed", "screening_seconds", "seconds")


def blocks(page: Page) -> list[Block]:
    """Return the tables of parsing and evidence, as far as they are there."""
    collected, layout, write = page.collected, page.layout, page.table
    if not collected.spec.parsers:
        return ["No condition of this target rests on parses."]
    told = [*headed("Parsers", write(parsers(collected)))]
    if measured := write(recall(collected)):
        title = "How much of the evidence each parser finds"
        told += [Heading(title), measured, write(constructions(collected))]
    return [
        *(told or ["Not run, or the parsers are given by path and were not evaluated here."]),
        *headed("Screening", write(screening(collected))),
        *headed("Agreement of parsers", write(agreement(collected))),
        *headed("Evidence removed and put back", write(removed(collected, layout))),
        write(words_difference(collected, layout)),
    ]


def parsers(collected: Collected) -> Table:
    """Lay out what the parsers reach on gold trees: those held out, and those of ``gold``."""
    measured = [(parser, "held out", found) for parser, found in collected.parsers.items() if found]
    measured += [
        (record.name, str(gold), found)
        for record in collected.records
        if record.stage == "recall"
        for gold, found in record.content.get("gold", {}).items()
    ]
    relations = list(dict.fromkeys(r for *_, each in measured for r in each.get("relations", {})))
    rows = []
    for parser, trees, found in measured:
        role = "decides" if parser == collected.spec.evidence_parser else "compared"
        row = [parser, role, trees, found.get("sentences")]
        row += [found.get(key) for key in ("upos", "uas", "las")]
        for relation in relations:
            facts = found.get("relations", {}).get(relation, {})
            row += [facts.get("precision"), facts.get("recall"), facts.get("f1")]
        rows.append(row)
    columns = [
        text("Parser"), text("Role"), text("Trees"), Column("Sentences", count),
        Column("UPOS", percent), Column("UAS", percent), Column("LAS", percent),
    ]  # fmt: skip
    for relation in relations:
        columns += [
            Column(f"{relation} {measure}", percent) for measure in ("precision", "recall", "F1")
        ]
    caption = (
        "Parsers on gold trees that they were not trained on, from words alone, in percent: those "
        "held out of their treebank, and `evidence.gold`. A relation counts when label and "
        "governor are right."
    )
    return Table("parsers", caption, columns, rows)


def screening(collected: Collected) -> Table:
    """Lay out how many texts were parsed at all, and the time that the lexical test saved."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for record in collected.records:
        facts = record.content
        if record.stage != "parse" or "distinct_texts" not in facts:
            continue
        base, parser, _ = record.name.split("/")
        total = found.setdefault((base, parser), dict.fromkeys(_SUMMED, 0))
        # A shard that was parsed without a test was parsed whole
        whole = {"parsed": facts["distinct_texts"]}
        for key in _SUMMED:
            total[key] += facts.get(key, whole.get(key)) or 0
    rows: list[list[Any]] = []
    for (base, parser), total in found.items():
        texts, parsed, seconds = total["distinct_texts"], total["parsed"], total["seconds"]
        share = parsed / texts if texts else None
        spent = total["screening_seconds"] + seconds
        unscreened = seconds / share if share else None
        gain = unscreened / spent if unscreened is not None and spent else None
        rows.append([
            base, parser, total["sentences"], texts, parsed, share, total["screening_seconds"],
            seconds, unscreened, gain,
        ])  # fmt: skip
    columns = [
        text("Base"), text("Parser"), Column("Sentences", count), Column("Distinct texts", count),
        Column("Parsed", count), Column("Parsed (%)", percent), Column("Screening", duration),
        Column("Parsing", duration), Column("Parsing all (estimate)", duration),
        Column("Speed-up (estimate)", decimals(1)),
    ]  # fmt: skip
    caption = (
        "How many texts were parsed; a lexical test showed that no filter could remove the others. "
        "Texts are distinct within a shard. Parsing all (estimate): parsing time divided by the "
        "share of texts parsed, which is too high if the others are shorter. Speed-up: that "
        "estimate over screening and parsing together."
    )
    return Table("screening", caption, columns, rows)


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
        text("Base"), text("Parsers"), text("Filter"), text("Reading"), Column("Both", count),
        Column("First only", count), Column("Second only", count), Column("Neither", count),
        Column("Kappa", decimals(3)),
    ]  # fmt: skip
    caption = "Sentences that two parsers label as evidence, by reading. Kappa: Cohen's."
    return Table("agreement", caption, columns, rows)


def removed(collected: Collected, layout: Layout) -> Table:
    """Lay out what each filter took from the training sentences, and what was put back."""
    rows: list[list[Any]] = []
    for size in layout.sizes:
        for condition in collected.spec.conditions:
            statistics = collected.conditions.get((condition, size)) or {}
            returned = dict(statistics.get("reinserted", {}))
            for name, taken in statistics.get("removed", {}).items():
                facts = returned.pop(name.partition(".")[0], {})  # once, of several readings
                rows.append([
                    size, condition, name, *(taken.get(k) for k in ("rule", "backstop", "words")),
                    *(facts.get(key) for key in ("sentences", "different", "available",
                                                 "from_larger_sizes")),
                ])  # fmt: skip
    columns = [
        text("Size"), text("Condition"), text("Filter"), Column("By its rule", count),
        Column("By words alone", count), Column("Words", count), Column("Put back", count),
        Column("Different", count), Column("Available", count), Column("From larger sizes", count),
    ]  # fmt: skip
    caption = (
        "Training sentences with direct evidence, by filter; a sentence may hold evidence for "
        "several. {}Words: in them. Of a control: what its condition lost and the control kept. "
        "Put back: sentences; Different: distinct ones; Available: those that could be put back."
    )
    alone = "By words alone: further sentences, which only the backstop of the reading removes. "
    if any(row[4] for row in rows):
        return Table("removed", caption.format(alone), columns, rows)
    return without(Table("removed", caption.format(""), columns, rows), ["By words alone"])


def words_difference(collected: Collected, layout: Layout) -> Table:
    """Lay out how far putting sentences back changed the words of each source."""
    found = [
        (size, condition, name, facts["words_difference"])
        for size in layout.sizes
        for condition in collected.spec.conditions
        for name, facts in sorted(
            (collected.conditions.get((condition, size)) or {}).get("reinserted", {}).items()
        )
        if facts.get("words_difference")
    ]
    sources = list(dict.fromkeys(source for *_, shares in found for source in shares))
    rows = [[*place, *(shares.get(source) for source in sources)] for *place, shares in found]
    columns = [
        text("Size"), text("Condition"), text("Filter"),
        *(Column(s, lambda share: f"{100 * share:+.3f}".replace("-", "−")) for s in sources),
    ]  # fmt: skip
    caption = "Change of each source's words by what was put back, in percent."
    return Table("words-difference", caption, columns, rows)


# ---- recall --------------------------------------------------------------------------------------

FEW = 20
"""Sentences with evidence: rows with fewer are marked, since their rates say little."""


def recall(collected: Collected) -> Table:
    """Lay out each filter's recall, precision and price behind each parser, by gold trees."""
    found = collected.recall.filter(construction="")
    rows = [
        [
            *_head(row), row["sentences"], row["skipped"], row["evidence"], row["right"],
            *_rate(row, "recall"), row["removed"], *_rate(row, "precision"),
            _share(row["removed"], row["sentences"]), _share(row["words_removed"], row["words"]),
        ]
        for row in _sorted(collected, found)
    ]  # fmt: skip
    columns = [
        *_HEAD, Column("Sentences", count), Column("Left out", count), Column("Evidence", count),
        Column("Found", count), *_interval("Recall"), Column("Removed", count),
        *_interval("Precision"), Column("Sentences removed (%)", percent),
        Column("Words removed (%)", percent),
    ]  # fmt: skip
    caption = (
        "How much of the evidence a filter removes behind each parser. Evidence: sentences on "
        "whose gold tree the filter's rule fires. Removed: sentences on whose tree by the parser "
        "it fires; with the backstop, also those that it removes for their words. Found: sentences "
        "that are both. Recall is the share found of the evidence, precision of what is removed. "
        "Intervals: Wilson's, 95%; they take sentences as independent, which those of one "
        "conversation are not quite. Left out: sentences that the parser was trained on, which "
        "count nowhere else. Words are those of the trees, punctuation marks among them."
    )
    return _table("recall", caption, columns, rows, found)


def constructions(collected: Collected) -> Table:
    """Lay out the recall of each rule of a filter, over all gold trees together."""
    one = collected.recall["gold"].n_unique() == 1
    found = collected.recall.filter(pl.col("construction") != "", one | (pl.col("gold") == ""))
    rows = [
        [*_head(row)[:2], row["construction"], *_head(row)[3:], row["evidence"], row["right"],
         *_rate(row, "recall")]
        for row in _sorted(collected, found)
    ]  # fmt: skip
    columns = [
        *_HEAD[:2], text("Construction"), *_HEAD[3:], Column("Evidence", count),
        Column("Found", count), *_interval("Recall"),
    ]  # fmt: skip
    caption = (
        "The same by construction, over all gold trees together: the rule of the filter that fires "
        "on the gold tree. Found: it is removed, by whatever rule."
    )
    return _table("recall-constructions", caption, columns, rows, found)


def _sorted(collected: Collected, found: pl.DataFrame) -> list[dict[str, Any]]:
    """Return rows with the parsers of a filter side by side, the deciding one first."""
    place = {name: number for number, name in enumerate(collected.spec.parsers)}
    readings = {key: n for n, key in enumerate(found.select("filter", "reading").iter_rows())}
    return sorted(
        found.iter_rows(named=True),
        key=lambda row: (
            row["filter"], readings[row["filter"], row["reading"]], row["construction"],
            row["gold"] == "", row["gold"], place[row["parser"]], row["backstop"],
        ),
    )  # fmt: skip


def _table(
    name: str, caption: str, columns: list[Column], rows: list[list[Any]], found: pl.DataFrame
) -> Table:
    place = next(i for i, column in enumerate(columns) if column.title == "Evidence")
    few = {number: "flag" for number, row in enumerate(rows) if row[place] < FEW}
    if few:
        caption += (
            f" Marked rows: evidence in fewer than {FEW} sentences; read the interval, not the "
            "rate."
        )
    gone = [] if found["backstop"].any() else ["Backstop"]
    return without(Table(name, caption, columns, rows, few), gone)


def _head(row: dict[str, Any]) -> list[Any]:
    return [
        row["filter"], row["reading"], row["gold"] or "all", row["parser"],
        "with" if row["backstop"] else "without",
    ]  # fmt: skip


_HEAD = [text(name) for name in ("Filter", "Reading", "Gold trees", "Parser", "Backstop")]


def _rate(row: dict[str, Any], name: str) -> list[float | None]:
    return [row[name], row[f"{name}_low"], row[f"{name}_high"]]


def _interval(name: str) -> list[Column]:
    return [Column(f"{name}{what}", percent) for what in (" (%)", ", from", ", to")]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
