"""Stage ``quality``: check a suite of pairs, also for members that are in the training text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.benchmark import frequencies, lexicon, structure
from poshgrid.benchmark.schema import PAIRS
from poshgrid.core import files, formats, logs

if TYPE_CHECKING:
    from poshgrid.benchmark.structure import Fault
    from poshgrid.config.specs import QualitySpec

log = logs.get(__name__)
_MAX_FAULTS_LISTED = 10  # faults of a check in quality.json


def leaks(items: pl.DataFrame, train: Mapping[str, Path]) -> list[Fault]:
    """Return the items with a member that is in a training split.

    Sentences are compared without case, punctuation and space.

    Args:
        items: the columns of ``PAIRS``.
        train: "condition/size", or another name -> its ``train.parquet``, or a plain text; read in
            batches.

    Returns:
        Item, and which member is in which split, in the order of the items.

    Raises:
        PoshgridError: a table is missing or broken.
    """
    members = {*items["good"], *items["bad"]}
    members_in = {cell: frequencies.heard(members, [path]) for cell, path in train.items()}
    leaked = []
    for item in items.iter_rows(named=True):
        reasons = [
            f"{member} member in {', '.join(cells)}"
            for member in ("good", "bad")
            if (cells := [cell for cell in train if item[member] in members_in[cell]])
        ]
        if reasons:
            leaked.append((item["item_id"], "; ".join(reasons)))
    return leaked


def check_suite(
    spec: QualitySpec,
    items: Path,
    corpora: Mapping[str, Path],
    train: Mapping[str, Path],
    output: Path,
) -> dict[str, Any]:
    """Write ``quality.json`` and ``faults.csv`` of a suite.

    All suites have the same checks; a check that lacks its data is left out. (A generated suite
    with a fault is refused when it is made.)

    Args:
        spec: the suite's name and whether it was made from templates; how many types of a corpus
            count as frequent.
        items: the suite (``PAIRS``).
        corpora: corpus -> ``sentences.parquet``, or a plain text, to count words. Empty: words
            are not checked.
        train: name -> ``train.parquet`` or a text that may have members of pairs.
        output: the folder to write to.

    Returns:
        The content of ``quality.json``: suite, verdict (``passed``, or ``flagged`` with a fault),
        pairs, and checks: name, pairs checked, with faults (``items``), and the first faults.

    Raises:
        PoshgridError: a table is broken.
    """
    pairs = files.read_table(items, PAIRS)
    words = lexicon.read()
    counts = {corpus: frequencies.count(path) for corpus, path in sorted(corpora.items())}
    vocabulary = lexicon.usable(counts, spec.top_k) if counts else None
    checks = structure.checks(pairs, words, vocabulary, generated=spec.generated)
    leaked = structure.Check("leaked pairs")
    if train:
        leaked.checked, leaked.faults = pairs.height, leaks(pairs, train)
    checks.append(leaked)
    faults = pl.DataFrame(
        [(check.name, *fault) for check in checks for fault in check.faults],
        schema=dict.fromkeys(("fault", "item_id", "reason"), pl.String),
        orient="row",
    ).join(pairs.select("item_id", "good", "bad"), on="item_id", maintain_order="left")
    quality: dict[str, Any] = {
        "suite": spec.suite,
        "verdict": "passed" if faults.is_empty() else "flagged",
        "pairs": pairs.height,
        "checks": [
            {
                "name": check.name,
                "checked": check.checked,
                "items": len(check.ids),
                "first": [
                    {"item": item, "reason": why} for item, why in check.faults[:_MAX_FAULTS_LISTED]
                ],
            }
            for check in checks
        ],
    }
    files.write_text(output / "faults.csv", formats.csv(faults))
    files.write_json(output / "quality.json", quality)
    log.info("%s: %s; %s", spec.suite, quality["verdict"], output / "faults.csv")
    return quality
