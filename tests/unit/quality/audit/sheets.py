"""Sheets as people hand them back."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl

from poshgrid.quality.audit import sheet


def sentences(*texts: str, first: int = 0) -> pl.DataFrame:
    """Return the rows of a sheet with these texts, also as their source, document and words."""
    rows = [[first + i, *[text] * 4] for i, text in enumerate(texts)]
    return pl.DataFrame(rows, schema=sheet.ROWS, orient="row")


def fill(
    path: Path,
    labels: dict[int, str],
    note: str = "",
    separator: str = ",",
    end: str = "\r\n",
    encoding: str = "utf-8-sig",
) -> Path:
    """Write labels, by the numbers of their lines, into a sheet as a spreadsheet saves it."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    for row in rows[1:]:
        row[-2:] = labels.get(int(row[0]), ""), note
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separator, lineterminator=end).writerows(rows)
    path.write_bytes(stream.getvalue().encode(encoding))
    return path


def write_sheet(
    folder: Path, labels: list[str], name: str = "binding.leakage.csv", first: int = 100
) -> Path:
    """Write a sheet of some sentences with these labels."""
    texts = [f"the {i} dog's café" for i in range(len(labels))]
    sheet.write("binding.leakage", sentences(*texts, first=first), folder / name)
    return fill(folder / name, dict(enumerate(labels, start=1)))
