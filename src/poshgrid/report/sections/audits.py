"""The filter audit: sentences drawn for people to judge, and what their labels say.

The sheets and ``statistics.json`` are :mod:`poshgrid.audit.draw`'s, the rates and intervals
:mod:`poshgrid.audit.rate`'s. A sheet that was labelled is looked for under its own name first, then
under names that begin so (``binding.leakage.csv``, ``binding.leakage.second.csv``).
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.audit.rate import Rating, rate
from poshgrid.audit.sheet import KINDS, Kind, read, sheet_name
from poshgrid.errors import PoshgridError
from poshgrid.report.collect import Collected
from poshgrid.report.parts import Page
from poshgrid.report.records import read_json

TITLE, ORDER, AUDIENCE = "Filter audit", 110, "reviewer"


def write(page: Page) -> dict[str, Any] | None:
    """Write what the labels on the sheets say; ``None``: no sheet was drawn.

    Raises:
        PoshgridError: ``statistics.json`` or a sheet with labels is broken.
    """
    sheets = list(gather(page.collected))
    if not sheets:
        return None
    rated = [sheet for sheet in sheets if sheet["rating"]]
    left = {sheet["from"] for sheet in sheets if sheet["sheet"] == "leakage"}
    known = [{k: v for k, v in sheet.items() if k != "rating"} for sheet in sheets]
    frame = pl.DataFrame(known, infer_schema_length=None)
    page.table("audit", frame, left, frame["class"].count(), bool(rated))
    both = [
        {k: sheet[k] for k in ("filter", "sheet", "condition", "size")}
        | {"compared": two.compared, "kappa": two.kappa, "disagreements": len(two.disagreements)}
        for sheet in rated
        if (two := sheet["rating"].agreement)
    ]
    page.table("audit-agreement", pl.DataFrame(both))
    return {"sheets": sheets}


def gather(collected: Collected) -> Iterator[dict[str, Any]]:
    """Yield the sheets of a target's conditions: what was drawn, and what people wrote on it.

    Of cells that no sheet is drawn from any more, what people have written on them stays.
    """
    for cell in collected.spec.cells:
        folder = Path(collected.paths.audit(*cell.split("/")))
        path = folder / "statistics.json"
        statistics = read_json(path)
        try:
            for word, facts in statistics.get("filters", {}).items():
                for kind in KINDS:
                    sheet = (
                        _sheet(folder, statistics, word, kind, facts[kind]) if kind in facts else {}
                    )
                    if sheet and (cell in collected.spec.audits or sheet["rating"]):
                        yield sheet
        except (KeyError, TypeError, AttributeError) as error:
            raise PoshgridError(
                f"{path}: not the statistics of an audit; delete it and run `poshgrid run -R audit`"
            ) from error


def _sheet(
    folder: Path, statistics: dict[str, Any], word: str, kind: Kind, facts: dict[str, Any]
) -> dict[str, Any]:
    """Return a row of the table of sheets; columns of what is not known are null."""
    condition, size = statistics["condition"], statistics["size"]
    leakage = kind == "leakage"
    rating = _rating(folder, sheet_name(word, kind))
    row = {
        "filter": word, "sheet": kind, "condition": condition, "size": size,
        "from": ("all left in" if facts.get("whole") else "with certain words") if leakage
                else "removed",
        "sentences": statistics["sentences" if leakage else "corpus_sentences"],
        "candidates": facts["candidates"], "reinserted": facts.get("reinserted"),
        "backstop": facts.get("backstop"), "sampled": facts["sampled"],
        "unlabelled": rating.first.blank if rating else facts["sampled"],
        "rating": rating, "class": None,
    }  # fmt: skip
    if rating:
        labels, (first, last) = rating.first, (rating.first.low, rating.first.high)
        expected = (first.expected_interval or (None,))[0], (last.expected_interval or (None,))[-1]
        row |= {
            "yes": labels.yes, "no": labels.no, "unsure": labels.unsure, "rate": first.share,
            "rate_unsure": last.share if labels.unsure else None,
            # Ends hold both readings of "unsure"
            "low": first.interval[0], "high": last.interval[1],
            "expected_low": expected[0], "expected_high": expected[1],
            "class": "flag" if labels.skipped else None,
        }  # fmt: skip
    return row


def _rating(folder: Path, name: str) -> Rating | None:
    """Return what the labels on a sheet say, and on a second person's, if there is one."""
    own = folder / f"{name}.csv"
    others = sorted(set(folder.glob(f"{glob.escape(name)}*.csv")) - {own})
    labelled = [p for p in (own, *others) if p.is_file() and any(e.label for e in read(p))]
    return rate(labelled[0], labelled[1] if len(labelled) > 1 else None) if labelled else None
