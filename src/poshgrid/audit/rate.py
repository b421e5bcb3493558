"""What an annotated sheet says: how much evidence a filter leaves in, or how often it is right.

Sentences weigh by their strata (:mod:`poshgrid.audit.estimate`), whose sizes ``statistics.json``
tells, or else the sheet's own weights. An *unsure* is counted both ways: as no (low) and as yes
(high).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poshgrid.audit.estimate import Share, Stratum, estimate
from poshgrid.audit.labels import STATISTICS
from poshgrid.audit.sheet import KINDS, WEIGHTS, Entry, Kind, digest, read, sheet_name
from poshgrid.errors import PoshgridError
from poshgrid.evidence.agreement import cohens_kappa
from poshgrid.files import read_json


@dataclass(frozen=True)
class Annotation:
    """What one person wrote on a sheet."""

    sheet: str
    annotated: int
    yes: int
    no: int
    unsure: int
    blank: int
    skipped: bool  # a sentence without a label stands before one with a label
    strata: dict[int, Stratum]  # unsure: no
    low: Share  # unsure: no
    high: Share  # unsure: yes

    @property
    def unseen(self) -> int:
        """Sentences of strata without a label."""
        return sum(each.sentences or 0 for each in self.strata.values() if not each.labelled)


@dataclass(frozen=True)
class Origin:
    """Where a sheet is from: facts of ``statistics.json``."""

    condition: str
    size: str
    filter: str
    kind: Kind
    candidates: int
    sentences: int  # of the condition, or of the base at this size
    whole: bool = False  # leakage: candidates are all sentences that the filter left in
    # Stratum -> "sentences" and, of them, "sampled"; None: the sample of an earlier version
    strata: dict[int, dict[str, int]] | None = None


@dataclass(frozen=True)
class Agreement:
    """How far two people agree on the sentences that both labelled."""

    compared: int
    kappa: float | None  # of yes against the rest; None: chance agreement is complete
    disagreements: list[dict[str, Any]]  # number, sent_id, text, first, second


@dataclass(frozen=True)
class Rating:
    """The result of :func:`rate`."""

    confidence: float
    origin: Origin | None
    first: Annotation
    second: Annotation | None = None
    agreement: Agreement | None = None


def rate(
    sheet: Path,
    second: Path | None = None,
    *,
    confidence: float = 0.95,
    statistics: Path | None = None,
) -> Rating:
    """Read an annotated sheet, and a second person's, and estimate what they say.

    Args:
        sheet: the annotated CSV.
        second: the same sheet, annotated by somebody else.
        confidence: of the interval.
        statistics: what the audit wrote; none: ``statistics.json`` beside the sheet, if it is
            there. It knows the sheet by its sentences, whatever the file is called.

    Returns:
        Counts, shares with intervals, the expected number of sentences, and the agreement.

    Raises:
        PoshgridError: a sheet has no label or a wrong one, or the files are not of one sample.
    """
    if not 0 < confidence < 1:
        raise PoshgridError(f"confidence {confidence:g}: write a number between 0 and 1, e.g. 0.95")
    entries = read(sheet)
    given = statistics or sheet.parent / STATISTICS
    origin = None
    if statistics is not None or given.is_file():
        origin = _origin(sheet, entries, given)
    first = _annotation(sheet, entries, origin, confidence)
    if second is None:
        return Rating(confidence, origin, first)
    others = read(second)
    _same_sample(sheet, entries, second, others)
    return Rating(
        confidence,
        origin,
        first,
        _annotation(second, others, origin, confidence),
        _agreement(entries, others),
    )


def _annotation(
    sheet: Path, entries: Sequence[Entry], origin: Origin | None, confidence: float
) -> Annotation:
    found = [entry.label for entry in sorted(entries, key=lambda entry: entry.number)]
    yes, no, unsure, blank = (found.count(label) for label in ("yes", "no", "unsure", ""))
    annotated = yes + no + unsure
    if not annotated:
        raise PoshgridError(
            f"{sheet}: no sentence has a label; write yes, no or unsure in the column 'label'"
        )
    sizes = _sizes(sheet, entries, origin)
    low, high = (_strata(entries, sizes, labels) for labels in (["yes"], ["yes", "unsure"]))
    return Annotation(
        sheet=sheet.name, annotated=annotated, yes=yes, no=no, unsure=unsure, blank=blank,
        skipped="" in found[:annotated],
        strata=low,
        low=estimate(list(low.values()), confidence),
        high=estimate(list(high.values()), confidence),
    )  # fmt: skip


def _sizes(sheet: Path, entries: Sequence[Entry], origin: Origin | None) -> dict[int, int | None]:
    """Return stratum -> its sentences, as far as they are known."""
    on_sheet = Counter(entry.stratum for entry in entries)
    if origin is None:
        weights: dict[int, float] = dict.fromkeys(sorted(on_sheet), 0.0)
        for entry in entries:
            if entry.weight is None:
                return {1: None}
            weights[entry.stratum] += entry.weight
        return {stratum: round(total) for stratum, total in weights.items()}
    if origin.strata is None:
        return {1: origin.candidates}
    if on_sheet != {n: each["sampled"] for n, each in origin.strata.items() if each["sampled"]}:
        raise PoshgridError(
            f"{sheet}: the column {WEIGHTS[0]!r} is not that of the sample; restore it from the "
            "sheet that poshgrid audit wrote"
        )
    return {n: each["sentences"] for n, each in origin.strata.items()}


def _strata(
    entries: Sequence[Entry], sizes: dict[int, int | None], yes: Sequence[str]
) -> dict[int, Stratum]:
    """Return what each stratum's labels say, where some labels count as yes."""
    labelled = Counter(entry.stratum for entry in entries if entry.label)
    found = Counter(entry.stratum for entry in entries if entry.label in yes)
    return {n: Stratum(size, labelled[n], found[n]) for n, size in sizes.items()}


def _origin(sheet: Path, entries: Sequence[Entry], path: Path) -> Origin:
    """Find the sheet in ``statistics.json`` by its sentences."""
    statistics = read_json(path)
    name = digest((entry.number, entry.sent_id, entry.text) for entry in entries)
    try:
        found = [
            Origin(
                statistics["condition"], statistics["size"], word, kind, facts[kind]["candidates"],
                statistics["sentences" if kind == "leakage" else "base_sentences"],
                facts[kind].get("whole", False), _drawn(facts[kind]),
            )
            for word, facts in statistics["filters"].items()
            for kind in KINDS
            if facts[kind] is not None and facts[kind]["digest"] == name
        ]  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PoshgridError(
            f"{path}: not the statistics of an audit; name those that poshgrid audit wrote with "
            "the sheet"
        ) from error
    # Very small corpora: two sheets may hold the same sentences in the same order.
    named = [o for o in found if sheet.name.startswith(sheet_name(o.filter, o.kind))]
    if len(found) != 1 and len(named) != 1:
        raise PoshgridError(
            f"{sheet}: {len(entries):,} sentences that are not a sample of {path}; restore rows "
            "that were deleted and sentences that were changed, or name the statistics that "
            "poshgrid audit wrote with the sheet"
            if not found
            else f"{sheet}: may be any of several sheets of {path}; give the file the name that "
            "the sheet had"
        )
    return named[0] if len(named) == 1 else found[0]


def _drawn(facts: dict[str, Any]) -> dict[int, dict[str, int]] | None:
    """Return stratum -> its sentences and how many of them were drawn, the lowest first."""
    found = facts.get("strata")
    return found and {
        int(n): {key: int(found[n][key]) for key in ("sentences", "sampled")}
        for n in sorted(found, key=int)
    }


def _same_sample(
    sheet: Path, entries: Sequence[Entry], second: Path, others: Sequence[Entry]
) -> None:
    if second.exists() and sheet.samefile(second):
        raise PoshgridError(f"{second}: given twice; name the sheet of another person")
    one, two = ({entry.number: entry.sent_id for entry in each} for each in (entries, others))
    for number in sorted(one.keys() | two.keys()):
        if one.get(number) != two.get(number):
            raise PoshgridError(
                f"{second}: not the sheet of {sheet}: number {number} is "
                f"{_sentence(two.get(number))} here and {_sentence(one.get(number))} there; "
                "give two copies of one sheet"
            )


def _sentence(sent_id: int | None) -> str:
    return "missing" if sent_id is None else f"sent_id {sent_id}"


def _agreement(entries: Sequence[Entry], others: Sequence[Entry]) -> Agreement:
    theirs = {entry.number: entry.label for entry in others}
    pairs = [
        (entry, entry.label, theirs[entry.number])
        for entry in sorted(entries, key=lambda entry: entry.number)
        if entry.label and theirs[entry.number]
    ]
    marks = [(one == "yes", two == "yes") for _, one, two in pairs]
    table = [
        marks.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))
    ]
    return Agreement(
        compared=len(pairs),
        kappa=cohens_kappa(*table),
        disagreements=[
            {
                "number": entry.number, "sent_id": entry.sent_id, "text": entry.text,
                "first": one, "second": two,
            }
            for entry, one, two in pairs
            if one != two
        ],
    )  # fmt: skip


# ---- in words ----------------------------------------------------------------------------------


def lines(rating: Rating) -> list[str]:
    """Return the lines that ``poshgrid leak-rate`` prints."""
    found = []
    if o := rating.origin:
        found.append(f"{o.condition} at {o.size}, filter {o.filter}, {o.kind}")
    for each in filter(None, (rating.first, rating.second)):
        found += _annotation_lines(each, rating.origin, rating.confidence)
    return found + (_agreement_lines(rating.agreement) if rating.agreement else [])


def percent(share: float) -> str:
    """Write a share in percent: two decimals, or two digits of one that they would make naught."""
    if share >= 0.001 or not share:
        return f"{100 * share:.2f}"
    return np.format_float_positional(100 * share, precision=2, fractional=False)


def _annotation_lines(found: Annotation, origin: Origin | None, confidence: float) -> list[str]:
    lines = [
        f"{found.sheet}: {found.annotated:,} annotated: {found.yes:,} yes, {found.no:,} no, "
        f"{found.unsure:,} unsure; {found.blank:,} blank"
    ]
    name = {"leakage": "leak rate", "precision": "precision"}[origin.kind] if origin else "yes"
    ways = {"": found.low}
    if found.unsure:
        ways = {", unsure as no": found.low, ", unsure as yes": found.high}
    for way, each in ways.items():
        low, high = map(percent, each.interval)
        lines.append(
            f"  {name}{way}: {percent(each.share)}% ({confidence * 100:g}% interval {low} to "
            f"{high}%)"
        )
        if origin and each.expected is not None and each.expected_interval is not None:
            low, high = (f"{bound:,.1f}" for bound in each.expected_interval)
            lines.append(f"  expected{way}: {each.expected:,.1f} ({low} to {high}) {_of(origin)}")
    if len(found.strata) > 1:
        lines += [
            f"  stratum {n}: {each.yes:,} yes of {each.labelled:,} labelled, of "
            f"{each.sentences:,} sentences"
            for n, each in found.strata.items()
        ]
    if found.unseen:
        lines.append(
            f"  no label in strata of {found.unseen:,} sentences: the interval takes them for "
            "anything, the rate is that of the others"
        )
    if origin and origin.kind == "leakage" and not origin.whole:
        lines.append(
            "  sentences without candidates' words were never looked at: the rate says nothing of "
            "them"
        )
    if found.skipped:
        lines.append(
            "  sentences were skipped: the interval holds only if they are like the others"
        )
    return lines


def _of(origin: Origin) -> str:
    """Say what the expected sentences are among."""
    if origin.kind == "precision":
        return (
            f"of {origin.candidates:,} candidates, among those removed from "
            f"{origin.sentences:,} sentences"
        )
    if origin.whole:
        return f"of {origin.candidates:,} sentences, all that the filter left in"
    return f"of {origin.candidates:,} candidates, in the condition's {origin.sentences:,} sentences"


def _agreement_lines(found: Agreement) -> list[str]:
    if not found.compared:
        return ["no sentence was labelled by both"]
    kappa = "undefined" if found.kappa is None else f"{found.kappa:.3f}"
    lines = [
        f"both labelled {found.compared:,} sentences: Cohen's kappa {kappa} (yes against the "
        f"rest), {len(found.disagreements):,} disagreements"
    ]
    return lines + [
        f"  {each['number']}: {each['first']} / {each['second']}: {each['text']}"
        for each in found.disagreements
    ]
