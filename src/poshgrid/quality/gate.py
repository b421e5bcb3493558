"""The stage: hold a suite to every check, write what was found, and refuse what is broken.

Two findings are made here: which members a learner was trained on, word for word, and what members
differ in besides syntax, the length and frequency of their words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid import files, logs
from poshgrid.benchmark import corpora, lexicon
from poshgrid.benchmark.checks import structure
from poshgrid.benchmark.lexicon import tokens
from poshgrid.benchmark.schema import ITEMS
from poshgrid.errors import PoshgridError
from poshgrid.quality import nulls, page
from poshgrid.tables import formats

if TYPE_CHECKING:
    from poshgrid.benchmark.checks.structure import Fault
    from poshgrid.config import Scoring

log = logs.get(__name__)


def differences(
    items: pl.DataFrame, counts: Mapping[str, Counter[str]], lengths: pl.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yield the differences of length and frequency, good minus bad, phenomenon by phenomenon.

    The frequency of a member is the mean over its words of log10((count + 1) / all words): one
    more for each word, so that words that a base lacks have a logarithm.

    Args:
        items: the columns of ``PAIRS``.
        counts: base -> type -> tokens.
        lengths: ``item_id``, ``tokens``: good minus bad in tokens, a row for each item and run.

    Yields:
        phenomenon, measure (words, characters, tokens, log frequency of a base), mean, sd, pairs,
        equal: pairs without a difference.
    """
    sums = {base: math.log10(sum(counted.values())) for base, counted in counts.items()}
    for (phenomenon,), rows in items.group_by("phenomenon", maintain_order=True):
        pairs = list(rows.select("good", "bad").iter_rows())
        measures: dict[str, list[float]] = {
            "words": [len(good.split()) - len(bad.split()) for good, bad in pairs],
            "characters": [len(good) - len(bad) for good, bad in pairs],
        }
        joined = lengths.join(rows.select("item_id"), on="item_id")
        measures["tokens"] = joined["tokens"].to_list()
        for base, counted in counts.items():
            measures[f"log frequency ({base})"] = [
                _frequency(good, counted, sums[base]) - _frequency(bad, counted, sums[base])
                for good, bad in pairs
            ]
        for measure, values in measures.items():
            if values:
                yield {"phenomenon": str(phenomenon), "measure": measure, **_described(values)}


def _frequency(text: str, counted: Counter[str], total: float) -> float:
    """Return the mean log10 relative frequency of a sentence's words; 0 without words.

    Summed exactly: members with the same words must have the same frequency.
    """
    logs = [math.log10(counted[word] + 1) - total for word in tokens(text)]
    return math.fsum(logs) / len(logs) if logs else 0.0


def _described(values: list[float]) -> dict[str, Any]:
    mean = math.fsum(values) / len(values)
    spread = math.fsum((value - mean) ** 2 for value in values)
    return {
        "mean": mean,
        "sd": math.sqrt(spread / (len(values) - 1)) if len(values) > 1 else 0.0,
        "pairs": len(values),
        "equal": sum(value == 0 for value in values),
    }


def leaks(items: pl.DataFrame, train: Mapping[str, Path]) -> list[Fault]:
    """Return the items of which a training split holds a member.

    Sentences are compared without case, punctuation and space.

    Args:
        items: the columns of ``PAIRS``.
        train: "condition/size" -> its ``train.parquet``, or a plain text; read piece by piece.

    Returns:
        Item and where which member was found, in the order of the items.

    Raises:
        PoshgridError: a table is missing or broken.
    """
    members = {*items["good"], *items["bad"]}
    held = {cell: corpora.heard(members, [path]) for cell, path in train.items()}
    found = []
    for item in items.unique("item_id", keep="first", maintain_order=True).iter_rows(named=True):
        reasons = [
            f"{member} member in {', '.join(cells)}"
            for member in ("good", "bad")
            if (cells := [cell for cell in train if item[member] in held[cell]])
        ]
        if reasons:
            found.append((item["item_id"], "; ".join(reasons)))
    return found


_FIRST = 10  # faults of a check that quality.json names


def gate(
    items: Path,
    *,
    suite: str,
    generated: bool,
    top_k: int | None,
    bases: dict[str, Path],
    train: dict[str, Path],
    scores: dict[str, Path],
    scoring: Scoring,
    tolerance: float,
    output: Path,
    bases_of: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Write ``index.html``, ``quality.json`` and ``nulls.csv`` of a suite.

    All suites are held to the same checks, as far as they have what a check needs. Faults and leaks
    of a generated suite are refused, after the files are written: the page is what people fix the
    suite by. Nulls far from 50% are flagged. Of a suite that was read from files,
    nothing is refused.

    Args:
        items: the suite (``ITEMS``).
        suite: its name.
        generated: whether it was made from templates.
        top_k: how many types of a base count as frequent; None: all.
        bases: base -> ``sentences.parquet``, or a plain text; their words are counted. Empty:
            frequencies are left out.
        train: "condition/size" -> ``train.parquet`` or a text, in which members are looked for.
        scores: run -> its scores of the suite; see :func:`nulls.accuracies`.
        scoring: how scores are compared.
        tolerance: a null whose interval on a base lies wholly further than this from 50% is
            flagged.
        output: the folder to write to.
        bases_of: condition -> base, of the nulls; a condition that is not named is a base.

    Returns:
        Facts for the manifest: verdict, pairs, faults of each check, flagged phenomena.

    Raises:
        PoshgridError: a table is broken, or the suite is refused; the line names the page.
    """
    pairs = files.read_table(items, ITEMS)
    if pairs.is_empty():
        raise PoshgridError(f"{items}: no items; make the suite again")
    words = lexicon.read()
    counts = {base: corpora.count(path) for base, path in sorted(bases.items())}
    judged = nulls.accuracies(pairs, scores, scoring)
    vocabulary = None
    if counts:
        vocabulary = lexicon.usable(words, counts, top_k or max(map(len, counts.values())))
    checks = structure.checks(pairs, words, vocabulary, generated=generated)
    heard = structure.Check("leaked pairs")
    if train:
        heard.checked, heard.faults = pairs.height, leaks(pairs, train)
    checks.append(heard)
    summary = nulls.summarise(judged, pairs, tolerance, bases_of or {})
    flags: dict[str, list[str]] = {}
    for null in summary:
        if null.flagged:
            flags.setdefault(null.phenomenon, []).append(null.sentence())
    told = [check for check in checks if check.faults]
    failed = [check for check in told if check.refuses and generated]
    verdict = "failed" if failed else "flagged" if flags or told else "passed"
    homes = dict(pairs.select("item_id", "phenomenon").iter_rows())
    found: dict[str, Any] = {
        "suite": suite,
        "generated": generated,
        "verdict": verdict,
        "pairs": pairs.height,
        "bases": {base: sum(counted.values()) for base, counted in counts.items()},
        "cells": sorted(train),
        "top_k": top_k,
        "tolerance": tolerance,
        "runs": len(scores),
        "phenomena": dict(Counter(pairs["phenomenon"])),
        "checks": [_told(check, homes) for check in checks],
        "differences": list(differences(pairs, counts, judged.lengths)),
        "nulls": [asdict(each) for each in summary],
        "flags": flags,
    }
    files.write_text(output / "index.html", page.render(found, pairs))
    files.write_text(output / "nulls.csv", formats.csv(judged.table))
    files.write_json(output / "quality.json", found)
    log.info("%s: %s; %s", suite, verdict, output / "index.html")
    if verdict == "failed":
        raise PoshgridError(
            f"suite {suite}: {structure.summary(failed)}; see {output / 'index.html'}"
        )
    return {
        "verdict": verdict,
        "pairs": pairs.height,
        "faults": {check.name: len(check.ids) for check in checks},
        "flagged": sorted(flags),
    }


def _told(check: structure.Check, homes: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": check.name,
        "needs": check.needs,
        "refuses": check.refuses,
        "checked": check.checked,
        "items": len(check.ids),
        "phenomena": dict(Counter(homes[item] for item in check.ids)),
        "first": [{"item": item, "reason": reason} for item, reason in check.faults[:_FIRST]],
    }
