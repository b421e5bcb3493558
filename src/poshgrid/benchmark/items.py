"""The minimal pairs of a suite: count the bases' words, let the suite's reader make its table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, logs, plugins, specs
from poshgrid.benchmark import check, lexicon
from poshgrid.benchmark.schema import ITEMS
from poshgrid.errors import PoshgridError

log = logs.get(__name__)
_CHUNK = 200_000  # sentences counted at a time


def generate(
    spec: specs.ItemsSpec, data: Path, bases: dict[str, Path], output: Path
) -> dict[str, Any]:
    """Write the items of a suite.

    Args:
        spec: the suite, and how many types of a base count as frequent.
        data: the data folder, to which the suite's path is relative.
        bases: base -> its ``sentences.parquet``; its training rows are counted.
        output: the table to write (``ITEMS``).

    Returns:
        Facts for the manifest: pairs, pairs of each phenomenon, lexical sets, repeated and
        identical pairs.

    Raises:
        PoshgridError: a base has no training sentences, or the reader cannot make the suite.
    """
    suite = spec.suite
    vocabulary = lexicon.usable(
        lexicon.read(), {base: count(path) for base, path in sorted(bases.items())}, spec.top_k
    )
    options = plugins.options("poshgrid.benchmark.suites", suite.reader, suite.options)
    reader = plugins.load("poshgrid.benchmark.suites", suite.reader)
    items = reader.load(data / suite.path if suite.path else None, options, vocabulary)
    ids = items["item_id"]
    if ids.is_duplicated().any():
        raise PoshgridError(
            f"suite {suite.name}: item {ids.filter(ids.is_duplicated())[0]!r} is there twice"
        )
    files.write_table(items, output, ITEMS)
    facts = {
        "pairs": items.height,
        "phenomena": dict(sorted(Counter(items["phenomenon"]).items())),
        "lexical_sets": items["lexical_set"].n_unique(),
        "usable_forms": {base: len(forms) for base, forms in sorted(vocabulary.frequent.items())},
        "repeated_pairs": len(check.repeated(items)),
        "identical_pairs": check.identical(items),
    }
    log.info("%s: %s pairs, %s lexical sets", suite.name, items.height, facts["lexical_sets"])
    return facts


def count(path: Path) -> Counter[str]:
    """Count the words of a base's training sentences.

    Args:
        path: ``sentences.parquet`` of a base, or ``train.parquet`` of a condition.

    Returns:
        Lower-cased alphabetic token -> how often it occurs.

    Raises:
        PoshgridError: not a table with a column ``text``, or no training rows.
    """
    counts: Counter[str] = Counter()
    try:
        table = pl.scan_parquet(path)
        training = pl.col("split") == "train" if "split" in table.collect_schema() else pl.lit(True)
        rows = table.select(pl.len()).collect().item()
        for start in range(0, rows, _CHUNK):
            part = table.slice(start, _CHUNK).filter(training).select("text").collect()
            for text in part["text"]:
                counts.update(lexicon.tokens(text))
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise PoshgridError(
            f"{path}: cannot count its words ({reason}); make the base again"
        ) from error
    if not counts:
        raise PoshgridError(f"{path}: no training sentence has a word; make the base again")
    return counts
