"""Stage ``quality``: run all checks of a suite, and write a page with the results.

Two checks are here: which members are in the training text, and how the members of pairs differ in
length and word frequency. The page is one file without network or script; it shows some pairs of
each phenomenon with their critical regions.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid import files, logs
from poshgrid.benchmark import frequencies, lexicon
from poshgrid.benchmark.checks import structure
from poshgrid.benchmark.schema import ITEMS
from poshgrid.quality import baselines

if TYPE_CHECKING:
    from poshgrid.benchmark.checks.structure import Fault
    from poshgrid.config.specs import QualitySpec

log = logs.get(__name__)
_MAX_FAULTS_LISTED = 10  # faults of a check in quality.json
_PAIRS_SHOWN = 5  # pairs of a phenomenon on the page; a suite always shows the same


def differences(
    items: pl.DataFrame, counts: Mapping[str, Counter[str]]
) -> Iterator[dict[str, Any]]:
    """Yield the differences of length and frequency, good minus bad, phenomenon by phenomenon.

    The frequency of a member is the mean over its words of log10((count + 1) / all words). The 1 is
    added because words that a corpus lacks would have no logarithm.

    Args:
        items: the columns of ``PAIRS``.
        counts: corpus -> type -> tokens.

    Yields:
        phenomenon, measure (words, characters, log frequency of a corpus), mean, sd.
    """
    measures = {"words": lambda text: len(text.split()), "characters": len} | {
        f"log frequency ({corpus})": _frequency(counted) for corpus, counted in counts.items()
    }
    for (phenomenon,), rows in items.group_by("phenomenon", maintain_order=True):
        for measure, measured in measures.items():
            values = [measured(row["good"]) - measured(row["bad"]) for row in rows.to_dicts()]
            mean = math.fsum(values) / len(values)
            spread = math.fsum((value - mean) ** 2 for value in values)
            sd = math.sqrt(spread / max(len(values) - 1, 1))
            yield {"phenomenon": phenomenon, "measure": measure, "mean": mean, "sd": sd}


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
        train: "condition/size" -> its ``train.parquet``, or a plain text; read in batches.

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
    scores: Mapping[str, Path],
    output: Path,
) -> dict[str, Any]:
    """Write ``index.html`` and ``quality.json`` of a suite.

    All suites have the same checks; a check that lacks its data is left out. Faults, and baselines
    far from 50%, are flagged. (A generated suite with a fault is refused when it is made.)

    Args:
        spec: the suite's name and whether it was made from templates; how many types of a corpus
            count as frequent; how scores are compared; ``tolerance`` and the corpora of conditions
            (:func:`baselines.summarise`).
        items: the suite (``ITEMS``).
        corpora: corpus -> ``sentences.parquet``, or a plain text, to count words. Empty: no
            frequencies.
        train: "condition/size" -> ``train.parquet`` or a text that may have members of pairs.
        scores: run -> its scores of the suite; see :func:`baselines.judged`.
        output: the folder to write to.

    Returns:
        Facts for the manifest: verdict, pairs, faults of each check, flagged phenomena.

    Raises:
        PoshgridError: a table is broken.
    """
    pairs = files.read_table(items, ITEMS)
    words = lexicon.read()
    counts = {corpus: frequencies.count(path) for corpus, path in sorted(corpora.items())}
    vocabulary = lexicon.usable(words, counts, spec.top_k) if counts else None
    checks = structure.checks(pairs, words, vocabulary, generated=spec.generated)
    leaked = structure.Check("leaked pairs")
    if train:
        leaked.checked, leaked.faults = pairs.height, leaks(pairs, train)
    checks.append(leaked)
    sets = baselines.judged(pairs, scores, spec.scoring)
    summary = baselines.summarise(sets, pairs, spec.tolerance, spec.corpora)
    flagged = sorted({baseline["phenomenon"] for baseline in summary if baseline["flagged"]})
    faulty = any(check.faults for check in checks)
    quality: dict[str, Any] = {
        "suite": spec.suite,
        "generated": spec.generated,
        "verdict": "flagged" if faulty or flagged else "passed",
        "pairs": pairs.height,
        "corpora": {corpus: sum(counted.values()) for corpus, counted in counts.items()},
        "tolerance": spec.tolerance,
        "runs": len(scores),
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
        "differences": list(differences(pairs, counts)),
        "baselines": summary,
    }
    page = output / "index.html"
    files.write_text(page, render(quality, pairs))
    files.write_json(output / "quality.json", quality)
    log.info("%s: %s; %s", spec.suite, quality["verdict"], page)
    return {
        "verdict": quality["verdict"],
        "pairs": pairs.height,
        "faults": {check["name"]: check["items"] for check in quality["checks"]},
        "flagged": flagged,
    }


def render(quality: dict[str, Any], items: pl.DataFrame) -> str:
    """Return the HTML of a suite's quality page.

    Args:
        quality: content of ``quality.json``.
        items: the suite (``ITEMS``).
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("poshgrid", "quality"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    examples = {}
    for (name,), part in items.group_by("phenomenon", maintain_order=True):
        rng = random.Random(f"0/{name}")  # the sample does not depend on other phenomena
        drawn = sorted(rng.sample(range(part.height), min(_PAIRS_SHOWN, part.height)))
        examples[name] = part[drawn].to_dicts()
    return environment.get_template("page.html").render(
        quality=quality,
        pairs={row["item_id"]: row for row in items.reverse().iter_rows(named=True)},
        kinds=list(dict.fromkeys(baseline["baseline"] for baseline in quality["baselines"])),
        baselines=_by_phenomenon(quality["baselines"], "baseline"),
        measures=list(
            dict.fromkeys(difference["measure"] for difference in quality["differences"])
        ),
        differences=_by_phenomenon(quality["differences"], "measure"),
        examples=examples,
    )


def _by_phenomenon(rows: list[dict[str, Any]], key: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return phenomenon -> value of ``key`` -> row."""
    table: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        table.setdefault(row["phenomenon"], {})[row[key]] = row
    return table
