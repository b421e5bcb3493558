"""What else goes when a filter removes: sentences, words, constructions and word forms, by source.

A removal has a price: with the questions that hold evidence go other relative clauses, long
sentences, words. What is hit more than its share of the words tells what a difference between a
condition and its base may be due to besides the evidence; its control loses as much, at random.

Word forms are counted by source, too: how far do the two unigram distributions diverge?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import logs
from poshgrid.config import specs
from poshgrid.config.sizes import words
from poshgrid.corpora.schema import trains
from poshgrid.corpora.words import WORD
from poshgrid.errors import PoshgridError
from poshgrid.evidence.constructions import BY_WORDS, CONSTRUCTIONS
from poshgrid.evidence.schema import BY_TREE, COLLATERAL, CONDITION, Labels
from poshgrid.evidence.sentences import side_by_side
from poshgrid.files import (
    read_json,
    read_schema,
    table_batches,
    table_height,
    write_json,
    write_table,
)

Forms = dict[str, Counter[str]]
"""Source -> word form -> how often it occurs."""


def count(batch: pl.DataFrame, forms: Forms) -> None:
    """Add the word forms of some sentences.

    A form is in lower case, with typewriter apostrophes, cut as for the n-gram nulls: marks are
    forms of their own.

    Args:
        batch: columns ``source`` and ``text``.
        forms: what they are added to.
    """
    text = pl.col("text").str.to_lowercase().str.replace_all("’", "'", literal=True)
    found = (
        batch.select("source", form=text.str.extract_all(WORD.pattern))
        .explode("form")
        .drop_nulls("form")
        .group_by("source", "form")
        .len()
    )
    for source, form, number in found.iter_rows():
        forms.setdefault(source, Counter())[form] += number


def divergence(before: Mapping[str, int], after: Mapping[str, int]) -> float | None:
    """Return the Jensen-Shannon divergence of two unigram distributions, in bits (Lin 1991).

    Args:
        before: form -> how often it occurs.
        after: the same of the other text.

    Returns:
        0 where they are the same, 1 where no form is shared; ``None`` if one of them has no word.
    """
    from scipy.special import rel_entr

    forms = sorted({*before, *after})  # sums depend on the order
    one, other = (np.array([each.get(f, 0) for f in forms], float) for each in (before, after))
    if not one.sum() or not other.sum():
        return None
    one, other = one / one.sum(), other / other.sum()
    mean = (one + other) / 2
    nats = (rel_entr(one, mean).sum() + rel_entr(other, mean).sum()) / 2
    return round(max(0.0, float(nats / np.log(2))), 8)


ALL = "all"
LONG = 15
"""A sentence is long above so many words."""
PARSED, OVER = "parsed", f"over_{LONG}_words"
MEASURES = ("sentences", "words", PARSED, OVER, *CONSTRUCTIONS)
SETS = ("before", "after", "removed", "removed_by_rule", "removed_by_backstop")
_BASE = ("sent_id", "source", "text", "n_words", "split", "size")
_AGAIN = "run `poshgrid run -R condition`"


def collateral(
    spec: specs.CollateralSpec, condition: Path, sentences: Path, evidence: Path, output: Path
) -> dict[str, object]:
    """Write ``collateral.parquet`` and ``statistics.json`` of a condition that goes without.

    What is counted *before* are the base's training sentences at the size; *after* are the
    condition's own, which may have been refilled, down-sampled or re-inserted; *removed* is what
    its filters, or the control, take out of the former. Questions, wh-questions, reflexives and
    long sentences are told by the words; other constructions are counted among parsed sentences.

    The divergence is between the word forms before and after. Tables are read piece by piece; of a
    sentence six bytes are kept.

    Args:
        spec: the condition, its size, and whether the backstop is on.
        condition: folder of its tables.
        sentences: the base's table.
        evidence: labels of the base, from which the condition was made.
        output: folder to write to.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: the condition goes without nothing, or a table is not of the others.
    """
    chosen = spec.condition
    if not (chosen.filters or chosen.control) or spec.size in chosen.unfiltered_sizes:
        raise PoshgridError(
            f"condition {chosen.name!r} at {spec.size} is its base: nothing was removed; name a "
            "condition with filters, or a control, at a size that is filtered"
        )
    trained, after = _trained(condition / "train.parquet", table_height(sentences))
    counts, before = _counts(spec, trained, sentences, evidence)
    table = _table(spec, counts)
    numbers = {(row["source"], row["measure"]): row for row in table.iter_rows(named=True)}
    _check(numbers, condition / "statistics.json", evidence)
    sources = table["source"].unique(maintain_order=True)
    for forms in (before, after):
        forms[ALL] = sum(forms.values(), Counter[str]())
    bits = {s: divergence(before.get(s, {}), after.get(s, {})) for s in sources}
    parsed = {
        s: round(numbers[s, PARSED]["before"] / number, 8)
        if (number := numbers[s, "sentences"]["before"])
        else None
        for s in sources
    }
    facts: dict[str, object] = {
        "condition": chosen.name,
        "base": chosen.base,
        "size": spec.size,
        "control": chosen.control,
        "words": {
            "nominal": words(spec.size),
            "before": numbers[ALL, "words"]["before"],
            "actual": numbers[ALL, "words"]["after"],
        },
        "parsed": {ALL: parsed.pop(ALL), "sources": parsed},
        "divergence": {ALL: bits.pop(ALL), "sources": bits},
    }
    write_table(table, output / "collateral.parquet", COLLATERAL)
    write_json(output / "statistics.json", facts)
    logs.get(__name__).info(
        "%s at %s: %s of %s sentences removed", chosen.name, spec.size,
        numbers[ALL, "sentences"]["removed"], numbers[ALL, "sentences"]["before"],
    )  # fmt: skip
    return facts


def _check(
    numbers: dict[tuple[str, str], dict[str, Any]], statistics: Path, evidence: Path
) -> None:
    """Raise if a condition was made from other tables, by the counts of its statistics."""
    made = read_json(statistics)
    try:
        expected = {
            ("sentences", "before"): made["whole"]["sentences"],
            ("words", "before"): made["whole"]["words"],
            ("words", "after"): made["splits"]["train"]["words"],
            ("sentences", "removed"): made["removed_sentences"],
        }
    except (KeyError, TypeError) as error:
        raise PoshgridError(
            f"{statistics}: not the statistics of a filtered condition; {_AGAIN}"
        ) from error
    for (measure, column), number in expected.items():
        if numbers[ALL, measure][column] not in (None, number):
            raise PoshgridError(
                f"{statistics}: {measure} {column}: {number}, not by {evidence}: the one was not "
                f"made from the other; {_AGAIN}"
            )


def _trained(path: Path, height: int) -> tuple[pl.DataFrame, Forms]:
    """Return what a condition trains on, a row for each sentence of its base, and its word forms.

    Args:
        path: its ``train.parquet``.
        height: sentences of the base.

    Returns:
        ``own``: the sentence stands in its own place; ``put``: how often it stands in the place of
        another; ``left``: it gave way to another.

    Raises:
        PoshgridError: the table is missing or broken, or holds sentences of another base.
    """
    own, put, left = (np.zeros(height, kind) for kind in (bool, np.uint32, bool))
    forms: Forms = {}
    for batch in table_batches(path, CONDITION, ["sent_id", "source", "text", "replaced"]):
        ids, replaced = batch["sent_id"], batch["replaced"]
        largest = max(batch.select(pl.col("sent_id", "replaced").max().fill_null(0)).row(0))
        if ids.has_nulls() or largest >= height:
            raise PoshgridError(f"{path}: holds a sentence that is not in its base; {_AGAIN}")
        own[ids.filter(replaced.is_null())] = True
        np.add.at(put, ids.filter(replaced.is_not_null()).to_numpy(), 1)
        left[replaced.drop_nulls()] = True
        count(batch, forms)
    return pl.DataFrame({"own": own, "put": put, "left": left}), forms


def _counts(
    spec: specs.CollateralSpec, trained: pl.DataFrame, sentences: Path, evidence: Path
) -> tuple[pl.DataFrame, Forms]:
    """Return sums by source, a column for each measure and set, and the base's word forms."""
    labels = Labels.of(read_schema(evidence))
    labels.hold(spec.condition.filters, evidence)
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
    }
    forms: Forms = {}
    parts = []
    for rows in side_by_side(sentences, _BASE, evidence, labels, [*dict.fromkeys(both), *BY_TREE]):
        mine = rows.hstack(trained[rows["sent_id"]]).with_columns(at_size=trains(rows, spec.size))
        count(mine.filter("at_size"), forms)
        parts.append(
            mine.group_by("source").agg(
                (measure.cast(pl.Int64) * members.cast(pl.Int64)).sum().alias(f"{name}/{each}")
                for name, measure in measures.items()
                for each, members in sets.items()
            )
        )
    if not parts:
        raise PoshgridError(f"{sentences}: no sentences; run `poshgrid run -R mix`")
    return pl.concat(parts).group_by("source").sum().sort("source"), forms


def _table(spec: specs.CollateralSpec, counts: pl.DataFrame) -> pl.DataFrame:
    """Return the tidy table; what is not known is null."""
    whole = counts.select(pl.lit(ALL).alias("source"), pl.exclude("source").sum())
    rows: list[dict[str, Any]] = []
    for sums in pl.concat([counts, whole]).iter_rows(named=True):
        for measure in MEASURES:
            row = {each: sums[f"{measure}/{each}"] for each in SETS}
            for each in SETS:
                trees = sums[f"{PARSED}/{each}"] or not sums[f"sentences/{each}"]
                if measure in BY_TREE and not trees:
                    row[each] = None
            if spec.condition.control:
                row["removed_by_rule"] = row["removed_by_backstop"] = None
                if spec.condition.downsample < 1:  # what was removed, and what merely not drawn?
                    row["removed"] = None
            rows.append({"source": sums["source"], "measure": measure, **row})
    return pl.DataFrame(rows, schema=COLLATERAL)
