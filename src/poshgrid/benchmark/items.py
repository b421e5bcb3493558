"""The items of a suite: its reader's output, checked for its task."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.benchmark import frequencies
from poshgrid.benchmark.schema import DESIGN, PAIRS, TASKS, Loaded
from poshgrid.config import specs
from poshgrid.core import files, logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.plugins import SUITES

log = logs.get(__name__)


def generate(
    spec: specs.ItemsSpec,
    data: Path,
    corpora: dict[str, Path],
    ngrams: dict[str, Path],
    output: Path,
) -> dict[str, Any]:
    """Write the items of a suite.

    Args:
        spec: the suite, and how many types of a corpus count as frequent.
        data: the data folder, to which the suite's path is relative.
        corpora: corpus -> its ``sentences.parquet``; its training rows are counted. Empty for a
            suite that is read from files.
        ngrams: "corpus/size" -> the folder of its n-gram model.
        output: the table to write (the columns of the suite's task).

    Returns:
        Facts for the manifest: items, items of each phenomenon, and the facts of the reader.

    Raises:
        PoshgridError: a corpus has no training sentences, the reader cannot make the suite, or its
            items lack a column.
    """
    suite = spec.suite
    options = plugins.options(SUITES, suite.reader, suite.options)
    reader = plugins.load(SUITES, suite.reader)
    context = frequencies.context(corpora, ngrams, spec.top_k) if spec.top_k else None
    loaded = reader.load(data / suite.path if suite.path else None, options, context)
    if not isinstance(loaded, Loaded):
        raise PoshgridError(
            f"{reader.__file__}: load() returned {type(loaded).__name__}; return Loaded(items, "
            "facts), as docs/extending.md shows"
        )
    items, task = loaded.items, getattr(reader, "TASK", "pairs")
    if items.is_empty():
        raise PoshgridError(f"suite {suite.name}: no items; check its path and options")
    if task == "pairs":
        items = pairs(suite.name, items)
    files.write_table(items, output, TASKS[task])
    ids = items.unique("item_id")
    facts = {
        "task": task,
        "items": ids.height,
        "phenomena": dict(sorted(Counter(ids["phenomenon"]).items())),
        **loaded.facts,
    }
    if task == "pairs":
        facts["lexical_sets"] = items["lexical_set"].n_unique()
    log.info("%s: %s items (%s)", suite.name, f"{ids.height:,}", task)
    return facts


def pairs(suite: str, items: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of a reader with all columns of ``PAIRS``.

    Args:
        suite: name of the suite, for messages.
        items: output of a reader of pairs.

    Raises:
        PoshgridError: the columns are not those of ``PAIRS``, or a pair cannot be scored or
            distinguished from another.
    """
    items = items.with_columns(
        (pl.col(name).fill_null(value) if name in items.columns else pl.lit(value))
        .cast(PAIRS[name])
        .alias(name)
        for name, value in DESIGN.items()
    )
    files.check_schema(items.schema, PAIRS, f"suite {suite}")
    ids = items["item_id"]
    scored = [pl.col(name).str.slice(pl.col(f"{name}_context")) for name in ("good", "bad")]
    empty = items.filter(pl.any_horizontal(text.str.strip_chars() == "" for text in scored))
    if empty.height:
        raise PoshgridError(
            f"suite {suite}: item {empty['item_id'][0]!r} has an empty member; correct its file"
        )
    if ids.is_duplicated().any():
        raise PoshgridError(
            f"suite {suite}: item {ids.filter(ids.is_duplicated())[0]!r} occurs twice"
        )
    owners = items.group_by("template").agg(pl.col("phenomenon").unique().sort())
    shared = owners.filter(pl.col("phenomenon").list.len() > 1).sort("template")
    if shared.height:
        template, phenomena = shared.row(0)
        raise PoshgridError(
            f"suite {suite}: template {template!r} belongs to {' and '.join(phenomena)}; name the "
            "templates of different phenomena differently"
        )
    return items
