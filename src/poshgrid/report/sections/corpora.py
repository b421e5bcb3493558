"""The tables of the corpora with the paper's: Tables 2 (words), 4 (sentences), 9 (tokens).

A published number stands beside ours where size, source and condition have the paper's names. A
grid with none of them has no published columns, and the caption says so.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout
from poshgrid.report.parts import Page
from poshgrid.statistics import published
from poshgrid.statistics.exposure import ALL
from poshgrid.tables.words import count, decimals, span

TITLE, ORDER, AUDIENCE = "Corpora", 80, "reviewer"
CORPUS = "baby"  # the corpus that Table 2 is about


def write(page: Page) -> dict[str, Any]:
    """Write the three tables, as far as they are there."""
    for kind, rows, paper in (
        ("words-by-source", words_by_source(page.collected, page.layout), "paper"),
        ("exposure", exposure(page.collected, page.layout), "sentences_paper"),
        ("vocabularies", vocabularies(page.collected), "paper"),
    ):
        known = any(rows[name].count() for name in rows.columns if name.endswith(paper))
        page.table(kind, rows, known)
    return {}


def _published(table: int) -> pl.DataFrame:
    return published.load(*published.POSH, f"table{table}")


def words_by_source(collected: Collected, layout: Layout) -> pl.DataFrame:
    """Return the words that each source gives to each size (the paper's Table 2)."""
    parts = [*layout.sizes, "dev", "test"]
    theirs = _published(2).select("source", "size", paper=pl.col("million_words") * 1_000_000)
    printed = {(source, size): words for source, size, words in theirs.iter_rows()}
    rows = []
    for corpus, statistics in collected.corpora.items():
        by_part = {p: statistics.get(p) or statistics.get("train", {}).get(p) or {} for p in parts}
        sources = dict.fromkeys(s for part in by_part.values() for s in part.get("sources", {}))
        for source in (*sources, *([ALL] if sources else [])):
            row = {"corpus": corpus, "source": "all sources" if source == ALL else source}
            for part, facts in by_part.items():
                counted = facts if source == ALL else facts.get("sources", {}).get(source, {})
                row[part] = counted.get("words")
                row[f"{part}, paper"] = printed.get((source, part)) if corpus == CORPUS else None
            rows.append(row | {"class": "total" if source == ALL else None})
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.drop(n for n in frame.columns if n.endswith("paper") and not frame[n].count())


def exposure(collected: Collected, layout: Layout) -> pl.DataFrame:
    """Return what the models see, compared with their corpus and the paper's Table 4."""
    theirs = _published(4).select(
        "condition", "size", sentences_paper=pl.col("sentences").cast(pl.Float64),
        ratio_paper="words_per_sentence", source=pl.lit(ALL),
    )  # fmt: skip
    order = {condition: i for i, condition in enumerate(collected.spec.conditions)}
    by_size = {size: i for i, size in enumerate(layout.sizes)}
    single = pl.len().over("size", "condition") == 2  # one source needs no row
    everything = pl.col("source") == ALL
    rows = (
        collected.exposure.filter(everything | ~single)
        .sort(pl.col("size").replace_strict(by_size), pl.col("condition").replace_strict(order),
              maintain_order=True)
        .join(theirs, on=["condition", "size", "source"], how="left", maintain_order="left")
        .with_columns(
            pl.when(everything).then(pl.lit("total")).alias("class"),
            ratio=pl.when(pl.col("sentences") > 0).then(pl.col("words") / pl.col("sentences")),
        )
    )  # fmt: skip
    for name, show in (("epochs", decimals(2)), ("words_seen", count), ("tokens_seen", count)):
        ends = rows.select(f"{name}_low", f"{name}_high").iter_rows()
        texts = [show(low) if low is not None and low == high else span(low, high, show)
                 for low, high in ends]  # fmt: skip
        rows = rows.with_columns(pl.Series(name, texts, pl.String))
    return rows


def vocabularies(collected: Collected) -> pl.DataFrame:
    """Return training tokens by size of the vocabulary (the paper's Table 9)."""
    rows = [
        {"condition": condition, "size": size, **row}
        for (condition, size), sweep in collected.sweeps.items()
        for row in sweep.get("vocabularies", [])
    ]
    key = ["vocabulary_size", "condition", "size"]
    if not rows:
        return pl.DataFrame()
    theirs = _published(9).select(*key, paper="tokens")
    order = {cell: i for i, cell in enumerate(dict.fromkeys(row["condition"] for row in rows))}
    frame = pl.DataFrame(rows, infer_schema_length=None)
    words = {size: facts.words for (_, size), facts in zip(
        (cell.split("/") for cell in collected.spec.cells), collected.spec.cells.values(),
        strict=True)}  # fmt: skip
    return frame.join(theirs, on=key, how="left").sort(
        "vocabulary_size", pl.col("size").replace_strict(words),
        pl.col("condition").replace_strict(order),
    )  # fmt: skip
