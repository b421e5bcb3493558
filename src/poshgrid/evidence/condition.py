"""A condition at a size: a corpus without its evidence, plus re-insertions (paper, section 3.1).

Sentences and labels are loaded into a database, which uses a limited part of the memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from poshgrid.config import Filter, specs
from poshgrid.config.runs import SPLITS
from poshgrid.core import logs
from poshgrid.core.database import opened
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json, read_schema, table_writer, write_json
from poshgrid.evidence.reinsertion import put_back, reinsert, trained
from poshgrid.evidence.removal import choose, deciding, facts
from poshgrid.evidence.rewriting import rewritten
from poshgrid.evidence.schema import CONDITION, Labels
from poshgrid.evidence.sentences import Corpus, summary

MANY_TREES = 10_000
"""Among so many, a label that no tree has is one that the parser does not give."""


def build(
    spec: specs.ConditionSpec,
    sentences: Path,
    evidence: Path | None,
    output: Path,
    allow: Sequence[str] = (),
    parses: Sequence[Path] = (),
) -> dict[str, object]:
    """Write ``train``, ``dev`` and ``test.parquet`` and ``statistics.json`` of a condition.

    Train is the corpus at this size without the sentences that the condition's filters remove, each
    filter in its reading and by the reading's backstop, if it has one. A control removes as many
    other sentences instead. With down-sampling, a share of the *corpus's* sentences is kept, so
    that all conditions of a corpus have the same number (FiCT, section 4). With refilling, further
    sentences replace the removed ones. Then, for each re-insertion, ``round(rate * n)`` of the n
    remaining sentences are replaced by evidence, matched by source and length.

    Dev and test are those of the corpus without the sentences that *any* reading of any filter in
    the evidence table removes. They are the same for all conditions of a corpus, so that losses can
    be compared. Published dev and test sets are not filtered.

    The sentences of all three splits of a condition with rewriters are rewritten; its words are
    counted after that, and a refill replaces lost ones.

    Args:
        spec: the condition and the size.
        sentences: the corpus's table.
        evidence: labels of its sentences; ``None`` if no condition of the corpus has a filter.
        output: folder to write to.
        allow: checks that may fail, see ``conditions[].allow``.
        parses: the shards of the corpus's parses, for rewriters.

    Returns:
        The content of ``statistics.json``.

    Raises:
        PoshgridError: a filter has no labels or removes nothing, a split is empty, or there are too
            few sentences for a control, a refill or a re-insertion.
    """
    spec = _without_changes(spec)
    labels = Labels.of(read_schema(evidence)) if evidence else Labels({}, {})
    with opened(output) as database:
        corpus = Corpus(database, labels)
        names = spec.condition.rewrite or spec.control_rewrite
        write = bool(spec.condition.rewrite)  # a control's text stays
        done = partial(rewritten, parses=parses, names=names, write=write) if names else None
        corpus.read(sentences, evidence, spec.condition, done)
        statistics = _plan(corpus, spec, allow, sentences, evidence)
        _write(corpus, output)
    write_json(output / "statistics.json", statistics)
    logs.get(__name__).info(
        "%s at %s: %s sentences, %s put back",
        spec.condition.name, spec.size, f"{statistics['splits']['train']['sentences']:,}",
        statistics["reinserted"] or "none",
    )  # fmt: skip
    return statistics


def _plan(
    corpus: Corpus,
    spec: specs.ConditionSpec,
    allow: Sequence[str],
    sentences: Path,
    evidence: Path | None,
) -> dict[str, Any]:
    """Make the table ``written``: for each split, sentences and the positions that they take.

    Returns:
        The content of ``statistics.json``.
    """
    condition = spec.condition
    needs = f", which condition {condition.name!r} needs"
    corpus.labels.check([*deciding(spec), *put_back(spec)], evidence or sentences, needs)
    chosen = choose(corpus, spec)
    labelled = read_json(evidence.with_suffix(".json")) if evidence and deciding(spec) else {}
    removed = facts(corpus, spec, chosen.whole, labelled)
    if "void" not in allow:
        _check_effect(spec, removed, labelled.get("sentences", 0))
    reinserted = reinsert(corpus, spec, chosen, allow=allow)
    readings = corpus.labels.readings
    every = [
        Filter(name=word, reading=reading) for word, own in readings.items() for reading in own
    ]
    anything = corpus.out(every if spec.heldout_filtered else [])
    corpus.database.run(
        f"create table written as select *, 'train' as split from ({trained(chosen)}) union all "
        "select sent_id, sent_id, source, n_words, split from corpus "
        f"where split in {SPLITS[1:]} and not {anything}"
    )
    splits = {
        split: summary(corpus.by_source(f"written where split = '{split}'")) for split in SPLITS
    }
    for split, counts in splits.items():
        if not counts["sentences"]:
            raise PoshgridError(
                f"{sentences}: condition {condition.name!r} at {spec.size} has no {split} "
                f"sentences; give the corpus more words ({split}_words)"
            )
    whole, unwritten, left, filled = (
        summary(corpus.by_source(f"train where {test}", words))
        for test, words in (
            (chosen.whole, "before"), (chosen.left, "before"),
            (chosen.left, "n_words"), (chosen.filled, "n_words"),
        )
    )  # fmt: skip
    lost = f"select count(*) from corpus where {anything} and split ="
    return {
        "condition": condition.name,
        "corpus": condition.corpus,
        "size": spec.size,
        "splits": splits,
        "whole": whole,
        "removed": removed,
        "removed_sentences": whole["sentences"] - left["sentences"],
        "removed_words": whole["words"] - unwritten["words"],
        **({"rewritten": _changes(corpus, spec, allow)} if condition.rewrite else {}),
        "refilled": {key: filled[key] - left[key] for key in ("sentences", "words")},
        "heldout_removed": {s: corpus.database.rows(f"{lost} '{s}'")[0][0] for s in SPLITS[1:]},
        "control": condition.control,
        "downsample": condition.downsample,
        "reinserted": reinserted,
        "digest": _digest(corpus, spec),
    }


def _without_changes(spec: specs.ConditionSpec) -> specs.ConditionSpec:
    """Return a condition without filters and other changes at the sizes in ``unfiltered_sizes``."""
    if spec.size not in spec.condition.unfiltered_sizes:
        return spec
    condition = spec.condition.model_copy(
        update={
            "filters": [], "rewrite": [], "reinsert": [], "control": None, "match": [],
            "refill": False,
        }
    )  # fmt: skip
    return spec.model_copy(update={"condition": condition, "control": [], "control_rewrite": []})


def _changes(corpus: Corpus, spec: specs.ConditionSpec, allow: Sequence[str]) -> dict[str, Any]:
    """Return what was rewritten of the training sentences.

    Returns:
        ``sentences`` that a rewriter changed, the same by ``sources``, their words ``before`` and
        ``after``, and of each of the ``rewriters`` how many it ``changed`` and left, by reason
        (``unsafe``).

    Raises:
        PoshgridError: a rewriter changes nothing.
    """
    condition = spec.condition
    trained = "(from written join corpus using (sent_id) where written.split = 'train')"
    ((number, before, after),) = corpus.database.rows(
        "select count(*), coalesce(sum(before), 0), coalesce(sum(after), 0) "
        f"from {trained} where len(changed) > 0"
    )
    changed, unsafe = (
        dict(corpus.database.rows(
            f"select word, count(*) from (select unnest({name}) as word from {trained}) "
            "group by word order by word"
        ))
        for name in ("changed", "unsafe")
    )  # fmt: skip
    rewriters: dict[str, dict[str, Any]] = {
        name: {"changed": changed.get(name, 0), "unsafe": {}} for name in condition.rewrite
    }
    for entry, count in unsafe.items():
        name, _, reason = entry.partition(": ")
        rewriters[name]["unsafe"][reason] = count
    if "void" not in allow and (idle := [n for n in condition.rewrite if not changed.get(n)]):
        raise PoshgridError(
            f"condition {condition.name!r} at {spec.size}: rewriter {idle[0]!r} changes nothing of "
            f"corpus {condition.corpus!r}; leave it out, or set allow: [void]"
        )
    sources = corpus.by_source(f"{trained} where len(changed) > 0")
    return {
        "sentences": number,
        "sources": {source: count for source, (count, _) in sources.items()},
        "before": before,
        "after": after,
        "rewriters": rewriters,
    }


def _digest(corpus: Corpus, spec: specs.ConditionSpec) -> str:
    """Return a digest that two conditions share only if they train on the same sentences."""
    digest = hashlib.blake2b(digest_size=16)
    train = "(from written where split = 'train')"
    if spec.condition.rewrite:
        for piece in corpus.database.pieces(
            f"select sent_id, text from {train} join corpus using (sent_id) "
            "where len(changed) > 0 order by sent_id"
        ):
            digest.update("\n".join(piece["text"]).encode())
    for piece in corpus.database.pieces(f"select sent_id from {train} order by sent_id"):
        digest.update(piece["sent_id"].to_numpy().tobytes())
    return digest.hexdigest()


# ---- checks and files ----------------------------------------------------------------------------


def _check_effect(
    spec: specs.ConditionSpec, removed: dict[str, dict[str, Any]], parsed: int
) -> None:
    """Raise if a filter removes nothing, or needs labels that its parser never predicts.

    The condition would equal its corpus, or keep a part of the evidence. In few trees a rare label
    may be absent by chance: if the rule removes something, this is only a warning in the log and
    the report.

    Args:
        spec: the condition.
        removed: what each filter removes (:func:`poshgrid.evidence.removal.facts`).
        parsed: number of trees in which the labels were looked for.
    """
    condition = spec.condition
    for word, counts in removed.items():
        what = f"removes nothing of corpus {condition.corpus!r}"
        if counts["never"]:
            what = (
                f"needs {', '.join(counts['never'])}, which no tree of its parser has (with the "
                f"rest of its rule it removes {counts['rule']:,} sentences)"
            )
        where = f"condition {condition.name!r} at {spec.size}: filter {word!r} {what}"
        if counts["rule"] and counts["never"] and parsed < MANY_TREES:
            logs.get(__name__).warning("%s", where)
        elif counts["never"] or not (counts["rule"] or counts["backstop"]):
            raise PoshgridError(
                f"{where}; choose another parser or reading (`poshgrid explain-filter SENTENCE "
                f"--filter {word} --config FILE` shows what it matches), leave the filter out, or "
                "set allow: [void]"
            )


def _write(corpus: Corpus, output: Path) -> None:
    """Write the sentences of each split, with evidence at the positions that it takes."""
    for split in SPLITS:
        rows = (
            "select corpus.*, if(place = sent_id, null, place) as replaced "
            "from written join corpus using (sent_id) "
            f"where written.split = '{split}' order by place"
        )
        with table_writer(output / f"{split}.parquet", CONDITION) as append:
            for piece in corpus.database.pieces(rows):
                append(piece.select(list(CONDITION)))
