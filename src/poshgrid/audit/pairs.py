"""A sheet on which people judge pairs, not knowing which member is the good one.

One column holds the one member, one the other; which is which is drawn. Labels: ``a`` or ``b`` is
the better sentence; ``both`` are fine; ``neither`` is. Two people fill in copies of one sheet.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from poshgrid.audit import sheet
from poshgrid.audit.estimate import Share, Stratum, estimate
from poshgrid.errors import PoshgridError
from poshgrid.tables import formats

COLUMNS = ("number", "item_id", "a", "b", "label", "note")
LABELS = ("a", "b", "both", "neither")
GOOD = "good"  # what a label says once the sides are known: good, bad, both, neither


class Judged(NamedTuple):
    """A pair that a person has judged, or not yet."""

    number: int
    item: str
    phenomenon: str
    good: str
    bad: str
    label: str  # as on the sheet; "": none
    verdict: str  # the same with good, bad for a, b: the member of the suite that is better


@dataclass(frozen=True)
class Reader:
    """What one person made of the pairs."""

    sheet: str
    labelled: int
    blank: int
    verdicts: dict[str, int]
    agrees: Share  # of the labelled pairs, those whose good member is the better one
    phenomena: dict[str, tuple[int, int]]  # phenomenon -> (agrees, labelled)


@dataclass(frozen=True)
class Rating:
    """What one or two people made of a suite."""

    readers: list[Reader]
    compared: int = 0  # pairs that both labelled
    same: int = 0
    # Cohen's, of the labels: as sides are drawn, two who agree with the suite throughout do not
    # agree by chance. None: chance agreement is complete
    kappa: float | None = None
    disagreements: list[dict[str, str]] | None = None
    against: list[dict[str, str]] | None = None  # pairs on which nobody agrees with the suite


def draw(items: pl.DataFrame, count: int, seed: int, path: Path) -> int:
    """Write a sheet of pairs, some of each phenomenon, in an order and on sides that are drawn.

    Args:
        items: at least the columns of ``PAIRS``.
        count: pairs of each phenomenon; fewer where there are fewer.
        seed: another one gives other pairs, another order and other sides.
        path: the CSV to write.

    Returns:
        The number of pairs.

    Raises:
        PoshgridError: the file is there already: somebody may have filled it in.
    """
    if path.exists():
        raise PoshgridError(f"{path}: is there already; give --output another name")
    chosen = []
    for (phenomenon,), rows in items.sort("item_id").group_by("phenomenon", maintain_order=True):
        generator = random.Random(f"{seed}/{phenomenon}")
        places = generator.sample(range(rows.height), min(count, rows.height))
        chosen += [rows.row(place, named=True) for place in places]
    generator = random.Random(seed)
    chosen.sort(key=lambda row: row["item_id"])
    generator.shuffle(chosen)
    lines = []
    for number, row in enumerate(chosen, 1):
        sides = [row["good"], row["bad"]]
        generator.shuffle(sides)
        lines.append([str(number), row["item_id"], *map(formats.guarded, sides), "", ""])
    sheet.write_cells(COLUMNS, lines, path)
    return len(lines)


def read(path: Path, items: pl.DataFrame) -> list[Judged]:
    """Read a sheet that a person has filled in, in the order of its numbers.

    Raises:
        PoshgridError: as :func:`poshgrid.audit.sheet.read_cells`; an unknown label, a number that
            stands twice, or a pair that is not the suite's.
    """
    known = {row["item_id"]: row for row in items.iter_rows(named=True)}
    found: list[Judged] = []
    first: dict[int, int] = {}
    for line, cell in sheet.read_cells(path, COLUMNS):
        number = sheet.whole(path, line, "number", cell["number"])
        sheet.once(path, line, number, first)
        label = sheet.labelled(path, line, number, cell["label"], LABELS)
        row = known.get(cell["item_id"].strip())
        sides = {side: formats.unguarded(cell[side]) for side in ("a", "b")}
        if row is None or set(sides.values()) != {row["good"], row["bad"]}:
            raise PoshgridError(
                f"{path}: line {line} (number {number}): not a pair of the suite; give the items "
                "that the sheet was drawn from, and restore its sentences"
            )
        verdict = label
        if label in sides:
            verdict = GOOD if sides[label] == row["good"] else "bad"
        found.append(
            Judged(
                number, row["item_id"], row["phenomenon"], row["good"], row["bad"], label, verdict
            )
        )
    return sorted(found)


def rate(
    items: pl.DataFrame, path: Path, second: Path | None = None, confidence: float = 0.95
) -> Rating:
    """Say how far people agree with a suite, and with each other.

    Args:
        items: the suite that the sheet was drawn from.
        path: the sheet.
        second: another person's copy.
        confidence: of the intervals (Clopper and Pearson's).

    Raises:
        PoshgridError: as :func:`read`; no label; or the two are not copies of one sheet.
    """
    one = read(path, items)
    if second is None:
        return Rating([_reader(path, one, confidence)])
    if second.exists() and path.samefile(second):
        raise PoshgridError(f"{second}: given twice; name the sheet of another person")
    two = read(second, items)
    if [(each.number, each.item) for each in one] != [(each.number, each.item) for each in two]:
        raise PoshgridError(f"{second}: not the pairs of {path}; give two copies of one sheet")
    both = [(x, y) for x, y in zip(one, two, strict=True) if x.verdict and y.verdict]
    return Rating(
        readers=[_reader(path, one, confidence), _reader(second, two, confidence)],
        compared=len(both),
        same=sum(x.verdict == y.verdict for x, y in both),
        kappa=kappa([(x.label, y.label) for x, y in both]),
        disagreements=[_said(x, y) for x, y in both if x.verdict != y.verdict],
        against=[_said(x, y) for x, y in both if GOOD not in (x.verdict, y.verdict)],
    )


def kappa(labels: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's (1960) kappa of two people's labels; None: chance agreement is complete."""
    n = len(labels)
    if not n:
        return None
    one, two = Counter(x for x, _ in labels), Counter(y for _, y in labels)
    chance = sum(one[label] * two[label] for label in one) / n**2
    observed = sum(x == y for x, y in labels) / n
    return None if chance == 1 else (observed - chance) / (1 - chance)


def lines(rating: Rating) -> list[str]:
    """Return what a rating says, in lines for a person."""
    found = []
    for each in rating.readers:
        low, high = each.agrees.interval
        verdicts = ", ".join(f"{n:,} {verdict}" for verdict, n in each.verdicts.items())
        found += [
            f"{each.sheet}: {each.labelled:,} labelled ({verdicts}); {each.blank:,} blank",
            f"  with the suite: {100 * each.agrees.share:.1f}% ({100 * low:.1f} to "
            f"{100 * high:.1f}%)",
            *(f"    {name}: {n:,} of {of:,}" for name, (n, of) in each.phenomena.items()),
        ]
    if len(rating.readers) > 1:
        value = "undefined" if rating.kappa is None else f"{rating.kappa:.3f}"
        found.append(
            f"both labelled {rating.compared:,} pairs: the same in {rating.same:,}, Cohen's kappa "
            f"{value}"
        )
        for title, rows in (
            ("they disagree on", rating.disagreements or []),
            ("neither agrees with the suite on", rating.against or []),
        ):
            found.append(f"{title} {len(rows):,}")
            found += [
                f"  {each['item']}: {each['first']} / {each['second']}: {each['good']} | "
                f"{each['bad']}"
                for each in rows
            ]
    return found


def _reader(path: Path, judged: Sequence[Judged], confidence: float) -> Reader:
    done = [each for each in judged if each.verdict]
    if not done:
        raise PoshgridError(f"{path}: no pair has a label; write {', '.join(LABELS)} in 'label'")
    verdicts = Counter(each.verdict for each in done)
    of = Counter(each.phenomenon for each in done)
    right = Counter(each.phenomenon for each in done if each.verdict == GOOD)
    return Reader(
        path.name,
        len(done),
        len(judged) - len(done),
        {name: verdicts[name] for name in (GOOD, "bad", "both", "neither")},
        estimate([Stratum(None, len(done), verdicts[GOOD])], confidence),
        {name: (right[name], of[name]) for name in sorted(of)},
    )


def _said(one: Judged, two: Judged) -> dict[str, str]:
    return {
        "item": one.item, "first": one.verdict, "second": two.verdict, "good": one.good,
        "bad": one.bad,
    }  # fmt: skip
