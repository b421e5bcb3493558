"""A condition at a size: a base, less its evidence, plus what is put back (paper, section 3.1).

The plan is made with numbers and labels alone; then the text is copied piece by piece, so that
memory does not grow with it.
"""

from __future__ import annotations

import zlib
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid import logs, specs
from poshgrid.corpora.schema import SENTENCES, trains
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.evidence.label import cover
from poshgrid.evidence.matching import match
from poshgrid.evidence.schema import CONDITION, column, evidence_schema, filters_of
from poshgrid.files import BATCH, read_schema, read_table, table_batches, table_writer, write_json

SPLITS = ("train", "dev", "test")
_PLAN = ("sent_id", "source", "n_words", "split", "size")


def build(
    spec: specs.ConditionSpec, sentences: Path, evidence: Path | None, output: Path
) -> dict[str, object]:
    """Write ``train``, ``dev`` and ``test.parquet`` and ``statistics.json`` of a condition.

    Train is the base at this size less the sentences that the condition's filters remove, and, with
    the backstop, those that look like evidence by their words alone. Where it is down-sampled, a
    share of the *base's* sentences is kept, so that all conditions of a base have the same number
    (FiCT, section 4). Then, for each re-insertion, ``round(rate * n)`` of the n sentences left are
    replaced by evidence, matched by source and length. Dev and test are the base's less what *any*
    filter of the evidence table removes: the same for all conditions of a base, so that losses can
    be compared.

    Args:
        spec: the condition, the size, and whether the backstop is on.
        sentences: the base's table.
        evidence: labels of its sentences; ``None`` when no condition of the base has a filter.
        output: folder to write to.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: a filter has no labels, a split is empty, or evidence or sentences are too
            scarce.
    """
    condition = spec.condition
    base = _plan(sentences)
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
    rows = base.hstack(labels.drop("sent_id"))
    train = rows.filter(pl.col("split") == "train")
    at_size = rows.filter(trains(rows, spec.size))
    whole = {
        "train": (at_size, filters),
        **{s: (rows.filter(pl.col("split") == s), known) for s in ("dev", "test")},
    }
    parts = {split: part.filter(~_out(spec, names)) for split, (part, names) in whole.items()}
    for split, part in parts.items():
        if part.is_empty():
            raise PoshgridError(
                f"{sentences}: condition {condition.name!r} at {spec.size} has no {split} "
                "sentences; give the base more words (bases.sources, dev_words, test_words)"
            )
    parts["train"] = _downsample(spec, parts["train"], at_size.height)
    swaps, reinserted = _reinsert(spec, parts["train"], at_size, train, bare=bare)
    statistics: dict[str, object] = {
        "condition": condition.name,
        "base": condition.base,
        "size": spec.size,
        "splits": {
            split: _statistics(_exchanged(part, train, swaps) if split == "train" else part)
            for split, part in parts.items()
        },
        "removed": {
            split: {f: int(part[column(f, "removed")].sum()) for f in names}
            for split, (part, names) in whole.items()
        },
        "backstop": {
            split: {f: _backstop_alone(part, f) for f in names if spec.backstop}
            for split, (part, names) in whole.items()
        },
        "downsample": condition.downsample,
        "reinserted": reinserted,
    }
    _write(sentences, {split: part["sent_id"] for split, part in parts.items()}, swaps, output)
    write_json(output / "statistics.json", statistics)
    logs.get(__name__).info(
        "%s at %s: %s sentences, %s put back",
        condition.name, spec.size, f"{parts['train'].height:,}", reinserted or "none",
    )  # fmt: skip
    return statistics


def _plan(sentences: Path) -> pl.DataFrame:
    """Read what is needed of a base to plan its conditions: no text."""
    parts = [
        batch.with_columns(pl.col("source", "split", "size").cast(pl.Categorical))
        for batch in table_batches(sentences, SENTENCES, _PLAN)
    ]
    return pl.concat(parts or [read_table(sentences, SENTENCES, _PLAN)])


def _labels(evidence: Path | None, base: pl.DataFrame, sentences: Path) -> pl.DataFrame:
    """Return the table of evidence, or one with no filters."""
    if evidence is None:
        return base.select("sent_id")
    if not evidence.is_file():
        raise PoshgridError(f"{evidence}: not found; run poshgrid evidence first")
    schema = evidence_schema(filters_of(read_schema(evidence)))
    labels = read_table(evidence, schema, [name for name in schema if schema[name] != pl.List])
    cover(base["sent_id"], labels["sent_id"], evidence, "a label", f"label {sentences} again")
    return labels


def _out(spec: specs.ConditionSpec, filters: list[str]) -> pl.Expr:
    """Return whether any of the filters, or its backstop, removes a sentence."""
    kinds = ("removed", "backstop") if spec.backstop else ("removed",)
    return pl.any_horizontal([pl.lit(False), *(column(f, k) for f in filters for k in kinds)])


def _backstop_alone(rows: pl.DataFrame, word: str) -> int:
    """Count the sentences that a filter removes for their words, and not for their tree."""
    return int((rows[column(word, "backstop")] & ~rows[column(word, "removed")]).sum())


def _downsample(spec: specs.ConditionSpec, filtered: pl.DataFrame, total: int) -> pl.DataFrame:
    """Keep a share of the base's sentences, in their order: the same ones in all conditions.

    Every sentence has a rank that depends on the seed and on its sent_id, and the first are kept.
    """
    condition = spec.condition
    if condition.downsample == 1:
        return filtered
    number = int(condition.downsample * total)
    if filtered.height < number:
        raise PoshgridError(
            f"condition {condition.name!r} at {spec.size}: {number:,} sentences are to be kept "
            f"(downsample {condition.downsample:g} of {total:,}), and its filters leave "
            f"{filtered.height:,}; lower downsample, for all conditions of the base, to "
            f"{int(filtered.height / total * 1000) / 1000:g}"
        )
    last = int(filtered["sent_id"].max() or 0) + 1  # type: ignore[arg-type]
    ranks = np.random.default_rng(condition.seed).random(last)
    chosen = np.argsort(ranks[filtered["sent_id"]], kind="stable")[:number]
    return filtered[np.sort(chosen).tolist()]


def _reinsert(
    spec: specs.ConditionSpec,
    filtered: pl.DataFrame,
    at_size: pl.DataFrame,
    train: pl.DataFrame,
    *,
    bare: bool,
) -> tuple[dict[int, int], dict[str, object]]:
    """Choose the evidence that is put back: sent_id that gives way -> sent_id of the evidence."""
    condition = spec.condition
    total = filtered.height
    swaps: dict[int, int] = {}
    facts: dict[str, object] = {}
    source_words = dict(
        filtered.group_by(pl.col("source").cast(pl.String))
        .agg(pl.col("n_words").cast(pl.Int64).sum())
        .iter_rows()
    )
    light = ("sent_id", "source", "n_words")
    for item in [] if bare else sorted(condition.reinsert, key=lambda item: item.filter):
        others = [f for f in sorted(condition.filters) if f != item.filter]
        # Evidence for two filters at once would raise the rate of both.
        mine = pl.col(column(item.filter, item.pool)) & ~_out(spec, others)
        first = at_size.filter(mine).select(light)
        inside = set(first["sent_id"])
        rest = train.filter(mine).select(light)
        rest = rest.filter(~pl.col("sent_id").is_in(inside))
        available = first.height + rest.height
        rate = first.height / at_size.height if item.rate == "natural" else item.rate
        needed = round(rate * total)
        if available < needed:
            raise PoshgridError(
                f"condition {condition.name!r} at {spec.size}: re-insertion of {item.filter!r} at "
                f"rate {rate:g} needs {needed:,} sentences with evidence, and the base has "
                f"{available:,}; lower the rate to {_feasible(available, total):g}, or give the "
                "base more words"
            )
        # By name, so that one filter's choice does not depend on which others there are
        generator = np.random.default_rng([condition.seed, zlib.crc32(item.filter.encode())])
        pool = pl.concat([_shuffled(first, generator), _shuffled(rest, generator)])
        free = filtered.select(light).filter(~pl.col("sent_id").is_in(list(swaps)))
        try:
            found = match(pool, needed, free, source_words, item.tolerance, generator)
        except PoshgridError as error:
            raise PoshgridError(
                f"condition {condition.name!r} at {spec.size}: re-insertion of {item.filter!r}: "
                f"{error}"
            ) from error
        swaps |= found.places
        facts[item.filter] = {
            "sentences": needed,
            "rate": round(rate, 8),
            "pool": item.pool,
            "available": available,
            "from_larger_sizes": sum(e not in inside for e in found.places.values()),
            "words_difference": found.words_difference,
        }
    return swaps, facts


def _exchanged(part: pl.DataFrame, train: pl.DataFrame, swaps: dict[int, int]) -> pl.DataFrame:
    """Return source and words of a split after the exchange."""
    kept = part.filter(~pl.col("sent_id").is_in(list(swaps)))
    put = train.filter(pl.col("sent_id").is_in(list(swaps.values())))
    return pl.concat([kept.select("source", "n_words"), put.select("source", "n_words")])


def _write(
    sentences: Path, splits: dict[str, pl.Series], swaps: dict[int, int], output: Path
) -> None:
    """Copy the sentences of each split from the base, evidence in the places that it takes."""
    content = [name for name in CONDITION if name != "replaced"]
    last = max(int(ids.max() or 0) for ids in splits.values()) + 1  # type: ignore[arg-type]
    masks = {split: np.zeros(last, bool) for split in splits}
    for split, ids in splits.items():
        masks[split][ids] = True
    coming = set(swaps.values())
    evidence: dict[int, dict[str, object]] = {}
    for batch in table_batches(sentences, SENTENCES, content) if swaps else ():
        for row in batch.filter(pl.col("sent_id").is_in(coming)).iter_rows(named=True):
            evidence[row["sent_id"]] = row
    incoming = pl.DataFrame(
        [{**evidence[mine], "replaced": place} for place, mine in sorted(swaps.items())],
        schema=CONDITION,
    )
    with ExitStack() as stack:
        append = {
            split: stack.enter_context(table_writer(output / f"{split}.parquet", CONDITION))
            for split in splits
        }
        for start, batch in enumerate(table_batches(sentences, SENTENCES, content)):
            first = start * BATCH
            own = batch.with_columns(replaced=pl.lit(None, pl.UInt32), place=pl.col("sent_id"))
            for split, mask in masks.items():
                inside = np.zeros(batch.height, bool)
                part = mask[first : first + batch.height]
                inside[: len(part)] = part
                rows = own.filter(inside)
                if split == "train" and swaps:
                    ids = set(rows["sent_id"]) & swaps.keys()
                    put = incoming.filter(pl.col("replaced").is_in(ids)).with_columns(
                        place=pl.col("replaced")
                    )
                    rows = pl.concat([rows.filter(~pl.col("sent_id").is_in(ids)), put])
                append[split](rows.sort("place").select(list(CONDITION)))


def _feasible(available: int, total: int) -> float:
    """Return the largest rate, to six decimals, that needs no more than is available."""
    rate = int(min(1.0, (available + 0.5) / total) * 1e6) / 1e6 if total else 0.0
    while rate > 0 and round(rate * total) > available:
        rate = max(0.0, round(rate - 1e-6, 6))
    return rate


def _shuffled(frame: pl.DataFrame, generator: np.random.Generator) -> pl.DataFrame:
    return frame[generator.permutation(frame.height).tolist()] if frame.height else frame


def _statistics(rows: pl.DataFrame) -> dict[str, object]:
    """Return sentences, words and words per sentence, in all and by source."""

    def facts(part: pl.DataFrame) -> dict[str, object]:
        number = int(part["n_words"].sum())
        return {
            "sentences": part.height,
            "words": number,
            "words_per_sentence": round(number / part.height, 4),
        }

    by_source = sorted(
        rows.partition_by("source", as_dict=True).items(), key=lambda item: str(item[0][0])
    )
    return {**facts(rows), "sources": {str(key[0]): facts(part) for key, part in by_source}}
