"""What a rating says, in lines for a person."""

from __future__ import annotations

import numpy as np

from poshgrid.audit.rate import Agreement, Annotation, Origin, Rating


def lines(rating: Rating) -> list[str]:
    """Return the lines that ``poshgrid leak-rate`` prints."""
    found = []
    if o := rating.origin:
        found.append(f"{o.condition} at {o.size}, filter {o.filter}, {o.kind}")
    for each in filter(None, (rating.first, rating.second)):
        found += _annotation(each, rating.origin, rating.confidence)
    return found + (_agreement(rating.agreement) if rating.agreement else [])


def percent(share: float) -> str:
    """Write a share in percent: two decimals, or two digits of one that they would make naught."""
    if share >= 0.001 or not share:
        return f"{100 * share:.2f}"
    return np.format_float_positional(100 * share, precision=2, fractional=False)


def _annotation(found: Annotation, origin: Origin | None, confidence: float) -> list[str]:
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


def _agreement(found: Agreement) -> list[str]:
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
