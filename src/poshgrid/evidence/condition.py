"""A condition at a size: a base, less its evidence, plus what is put back (paper, section 3.1).

The plan is made with numbers and labels alone, in a database; then the text is copied piece by
piece. Memory grows with neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import logs
from poshgrid.config import Filter, specs
from poshgrid.config.runs import SPLITS
from poshgrid.corpora import conservation
from poshgrid.corpora.schema import SENTENCES
from poshgrid.database import Database, opened
from poshgrid.errors import PoshgridError
from poshgrid.evidence.reinsertion import bare, digest, hold_apart, pools, reinsert, trained
from poshgrid.evidence.removal import choose, deciding, facts
from poshgrid.evidence.schema import CONDITION, Labels
from poshgrid.evidence.sentences import QUESTION, Base, labelled
from poshgrid.files import read_json, read_schema, table_batches, table_writer, write_json

_CONTENT = [name for name in CONDITION if name != "replaced"]


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
    labels = Labels.of(read_schema(evidence)) if evidence else Labels({}, {})
    every = [spec, *beside.others]
    questions = any(QUESTION in each.condition.match for each in every)
    with opened(output) as database:
        base = Base(database, labels)
        base.load(
            labelled(sentences, evidence, labels, questions=questions),
            {each.condition.seed for each in every if each.condition.downsample < 1},
        )
        statistics = _plan(base, spec, beside, sentences, evidence)
        _write(database, sentences, output)
    write_json(output / "statistics.json", statistics)
    logs.get(__name__).info(
        "%s at %s: %s sentences, %s put back",
        spec.condition.name, spec.size, f"{statistics['splits']['train']['sentences']:,}",
        statistics["reinserted"] or "none",
    )  # fmt: skip
    return statistics


def _plan(
    base: Base,
    spec: specs.ConditionSpec,
    beside: specs.BesideSpec,
    sentences: Path,
    evidence: Path | None,
) -> dict[str, Any]:
    """Make a table of what is ``written``: which sentence in which place of which split.

    Returns:
        The content of ``statistics.json``.
    """
    condition = spec.condition
    needs = f", which condition {condition.name!r} needs"
    base.labels.hold([*deciding(spec), *pools(spec)], evidence or sentences, needs)
    chosen = choose(base, spec)
    seen = read_json(evidence.with_suffix(".json")) if evidence and deciding(spec) else {}
    taken: dict[str, dict[str, Any]] = facts(base, spec, chosen.whole)
    for word, counts in taken.items():
        name, _, reading = word.partition(".")
        counts["never"] = seen["filters"][name][reading]["never"]
    if "void" not in beside.allow:
        _hold_to_labels(spec, taken, seen.get("foreign", []))
    reinserted = reinsert(base, spec, chosen, allow=beside.allow)
    hold_apart(base, spec, beside, chosen)
    every = [Filter(name=n, reading=r) for n, found in base.labels.readings.items() for r in found]
    anything = base.out(every, backstop=spec.backstop)
    base.database.run(
        f"create table written as select *, 'train' as split from ({trained(chosen)}) union all "
        "select sent_id, sent_id, source, n_words, split from base "
        f"where split in {SPLITS[1:]} and not {anything} order by place"
    )
    splits = {
        split: _statistics(base.by_source(f"written where split = '{split}'")) for split in SPLITS
    }
    for split, counts in splits.items():
        if not counts["sentences"]:
            raise PoshgridError(
                f"{sentences}: condition {condition.name!r} at {spec.size} has no {split} "
                f"sentences; give the base more words ({split}_words)"
            )
    whole, left, filled = (
        _statistics(base.by_source(f"train where {test}"))
        for test in (chosen.whole, chosen.left, chosen.filled)
    )
    faults = conservation.uneven_with_base(
        f"conditions: {condition.name} at {spec.size}",
        splits["train"]["words"], whole["words"],
        fewer=condition.downsample < 1 or bool(deciding(spec)),
    )  # fmt: skip
    allowed = conservation.settle(faults, beside.allow)
    lost = f"select count(*) from base where {anything} and split ="
    return {
        "condition": condition.name,
        "base": condition.base,
        "size": spec.size,
        "splits": splits,
        "whole": whole,
        "removed": taken,
        "removed_sentences": whole["sentences"] - left["sentences"],
        "removed_words": whole["words"] - left["words"],
        "refilled": {each: filled[each] - left[each] for each in ("sentences", "words")},
        "heldout_removed": {s: base.database.rows(f"{lost} '{s}'")[0][0] for s in SPLITS[1:]},
        "backstop": spec.backstop,
        "control": condition.control,
        "downsample": condition.downsample,
        "reinserted": reinserted,
        "digest": digest(base, chosen),
        **allowed,
    }


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
            "shows what it makes of the text), leave the filter out, or set allow: [void]"
        )


def _statistics(counted: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """Return sentences, words and words per sentence, in all and by source."""

    def facts(sentences: int, words: int) -> dict[str, Any]:
        each = round(words / sentences, 4) if sentences else None
        return {"sentences": sentences, "words": words, "words_per_sentence": each}

    counts = counted.values()
    return {
        **facts(sum(number for number, _ in counts), sum(words for _, words in counts)),
        "sources": {source: facts(*found) for source, found in counted.items()},
    }


def _write(database: Database, sentences: Path, output: Path) -> None:
    """Copy the sentences of each split from the base, evidence in the places that it takes."""
    database.run(
        "create table coming as select distinct sent_id from written where place <> sent_id "
        "order by sent_id"
    )
    database.load("texts", _texts(database, sentences))
    database.run(
        "create table incoming as select texts.*, place as replaced, place "
        "from written join texts using (sent_id) where place <> sent_id order by place"
    )
    with ExitStack() as stack:
        append = {
            split: stack.enter_context(table_writer(output / f"{split}.parquet", CONDITION))
            for split in SPLITS
        }
        for batch, here in _batches(sentences):
            stands = database.frame(f"select place, sent_id, split from written where place {here}")
            own = batch.with_columns(replaced=pl.lit(None, pl.UInt32), place=pl.col("sent_id"))
            put = database.frame(f"from incoming where place {here}")
            for split in SPLITS:
                ids = stands.filter(pl.col("split") == split, pl.col("place") == pl.col("sent_id"))
                rows = own.filter(pl.col("sent_id").is_in(ids["sent_id"].implode()))
                if split == "train":
                    rows = pl.concat([rows, put.select(rows.columns)])
                append[split](rows.sort("place").select(list(CONDITION)))


def _batches(sentences: Path) -> Iterator[tuple[pl.DataFrame, str]]:
    """Yield what is copied of a base piece by piece, and in SQL which sent_ids it has."""
    first = 0
    for batch in table_batches(sentences, SENTENCES, _CONTENT):
        yield batch, f"between {first} and {first + batch.height - 1}"
        first += batch.height


def _texts(database: Database, sentences: Path) -> Iterator[pl.DataFrame]:
    """Yield the evidence that is put back, the first piece without rows."""
    yield pl.DataFrame(schema={name: CONDITION[name] for name in _CONTENT})
    if not database.rows("from coming limit 1"):
        return
    for batch, here in _batches(sentences):
        ids = database.frame(f"from coming where sent_id {here}")["sent_id"]
        yield batch.filter(pl.col("sent_id").is_in(ids.implode()))
