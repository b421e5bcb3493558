"""Rates from an annotated sheet: how much evidence a filter leaves in, or how often it is right.

Intervals are Clopper and Pearson's (1934), 95%. Labels *unsure* are counted in two ways: as no
(low) and as yes (high).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poshgrid.audit.draw import STATISTICS
from poshgrid.audit.sheet import KINDS, Entry, digest, read
from poshgrid.errors import PoshgridError
from poshgrid.evidence.agreement import cohens_kappa
from poshgrid.files import read_json

RATES = {"leakage": "leak rate", "precision": "precision"}
"""Kind of a sheet -> name of its share of yes."""


@dataclass(frozen=True)
class Share:
    """A share of yes, and the number of yes among all sentences that it implies."""

    share: float
    interval: tuple[float, float]
    expected: float | None = None  # sentences; None if the number of all sentences is unknown
    expected_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Annotation:
    """The labels of one person on a sheet."""

    sheet: str
    annotated: int
    yes: int
    no: int
    unsure: int
    blank: int
    skipped: bool  # whether a sentence without a label is before one with a label
    low: Share  # unsure counted as no
    high: Share  # unsure counted as yes


@dataclass(frozen=True)
class Agreement:
    """How far two people agree on the sentences that both labelled."""

    compared: int
    kappa: float | None  # of yes against all other labels; None if expected agreement is 1
    disagreements: list[dict[str, Any]]  # number, sent_id, text, first, second


@dataclass(frozen=True)
class Rating:
    """The result of :func:`rate`."""

    filter: str
    kind: str
    drawn: dict[str, Any] | None  # condition, size and the sheet's facts of ``statistics.json``
    first: Annotation
    second: Annotation | None = None
    agreement: Agreement | None = None


def estimate(yes: int, labelled: int, sentences: int | None = None) -> Share:
    """Return the share of yes in a uniform sample, and the number of yes among all sentences.

    Args:
        yes: number of sentences with the label yes.
        labelled: number of sentences with a label.
        sentences: number of sentences that the sample was drawn from. At least ``yes`` of them are
            yes and at least ``labelled - yes`` are not. None: unknown.
    """
    from scipy.stats import binomtest

    share = yes / labelled
    interval = binomtest(yes, labelled).proportion_ci(method="exact")
    if sentences is None:
        return Share(share, tuple(interval))
    low, high = np.clip(np.multiply(interval, sentences), yes, sentences - labelled + yes).tolist()
    return Share(share, (low / sentences, high / sentences), share * sentences, (low, high))


def rate(sheet: Path, second: Path | None = None) -> Rating:
    """Read one or two people's copies of an annotated sheet, and estimate its rate.

    ``statistics.json`` of the audit, if it is in the same folder, says how many sentences the
    sample was drawn from.

    Args:
        sheet: the annotated CSV.
        second: the same sheet, annotated by another person.

    Returns:
        Counts, shares with intervals, the expected number of sentences, and the agreement.

    Raises:
        PoshgridError: a sheet has no label or an unknown one, or the files have different samples.
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
    number = drawn["candidates"] if drawn else None
    first = _annotation(sheet, entries, number)
    if second is None:
        return Rating(word, kind, drawn, first)
    others = read(second)
    if second.samefile(sheet) or [e.sent_id for e in entries] != [e.sent_id for e in others]:
        raise PoshgridError(
            f"{second}: not another copy of {sheet}; give two people's copies of one sheet"
        )
    other = _annotation(second, others, number)
    return Rating(word, kind, drawn, first, other, _agreement(entries, others))


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


def _annotation(sheet: Path, entries: Sequence[Entry], candidates: int | None) -> Annotation:
    labels = [entry.label for entry in entries]
    yes, no, unsure, blank = (labels.count(label) for label in ("yes", "no", "unsure", ""))
    annotated = yes + no + unsure
    if not annotated:
        raise PoshgridError(
            f"{sheet}: no sentence has a label; write yes, no or unsure in the column 'label'"
        )
    low, high = (estimate(number, annotated, candidates) for number in (yes, yes + unsure))
    skipped = "" in labels[:annotated]
    return Annotation(sheet.name, annotated, yes, no, unsure, blank, skipped, low, high)


def _agreement(entries: Sequence[Entry], others: Sequence[Entry]) -> Agreement:
    pairs = [
        (e, e.label, o.label) for e, o in zip(entries, others, strict=True) if e.label and o.label
    ]
    marks = Counter((one == "yes", two == "yes") for _, one, two in pairs)
    cells = ((True, True), (True, False), (False, True), (False, False))
    disagreements = [
        {"number": e.number, "sent_id": e.sent_id, "text": e.text, "first": one, "second": two}
        for e, one, two in pairs
        if one != two
    ]
    return Agreement(len(pairs), cohens_kappa(*(marks[cell] for cell in cells)), disagreements)


# ---- in words ----------------------------------------------------------------------------------


def percent(share: float) -> str:
    """Return a share in percent with two decimals, or two significant digits if below 0.1%."""
    if share >= 0.001 or not share:
        return f"{100 * share:.2f}"
    return np.format_float_positional(100 * share, precision=2, fractional=False)


def lines(rating: Rating) -> list[str]:
    """Return the lines that ``poshgrid leak-rate`` prints; ranges count *unsure* in both ways."""
    drawn, printed = rating.drawn, []
    if drawn:
        head = f"{drawn['condition']} at {drawn['size']}"
        printed.append(f"{head}, filter {rating.filter}, {rating.kind}")
    for person in filter(None, (rating.first, rating.second)):
        printed.append(
            f"{person.sheet}: {person.annotated:,} annotated: {person.yes:,} yes, {person.no:,} "
            f"no, {person.unsure:,} unsure; {person.blank:,} blank"
        )
        least, most = person.low, person.high
        shares = dict.fromkeys(map(percent, (least.share, most.share)))
        printed.append(
            f"  {RATES[rating.kind]}: {' to '.join(shares)}% (95% interval "
            f"{percent(least.interval[0])} to {percent(most.interval[1])}%)"
        )
        if drawn and least.expected_interval and most.expected_interval:
            expected = dict.fromkeys(f"{one.expected:,.1f}" for one in (least, most))
            printed.append(
                f"  expected: {' to '.join(expected)} ({least.expected_interval[0]:,.1f} to "
                f"{most.expected_interval[1]:,.1f}) of {drawn['candidates']:,} candidates"
            )
        if person.skipped:
            printed.append(
                "  sentences were skipped: the rate holds only if they are like the others"
            )
    if drawn and not drawn.get("whole", True):
        printed.append("  the rate is about sentences with the words of candidates only")
    if agreed := rating.agreement:
        kappa = "undefined" if agreed.kappa is None else f"{agreed.kappa:.3f}"
        printed.append(
            f"both labelled {agreed.compared:,} sentences: Cohen's kappa {kappa} (yes against the "
            f"rest), {len(agreed.disagreements):,} disagreements"
        )
        printed += [
            f"  {pair['number']}: {pair['first']} / {pair['second']}: {pair['text']}"
            for pair in agreed.disagreements
        ]
    return printed
