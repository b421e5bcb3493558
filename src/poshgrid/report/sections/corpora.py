"""The tables of the corpora with the paper's: Tables 2 (words), 4 (sentences), 9 (tokens).

A published number stands beside ours where size, source and condition have the paper's names. A
grid with none of them has no published columns, and the caption says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import polars as pl

from poshgrid.report.blocks import Block, Heading, Page, drawer, headed
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.texts import say
from poshgrid.statistics import published
from poshgrid.statistics.exposure import ALL
from poshgrid.tables.table import Column, Table, numbers, text, texts, without_empty
from poshgrid.tables.words import count, decimals, span

TITLE, ORDER, AUDIENCE = "Corpora", 80, "reviewer"
BASE = "baby"  # the base that Table 2 is about
_MILLION = 1_000_000


def blocks(page: Page) -> list[Block] | None:
    """Return the three tables, as far as they are there."""
    words, exposed, tokens = (
        page.table(make(page.collected, page.layout))
        for make in (words_by_source, exposure, vocabularies)
    )
    if not (words or exposed or tokens):
        return None
    return [
        *headed("Words by source", words),
        *headed("Exposure", exposed),
        Heading("Tokens by size of the vocabulary"),
        drawer("Every size", tokens, 32)
        or "Not run: tokens were counted at no other size of the vocabulary (tokenizer.sweep).",
    ]


def words_by_source(collected: Collected, layout: Layout) -> Table:
    """Lay out the words that each source gives to each size (the paper's Table 2)."""
    places = [*layout.sizes, "dev", "test"]
    printed: dict[tuple[str, str], float] = {}
    kinds: dict[str, str] = {}  # source -> speech or written
    for row in _published(2).iter_rows(named=True):
        subtotal = row["source"] == "subtotal"
        name = f"all {row['kind']}" if subtotal else row["source"]
        printed[name, row["size"]] = row["million_words"] * _MILLION
        if not subtotal:
            kinds[name] = row["kind"]
    rows: list[list[Any]] = []  # base, kind, source; by place, words of ours and of the paper
    totals = {}
    for base, statistics in collected.bases.items():
        if not statistics:
            continue
        parts = [statistics.get(p) or statistics.get("train", {}).get(p) or {} for p in places]
        by_source = {
            source: [part.get("sources", {}).get(source, {}).get("words") for part in parts]
            for part_ in parts
            for source in part_.get("sources", {})
        }
        for kind, source, words in _with_subtotals(by_source, kinds):
            whole = all(s in by_source for s, k in kinds.items() if source == f"all {k}")
            known = base == BASE and (source in by_source or whole)
            if source not in by_source:
                totals[len(rows)] = "total"
            paper = [printed.get((source, place)) if known else None for place in places]
            rows.append([base, kind, source, *itertools.chain(*zip(words, paper, strict=True))])
        totals[len(rows)] = "total"
        sums = [cell for part in parts for cell in (part.get("words"), None)]
        rows.append([base, None, "all sources", *sums])
    millions = all(number >= _MILLION for number in layout.words.values())
    ours, paper_s = (decimals(2, _MILLION), _in_millions) if millions else (count, count)
    columns = texts("Base", "Kind", "Source")
    for place in places:
        columns += [Column(place, ours), Column(f"{place}, paper", paper_s)]
    compared = any(cell is not None for row in rows for cell in row[4::2])
    caption = say("words_by_source", millions, compared)
    table = Table("words-by-source", caption, columns, rows, totals)
    return without_empty(table, ["Kind", *(f"{place}, paper" for place in places)])


def _with_subtotals(
    by_source: dict[str, list[int | None]], kinds: dict[str, str]
) -> list[tuple[str | None, str, list[int | None]]]:
    """Return (kind, source, words), speech before writing, each with its sum, as in Table 2.

    Without sums where a source is not the paper's, whose kind nobody knows, or where all sources
    are of one kind.
    """
    present = {kinds.get(source) for source in by_source}
    rows: list[tuple[str | None, str, list[int | None]]] = []
    for kind in [*dict.fromkeys(kinds.values()), None]:
        mine = [source for source in by_source if kinds.get(source) == kind]
        if kind:
            mine.sort(key=list(kinds).index)
        rows += [(kind, source, by_source[source]) for source in mine]
        if mine and kind and None not in present and len(present) > 1:
            by_place = zip(*(by_source[source] for source in mine), strict=True)
            rows.append((kind, f"all {kind}", [_sum(words) for words in by_place]))
    return rows


def _sum(values: tuple[int | None, ...]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def exposure(collected: Collected, layout: Layout) -> Table:
    """Lay out what the learners see, compared with their base and the paper's Table 4."""
    printed = _by(_published(4), "condition", "size")
    order = {name: place for place, name in enumerate(collected.spec.conditions)}
    rows: list[list[Any]] = []
    totals = {}
    ledger = sorted(
        collected.exposure.iter_rows(named=True),
        key=lambda row: (layout.sizes.index(row["size"]), order[row["condition"]]),
    )
    sources = collected.exposure.group_by("size", "condition").len()  # one source needs no row
    single = set(sources.filter(pl.col("len") == 2).select("size", "condition").iter_rows())
    for row in ledger:
        everything = row["source"] == ALL
        if not everything and (row["size"], row["condition"]) in single:
            continue
        words, sentences = row["words"], row["sentences"]
        paper = printed.get((row["condition"], row["size"]), {}) if everything else {}
        if everything:
            totals[len(rows)] = "total"
        rows.append([
            row["size"], row["condition"], row["source"], row["base_words"], sentences,
            paper.get("sentences"), row["distinct"], words,
            words / sentences if sentences and words is not None else None,
            paper.get("words_per_sentence"), row["tokens"],
            *(_range(row[f"{name}_low"], row[f"{name}_high"], show) for name, show in (
                ("epochs", decimals(2)), ("words_seen", count), ("tokens_seen", count))),
        ])  # fmt: skip
    columns = [
        *texts("Size", "Condition", "Source"), *numbers(count, "Base words", "Sentences"),
        Column("Sentences, paper", _as_printed), *numbers(count, "Distinct", "Words"),
        *numbers(decimals(2), "Words/sentence", "Words/sentence, paper"), Column("Tokens", count),
        Column("Passes"), Column("Words seen"), Column("Tokens seen"),
    ]  # fmt: skip
    caption = say("exposure", any(row[5] is not None for row in rows))
    table = Table("exposure", caption, columns, rows, totals)
    return without_empty(table, ["Sentences, paper", "Words/sentence, paper"])


def _range(low: float | None, high: float | None, show: Callable[[Any], str]) -> str | None:
    """Write the fewest and the most of something, or the one number if both are alike."""
    return show(low) if low is not None and low == high else span(low, high, show)


def vocabularies(collected: Collected, layout: Layout) -> Table:
    """Lay out training tokens by size of the vocabulary (the paper's Table 9)."""
    printed = _by(_published(9), "vocabulary_size", "condition", "size")
    sweeps = {
        (row["vocabulary_size"], condition, size): row
        for (condition, size), sweep in collected.sweeps.items()
        for row in sweep.get("vocabularies", [])
    }
    rows = [
        [
            asked, size, condition, row.get("reached"), row.get("tokens_without_boundaries"),
            row.get("tokens_with_boundaries"),
            printed.get((asked, condition, size), {}).get("tokens"), row.get("tokens_per_word"),
        ]
        for asked in sorted({key[0] for key in sweeps})
        for size in layout.sizes
        for condition in collected.spec.conditions
        if (row := sweeps.get((asked, condition, size)))
    ]  # fmt: skip
    columns = [
        Column("Vocabulary", count, text=True), text("Size"), text("Condition"),
        *numbers(count, "Types reached", "Tokens", "With boundaries", "Paper"),
        Column("Tokens/word", decimals(3)),
    ]  # fmt: skip
    caption = say("vocabularies", any(row[6] is not None for row in rows))
    return without_empty(Table("vocabularies", caption, columns, rows), ["Paper"])


# ---- the published numbers -----------------------------------------------------------------------


def _published(table: int) -> pl.DataFrame:
    return published.load(*published.POSH, f"table{table}")


def _by(theirs: pl.DataFrame, *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(row[key] for key in keys): row for row in theirs.iter_rows(named=True)}


def _in_millions(value: float) -> str:
    return f"{value / _MILLION:g}"


def _as_printed(value: float) -> str:
    """Write sentences as the paper rounds them: ``430k``, ``1.3M``."""
    return f"{value / 1e6:g}M" if value >= _MILLION else f"{value / 1e3:g}k"
