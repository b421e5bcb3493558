"""The tables of the corpora with the paper's: Tables 2 (words), 4 (sentences), 9 (tokens).

A published number stands beside ours where size, source and condition have the paper's names. A
grid with none of them has no published columns, and the caption says why.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl

from poshgrid.report.blocks import Block, Heading, Page, drawer, headed
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.statistics.exposure import ALL
from poshgrid.tables.table import Column, Table, empty, text, without
from poshgrid.tables.words import count, decimals

TITLE, ORDER, AUDIENCE = "Corpora", 80, "reviewer"
BASE = "baby"  # the base that Table 2 is about
_MILLION = 1_000_000


def blocks(page: Page) -> list[Block]:
    """Return the three tables, as far as they are there."""
    made = (words_by_source, exposure, vocabularies)
    found = [page.table(make(page.collected, page.layout)) for make in made]
    if not any(found):
        return ["Not run."]
    *first, last = found
    titles = ("Words by source", "Exposure")
    return [
        *(b for title, table in zip(titles, first, strict=True) for b in headed(title, table)),
        Heading("Tokens by size of the vocabulary"),
        drawer("Every size", last, 32)
        or "Not run: tokens were counted at no other size of the vocabulary (tokenizer.sweep).",
    ]


def words_by_source(collected: Collected, layout: Layout) -> Table:
    """Lay out the words that each source gives to each size (the paper's Table 2)."""
    places = [*layout.sizes, "dev", "test"]
    theirs = _published(2)
    printed: dict[tuple[str, str], float] = {}
    kinds: dict[str, str] = {}  # source -> speech or written
    for row in theirs.iter_rows(named=True):
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
        parts = {p: statistics.get(p) or statistics.get("train", {}).get(p) or {} for p in places}
        found = {
            source: [parts[p].get("sources", {}).get(source, {}).get("words") for p in places]
            for part in parts.values()
            for source in part.get("sources", {})
        }
        for kind, source, words in _with_subtotals(found, kinds):
            known = base == BASE and _comparable(source, set(found), kinds)
            if source not in found:
                totals[len(rows)] = "total"
            paper = [printed.get((source, place)) if known else None for place in places]
            rows.append([base, kind, source, *itertools.chain(*zip(words, paper, strict=True))])
        totals[len(rows)] = "total"
        whole = [cell for place in places for cell in (parts[place].get("words"), None)]
        rows.append([base, None, "all sources", *whole])
    millions = all(number >= _MILLION for number in layout.words.values())
    ours, paper_s = (decimals(2, _MILLION), _in_millions) if millions else (count, count)
    columns = [text("Base"), text("Kind"), text("Source")]
    for place in places:
        columns += [Column(place, ours), Column(f"{place}, paper", paper_s)]
    caption = (
        f"Words by source and size{', in millions' if millions else ''}, before evidence is "
        "removed. Sizes are nested; dev and test are the same for all sizes. "
    )
    beside = [f"{place}, paper" for place in places]
    table = Table("words-by-source", caption, columns, rows, totals)
    gone = empty(table, ["Kind", *beside])
    note = (
        _left_out(theirs, 2, layout, [b for b in collected.bases if b == BASE])
        if set(beside) <= set(gone)
        else "Paper: Table 2; a subtotal where the base has all its sources."
    )
    return without(replace(table, caption=caption + note), gone)


def _with_subtotals(
    found: dict[str, list[int | None]], kinds: dict[str, str]
) -> list[tuple[str | None, str, list[int | None]]]:
    """Return (kind, source, words), speech before writing, each with its sum, as in Table 2.

    Without sums where a source is not the paper's, whose kind nobody knows, or where all sources
    are of one kind.
    """
    order = list(dict.fromkeys(kinds.values()))
    here = {kinds.get(source) for source in found}
    rows: list[tuple[str | None, str, list[int | None]]] = []
    for kind in [*order, None]:
        mine = [source for source in found if kinds.get(source) == kind]
        if kind:
            mine.sort(key=list(kinds).index)
        rows += [(kind, source, found[source]) for source in mine]
        if mine and kind and None not in here and len(here) > 1:
            by_place = zip(*(found[source] for source in mine), strict=True)
            rows.append((kind, f"all {kind}", [_sum(words) for words in by_place]))
    return rows


def _sum(values: tuple[int | None, ...]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _comparable(source: str, found: set[str], kinds: dict[str, str]) -> bool:
    """Return whether a row is like the paper's: a subtotal has all the sources that its has."""
    return source in found or all(
        s in found for s, kind in kinds.items() if source == f"all {kind}"
    )


def exposure(collected: Collected, layout: Layout) -> Table | None:
    """Lay out what the learners see, compared with their base and the paper's Table 4."""
    theirs = _published(4)
    printed = _by(theirs, "condition", "size")
    order = {name: place for place, name in enumerate(collected.spec.conditions)}
    rows: list[list[Any]] = []
    totals = {}
    found = sorted(
        collected.exposure.iter_rows(named=True),
        key=lambda row: (layout.sizes.index(row["size"]), order[row["condition"]]),
    )
    numbers = collected.exposure.group_by("size", "condition").len()  # one source needs no row
    single = set(numbers.filter(pl.col("len") == 2).select("size", "condition").iter_rows())
    for row in found:
        if row["source"] != ALL and (row["size"], row["condition"]) in single:
            continue
        words, sentences, tokens = row["words"], row["sentences"], row["tokens"]
        everything = row["source"] == ALL
        paper = printed.get((row["condition"], row["size"]), {}) if everything else {}
        if everything:
            totals[len(rows)] = "total"
        rows.append([
            row["size"], row["condition"], row["source"], row["base_words"], sentences,
            paper.get("sentences"), row["distinct"], words,
            words / sentences if sentences and words is not None else None,
            paper.get("words_per_sentence"), tokens,
            _range(row["epochs_low"], row["epochs_high"], decimals(2)),
            _range(row["words_seen_low"], row["words_seen_high"], count),
            _range(row["tokens_seen_low"], row["tokens_seen_high"], count),
        ])  # fmt: skip
    if not rows:
        return None
    columns = [
        text("Size"), text("Condition"), text("Source"), Column("Base words", count),
        Column("Sentences", count), Column("Sentences, paper", _as_printed),
        Column("Distinct", count), Column("Words", count), Column("Words/sentence", decimals(2)),
        Column("Words/sentence, paper", decimals(2)), Column("Tokens", count), Column("Passes"),
        Column("Words seen"), Column("Tokens seen"),
    ]  # fmt: skip
    caption = (
        "What the learners see in one pass, compared with the base before evidence is removed. A "
        "size is the name of its base's words. Passes: up to the weights that were kept, fewest "
        "and most of the runs. Seen: times passes."
    )
    table = _beside(
        "exposure", caption, columns, rows,
        _left_out(theirs, 4, layout, collected.spec.conditions), "Paper: Table 4, as printed.",
    )  # fmt: skip
    return replace(table, classes=totals)


def _range(low: float | None, high: float | None, show: Callable[[Any], str]) -> str | None:
    """Write the fewest and the most of something, or the one number if both are alike."""
    texts = list(dict.fromkeys(show(number) for number in (low, high) if number is not None))
    return "–".join(texts) or None


def vocabularies(collected: Collected, layout: Layout) -> Table:
    """Lay out training tokens by size of the vocabulary (the paper's Table 9)."""
    theirs = _published(9)
    printed = _by(theirs, "vocabulary_size", "condition", "size")
    found = {
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
        for asked in sorted({key[0] for key in found})
        for size in layout.sizes
        for condition in collected.spec.conditions
        if (row := found.get((asked, condition, size)))
    ]  # fmt: skip
    columns = [
        Column("Vocabulary", count, text=True), text("Size"), text("Condition"),
        Column("Types reached", count), Column("Tokens", count),
        Column("With boundaries", count), Column("Paper", count),
        Column("Tokens/word", decimals(3)),
    ]  # fmt: skip
    caption = (
        "Training tokens by size of the vocabulary, with a tokenizer of its own for each cell. "
        "Types reached: fewer than asked where the text yields no more. Tokens: without sentence "
        "boundaries, as are those per word."
    )
    return _beside(
        "vocabularies", caption, columns, rows,
        _left_out(theirs, 9, layout, collected.spec.conditions),
        "Paper: Table 9, which does not say whether boundaries are counted and has no row for "
        "16,384; its 15,318,669 is printed 153,18,669.",
    )  # fmt: skip


# ---- the published numbers -----------------------------------------------------------------------


def _published(table: int) -> pl.DataFrame:
    from poshgrid.statistics import published

    return published.load(*published.POSH, f"table{table}")


def _by(theirs: pl.DataFrame, *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(row[key] for key in keys): row for row in theirs.iter_rows(named=True)}


def _beside(
    name: str, caption: str, columns: list[Column], rows: list[list[Any]], missing: str, with_: str
) -> Table:
    """Return a table that lacks the paper's columns if they are empty, and says so."""
    paper = [column.title for column in columns if "paper" in column.title.lower()]
    table = Table(name, f"{caption} {with_}", columns, rows)
    if empty(table, paper) != paper:
        return table
    return without(replace(table, caption=f"{caption} {missing}"), paper)


def _left_out(theirs: pl.DataFrame, table: int, layout: Layout, names: list[str]) -> str:
    """Say why a table has no published numbers."""
    sizes = list(dict.fromkeys(theirs["size"]))
    if not set(sizes) & set(layout.sizes):
        return (
            f"Without published numbers: Table {table} of the paper is about {', '.join(sizes)} "
            f"words, this grid about {', '.join(layout.sizes)}."
        )
    known = set(theirs["condition"]) if "condition" in theirs.columns else {BASE}
    if not known & set(names):
        what = "conditions" if "condition" in theirs.columns else "base"
        return (
            f"Without published numbers: Table {table} of the paper is about the {what} "
            f"{', '.join(sorted(known))}, which this grid does not have."
        )
    return f"Without published numbers: no row of this grid is one of the paper's Table {table}."


def _in_millions(value: float) -> str:
    return f"{value / _MILLION:g}"


def _as_printed(value: float) -> str:
    """Write sentences as the paper rounds them: ``430k``, ``1.3M``."""
    return f"{value / 1e6:g}M" if value >= _MILLION else f"{value / 1e3:g}k"
