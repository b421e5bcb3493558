"""A condition at a size: a base, less its evidence, plus what is put back (paper, section 3.1).

Sentences and labels lie in a database, in which the plan is made: it gets a part of the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poshgrid import logs
from poshgrid.config import Filter, specs
from poshgrid.config.runs import SPLITS
from poshgrid.database import opened
from poshgrid.errors import PoshgridError
from poshgrid.evidence.reinsertion import bare, digest, pools, reinsert, trained
from poshgrid.evidence.removal import choose, deciding, facts
from poshgrid.evidence.schema import CONDITION, Labels
from poshgrid.evidence.sentences import Base, summary
from poshgrid.files import read_json, read_schema, table_writer, write_json


def build(
    spec: specs.ConditionSpec,
    sentences: Path,
    evidence: Path | None,
    output: Path,
    allow: Sequence[str] = (),
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
        allow: checks that do not stop it, see ``conditions[].allow``.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: a filter has no labels or removes nothing, a split is empty, sentences are
            too scarce for a control, a refill or evidence.
    """
    spec = bare(spec)
    labels = Labels.of(read_schema(evidence)) if evidence else Labels({}, {})
    with opened(output) as database:
        base = Base(database, labels)
        base.read(sentences, evidence, spec.condition)
        statistics = _plan(base, spec, allow, sentences, evidence)
        _write(base, output)
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
    allow: Sequence[str],
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
    labelled = read_json(evidence.with_suffix(".json")) if evidence and deciding(spec) else {}
    removed = facts(base, spec, chosen.whole, labelled)
    if "void" not in allow:
        _check_effect(spec, removed)
    reinserted = reinsert(base, spec, chosen, allow=allow)
    readings = base.labels.readings
    every = [Filter(name=word, reading=each) for word, own in readings.items() for each in own]
    anything = base.out(every, backstop=spec.backstop)
    base.database.run(
        f"create table written as select *, 'train' as split from ({trained(chosen)}) union all "
        "select sent_id, sent_id, source, n_words, split from base "
        f"where split in {SPLITS[1:]} and not {anything}"
    )
    splits = {
        split: summary(base.by_source(f"written where split = '{split}'")) for split in SPLITS
    }
    for split, counts in splits.items():
        if not counts["sentences"]:
            raise PoshgridError(
                f"{sentences}: condition {condition.name!r} at {spec.size} has no {split} "
                f"sentences; give the base more words ({split}_words)"
            )
    whole, left, filled = (
        summary(base.by_source(f"train where {test}"))
        for test in (chosen.whole, chosen.left, chosen.filled)
    )
    lost = f"select count(*) from base where {anything} and split ="
    return {
        "condition": condition.name,
        "base": condition.base,
        "size": spec.size,
        "splits": splits,
        "whole": whole,
        "removed": removed,
        "removed_sentences": whole["sentences"] - left["sentences"],
        "removed_words": whole["words"] - left["words"],
        "refilled": {key: filled[key] - left[key] for key in ("sentences", "words")},
        "heldout_removed": {s: base.database.rows(f"{lost} '{s}'")[0][0] for s in SPLITS[1:]},
        "backstop": spec.backstop,
        "control": condition.control,
        "downsample": condition.downsample,
        "reinserted": reinserted,
        "digest": digest(base, chosen),
    }


def _check_effect(spec: specs.ConditionSpec, removed: dict[str, dict[str, Any]]) -> None:
    """Raise if a filter removes nothing, or asks for labels that its parser never gives.

    The condition would be its base by another name, or keep a part of what it is to go without.
    """
    condition = spec.condition
    for word, counts in removed.items():
        if counts["never"]:
            what = f"asks for {', '.join(counts['never'])}, which no tree of its parser bears"
        elif not counts["rule"] and not counts["backstop"]:
            what = f"removes nothing of base {condition.base!r}"
        else:
            continue
        raise PoshgridError(
            f"condition {condition.name!r} at {spec.size}: filter {word!r} {what}; choose another "
            f"parser or reading (`poshgrid explain --sample 20 --filter {word} --config FILE` "
            "shows what it makes of the text), leave the filter out, or set allow: [void]"
        )


def _write(base: Base, output: Path) -> None:
    """Write the sentences of each split, evidence in the places that it takes."""
    for split in SPLITS:
        rows = (
            "select base.*, if(place = sent_id, null, place) as replaced "
            f"from written join base using (sent_id) where written.split = '{split}' order by place"
        )
        with table_writer(output / f"{split}.parquet", CONDITION) as append:
            for piece in base.database.pieces(rows):
                append(piece.select(list(CONDITION)))
