"""Side effects of filtering: sentences, words and constructions that are removed, by source.

With the questions that contain evidence a filter also removes other relative clauses, long
sentences, and words. A construction that loses more than its share of the words may explain a
difference between a condition and its corpus. A control loses as much at random.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import logs
from poshgrid.config import specs
from poshgrid.corpora.schema import trains
from poshgrid.evidence.constructions import BY_WORDS, CONSTRUCTIONS
from poshgrid.evidence.schema import BY_TREE, CONDITION, SIDE_EFFECTS, Labels
from poshgrid.evidence.sentences import side_by_side
from poshgrid.files import read_json, read_schema, table_batches, table_height, write_table

ALL = "all"
LONG = 15
"""A sentence with more words is long."""
PARSED, OVER = "parsed", f"over_{LONG}_words"
MEASURES = ("sentences", "words", PARSED, OVER, *CONSTRUCTIONS)
REWRITTEN = "rewritten"
"""The measure of conditions with rewriters: sentences that one changed; only ``after`` is known."""
ENGLISH = ("wh_question", "reflexive", "embedded_question")
"""Measures that rely on English words and are null for other languages."""
SETS = ("before", "after", "removed", "removed_by_rule", "removed_by_backstop")
_CORPUS = ("sent_id", "source", "text", "n_words", "split", "size")


def side_effects(
    spec: specs.SideEffectsSpec, condition: Path, sentences: Path, evidence: Path, output: Path
) -> dict[str, object]:
    """Write ``side_effects.parquet`` of a condition that removes something.

    *Before* counts the corpus's training sentences at the size; *after* the condition's own, which
    may have been refilled, down-sampled or re-inserted; *removed* what its filters, or the control,
    remove from the former. Questions, wh-questions, reflexives and long sentences are found in the
    words; other constructions are only counted in parsed sentences, by their trees before any
    rewriting. Tables are read in batches.

    Args:
        spec: the condition, its size, and whether the backstop is on.
        condition: folder of its tables.
        sentences: the corpus's table.
        evidence: labels of the corpus, from which the condition was made.
        output: folder to write to.

    Returns:
        Number of sentences before and removed.

    Raises:
        PoshgridError: a table is missing or broken, or has no labels of a filter.
    """
    trained = _trained(condition / "train.parquet", table_height(sentences))
    counts = _counts(spec, trained, sentences, evidence)
    if spec.condition.rewrite:
        counts = counts.update(_written(condition), on="source")
    table = _table(spec, counts)
    write_table(table, output / "side_effects.parquet", SIDE_EFFECTS)
    (whole,) = table.filter(source=ALL, measure="sentences").to_dicts()
    facts = {key: whole[key] for key in ("before", "removed")}
    logs.get(__name__).info("%s at %s: sentences: %s", spec.condition.name, spec.size, facts)
    return facts


def _trained(path: Path, height: int) -> pl.DataFrame:
    """Return how a condition uses each sentence of its corpus, one row per sentence.

    Args:
        path: its ``train.parquet``.
        height: number of sentences in the corpus.

    Returns:
        ``own``: whether the sentence is at its own position; ``put``: how often it replaces another
        sentence; ``left``: whether it was replaced.
    """
    own, put, left = (np.zeros(height, kind) for kind in (bool, np.uint32, bool))
    for batch in table_batches(path, CONDITION, ["sent_id", "replaced"]):
        ids, replaced = batch["sent_id"], batch["replaced"]
        own[ids.filter(replaced.is_null())] = True
        np.add.at(put, ids.filter(replaced.is_not_null()).to_numpy(), 1)
        left[replaced.drop_nulls()] = True
    return pl.DataFrame({"own": own, "put": put, "left": left})


def _written(condition: Path) -> pl.DataFrame:
    """Return by source what the words of rewritten sentences show: columns of the set ``after``."""
    measures = {"words": pl.col("n_words"), OVER: pl.col("n_words") > LONG, **BY_WORDS}
    parts = [
        batch.group_by("source").agg(
            counted.cast(pl.Int64).sum().alias(f"{name}/after")
            for name, counted in measures.items()
        )
        for batch in table_batches(condition / "train.parquet", CONDITION)
    ]
    changed = read_json(condition / "statistics.json").get("rewritten", {}).get("sources", {})
    counts = pl.concat(parts).group_by("source").sum()
    return counts.with_columns(
        pl.col("source")
        .replace_strict(changed, default=0, return_dtype=pl.Int64)
        .alias(f"{REWRITTEN}/after")
    )


def _counts(
    spec: specs.SideEffectsSpec, trained: pl.DataFrame, sentences: Path, evidence: Path
) -> pl.DataFrame:
    """Return sums by source, with a column for each measure and set."""
    labels = Labels.of(read_schema(evidence))
    labels.check(spec.condition.filters, evidence)
    rules, both = (
        labels.columns(spec.condition.filters, backstop=on) for on in (False, spec.backstop)
    )
    by_rule, gone = (pl.any_horizontal(pl.lit(False), *names) for names in (rules, both))
    if spec.condition.control:
        gone = ~(pl.col("own") | pl.col("left"))
    at_size = pl.col("at_size")
    sets = {
        "before": at_size,
        "after": pl.col("put") + pl.col("own"),
        "removed": at_size & gone,
        "removed_by_rule": at_size & by_rule,
        "removed_by_backstop": at_size & gone & ~by_rule,
    }
    measures = {
        "sentences": pl.lit(1),
        "words": pl.col("n_words"),
        PARSED: pl.col(BY_TREE[0]).is_not_null(),
        OVER: pl.col("n_words") > LONG,
        **BY_WORDS,
        **{name: pl.col(name).fill_null(value=False) for name in BY_TREE},
        **({REWRITTEN: pl.lit(0)} if spec.condition.rewrite else {}),
    }
    parts = []
    for rows in side_by_side(
        sentences, _CORPUS, evidence, labels, [*dict.fromkeys(both), *BY_TREE]
    ):
        mine = rows.hstack(trained[rows["sent_id"]]).with_columns(at_size=trains(rows, spec.size))
        parts.append(
            mine.group_by("source").agg(
                (counted.cast(pl.Int64) * members.cast(pl.Int64)).sum().alias(f"{measure}/{subset}")
                for measure, counted in measures.items()
                for subset, members in sets.items()
            )
        )
    return pl.concat(parts).group_by("source").sum().sort("source")


def _table(spec: specs.SideEffectsSpec, counts: pl.DataFrame) -> pl.DataFrame:
    """Return the table in long format; unknown values are null."""
    whole = counts.select(pl.lit(ALL).alias("source"), pl.exclude("source").sum())
    rows: list[dict[str, Any]] = []
    for sums in pl.concat([counts, whole]).iter_rows(named=True):
        for measure in (*MEASURES, *([REWRITTEN] if spec.condition.rewrite else [])):
            row = {subset: sums[f"{measure}/{subset}"] for subset in SETS}
            if measure == REWRITTEN:
                row = {subset: row[subset] if subset == "after" else None for subset in SETS}
            for subset in SETS:
                english = measure in ENGLISH and spec.language != "en"
                trees = sums[f"{PARSED}/{subset}"] or not sums[f"sentences/{subset}"]
                if english or (measure in BY_TREE and not trees):
                    row[subset] = None
            if spec.condition.control:
                row["removed_by_rule"] = row["removed_by_backstop"] = None
                if spec.condition.downsample != 1:  # removed and not drawn cannot be distinguished
                    row["removed"] = None
            rows.append({"source": sums["source"], "measure": measure, **row})
    return pl.DataFrame(rows, schema=SIDE_EFFECTS)
