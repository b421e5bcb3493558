"""The filter audit: sentences drawn for people to judge, and the rates from their labels.

:mod:`poshgrid.quality.audit.draw` writes the sheets and ``statistics.json``,
:mod:`poshgrid.quality.audit.rate` computes the rates and intervals. A labelled sheet may have its
own name or a name that begins with it (``binding.leakage.csv``, ``binding.leakage.second.csv``).
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.core.errors import PoshgridError
from poshgrid.quality.audit.draw import REWRITE
from poshgrid.quality.audit.rate import rate
from poshgrid.quality.audit.sheet import KINDS, read
from poshgrid.report.collect import Collected, read_json
from poshgrid.report.parts import Page

TITLE, ORDER, AUDIENCE = "Filter audit", 110, "reviewer"


def write(page: Page) -> dict[str, Any] | None:
    """Write the rates of the sheets; None if no sheet was drawn.

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
    return {"sheets": sheets}


def gather(collected: Collected) -> Iterator[dict[str, Any]]:
    """Yield a row for each sheet of a target's conditions, with its rating.

    Sheets of cells that are no longer configured are yielded only if they have labels.
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
    folder: Path, statistics: dict[str, Any], word: str, kind: str, facts: dict[str, Any]
) -> dict[str, Any]:
    """Return a row of the table of sheets; unknown values are None or missing."""
    condition, size = statistics["condition"], statistics["size"]
    leakage = kind == "leakage"
    # The sheet, or its first labelled copy
    own = folder / f"{word}.{kind}.csv"
    copies = sorted(set(folder.glob(f"{glob.escape(own.stem)}*.csv")) - {own})
    labelled = (p for p in (own, *copies) if p.is_file() and any(e.label for e in read(p)))
    rating = next(map(rate, labelled), None)
    row = {
        "filter": word, "sheet": kind, "condition": condition, "size": size,
        "from": ("all left in" if facts.get("whole") else "with certain words") if leakage
                else "changed" if word == REWRITE else "removed",
        "sentences": statistics["sentences" if leakage else "corpus_sentences"],
        "candidates": facts["candidates"], "reinserted": facts.get("reinserted"),
        "backstop": facts.get("backstop"), "sampled": facts["sampled"],
        "unlabelled": rating.blank if rating else facts["sampled"],
        "rating": rating, "class": None,
    }  # fmt: skip
    if rating:
        first, last = rating.rates
        low, high = rating.interval  # covers both readings of "unsure": as no and as yes
        row |= {
            "yes": rating.yes, "no": rating.no, "unsure": rating.unsure, "rate": first,
            "rate_unsure": last if rating.unsure else None, "low": low, "high": high,
            "expected_low": low * facts["candidates"],
            "expected_high": high * facts["candidates"],
            "class": "flag" if rating.skipped else None,
        }  # fmt: skip
    return row
