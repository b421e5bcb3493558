"""Side effects of filtering: sentences, words and constructions that are removed, by source.

With the questions that contain evidence a filter also removes other relative clauses, long
sentences, and words. A construction that loses more than its share of the words may explain a
difference between a condition and its corpus. A control loses as much at random.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from poshgrid.config import specs
from poshgrid.core import logs
from poshgrid.core.files import read_json, read_schema, read_table, write_table
from poshgrid.corpora.schema import trains
from poshgrid.evidence.constructions import BY_TREE, BY_WORDS, CONSTRUCTIONS
from poshgrid.evidence.schema import CONDITION, SIDE_EFFECTS, Labels
from poshgrid.evidence.sentences import side_by_side

ALL = "all"
LONG = 15
"""A sentence with more words is long."""
OVER = f"over_{LONG}_words"
MEASURES = ("sentences", "words", OVER, *CONSTRUCTIONS)
REWRITTEN = "rewritten"
"""The measure of conditions with rewriters: sentences that one changed; only ``after`` is known."""
ENGLISH = ("wh_question", "reflexive", "embedded_question")
"""Measures that rely on English words and are null for other languages."""
SETS = ("before", "after", "removed")


def side_effects(
    spec: specs.SideEffectsSpec, condition: Path, sentences: Path, evidence: Path, output: Path
) -> dict[str, object]:
    """Write ``side_effects.parquet`` of a condition that removes something.

    *Before* counts the corpus's training sentences at the size; *after* the condition's own, which
    may have been refilled, down-sampled or re-inserted; *removed* what its filters, or the control,
    remove from the former. Questions, wh-questions, reflexives and long sentences are found in the
    words; other constructions by the trees before any rewriting.

    Args:
        spec: the condition and its size.
        condition: folder of its tables.
        sentences: the corpus's table.
        evidence: labels of the corpus, from which the condition was made.
        output: folder to write to.

    Returns:
        Number of sentences before and removed.

    Raises:
        PoshgridError: a table is missing or broken, or has no labels of a filter.
    """
    labels = Labels.of(read_schema(evidence))
    labels.check(spec.condition.filters, evidence)
    removing = labels.columns(spec.condition.filters)
    columns = ["sent_id", "source", "text", "n_words", "split", "size"]
    tests = [*dict.fromkeys(removing), *BY_TREE]
    corpus = pl.concat(side_by_side(sentences, columns, evidence, labels, tests))
    columns = ["sent_id", "source", "text", "n_words", "replaced"]
    train = read_table(condition / "train.parquet", CONDITION, columns)
    train = train.join(corpus.select("sent_id", *BY_TREE), on="sent_id", maintain_order="left")
    gone = pl.any_horizontal(pl.lit(value=False), *removing)
    if spec.condition.control:
        own = train.filter(pl.col("replaced").is_null())["sent_id"]
        kept = pl.concat([own, train["replaced"].drop_nulls()])  # its sentences before re-insertion
        gone = ~pl.col("sent_id").is_in(kept.implode())
    at_size = trains(corpus, spec.size)
    counts = _sums(corpus, "before", at_size)
    for name, sums in (
        ("after", _sums(train, "after", pl.lit(value=True))),
        ("removed", _sums(corpus, "removed", at_size & corpus.select(gone).to_series())),
    ):
        counts = counts.join(sums, on=["source", "measure"], how="left").with_columns(
            pl.col(name).fill_null(0)
        )
    if spec.condition.rewrite:
        changed = read_json(condition / "statistics.json")["rewritten"]["sources"]
        numbers = pl.col("source").replace_strict(changed, default=0, return_dtype=pl.Int64)
        sources = counts.select(pl.col("source").unique(maintain_order=True))
        rewritten = sources.with_columns(measure=pl.lit(REWRITTEN), after=numbers)
        counts = pl.concat([counts, rewritten], how="diagonal")
    table = _table(spec, counts)
    write_table(table, output / "side_effects.parquet", SIDE_EFFECTS)
    (whole,) = table.filter(source=ALL, measure="sentences").to_dicts()
    facts = {key: whole[key] for key in ("before", "removed")}
    logs.get(__name__).info("%s at %s: sentences: %s", spec.condition.name, spec.size, facts)
    return facts


def _sums(rows: pl.DataFrame, name: str, members: pl.Series | pl.Expr) -> pl.DataFrame:
    """Return source, measure, and ``name``: the sum over the rows that are members."""
    measures = {
        "sentences": pl.lit(1),
        "words": pl.col("n_words"),
        OVER: pl.col("n_words") > LONG,
        **BY_WORDS,
        **{construction: pl.col(construction) for construction in BY_TREE},
    }
    member = pl.col("member").cast(pl.Int64)
    sums = (
        rows.with_columns(member=members)
        .group_by("source")
        .agg((counted.cast(pl.Int64) * member).sum().alias(m) for m, counted in measures.items())
    )
    return sums.unpivot(index="source", variable_name="measure", value_name=name)


def _table(spec: specs.SideEffectsSpec, counts: pl.DataFrame) -> pl.DataFrame:
    """Return the table, source by source; unknown values are null."""
    measures = [*MEASURES, *([REWRITTEN] if spec.condition.rewrite else [])]
    whole = counts.group_by("measure").agg(pl.col(SETS).sum()).with_columns(source=pl.lit(ALL))
    order = pl.col("measure").cast(pl.Enum(measures))
    unknown = {name: pl.col("measure") == REWRITTEN for name in SETS}
    unknown["after"] = pl.lit(value=False)
    if spec.condition.control and spec.condition.downsample != 1:
        unknown["removed"] = pl.lit(value=True)  # removed and not drawn cannot be distinguished
    foreign = pl.col("measure").is_in(ENGLISH) & (spec.language != "en")
    return (
        pl.concat([counts, whole], how="diagonal")
        .sort(pl.col("source") == ALL, "source", order)
        .select(
            "source", "measure",
            *(pl.when(~(unknown[name] | foreign)).then(name).alias(name) for name in SETS),
        )
        .cast(pl.Schema(SIDE_EFFECTS))
    )  # fmt: skip
