"""The filter audit: sentences drawn for people to judge, and what their labels say.

The sheets and ``statistics.json`` are :mod:`poshgrid.audit.draw`'s, the rates and intervals
:mod:`poshgrid.audit.rate`'s. A sheet that was labelled is looked for under its own name first, then
under names that begin so (``binding.leakage.csv``, ``binding.leakage.second.csv``).
"""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poshgrid.audit.rate import RATES, Annotation, Rating, percent, rate
from poshgrid.audit.sheet import KINDS, Kind, read, sheet_name
from poshgrid.config.paths import Paths
from poshgrid.errors import PoshgridError
from poshgrid.report.blocks import Block, Bullets, Fold, Page, headed
from poshgrid.report.collect import Collected
from poshgrid.report.records import place, read_json
from poshgrid.report.texts import say
from poshgrid.tables.table import Column, Table, numbers, texts, without_empty
from poshgrid.tables.words import count, decimals

TITLE, ORDER, AUDIENCE = "Filter audit", 110, "reviewer"
STATISTICS = "statistics.json"


@dataclass(frozen=True)
class Sheet:
    """One sheet of a filter of a condition: what was drawn, and what people wrote on it."""

    condition: str
    size: str
    filter: str
    kind: Kind
    sentences: int  # of the condition, or (precision) of the base at this size
    facts: dict[str, Any]  # candidates, sampled; whole, reinserted, backstop where it has them
    rating: Rating | None  # None: nobody has labelled a sentence
    path: Path  # the sheet to fill in

    @property
    def whole(self) -> bool:
        """Whether the candidates of a leakage sheet are all sentences that the filter left in."""
        return bool(self.facts.get("whole"))

    @property
    def unlabelled(self) -> int:
        """Sentences of the sample that have no label."""
        sampled: int = self.facts["sampled"]
        return self.rating.first.blank if self.rating else sampled

    @property
    def place(self) -> str:
        """The sheet in words."""
        return f"{self.filter}, {self.kind} ({self.condition}, {self.size})"


def blocks(page: Page) -> list[Block] | None:
    """Return what the labels on the sheets say, and the sheets; ``None``: none was drawn.

    Raises:
        PoshgridError: ``statistics.json`` or a sheet with labels is broken.
    """
    drawn = gather(page.collected, page.paths)
    if not drawn:
        return None
    said = [_finding(sheet, sheet.rating.first) for sheet in drawn if sheet.rating]
    unlabelled = [sheet for sheet in drawn if sheet.unlabelled]
    sheets = [
        f"{sheet.place}: {place(sheet.path, page.paths)}" for sheet in drawn if sheet.path.is_file()
    ]
    return [
        Bullets(said) if said else None,
        say("unlabelled", drawn, unlabelled) if unlabelled else None,
        page.table(_table(drawn)),
        *headed("Agreement of two annotators", page.table(_agreement(drawn))),
        Fold("Sheets", f"({len(sheets)})", [Bullets(sheets)]) if sheets else None,
    ]


def gather(collected: Collected, paths: Paths) -> list[Sheet]:
    """Read the audits of a target's conditions: the sheets, in the order of cells and filters.

    Of cells that no sheet is drawn from any more, what people have written on them stays.
    """
    sheets: list[Sheet] = []
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
                own = [
                    _sheet(folder, statistics, word, kind, facts[kind])
                    for kind in KINDS
                    if kind in facts
                ]
                sheets += [sheet for sheet in own if drawn or sheet.rating]
        except (KeyError, TypeError, AttributeError) as error:
            raise PoshgridError(
                f"{path}: not the statistics of an audit; delete it and run `poshgrid run -R audit`"
            ) from error
    return sheets


def _sheet(
    folder: Path, statistics: dict[str, Any], word: str, kind: Kind, facts: dict[str, Any]
) -> Sheet:
    name = sheet_name(word, kind)
    sentences = statistics["base_sentences" if kind == "precision" else "sentences"]
    facts = {"candidates": facts["candidates"], "sampled": facts["sampled"], **facts}
    cell = statistics["condition"], statistics["size"]
    path = folder / f"{name}.csv"
    return Sheet(*cell, word, kind, sentences, facts, _rating(folder, name), path)


def _rating(folder: Path, name: str) -> Rating | None:
    """Return what the labels on a sheet say, and on a second person's, if there is one."""
    own = folder / f"{name}.csv"
    others = sorted(set(folder.glob(f"{glob.escape(name)}*.csv")) - {own})
    labelled = [p for p in (own, *others) if p.is_file() and any(e.label for e in read(p))]
    if not labelled:
        return None
    second = labelled[1] if len(labelled) > 1 else None
    return rate(labelled[0], second)


# ---- tables --------------------------------------------------------------------------------------


def _interval(labels: Annotation) -> tuple[float, float]:
    """Return the interval that holds both readings of "unsure"."""
    return labels.low.interval[0], labels.high.interval[1]


def _expected(labels: Annotation) -> tuple[float | None, float | None]:
    low, high = labels.low.expected_interval, labels.high.expected_interval
    return (low and low[0], high and high[1])


def _drawn_from(sheet: Sheet) -> str:
    if sheet.kind == "leakage":
        return "all left in" if sheet.whole else "with certain words"
    return "removed"


def _table(sheets: list[Sheet]) -> Table:
    rows: list[list[Any]] = []
    flags = {}
    for sheet in sheets:
        row: list[Any] = [
            sheet.filter, sheet.kind, sheet.condition, sheet.size, _drawn_from(sheet),
            sheet.sentences,
            *(sheet.facts.get(key) for key in ("candidates", "reinserted", "backstop", "sampled")),
            sheet.unlabelled,
        ]  # fmt: skip
        if sheet.rating is None:
            rows.append([*row, *[None] * 9])
            continue
        labels = sheet.rating.first
        if labels.skipped:
            flags[len(rows)] = "flag"
        rows.append([
            *row, labels.yes, labels.no, labels.unsure, labels.low.share,
            labels.high.share if labels.unsure else None, *_interval(labels), *_expected(labels),
        ])  # fmt: skip
    columns = [
        *texts("Filter", "Sheet", "Condition", "Size", "Drawn from"),
        *numbers(count, "Sentences", "Candidates", "Put back", "By words alone", "Sampled",
                 "Unlabelled", "Yes", "No", "Unsure"),
        *numbers(percent, "Rate (%)", "Unsure as yes (%)", "2.5% (%)", "97.5% (%)"),
        *numbers(decimals(1), "Expected, from", "Expected, to"),
    ]  # fmt: skip
    left = {sheet.whole for sheet in sheets if sheet.kind == "leakage"}
    rated = any(sheet.rating for sheet in sheets)
    caption = say("audit", left, flags, rated)
    table = Table("audit", caption, columns, rows, flags)
    return without_empty(table, [column.title for column in columns[7:]])


def _agreement(sheets: list[Sheet]) -> Table:
    """Lay out how far two people agree, where two have filled in a sheet."""
    rows = [
        [sheet.filter, sheet.kind, sheet.condition, sheet.size, both.compared, both.kappa,
         len(both.disagreements)]
        for sheet in sheets
        if sheet.rating and (both := sheet.rating.agreement)
    ]  # fmt: skip
    columns = [
        *texts("Filter", "Sheet", "Condition", "Size"), Column("Labelled by both", count),
        Column("Kappa", decimals(3)), Column("Disagreements", count),
    ]  # fmt: skip
    return Table("audit-agreement", say("audit_agreement"), columns, rows)


def _finding(sheet: Sheet, labels: Annotation) -> str:
    shares = dict.fromkeys(percent(share) for share in (labels.low.share, labels.high.share))
    ends = [percent(end) for end in _interval(labels)]
    expected = _expected(labels) if sheet.kind == "leakage" else (None, None)
    return say("rate", sheet, labels, RATES[sheet.kind], list(shares), ends, expected)
