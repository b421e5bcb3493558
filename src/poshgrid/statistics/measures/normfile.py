"""Read a table of norms: means and SDs of children's scores by age, or tables of conversion.

Ages are written years;months (*4;7*), the convention of developmental studies (POSH-BENCH,
footnote 4). A row of the file is one of three:

- the mean and SD of an age band: ``category, score, age_from, age_to, mean, sd``;
- an entry of a band's table of conversion: ``category, score, age_from, age_to, raw_score`` and
  ``standard_score``, ``percentile`` or both;
- an entry of the test's table of ages: ``category, score, raw_score, age``, ages of bands empty.

``score`` says what is normed: ``raw`` (items right), ``blocks`` (blocks passed) or ``accuracy``
(share of items, 0-1). ``items``, where given, is the length of the test that was normed: items, or
blocks; ``excluded`` says how many items of it the suite leaves out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

from poshgrid.benchmark.reading import csvfile
from poshgrid.errors import did_you_mean
from poshgrid.statistics.measures.norms import SCORES, Band, Entry, Norm, age, months

_COLUMNS = ("category", "score", "age_from", "age_to")
_OPTIONAL = ("mean", "sd", "raw_score", "standard_score", "percentile", "items", "excluded", "age")
_WHOLE = {"items": 1, "excluded": 0}
"""Whole numbers that are one for all rows of a norm -> their smallest."""


def read(path: str | Path) -> list[Norm]:
    """Read a table of norms.

    Args:
        path: a CSV file: UTF-8, commas, a header.

    Returns:
        One norm for each category and kind of score, in the order of the file.

    Raises:
        PoshgridError: names file, line and remedy: the file is missing or broken, a column is
            missing or unknown, a cell is no age or no number, an SD is not above 0, an accuracy is
            not a share, bands overlap, a band has two means, a table does not rise.
    """
    bands: defaultdict[tuple[str, str], dict[tuple[int, int], Band]] = defaultdict(dict)
    of_ages: defaultdict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
    numbers: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for written in csvfile.table(Path(path), _COLUMNS, _OPTIONAL):
        row = written._replace(cells={name: cell.strip() for name, cell in written.cells.items()})
        key = _key(row)
        _count(row, key, numbers[key])
        if row.cells.get("age"):
            of_ages[key].append(_of_ages(row, key[1], of_ages[key]))
            continue
        ages = _ages(row)
        for other in bands[key].values():
            if (other.first, other.last) != ages and not (
                ages[1] < other.first or other.last < ages[0]
            ):
                raise row.fault(
                    f"ages {age(ages[0])}-{age(ages[1])} overlap {other.name} of {key[0]!r} "
                    f"({key[1]}); a band ends in the month before the next"
                )
        _add(row, key[1], bands[key].setdefault(ages, Band(*ages)))
    return [
        Norm(
            *key,
            found.get("items"),
            tuple(sorted(bands[key].values(), key=lambda band: band.first)),
            tuple(of_ages[key]),
            found.get("excluded", 0),
        )
        for key, found in numbers.items()
    ]


def _key(row: csvfile.Row) -> tuple[str, str]:
    """Return category and kind of score."""
    cells = row.cells
    if not cells["category"]:
        raise row.fault("category is empty; name a category or the suite")
    if cells["score"] not in SCORES:
        raise row.fault(f"unknown score {cells['score']!r}{did_you_mean(cells['score'], SCORES)}")
    return cells["category"], cells["score"]


def _count(row: csvfile.Row, key: tuple[str, str], known: dict[str, int]) -> None:
    """Add the length of the normed test, and how many of its items the suite leaves out."""
    for name, least in _WHOLE.items():
        given = _number(row, name)
        if given is None:
            continue
        if given < least or given != int(given):
            raise row.fault(f"{name} is {given:g}; give a whole number, or none")
        if known.setdefault(name, int(given)) != given:
            raise row.fault(
                f"{name} is {given:g}, but {known[name]} in another row of {key[0]!r} "
                f"({key[1]}); give one number"
            )
    if known.get("excluded") and key[1] != "raw":
        raise row.fault(f"excluded is of items, and {key[1]} are not counted; norm the raw score")


def _of_ages(row: csvfile.Row, score: str, before: list[tuple[float, int]]) -> tuple[float, int]:
    """Return an entry of the table of ages: a score, and the age in months."""
    others = [n for n in row.cells if n not in ("category", "score", "raw_score", "age", *_WHOLE)]
    if full := [name for name in others if row.cells[name]]:
        raise row.fault(f"{full[0]} does not belong beside an age; give it a row of its own")
    raw = _number(row, "raw_score")
    if raw is None:
        raise row.fault("age without raw_score; give the score that has this age")
    _check_share(row, score, raw)
    try:
        found = raw, months(row.cells["age"])
    except ValueError as error:
        raise row.fault(f"{error}") from error
    if before and (found[0] <= before[-1][0] or found[1] < before[-1][1]):
        raise row.fault("the table of ages does not rise; order its rows by raw_score")
    return found


def _ages(row: csvfile.Row) -> tuple[int, int]:
    """Return the ages of a band, in months."""
    cells = row.cells
    try:
        first, last = months(cells["age_from"]), months(cells["age_to"])
    except ValueError as error:
        raise row.fault(f"{error}") from error
    if last < first:
        raise row.fault(f"age_to {age(last)} is before age_from {age(first)}; exchange them")
    return first, last


def _check_share(row: csvfile.Row, score: str, value: float | None) -> None:
    if score == "accuracy" and value is not None and not 0 <= value <= 1:
        raise row.fault(f"{value:g} is no share; divide per cents by 100")


def _add(row: csvfile.Row, score: str, band: Band) -> None:
    """Add a row's mean, or its entry of the table, to the band."""
    mean, sd, raw, standard, percentile = (
        _number(row, name) for name in ("mean", "sd", "raw_score", "standard_score", "percentile")
    )
    of_table = raw is not None
    if of_table == (mean is not None or sd is not None):
        raise row.fault("give either mean and sd, or raw_score with standard_score or percentile")
    for value in (mean, raw):
        _check_share(row, score, value)
    if raw is None:
        if mean is None or sd is None or sd <= 0:
            raise row.fault("a mean needs an sd above 0; give both")
        if standard is not None or percentile is not None:
            raise row.fault("standard_score and percentile belong to a raw_score; give them a row")
        if band.mean is not None:
            raise row.fault(f"{band.name} has a mean already; keep one")
        band.mean, band.sd = mean, sd
        return
    if standard is None and percentile is None:
        raise row.fault("raw_score without standard_score or percentile; give one")
    if percentile is not None and not 0 <= percentile <= 100:
        raise row.fault(f"percentile is {percentile:g}; give a number from 0 to 100")
    last = band.table[-1] if band.table else None
    if last and (
        raw <= last.raw_score
        or _falls(last.standard_score, standard)
        or _falls(last.percentile, percentile)
    ):
        raise row.fault(f"the table of {band.name} does not rise; order its rows by raw_score")
    band.table.append(Entry(raw, standard, percentile))


def _falls(before: float | None, after: float | None) -> bool:
    return before is not None and after is not None and after < before


def _number(row: csvfile.Row, name: str) -> float | None:
    """Return a cell as a number, None where it is empty or the column is missing."""
    text = row.cells.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise row.fault(f"{name} is {text!r}, no number; write decimals with a point")
    return value
