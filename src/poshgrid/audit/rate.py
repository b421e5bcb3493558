"""What an annotated sheet says: how much evidence a filter leaves in, or how often it is right.

The interval is Clopper and Pearson's (1934), exact for a sample from a large number of candidates
and cautious for a small one. An *unsure* is counted both ways: as no (low) and as yes (high).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from poshgrid.audit.schema import KINDS, Kind, sheet_name
from poshgrid.audit.sheet import Entry, digest, read
from poshgrid.errors import PoshgridError
from poshgrid.evidence.agreement import cohens_kappa
from poshgrid.files import read_json

STATISTICS = "statistics.json"


@dataclass(frozen=True)
class Share:
    """A share of yes among the labelled sentences, and what it says of all candidates."""

    share: float
    interval: tuple[float, float]
    expected: float | None = None  # sentences among the candidates; None: their number is unknown
    expected_interval: tuple[float, float] | None = None


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
    low: Share  # unsure: no
    high: Share  # unsure: yes


@dataclass(frozen=True)
class Origin:
    """Where a sheet is from: facts of ``statistics.json``."""

    condition: str
    size: str
    filter: str
    kind: Kind
    candidates: int
    sentences: int  # of the condition, or of the base at this size


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

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the lines that a person reads."""
        lines = []
        if self.origin:
            o = self.origin
            lines.append(f"{o.condition} at {o.size}, filter {o.filter}, {o.kind}")
        for each in filter(None, (self.first, self.second)):
            lines += _lines(each, self.origin, self.confidence)
        if self.agreement:
            lines += _agreement_lines(self.agreement)
        return lines


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


def share(yes: int, annotated: int, confidence: float, candidates: int | None = None) -> Share:
    """Return a share with its interval and the number of sentences that it stands for.

    The number lies where the interval puts it, but it cannot be smaller than what was found nor
    larger than what was not ruled out: if all candidates are labelled, it is exact.

    Args:
        yes: sentences labelled so.
        annotated: sentences with a label.
        confidence: of the interval.
        candidates: sentences that the sample was drawn from.
    """
    from scipy.stats import binomtest

    found = binomtest(yes, annotated).proportion_ci(confidence, method="exact")
    low, high = float(found.low), float(found.high)
    if candidates is None:
        return Share(yes / annotated, (low, high))
    most = candidates - (annotated - yes)
    expected = (max(float(yes), low * candidates), min(float(most), high * candidates))
    return Share(yes / annotated, (low, high), yes * candidates / annotated, expected)


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
    candidates = origin.candidates if origin else None
    return Annotation(
        sheet=sheet.name, annotated=annotated, yes=yes, no=no, unsure=unsure, blank=blank,
        skipped="" in found[:annotated],
        low=share(yes, annotated, confidence, candidates),
        high=share(yes + unsure, annotated, confidence, candidates),
    )  # fmt: skip


def _origin(sheet: Path, entries: Sequence[Entry], path: Path) -> Origin:
    """Find the sheet in ``statistics.json`` by its sentences."""
    statistics = read_json(path)
    name = digest((entry.number, entry.sent_id) for entry in entries)
    try:
        found = [
            Origin(
                statistics["condition"], statistics["size"], word, kind, facts[kind]["candidates"],
                statistics["sentences" if kind == "leakage" else "base_sentences"],
            )
            for word, facts in statistics["filters"].items()
            for kind in KINDS
            if facts[kind] is not None and facts[kind]["digest"] == name
        ]  # fmt: skip
    except (KeyError, TypeError, AttributeError) as error:
        raise PoshgridError(
            f"{path}: not the statistics of an audit; name those that poshgrid audit wrote with "
            "the sheet"
        ) from error
    # Very small corpora: two sheets may hold the same sentences in the same order.
    named = [o for o in found if sheet.name.startswith(sheet_name(o.filter, o.kind))]
    if len(found) != 1 and len(named) != 1:
        raise PoshgridError(
            f"{sheet}: {len(entries):,} sentences that are not a sample of {path}; restore rows "
            "that were deleted, or name the statistics that poshgrid audit wrote with the sheet"
            if not found
            else f"{sheet}: may be any of several sheets of {path}; give the file the name that "
            "the sheet had"
        )
    return named[0] if len(named) == 1 else found[0]


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
    table = [marks.count(cell) for cell in
             ((True, True), (True, False), (False, True), (False, False))]  # fmt: skip
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


def _lines(found: Annotation, origin: Origin | None, confidence: float) -> list[str]:
    lines = [
        f"{found.sheet}: {found.annotated:,} annotated: {found.yes:,} yes, {found.no:,} no, "
        f"{found.unsure:,} unsure; {found.blank:,} blank"
    ]
    name = {"leakage": "leak rate", "precision": "precision"}[origin.kind] if origin else "yes"
    ways = {"": found.low}
    if found.unsure:
        ways = {", unsure as no": found.low, ", unsure as yes": found.high}
    for way, each in ways.items():
        low, high = (f"{100 * bound:.2f}" for bound in each.interval)
        lines.append(
            f"  {name}{way}: {100 * each.share:.2f}% ({confidence * 100:g}% interval {low} to "
            f"{high}%)"
        )
        if origin and each.expected is not None and each.expected_interval is not None:
            low, high = (f"{bound:,.1f}" for bound in each.expected_interval)
            where = (
                f"in the condition's {origin.sentences:,} sentences"
                if origin.kind == "leakage"
                else f"among those removed from {origin.sentences:,} sentences"
            )
            lines.append(
                f"  expected{way}: {each.expected:,.1f} ({low} to {high}) of "
                f"{origin.candidates:,} candidates, {where}"
            )
    if found.skipped:
        lines.append(
            "  sentences were skipped: the interval holds only if they are like the others"
        )
    return lines


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
