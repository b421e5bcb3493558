"""The filter audit: sentences drawn for people to judge, and what their labels say.

The sheets and ``statistics.json`` are :mod:`poshgrid.audit.draw`'s, the rates and intervals
:mod:`poshgrid.audit.rate`'s: weighted, where a detector made strata. A sheet that was labelled is
looked for under its own name first, then under names that begin so (``binding.leakage.csv``,
``binding.leakage.second.csv``).
"""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poshgrid.audit.rate import Annotation, Rating, percent, rate
from poshgrid.audit.sheet import KINDS, Kind, read, sheet_name
from poshgrid.config.paths import Paths
from poshgrid.errors import PoshgridError
from poshgrid.report.blocks import Block, Bullets, Fold, Note, Page, headed
from poshgrid.report.collect import Collected
from poshgrid.report.records import place, read_json
from poshgrid.tables.table import Column, Table, empty, text, without
from poshgrid.tables.words import count, counted, decimals

TITLE, ORDER, AUDIENCE = "Filter audit", 110, "reviewer"
STATISTICS = "statistics.json"
_RATE = {"leakage": "leak rate", "precision": "precision"}


@dataclass(frozen=True)
class Sheet:
    """One sheet of a filter of a condition: what was drawn, and what people wrote on it."""

    condition: str
    size: str
    filter: str
    kind: Kind
    sentences: int  # of the condition (leakage), or of the base at this size (precision)
    candidates: int
    sampled: int
    whole: bool  # leakage: the candidates are all sentences that the filter left in
    put_back: int | None  # leakage: evidence that the condition put back, no candidates
    by_words: int | None  # precision: candidates that the backstop removed for their words alone
    rating: Rating | None  # None: nobody has labelled a sentence
    path: Path  # the sheet to fill in

    @property
    def unlabelled(self) -> int:
        """Sentences of the sample that have no label."""
        return self.rating.first.blank if self.rating else self.sampled

    @property
    def drawn_from(self) -> str:
        """What the candidates are."""
        if self.kind == "precision":
            return "removed"
        return "all left in" if self.whole else "with certain words"

    @property
    def place(self) -> str:
        """The sheet in words."""
        return f"{self.filter}, {self.kind} ({self.condition}, {self.size})"


def blocks(page: Page) -> list[Block]:
    """Return what the labels on the sheets say, and the sheets.

    Raises:
        PoshgridError: ``statistics.json`` or a sheet with labels is broken.
    """
    shelf = page.shelf
    drawn, missing = gather(page.collected, page.paths)
    if not drawn and not missing:
        return ["Not run: no sentences were drawn for people to judge (audit.conditions)."]
    said = [_finding(sheet, sheet.rating) for sheet in drawn if sheet.rating]
    sheets = [
        f"{sheet.place}: {place(sheet.path, page.paths)}" for sheet in drawn if sheet.path.is_file()
    ]
    return [
        Bullets(said) if said else None,
        _unlabelled(drawn) or None,
        shelf.table(_table(drawn)),
        *map(Note, missing),
        *headed("Agreement of two annotators", page.table(_agreement(drawn))),
        Fold("Sheets", f"({len(sheets)})", [Bullets(sheets)]) if sheets else None,
    ]


def gather(collected: Collected, paths: Paths) -> tuple[list[Sheet], list[str]]:
    """Read the audits of a target's conditions.

    Of cells that no sheet is drawn from any more, what people have written on them stays.

    Returns:
        The sheets, in the order of cells and filters; and for each filter without a sheet for
        leakage a sentence that says why.
    """
    sheets: list[Sheet] = []
    missing: list[str] = []
    for cell in collected.spec.cells:
        condition, size = cell.split("/")
        folder = Path(paths.audit(condition, size))
        path = folder / STATISTICS
        statistics = read_json(path)
        if not statistics:
            continue
        try:
            drawn = cell in collected.spec.audits
            for word, facts in statistics["filters"].items():
                if drawn and facts["leakage"] is None:
                    reason = facts.get("reason", "nothing tells its candidates")
                    missing.append(f"{word} ({condition}, {size}) has no leakage sheet: {reason}.")
                found = [
                    _sheet(folder, statistics, word, kind, facts[kind])
                    for kind in KINDS
                    if facts[kind] is not None
                ]
                sheets += [sheet for sheet in found if drawn or sheet.rating]
        except (KeyError, TypeError, AttributeError) as error:
            raise PoshgridError(
                f"{path}: not the statistics of an audit; delete it and run poshgrid audit again"
            ) from error
    return sheets, missing


def _sheet(
    folder: Path, statistics: dict[str, Any], word: str, kind: Kind, facts: dict[str, Any]
) -> Sheet:
    return Sheet(
        condition=statistics["condition"],
        size=statistics["size"],
        filter=word,
        kind=kind,
        sentences=statistics["sentences" if kind == "leakage" else "base_sentences"],
        candidates=facts["candidates"],
        sampled=facts["sampled"],
        whole=facts.get("whole", False),
        put_back=facts.get("reinserted"),
        by_words=facts.get("backstop"),
        rating=_rating(folder, sheet_name(word, kind)),
        path=folder / f"{sheet_name(word, kind)}.csv",
    )


def _rating(folder: Path, name: str) -> Rating | None:
    """Return what the labels on a sheet say, and on a second person's, if there is one."""
    own = folder / f"{name}.csv"
    others = sorted(set(folder.glob(f"{glob.escape(name)}*.csv")) - {own})
    found = [p for p in (own, *others) if p.is_file() and any(e.label for e in read(p))]
    if not found:
        return None
    second = found[1] if len(found) > 1 else None
    return rate(found[0], second, statistics=folder / STATISTICS)


# ---- tables --------------------------------------------------------------------------------------


def _interval(found: Annotation) -> tuple[float, float]:
    """Return the interval that holds both readings of "unsure"."""
    return found.low.interval[0], found.high.interval[1]


def _expected(found: Annotation) -> tuple[float | None, float | None]:
    low, high = found.low.expected_interval, found.high.expected_interval
    return (low and low[0], high and high[1])


def _table(sheets: list[Sheet]) -> Table | None:
    if not sheets:
        return None
    rows: list[list[Any]] = []
    flags = {}
    for sheet in sheets:
        head = [
            sheet.filter, sheet.kind, sheet.condition, sheet.size, sheet.drawn_from,
            sheet.sentences, sheet.candidates, sheet.put_back, sheet.by_words, sheet.sampled,
            sheet.unlabelled,
        ]  # fmt: skip
        if sheet.rating is None:
            rows.append([*head, *[None] * 9])
            continue
        found = sheet.rating.first
        if found.skipped:
            flags[len(rows)] = "flag"
        rows.append([
            *head, found.yes, found.no, found.unsure, found.low.share,
            found.high.share if found.unsure else None, *_interval(found), *_expected(found),
        ])  # fmt: skip
    columns = [
        *(text(name)
          for name in ("Filter", "Sheet", "Condition", "Size", "Drawn from")),
        Column("Sentences", count), Column("Candidates", count), Column("Put back", count),
        Column("By words alone", count), Column("Sampled", count), Column("Unlabelled", count),
        Column("Yes", count), Column("No", count), Column("Unsure", count),
        Column("Rate (%)", percent), Column("Unsure as yes (%)", percent),
        Column("2.5% (%)", percent), Column("97.5% (%)", percent),
        Column("Expected, from", decimals(1)), Column("Expected, to", decimals(1)),
    ]  # fmt: skip
    caption = _caption(sheets)
    if flags:
        caption += (
            " Marked rows: sentences were skipped; the interval holds only if they are like the "
            "others."
        )
    table = Table("audit", caption, columns, rows, flags)
    return without(table, empty(table, [column.title for column in columns[7:]]))


def _caption(sheets: list[Sheet]) -> str:
    text = (
        "Sheets of sentences for people to judge. Leakage: the rate is the share of the training "
        "sentences that the filter left in, or of those with certain words, that is evidence all "
        "the same, whatever a parser made of them; evidence that the condition put back is none. "
        "Precision: the share of the sentences that the filter removed that is evidence."
    )
    left = [sheet for sheet in sheets if sheet.kind == "leakage"]
    if any(sheet.whole for sheet in left):
        text += (
            " All left in: those that look like evidence to a detector were drawn more often, and "
            "weigh less."
        )
    if not all(sheet.whole for sheet in left):
        text += (
            " With certain words: sentences without the words that evidence needs were never "
            "looked at, and the rate says nothing of them."
        )
    ratings = [sheet.rating for sheet in sheets if sheet.rating]
    if ratings:
        text += " Intervals: Clopper and Pearson's, 95%"
        if any(len(rating.first.strata) > 1 for rating in ratings):
            text += ", joined over strata (Fay, Proschan and Brittain 2015)"
        text += "; they hold both readings of “unsure”. Expected: sentences among the candidates."
    return text


def _agreement(sheets: list[Sheet]) -> Table:
    """Lay out how far two people agree, where two have filled in a sheet."""
    rows = [
        [
            sheet.filter, sheet.kind, sheet.condition, sheet.size, found.compared, found.kappa,
            len(found.disagreements),
        ]
        for sheet in sheets
        if sheet.rating and (found := sheet.rating.agreement)
    ]  # fmt: skip
    columns = [
        *(text(name) for name in ("Filter", "Sheet", "Condition", "Size")),
        Column("Labelled by both", count),
        Column("Kappa", decimals(3)),
        Column("Disagreements", count),
    ]
    caption = "Two people's labels on one sheet. Kappa: Cohen's, of yes against the rest."
    return Table("audit-agreement", caption, columns, rows)


# ---- sentences -----------------------------------------------------------------------------------


def _finding(sheet: Sheet, rating: Rating) -> str:
    found = rating.first
    low, high = _interval(found)
    share = percent(found.low.share)
    if found.unsure:
        share += f" to {percent(found.high.share)}"
    text = (
        f"{sheet.place}: {'weighted ' if len(found.strata) > 1 else ''}{_RATE[sheet.kind]} "
        f"{share}% "
        f"(95% interval {percent(low)} to {percent(high)}%), from "
        f"{counted(found.annotated, 'labelled sentence')}: {found.yes:,} evidence, "
        f"{found.unsure:,} unsure."
    )
    least, most = _expected(found)
    if sheet.kind == "leakage" and least is not None and most is not None:
        among = sheet.candidates if sheet.whole else sheet.sentences
        text += f" Evidence left in: {least:,.1f} to {most:,.1f} of {among:,} sentences"
        text += "." if sheet.whole else "; those without candidates' words were never looked at."
    return text


def _unlabelled(sheets: list[Sheet]) -> str:
    """Say what remains to be labelled; "" if nothing does."""
    open_ = [sheet for sheet in sheets if sheet.unlabelled]
    if not open_:
        return ""
    left, all_ = sum(s.unlabelled for s in open_), sum(s.sampled for s in sheets)
    none = [sheet for sheet in open_ if sheet.rating is None]
    text = f"{left:,} of {counted(all_, 'sampled sentence')} have no label yet"
    if len(none) == len(sheets):
        text = f"No sheet has a label yet ({counted(all_, 'sampled sentence')})"
    elif none:
        names = "; ".join(sheet.place for sheet in none)
        text += f"; sheets without any: {names}"
    return (
        text + ". A rate is known only where people have judged: fill a sheet in, save it "
        "as CSV in its place, and make the report again."
    )
