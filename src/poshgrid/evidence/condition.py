"""A condition at a size: a base, less its evidence, plus what is put back (paper, section 3.1).

The plan is made with numbers and labels alone; then the text is copied piece by piece, so that
memory does not grow with it.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from poshgrid import logs
from poshgrid.config import Filter, specs
from poshgrid.config.runs import SPLITS
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence.constructions import BY_WORDS
from poshgrid.evidence.label import cover
from poshgrid.evidence.reinsertion import bare, digest, hold_apart, reinsert
from poshgrid.evidence.removal import Chosen, choose, facts, out
from poshgrid.evidence.schema import CONDITION, Labels
from poshgrid.files import (
    BATCH,
    read_json,
    read_schema,
    read_table,
    table_batches,
    table_writer,
    write_json,
)

QUESTION = "question"
_PLAN = ("sent_id", "source", "n_words", "split", "rank", "size")


def build(
    spec: specs.ConditionSpec,
    sentences: Path,
    evidence: Path | None,
    output: Path,
    beside: specs.BesideSpec | None = None,
) -> dict[str, object]:
    """Write ``train``, ``dev`` and ``test.parquet`` and ``statistics.json`` of a condition.

    Train is the base at this size less the sentences that the condition's filters remove, each in
    its reading, and, with the backstop, those that look like evidence by their words alone; or, of
    a control, less as many others. Where it is down-sampled, a share of the *base's* sentences is
    kept, so that all conditions of a base have the same number (FiCT, section 4); where it is
    refilled, further sentences take the place of what is gone. Then, for each re-insertion,
    ``round(rate * n)`` of the n sentences left are replaced by evidence, matched by source and
    length. Dev and test are the base's less what *any* reading of any filter of the evidence table
    removes: the same for all conditions of a base, so that losses can be compared.

    Args:
        spec: the condition, the size, and whether the backstop is on.
        sentences: the base's table.
        evidence: labels of its sentences; ``None`` when no condition of the base has a filter.
        output: folder to write to.
        beside: the conditions that must hold other sentences, and whether a void one is allowed.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: a filter has no labels or removes nothing, a split is empty, sentences are
            too scarce for a control, a refill or evidence, or another condition holds the same.
    """
    spec, beside = bare(spec), beside or specs.BesideSpec()
    condition = spec.condition
    base = _plan(sentences)
    labels, table = _labels(evidence, base, sentences)
    labels.hold(spec.filters, evidence or sentences, f", which condition {condition.name!r} needs")
    rows = base.hstack(table.drop("sent_id"))
    if any(QUESTION in each.condition.match for each in (spec, *beside.others)):
        rows = rows.with_columns(_questions(sentences))  # known of all, parsed or not
    chosen = choose(spec, labels, rows.filter(pl.col("split") == "train"))
    seen = read_json(evidence.with_suffix(".json")) if evidence and spec.filters else {}
    taken: dict[str, dict[str, Any]] = {
        word: {**found, "never": _never(seen, word)}
        for word, found in facts(labels, spec.filters, chosen.whole, backstop=spec.backstop).items()
    }
    if not beside.allow_void:
        _hold_to_labels(spec, taken, seen.get("foreign", []))
    swaps, reinserted = reinsert(spec, labels, chosen, allow_void=beside.allow_void)
    hold_apart(spec, beside, labels, chosen, swaps)
    every = [
        Filter(name=name, reading=reading)
        for name, readings in labels.readings.items()
        for reading in readings
    ]
    anything = out(labels, every, backstop=spec.backstop)
    heldout = {split: rows.filter(pl.col("split") == split) for split in SPLITS[1:]}
    parts = {"train": chosen.kept, **{s: part.filter(~anything) for s, part in heldout.items()}}
    for split, part in parts.items():
        if part.is_empty():
            raise PoshgridError(
                f"{sentences}: condition {condition.name!r} at {spec.size} has no {split} "
                f"sentences; give the base more words ({split}_words)"
            )
    statistics: dict[str, object] = {
        "condition": condition.name,
        "base": condition.base,
        "size": spec.size,
        "splits": {
            split: _statistics(_exchanged(part, chosen, swaps) if split == "train" else part)
            for split, part in parts.items()
        },
        "whole": _statistics(chosen.whole),
        "removed": taken,
        "removed_sentences": chosen.whole.height - chosen.left.height,
        "removed_words": _words(chosen.whole) - _words(chosen.left),
        "refilled": {
            "sentences": chosen.filled.height - chosen.left.height,
            "words": _words(chosen.filled) - _words(chosen.left),
        },
        "heldout_removed": {s: part.height - parts[s].height for s, part in heldout.items()},
        "backstop": spec.backstop,
        "control": condition.control,
        "downsample": condition.downsample,
        "reinserted": reinserted,
        "digest": digest(chosen, swaps),
    }
    _write(sentences, {split: part["sent_id"] for split, part in parts.items()}, swaps, output)
    write_json(output / "statistics.json", statistics)
    logs.get(__name__).info(
        "%s at %s: %s sentences, %s put back",
        condition.name, spec.size, f"{chosen.kept.height:,}", reinserted or "none",
    )  # fmt: skip
    return statistics


def _never(seen: dict[str, Any], word: str) -> list[str]:
    """Return the labels that ``filter.reading`` asks for and no tree of its parser bears."""
    name, _, reading = word.partition(".")
    never: list[str] = seen["filters"][name][reading]["never"]
    return never


def _hold_to_labels(
    spec: specs.ConditionSpec, taken: dict[str, dict[str, Any]], foreign: list[str]
) -> None:
    """Refuse a filter that removes nothing, or that asks for labels which its parser never gives.

    The condition would be its base by another name, or keep a part of what it is to go without.
    """
    condition = spec.condition
    for word, counts in taken.items():
        if counts["never"]:
            what = f"asks for {', '.join(counts['never'])}, which no tree of its parser bears"
            if foreign:
                what += f" (its relations are not UD's: {', '.join(foreign[:3])})"
        elif not counts["rule"] and not counts["backstop"]:
            what = f"removes nothing of base {condition.base!r}"
        else:
            continue
        raise PoshgridError(
            f"condition {condition.name!r} at {spec.size}: filter {word!r} {what}; choose another "
            f"parser or reading (`poshgrid explain --sample 20 --filter {word} --config FILE` "
            "shows what it makes of the text), leave the filter out, or set allow_void: true"
        )


def _words(rows: pl.DataFrame) -> int:
    return int(rows["n_words"].cast(pl.Int64).sum())


def _plan(sentences: Path) -> pl.DataFrame:
    """Read what is needed of a base to plan its conditions: no text."""
    parts = [
        batch.with_columns(pl.col("source", "split", "size").cast(pl.Categorical))
        for batch in table_batches(sentences, SENTENCES, _PLAN)
    ]
    return pl.concat(parts or [read_table(sentences, SENTENCES, _PLAN)])


def _labels(
    evidence: Path | None, base: pl.DataFrame, sentences: Path
) -> tuple[Labels, pl.DataFrame]:
    """Return what the table of evidence says, and the table; without one, no filters."""
    if evidence is None:
        return Labels({}, {}), base.select("sent_id")
    if not evidence.is_file():
        raise PoshgridError(f"{evidence}: not found; run poshgrid evidence first")
    labels = Labels.of(read_schema(evidence))
    schema = labels.schema
    table = read_table(evidence, schema, [name for name in schema if schema[name] != pl.List])
    cover(base["sent_id"], table["sent_id"], evidence, "a label", f"label {sentences} again")
    return labels, table


def _questions(sentences: Path) -> pl.Series:
    """Return which sentences of a base are questions by their text."""
    asks = BY_WORDS[QUESTION].alias(QUESTION)
    parts = [batch.select(asks) for batch in table_batches(sentences, SENTENCES, ["text"])]
    return pl.concat(parts)[QUESTION]


def _exchanged(part: pl.DataFrame, chosen: Chosen, swaps: dict[int, int]) -> pl.DataFrame:
    """Return source and words of the training sentences after the exchange."""
    kept = part.filter(~pl.col("sent_id").is_in(list(swaps)))
    put = pl.DataFrame({"sent_id": list(swaps.values())}, schema={"sent_id": pl.UInt32})
    put = put.join(chosen.train, on="sent_id", how="left", maintain_order="left")
    return pl.concat([kept.select("source", "n_words"), put.select("source", "n_words")])


def _write(
    sentences: Path, splits: dict[str, pl.Series], swaps: dict[int, int], output: Path
) -> None:
    """Copy the sentences of each split from the base, evidence in the places that it takes."""
    content = [name for name in CONDITION if name != "replaced"]
    last = max(int(ids.to_frame().max().item()) for ids in splits.values()) + 1
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
    ).with_columns(place="replaced")
    leaves = pl.col("sent_id").is_in(pl.Series(list(swaps), dtype=pl.UInt32).implode())
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
                put = incoming.filter(pl.col("replaced").is_in(rows["sent_id"].implode()))
                rows = pl.concat([rows.filter(~leaves), put])
                append[split](rows.sort("place").select(list(CONDITION)))


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
