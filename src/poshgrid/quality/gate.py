"""The stage: hold a suite to every check, write what was found, and refuse what is broken.

Two findings are made here: which members a learner was trained on, word for word, and what members
differ in besides syntax, the length and frequency of their words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid import files, logs
from poshgrid.benchmark import corpora, lexicon
from poshgrid.benchmark.checks import structure
from poshgrid.benchmark.lexicon import tokens
from poshgrid.benchmark.schema import ITEMS
from poshgrid.errors import PoshgridError
from poshgrid.quality import balance, nulls, page
from poshgrid.tables import formats

if TYPE_CHECKING:
    from poshgrid.benchmark.checks.structure import Fault
    from poshgrid.benchmark.lexicon import Lexicon, Vocabulary
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


_MARKS = r"[\W_]+"


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
    members = pl.concat(
        items.select("item_id", member=pl.lit(member), key=_key(member))
        for member in ("good", "bad")
    ).filter(pl.col("key") != "")
    keys = members.select("key").unique()
    found: dict[str, dict[str, list[str]]] = {}
    for cell, path in train.items():
        held: set[str] = set()
        for batch in corpora.texts(path, spare=True):
            texts = batch.to_frame("text").select(key=_key("text"))
            held.update(texts.join(keys, on="key", how="semi")["key"])
        for item, member, key in members.iter_rows():
            if key in held:
                found.setdefault(item, {}).setdefault(member, []).append(cell)
    return [
        (item, "; ".join(f"{m} member in {', '.join(c)}" for m, c in found[item].items()))
        for item in dict.fromkeys(items["item_id"])
        if item in found
    ]


def _key(column: str) -> pl.Expr:
    return pl.col(column).str.to_lowercase().str.replace_all(_MARKS, "").alias("key")


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
    lists: Mapping[str, Path] | None = None,
) -> dict[str, Any]:
    """Write ``index.html``, ``quality.json`` and ``nulls.csv`` of a suite.

    All suites are held to the same checks, as far as they have what a check needs. Faults and leaks
    of a generated suite are refused, after the files are written: the page is what people mend the
    suite by. Imbalance and nulls far from 50% are flagged. Of a suite that was read from files,
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
        lists: name -> a list of words that members may have, in a text.

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
    listed = {name: corpora.count(path) for name, path in sorted((lists or {}).items())}
    judged = nulls.accuracies(pairs, scores, scoring)
    checks = structure.checks(
        pairs, words, _vocabulary(words, counts, listed, top_k), generated=generated
    )
    heard = structure.Check("leaked pairs", "No member is in a training split")
    if train:
        heard.checked, heard.faults = pairs.height, leaks(pairs, train)
    checks.append(heard)
    balances = balance.balances(pairs, words) if generated else []
    summary = nulls.summarise(judged, pairs, counts, tolerance, bases_of or {})
    flags = balance.flagged([*summary, *balances])
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
        "lists": {name: len(counted) for name, counted in listed.items()},
        "phenomena": dict(Counter(pairs["phenomenon"])),
        "checks": [_told(check, homes) for check in checks],
        "balance": [asdict(each) for each in balances],
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


def _vocabulary(
    words: Lexicon,
    counts: dict[str, Counter[str]],
    listed: dict[str, Counter[str]],
    top_k: int | None,
) -> Vocabulary | None:
    """Return the words that members may have: frequent in every base, and in every list."""
    if not counts and not listed:
        return None
    most = top_k or max(map(len, counts.values()), default=0)
    found = lexicon.usable(words, counts, most)
    lists = {name: frozenset(counted) for name, counted in listed.items()}
    return replace(found, frequent={**found.frequent, **lists})


def _told(check: structure.Check, homes: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": check.name,
        "requirement": check.requirement,
        "needs": check.needs,
        "refuses": check.refuses,
        "checked": check.checked,
        "items": len(check.ids),
        "phenomena": dict(Counter(homes[item] for item in check.ids)),
        "first": [{"item": item, "reason": reason} for item, reason in check.faults[:_FIRST]],
    }
