"""Labelling the direct evidence in a base's sentences, by one parser's trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from poshgrid import logs, plugins, specs
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence.match import Match
from poshgrid.evidence.schema import column, evidence_schema
from poshgrid.files import read_table, write_table
from poshgrid.parsing.schema import PARSES
from poshgrid.parsing.tree import Tree
from poshgrid.screening.screen import lexical

FILTERS = "poshgrid.evidence.filters"
KINDS = ("removed", "backstop", "evidence")


@dataclass(frozen=True)
class Rules:
    """What a filter says of a tree, and of the words alone."""

    removed: Callable[[Tree], Match | None]
    evidence: Callable[[Tree], Match | None]
    backstop: Callable[[Sequence[str]], tuple[int, ...] | None] | None


def rules_of(word: str) -> Rules:
    """Return the rules of a filter, by its config word."""
    module = plugins.load(FILTERS, word)
    return Rules(module.removed, module.evidence, getattr(lexical(word), "backstop", None))


def label(
    spec: specs.EvidenceSpec, sentences: Path, parses: list[Path], output: Path
) -> dict[str, object]:
    """Write, for every sentence of a base and every filter, whether the filter matches.

    Args:
        spec: the filters.
        sentences: the base's table.
        parses: the shards of its parses, in any order.
        output: table to write, in the order of the base.

    Returns:
        Number of sentences, and filter -> ``removed``, ``backstop``, ``evidence`` (counts).

    Raises:
        PoshgridError: a sentence has no tree, or two, or a tree no sentence.
    """
    base = read_table(sentences, SENTENCES, ["sent_id"]).get_column("sent_id")
    rules = {word: rules_of(word) for word in spec.filters}
    schema = evidence_schema(rules)
    parts = [_shard(path, rules) for path in logs.progress(sorted(parses), "labelling shards")]
    table = pl.concat(parts) if parts else pl.DataFrame(schema=schema)
    table = table.sort("sent_id")
    cover(base, table.get_column("sent_id"), sentences, "a tree", "parse every shard of the base")
    write_table(table, output, schema)
    counts = {f: {kind: int(table[column(f, kind)].sum()) for kind in KINDS} for f in sorted(rules)}
    logs.get(__name__).info("%s sentences: %s", f"{table.height:,}", counts)
    return {"sentences": table.height, "filters": counts}


def cover(base: pl.Series, found: pl.Series, place: Path, what: str, remedy: str) -> None:
    """Hold a table to one row for each sentence of a base.

    Args:
        base: sent_ids of the base.
        found: sent_ids of the table.
        place: file named in the message.
        what: what a row is, e.g. ``"a tree"``.
        remedy: what to do when they differ.

    Raises:
        PoshgridError: a sentence is missing, doubled, or not of the base.
    """
    if found.equals(base):
        return
    faults = {
        f"have {what} twice": found.filter(found.is_duplicated()).unique(),
        f"have no {what.removeprefix('a ')}": base.filter(~base.is_in(found.implode())),
        "are not in the base": found.filter(~found.is_in(base.implode())).unique(),
    }
    for fault, ids in faults.items():
        if len(ids):
            raise PoshgridError(
                f"{place}: {len(ids):,} sentences {fault}, first sent_id {ids.min()}; {remedy}"
            )


def _shard(path: Path, rules: dict[str, Rules]) -> pl.DataFrame:
    frame = read_table(path, PARSES).with_row_index("row")
    schema = evidence_schema(rules)
    columns: dict[str, list[object]] = {c: [False] * frame.height for c in list(schema)[1:]}
    for word in rules:
        columns[column(word, "tokens")] = [[] for _ in range(frame.height)]
    lengths = frame.select(pl.col(name).list.len() for name in PARSES if name != "sent_id")
    if not all(lengths[name].equals(lengths["form"]) for name in lengths.columns):
        raise PoshgridError(f"{path}: columns of one sentence differ in length; parse it again")
    # Sentences without words were screened out: they lack the words that any filter needs.
    parsed = frame.filter(lengths["form"] > 0)
    for row, _, *lists in parsed.iter_rows():
        tree = Tree(*lists)
        for word, rule in rules.items():
            looks = rule.backstop(tree.form) if rule.backstop else None
            matched = rule.removed(tree)
            strict = rule.evidence(tree) if matched is not None else None
            best = strict or matched
            columns[column(word, "removed")][row] = matched is not None
            columns[column(word, "backstop")][row] = looks is not None
            columns[column(word, "evidence")][row] = strict is not None
            columns[column(word, "tokens")][row] = list(best.words if best else looks or ())
    return pl.DataFrame({"sent_id": frame["sent_id"], **columns}, schema=schema)
