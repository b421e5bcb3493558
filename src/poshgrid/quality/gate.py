"""The stage: hold a suite to every check, write what was found, and refuse what is broken.

Two findings are made here: which members a learner was trained on, word for word, and what members
differ in besides syntax, the length and frequency of their words. The page is one file, without
network or script; it shows some pairs of each phenomenon, their critical regions marked.
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
from poshgrid.benchmark import corpora, lexicon
from poshgrid.benchmark.checks import structure
from poshgrid.benchmark.schema import ITEMS
from poshgrid.errors import PoshgridError
from poshgrid.quality import nulls
from poshgrid.tables import formats

if TYPE_CHECKING:
    from poshgrid.benchmark.checks.structure import Fault
    from poshgrid.config import Scoring

log = logs.get(__name__)
_FIRST = 10  # faults of a check that quality.json names
_DRAWN = 5  # pairs of a phenomenon that are shown; the same suite shows the same


def differences(
    items: pl.DataFrame, counts: Mapping[str, Counter[str]]
) -> Iterator[dict[str, Any]]:
    """Yield the differences of length and frequency, good minus bad, phenomenon by phenomenon.

    The frequency of a member is the mean over its words of log10((count + 1) / all words): one
    more for each word, so that words that a base lacks have a logarithm.

    Args:
        items: the columns of ``PAIRS``.
        counts: base -> type -> tokens.

    Yields:
        phenomenon, measure (words, characters, log frequency of a base), mean, sd.
    """
    measures = {"words": lambda text: len(text.split()), "characters": len} | {
        f"log frequency ({base})": _frequency(counted) for base, counted in counts.items()
    }
    for (phenomenon,), rows in items.group_by("phenomenon", maintain_order=True):
        for measure, measured in measures.items():
            values = [measured(row["good"]) - measured(row["bad"]) for row in rows.to_dicts()]
            mean = math.fsum(values) / len(values)
            spread = math.fsum((value - mean) ** 2 for value in values)
            sd = math.sqrt(spread / max(len(values) - 1, 1))
            yield {"phenomenon": phenomenon, "measure": measure, "mean": mean, "sd": sd}


def _frequency(counted: Counter[str]) -> Callable[[str], float]:
    """Return a measure of sentences: the mean log10 relative frequency of their words.

    Summed exactly: members with the same words must have the same frequency.
    """
    total = math.log10(sum(counted.values()))

    def measured(text: str) -> float:
        logs = [math.log10(counted[word] + 1) - total for word in lexicon.tokens(text)]
        return math.fsum(logs) / len(logs) if logs else 0.0

    return measured


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
        scores: run -> its scores of the suite; see :func:`nulls.judged`.
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
    sets = nulls.judged(pairs, scores, scoring)
    vocabulary = None
    if counts:
        vocabulary = lexicon.usable(words, counts, top_k or max(map(len, counts.values())))
    checks = structure.checks(pairs, words, vocabulary, generated=generated)
    heard = structure.Check("leaked pairs")
    if train:
        heard.checked, heard.faults = pairs.height, leaks(pairs, train)
    checks.append(heard)
    summary = nulls.summarise(sets, pairs, tolerance, bases_of or {})
    flagged = sorted({null["phenomenon"] for null in summary if null["flagged"]})
    faulty = [check for check in checks if check.faults]
    verdict = "flagged" if faulty or flagged else "passed"
    if faulty and generated:
        verdict = "failed"
    quality: dict[str, Any] = {
        "suite": suite,
        "generated": generated,
        "verdict": verdict,
        "pairs": pairs.height,
        "bases": {base: sum(counted.values()) for base, counted in counts.items()},
        "tolerance": tolerance,
        "runs": len(scores),
        "checks": [
            {
                "name": check.name,
                "needs": check.needs,
                "checked": check.checked,
                "items": len(check.ids),
                "first": [{"item": id_, "reason": why} for id_, why in check.faults[:_FIRST]],
            }
            for check in checks
        ],
        "differences": list(differences(pairs, counts)),
        "nulls": summary,
    }
    page = output / "index.html"
    files.write_text(page, render(quality, pairs))
    files.write_text(output / "nulls.csv", formats.csv(nulls.by_run(sets)))
    files.write_json(output / "quality.json", quality)
    log.info("%s: %s; %s", suite, verdict, page)
    if verdict == "failed":
        raise PoshgridError(f"suite {suite}: {structure.summary(faulty)}; see {page}")
    return {
        "verdict": verdict,
        "pairs": pairs.height,
        "faults": {check.name: len(check.ids) for check in checks},
        "flagged": flagged,
    }


def render(quality: dict[str, Any], items: pl.DataFrame) -> str:
    """Return the HTML of a suite's quality page.

    Args:
        quality: what ``quality.json`` holds.
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
        rng = random.Random(f"0/{name}")  # whatever the other phenomena are
        drawn = sorted(rng.sample(range(part.height), min(_DRAWN, part.height)))
        examples[name] = part[drawn].to_dicts()
    return environment.get_template("page.html").render(
        found=quality,
        pairs={row["item_id"]: row for row in items.reverse().iter_rows(named=True)},
        kinds=list(dict.fromkeys(null["null"] for null in quality["nulls"])),
        nulls=_by_phenomenon(quality["nulls"], "null"),
        measures=list(dict.fromkeys(each["measure"] for each in quality["differences"])),
        differences=_by_phenomenon(quality["differences"], "measure"),
        examples=examples,
    )


def _by_phenomenon(rows: list[dict[str, Any]], key: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return phenomenon -> value of ``key`` -> row."""
    table: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        table.setdefault(row["phenomenon"], {})[row[key]] = row
    return table
