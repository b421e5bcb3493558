"""Stage ``quality``: run all checks of a suite.

Two checks are here: which members are in the training text, and how the members of pairs differ in
length and word frequency.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.benchmark import frequencies, lexicon
from poshgrid.benchmark.checks import structure
from poshgrid.benchmark.schema import PAIRS
from poshgrid.core import files, formats, logs

if TYPE_CHECKING:
    from poshgrid.benchmark.checks.structure import Fault
    from poshgrid.config.specs import QualitySpec

log = logs.get(__name__)
_MAX_FAULTS_LISTED = 10  # faults of a check in quality.json


def differences(items: pl.DataFrame, counts: Mapping[str, Counter[str]]) -> pl.DataFrame:
    """Return the differences of length and frequency, good minus bad.

    The frequency of a member is the mean over its words of log10((count + 1) / all words). The 1 is
    added because words that a corpus lacks would have no logarithm.

    Args:
        items: the columns of ``PAIRS``.
        counts: corpus -> type -> tokens.

    Returns:
        phenomenon, measure (words, characters, log frequency of a corpus), mean, sd.
    """
    measures = {"words": lambda text: len(text.split()), "characters": len} | {
        f"log frequency ({corpus})": _frequency(counted) for corpus, counted in counts.items()
    }
    rows = [
        (row["phenomenon"], name, float(measured(row["good"]) - measured(row["bad"])))
        for row in items.iter_rows(named=True)
        for name, measured in measures.items()
    ]
    frame = pl.DataFrame(rows, ["phenomenon", "measure", "difference"], orient="row")
    difference = pl.col("difference")
    return frame.group_by("phenomenon", "measure", maintain_order=True).agg(
        mean=difference.mean(), sd=difference.std()
    )


def _frequency(counted: Counter[str]) -> Callable[[str], float]:
    """Return a function of a sentence: the mean log10 relative frequency of its words.

    Sums are exact, so that members with the same words have the same frequency.
    """
    total = math.log10(sum(counted.values()))

    def measured(text: str) -> float:
        logs = [math.log10(counted[word] + 1) - total for word in lexicon.tokens(text)]
        return math.fsum(logs) / len(logs) if logs else 0.0

    return measured


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


def gate(
    spec: QualitySpec,
    items: Path,
    corpora: Mapping[str, Path],
    train: Mapping[str, Path],
    output: Path,
) -> dict[str, Any]:
    """Write ``quality.json``, ``faults.csv`` and ``differences.csv`` of a suite.

    All suites have the same checks; a check that lacks its data is left out. (A generated suite
    with a fault is refused when it is made.)

    Args:
        spec: the suite's name and whether it was made from templates; how many types of a corpus
            count as frequent.
        items: the suite (``PAIRS``).
        corpora: corpus -> ``sentences.parquet``, or a plain text, to count words. Empty: no
            frequencies.
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
    vocabulary = lexicon.usable(words, counts, spec.top_k) if counts else None
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
    files.write_text(output / "differences.csv", formats.csv(differences(pairs, counts)))
    files.write_json(output / "quality.json", quality)
    log.info("%s: %s; %s", spec.suite, quality["verdict"], output / "faults.csv")
    return quality
