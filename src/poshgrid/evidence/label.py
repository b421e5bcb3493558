"""Labelling the direct evidence in a base's sentences, by one parser's trees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from poshgrid import logs, plugins, specs
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import column, evidence_schema
from poshgrid.files import read_table, write_table
from poshgrid.parsing.schema import PARSES
from poshgrid.parsing.tree import Tree

FILTERS = "poshgrid.evidence.filters"
Rule = Callable[[Tree], tuple[int, ...] | None]


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
        Number of sentences, and filter -> ``removed``, ``evidence`` (counts).

    Raises:
        PoshgridError: a sentence has no tree, or two, or a tree no sentence.
    """
    base = read_table(sentences, SENTENCES).get_column("sent_id")
    rules = {f: (m.removed, m.evidence) for f in spec.filters if (m := plugins.load(FILTERS, f))}
    schema = evidence_schema(rules)
    parts = [_shard(path, rules) for path in logs.progress(sorted(parses), "labelling shards")]
    table = pl.concat(parts) if parts else pl.DataFrame(schema=schema)
    cover(base, table.get_column("sent_id"), sentences, "a tree", "parse every shard of the base")
    table = table.sort("sent_id")
    write_table(table, output, schema)
    counts = {
        f: {kind: int(table[column(f, kind)].sum()) for kind in ("removed", "evidence")}
        for f in sorted(rules)
    }
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


def _shard(path: Path, rules: dict[str, tuple[Rule, Rule]]) -> pl.DataFrame:
    frame = read_table(path, PARSES)
    columns: dict[str, list[object]] = {c: [] for c in list(evidence_schema(rules))[1:]}
    for _, *lists in frame.iter_rows():
        tree = Tree(*lists)
        if len({len(each) for each in lists}) != 1:
            raise PoshgridError(f"{path}: columns of one sentence differ in length; parse it again")
        for word, (removed, evidence) in rules.items():
            matched = removed(tree)
            strict = evidence(tree) if matched is not None else None
            columns[column(word, "removed")].append(matched is not None)
            columns[column(word, "evidence")].append(strict is not None)
            columns[column(word, "tokens")].append(list(strict or matched or ()))
    return pl.DataFrame({"sent_id": frame["sent_id"], **columns}, schema=evidence_schema(rules))
