"""Rates from an annotated sheet: how much evidence a filter leaves in, or how often it is right.

Intervals are Clopper and Pearson's (1934), 95%. Labels *unsure* are counted in two ways: as no
(low) and as yes (high).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json
from poshgrid.quality.audit.draw import STATISTICS
from poshgrid.quality.audit.sheet import KINDS, Entry, digest, read

RATES = {"leakage": "leak rate", "precision": "precision"}
"""Kind of a sheet -> name of its share of yes."""


@dataclass(frozen=True)
class Rating:
    """The labels of one person on a sheet."""

    filter: str
    kind: str
    drawn: dict[str, Any] | None  # condition, size and the sheet's facts of ``statistics.json``
    yes: int
    no: int
    unsure: int
    blank: int
    skipped: bool  # whether a sentence without a label is before one with a label
    rates: tuple[float, float]  # share of yes, with unsure as no and as yes
    interval: tuple[float, float]  # covers the intervals of both


def interval(yes: int, labelled: int, sentences: int | None = None) -> tuple[float, float]:
    """Return the 95% interval of the share of yes, from a uniform sample.

    Args:
        yes: number of sentences with the label yes.
        labelled: number of sentences with a label.
        sentences: number of sentences that the sample was drawn from. At least ``yes`` of them are
            yes and at least ``labelled - yes`` are not. None: unknown.
    """
    from scipy.stats import binomtest

    low, high = binomtest(yes, labelled).proportion_ci(method="exact")
    if sentences is None:
        return low, high
    return max(low, yes / sentences), min(high, (sentences - labelled + yes) / sentences)


def rate(sheet: Path) -> Rating:
    """Read an annotated sheet, and estimate its rate.

    ``statistics.json`` of the audit, if it is in the same folder, says how many sentences the
    sample was drawn from.

    Args:
        sheet: the annotated CSV.

    Raises:
        PoshgridError: the sheet has no label or an unknown one, or another sample than the audit.
    """
    entries = read(sheet)
    names = sorted({entry.sheet.strip() for entry in entries})
    word, _, kind = "".join(names).rpartition(".")
    if len(names) != 1 or kind not in KINDS:
        raise PoshgridError(
            f"{sheet}: rows of the sheets {names}; give one sheet alone, as it was written"
        )
    path = sheet.with_name(STATISTICS)
    drawn = _drawn(sheet, entries, path, word, kind) if path.is_file() else None
    labels = [entry.label for entry in entries]
    yes, no, unsure, blank = (labels.count(label) for label in ("yes", "no", "unsure", ""))
    labelled = yes + no + unsure
    if not labelled:
        raise PoshgridError(
            f"{sheet}: no sentence has a label; write yes, no or unsure in the column 'label'"
        )
    number = drawn["candidates"] if drawn else None
    low, high = (interval(count, labelled, number) for count in (yes, yes + unsure))
    return Rating(
        word, kind, drawn, yes, no, unsure, blank,
        skipped="" in labels[:labelled],
        rates=(yes / labelled, (yes + unsure) / labelled),
        interval=(low[0], high[1]),
    )  # fmt: skip


def _drawn(
    sheet: Path, entries: Sequence[Entry], path: Path, word: str, kind: str
) -> dict[str, Any]:
    """Return the facts about a sheet in ``statistics.json``; raise if it has another sample."""
    statistics = read_json(path)
    try:
        facts = statistics["filters"][word][kind]
        drawn = {key: statistics[key] for key in ("condition", "size")} | facts
        known = drawn["digest"] == digest((e.number, e.sent_id, e.text) for e in entries)
    except (KeyError, TypeError):
        known = False
    if not known:
        raise PoshgridError(
            f"{sheet}: {len(entries):,} sentences that are not a sample of {path}; restore rows "
            "that were deleted and sentences that were changed, or copy here the statistics that "
            "the stage audit wrote with the sheet"
        )
    return drawn


def agreement(first: Path, second: Path) -> tuple[int, float, float]:
    """Compare the labels of two people on one sheet.

    Returns:
        Sentences that both labelled; the share of equal labels among them; and Cohen's kappa of yes
        against all other labels, which is not a number if the expected agreement is 1.

    Raises:
        PoshgridError: the files are not two copies of one sheet, or no sentence has two labels.
    """
    entries, others = read(first), read(second)
    if second.samefile(first) or [e.sent_id for e in entries] != [e.sent_id for e in others]:
        raise PoshgridError(
            f"{second}: not another copy of {first}; give two people's copies of one sheet"
        )
    pairs = zip((e.label for e in entries), (e.label for e in others), strict=True)
    both = np.array([pair for pair in pairs if all(pair)])
    if not len(both):
        raise PoshgridError(f"{second}: no sentence that both have labelled")
    return len(both), float((both[:, 0] == both[:, 1]).mean()), cohens_kappa(*(both == "yes").T)


def cohens_kappa(one: np.ndarray, two: np.ndarray) -> float:
    """Return agreement beyond chance, (observed - expected) / (1 - expected).

    Args:
        one: bool, whether one person answers yes about each sentence.
        two: the same of another.
    """
    expected = one.mean() * two.mean() + (1 - one.mean()) * (1 - two.mean())
    with np.errstate(invalid="ignore"):
        return float(((one == two).mean() - expected) / np.float64(1 - expected))


# ---- in words ----------------------------------------------------------------------------------


def percent(share: float) -> str:
    """Return a share in percent with two decimals, or two significant digits if below 0.1%."""
    if share >= 0.001 or not share:
        return f"{100 * share:.2f}"
    return np.format_float_positional(100 * share, precision=2, fractional=False)


def lines(sheet: Path, rating: Rating) -> list[str]:
    """Return the lines that ``poshgrid leak-rate`` prints; ranges count *unsure* in both ways."""
    drawn = rating.drawn
    rates = " to ".join(dict.fromkeys(map(percent, rating.rates)))
    low, high = map(percent, rating.interval)
    printed = [
        f"{sheet.name}: {rating.yes:,} yes, {rating.no:,} no, {rating.unsure:,} unsure; "
        f"{rating.blank:,} blank",
        f"  {RATES[rating.kind]}: {rates}% (95% interval {low} to {high}%)",
    ]
    if drawn:
        printed.insert(0, f"{drawn['condition']} at {drawn['size']}, {rating.filter}")
        candidates = drawn["candidates"]
        few, many, low, high = (f"{s * candidates:,.1f}" for s in (*rating.rates, *rating.interval))
        expected = few if few == many else f"{few} to {many}"
        printed.append(f"  expected: {expected} ({low} to {high}) of {candidates:,} candidates")
    if rating.skipped:
        printed.append("  sentences were skipped: the rate holds only if they are like the others")
    if drawn and not drawn.get("whole", True):
        printed.append("  the rate is about sentences with the words of candidates only")
    return printed
