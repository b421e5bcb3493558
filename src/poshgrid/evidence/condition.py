"""A condition at a size: a base, less its evidence, plus what is put back (paper, section 3.1)."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid import logs, specs
from poshgrid.config import words
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.evidence.label import cover
from poshgrid.evidence.matching import replacements
from poshgrid.evidence.schema import CONDITION, column, evidence_schema, filters_of
from poshgrid.files import read_table, write_json, write_table

SPLITS = ("train", "dev", "test")


def build(
    spec: specs.ConditionSpec, sentences: Path, evidence: Path | None, output: Path
) -> dict[str, object]:
    """Write ``train``, ``dev`` and ``test.parquet`` and ``statistics.json`` of a condition.

    Train is the base at this size less the sentences that the condition's filters remove; then, for
    each re-insertion, ``round(rate * n)`` of the n sentences left are replaced by strict evidence,
    so that the number of sentences stays. Dev and test are the base's less what *any* filter of the
    evidence table removes: the same for all conditions of a base, so that losses can be compared.

    Args:
        spec: the condition and the size.
        sentences: the base's table.
        evidence: labels of its sentences; ``None`` when no condition of the base has a filter.
        output: folder to write to.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: a filter has no labels, a split is empty, or evidence is too scarce.
    """
    condition = spec.condition
    base = read_table(sentences, SENTENCES)
    labels = _labels(evidence, base, sentences)
    known = filters_of(labels.columns)
    bare = spec.size in condition.unfiltered_sizes
    filters = [] if bare else sorted(condition.filters)
    for word in filters:
        if word not in known:
            raise PoshgridError(
                f"{evidence or sentences}: no labels of filter {word!r}, which condition "
                f"{condition.name!r} needs{did_you_mean(word, known)}; "
                "run poshgrid evidence with it"
            )
    rows = base.join(labels, on="sent_id", how="left", maintain_order="left")
    limit = words(spec.size)
    sizes = {size: words(size) for size in rows["size"].unique().to_list() if size}
    within = pl.col("size").is_in([size for size, number in sizes.items() if number <= limit])
    train = rows.filter(pl.col("split") == "train")
    at_size = train.filter(within)
    parts = {
        "train": at_size.filter(~_any(filters)),
        "dev": rows.filter((pl.col("split") == "dev") & ~_any(known)),
        "test": rows.filter((pl.col("split") == "test") & ~_any(known)),
    }
    for split, part in parts.items():
        if part.is_empty():
            raise PoshgridError(
                f"{sentences}: condition {condition.name!r} at {spec.size} has no {split} "
                "sentences; give the base more words (bases.sources, dev_words, test_words)"
            )
    parts["train"], reinserted = _reinsert(spec, parts["train"], at_size, train, bare=bare)
    for split in ("dev", "test"):
        parts[split] = parts[split].with_columns(pl.lit(None, pl.UInt32).alias("replaced"))
    statistics: dict[str, object] = {
        "condition": condition.name,
        "base": condition.base,
        "size": spec.size,
        "splits": {split: _statistics(part) for split, part in parts.items()},
        "removed": {
            "train": {f: _count(at_size, f) for f in filters},
            **{
                split: {f: _count(rows.filter(pl.col("split") == split), f) for f in known}
                for split in ("dev", "test")
            },
        },
        "reinserted": reinserted,
    }
    for split, part in parts.items():
        write_table(part.select(list(CONDITION)), output / f"{split}.parquet", CONDITION)
    write_json(output / "statistics.json", statistics)
    logs.get(__name__).info(
        "%s at %s: %s sentences, %s put back",
        condition.name, spec.size, f"{parts['train'].height:,}", reinserted or "none",
    )  # fmt: skip
    return statistics


def _labels(evidence: Path | None, base: pl.DataFrame, sentences: Path) -> pl.DataFrame:
    """Return the table of evidence, or one with no filters."""
    if evidence is None:
        return base.select("sent_id")
    if not evidence.is_file():
        raise PoshgridError(f"{evidence}: not found; run poshgrid evidence first")
    labels = read_table(evidence, evidence_schema(filters_of(pl.read_parquet_schema(evidence))))
    cover(base["sent_id"], labels["sent_id"], evidence, "a label", f"label {sentences} again")
    return labels


def _any(filters: list[str]) -> pl.Expr:
    """Return whether any of the filters removes a sentence."""
    return pl.any_horizontal([pl.lit(False), *(pl.col(column(f, "removed")) for f in filters)])


def _reinsert(
    spec: specs.ConditionSpec,
    filtered: pl.DataFrame,
    at_size: pl.DataFrame,
    train: pl.DataFrame,
    *,
    bare: bool,
) -> tuple[pl.DataFrame, dict[str, object]]:
    """Put strict evidence back into the filtered train split, at the rates of the condition."""
    condition = spec.condition
    total = filtered.height
    evidence: dict[int, int] = {}  # sent_id of the replaced sentence -> of the evidence
    facts: dict[str, object] = {}
    for item in [] if bare else sorted(condition.reinsert, key=lambda item: item.filter):
        needed = round(item.rate * total)
        others = [f for f in sorted(condition.filters) if f != item.filter]
        # Evidence for two filters at once would raise the rate of both.
        mine = pl.col(column(item.filter, "evidence")) & ~_any(others)
        first = at_size.filter(mine)
        rest = train.filter(mine & ~pl.col("sent_id").is_in(first["sent_id"].implode()))
        available = first.height + rest.height
        if available < needed:
            raise PoshgridError(
                f"condition {condition.name!r} at {spec.size}: re-insertion of {item.filter!r} at "
                f"rate {item.rate:g} needs {needed:,} sentences with evidence, and the base has "
                f"{available:,}; lower the rate to {_feasible(available, total):g}, or give the "
                "base more words"
            )
        # By name, so that one filter's choice does not depend on which others there are
        generator = np.random.default_rng([condition.seed, zlib.crc32(item.filter.encode())])
        pool = pl.concat([_shuffled(first, generator), _shuffled(rest, generator)])
        chosen = pool.head(needed)
        free = filtered.filter(~pl.col("sent_id").is_in(list(evidence)))
        evidence |= replacements(chosen, free, generator)
        facts[item.filter] = {
            "sentences": needed,
            "available": available,
            "from_larger_sizes": max(0, needed - first.height),
        }
    swap = pl.DataFrame(
        {"replaced": list(evidence), "evidence": list(evidence.values())},
        schema={"replaced": pl.UInt32, "evidence": pl.UInt32},
    )
    content = [name for name in CONDITION if name not in ("sent_id", "replaced")]
    placed = (
        filtered.select("sent_id")
        .join(swap, left_on="sent_id", right_on="replaced", how="left", maintain_order="left")
        .select(
            pl.coalesce("evidence", "sent_id").alias("sent_id"),
            pl.when(pl.col("evidence").is_not_null()).then(pl.col("sent_id")).alias("replaced"),
        )
    )
    return (
        placed.join(
            train.select("sent_id", *content), on="sent_id", how="left", maintain_order="left"
        ),
        facts,
    )


def _feasible(available: int, total: int) -> float:
    """Return the largest rate, to six decimals, that needs no more than is available."""
    rate = int(min(1.0, (available + 0.5) / total) * 1e6) / 1e6 if total else 0.0
    while rate > 0 and round(rate * total) > available:
        rate = max(0.0, round(rate - 1e-6, 6))
    return rate


def _shuffled(frame: pl.DataFrame, generator: np.random.Generator) -> pl.DataFrame:
    return frame[generator.permutation(frame.height).tolist()] if frame.height else frame


def _count(rows: pl.DataFrame, word: str) -> int:
    return int(rows[column(word, "removed")].sum())


def _statistics(rows: pl.DataFrame) -> dict[str, object]:
    """Return sentences, words and words per sentence, in all and by source."""

    def facts(part: pl.DataFrame) -> dict[str, object]:
        number = int(part["n_words"].sum())
        return {
            "sentences": part.height,
            "words": number,
            "words_per_sentence": round(number / part.height, 4),
        }

    by_source = sorted(rows.partition_by("source", as_dict=True).items())
    return {**facts(rows), "sources": {str(key[0]): facts(part) for key, part in by_source}}
