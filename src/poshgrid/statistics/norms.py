"""A score among children: z, standard score, percentile and age equivalent by a table of norms.

Norms come from a file that the user supplies; this project ships none. Ages are written
years;months (*4;7*), the convention of developmental studies (POSH-BENCH, footnote 4). The use
of children's norms for a model's scores follows Capone, Suozzi, Lebani and Lenci (2024), BaBIEs,
section 4.2.

A row of the file is one of two:

- the mean and SD of an age band: ``category, score, age_from, age_to, mean, sd``;
- an entry of a band's table of conversion: ``category, score, age_from, age_to, raw_score`` and
  ``standard_score``, ``percentile`` or both.

``score`` says what is normed: ``raw`` (items right), ``blocks`` (blocks passed) or ``accuracy``
(share of items, 0-1). ``items``, where given, is the length of the test that was normed: items, or
blocks.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from scipy import stats

from poshgrid.benchmark.reading import choicefile
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.files import Schema
from poshgrid.statistics.schema import RUN_AXES

SCORES = ("raw", "blocks", "accuracy")
"""What a norm is a norm of."""

RUN: Schema = {
    **dict.fromkeys(RUN_AXES, pl.String),
    "seed": pl.UInt32,
    "suite": pl.String,
}
"""The columns that name a run and the suite it was measured on."""

NORMS: Schema = {
    **RUN,
    "category": pl.String,  # of the norm; the suite's name: the test as a whole
    "score": pl.String,  # what is normed: raw, blocks, accuracy
    "value": pl.Float64,  # the run's
    "age_equivalent": pl.String,  # years;months, "< 4;0", "> 11;11"; "" without means
    "age_from": pl.String,  # of the band: years;months
    "age_to": pl.String,
    "mean": pl.Float64,  # of the band's children; null: the norms do not tell
    "sd": pl.Float64,
    "z": pl.Float64,
    "within_1_sd": pl.Boolean,  # |z| <= 1: the typical range of that age
    "standard_score": pl.Float64,  # 100 + 15 z, unless the norms' table gives one
    "percentile": pl.Float64,
    "percentile_by": pl.String,  # table, normal, "" (unknown)
}
"""``norms.parquet``: one row per run, norm and age band."""

_COLUMNS = ("category", "score", "age_from", "age_to")
_OPTIONAL = ("mean", "sd", "raw_score", "standard_score", "percentile", "items")
_AGE = re.compile(r"([0-9]{1,3});([0-9]{1,2})")
_SLACK = 1e-9  # scores are sums of shares: 1/3 + 1/3 + 1/3 reaches 1


@dataclass(frozen=True)
class Entry:
    """A row of a table of conversion."""

    raw_score: float
    standard_score: float | None
    percentile: float | None


@dataclass
class Band:
    """The children of some ages."""

    first: int  # months, included
    last: int  # months, included: 4;5 is up to the day before 4;6
    mean: float | None = None
    sd: float | None = None
    table: list[Entry] = field(default_factory=list)  # by rising score

    @property
    def name(self) -> str:
        """The ages, as in *4;0-4;5*."""
        return f"{age(self.first)}-{age(self.last)}"

    @property
    def middle(self) -> float:
        """The age, in months, that the band's mean is taken to be the mean of."""
        return (self.first + self.last + 1) / 2

    def z(self, score: float) -> float | None:
        """Return by how many SDs a score is above the mean; none without a mean."""
        if self.mean is None or self.sd is None:
            return None
        return (score - self.mean) / self.sd

    def entry(self, score: float) -> Entry | None:
        """Return what the table of conversion says of a score.

        A score between two entries has reached the lower one; one below the first has no entry.
        """
        reached = [entry for entry in self.table if entry.raw_score <= score + _SLACK]
        return reached[-1] if reached else None


@dataclass(frozen=True)
class Norm:
    """The norms of one category and kind of score."""

    category: str  # or the suite's name: the test as a whole
    score: str  # one of SCORES
    items: int | None  # length of the test that was normed; None: not told
    bands: tuple[Band, ...]  # by rising age


@dataclass(frozen=True)
class Standing:
    """Where a score stands among the children of a band; None: the norms do not tell."""

    z: float | None
    standard_score: float | None
    percentile: float | None
    by: str  # where the percentile is from: "table", "normal" or ""


# ---- ages ----------------------------------------------------------------------------------------


def months(text: str) -> int:
    """Return an age in months.

    Args:
        text: years;months, e.g. ``4;7``.

    Raises:
        ValueError: not an age; says why.
    """
    found = _AGE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is no age; write years;months, e.g. 4;7")
    years, rest = int(found[1]), int(found[2])
    if rest > 11:
        raise ValueError(f"{text!r} is no age: a year has months 0 to 11; write {age(years * 12)}")
    return years * 12 + rest


def age(value: float) -> str:
    """Return an age as years;months, in completed months: 55.9 months are *4;7*."""
    whole = math.floor(value + _SLACK)
    return f"{whole // 12};{whole % 12}"


# ---- scores --------------------------------------------------------------------------------------


def standing(band: Band, score: float, *, mean: float = 100.0, sd: float = 15.0) -> Standing:
    """Return where a score stands among the children of a band.

    What the table of conversion gives is taken from there. Otherwise the standard score is
    ``mean + sd * z``, and the percentile is that of the standard score in a normal distribution.

    Args:
        band: the children.
        score: of the kind that was normed.
        mean: of standard scores: 100, as for IQs; 50 for T scores.
        sd: of standard scores: 15; 10 for T scores.
    """
    z = band.z(score)
    entry = band.entry(score)
    standard = entry.standard_score if entry else None
    if standard is None and z is not None:
        standard = mean + sd * z
    if entry and entry.percentile is not None:
        return Standing(z, standard, entry.percentile, "table")
    if standard is None:
        return Standing(z, None, None, "")
    return Standing(z, standard, 100 * float(stats.norm.cdf((standard - mean) / sd)), "normal")


def age_equivalent(norm: Norm, score: float) -> str:
    """Return the youngest age at which children's mean reaches a score.

    Each mean is taken at the middle of its band; between two middles it is interpolated linearly.
    Where means fall with age, nothing is smoothed: the youngest age counts.

    Args:
        norm: its bands with a mean are used.
        score: of the kind that was normed.

    Returns:
        Years;months; ``< 4;0`` for a score below the mean of the youngest band, which begins at
        4;0, ``> 11;11`` for one that no band's mean reaches, where the oldest ends at 11;11; ""
        where no band has a mean.
    """
    points = [(band.middle, band.mean) for band in norm.bands if band.mean is not None]
    if not points:
        return ""
    if score < points[0][1] - _SLACK:
        return f"< {age(next(b for b in norm.bands if b.mean is not None).first)}"
    before: tuple[float, float] | None = None
    for middle, mean in points:
        if mean >= score - _SLACK:
            if before is None or mean <= score:
                return age(middle)
            share = (score - before[1]) / (mean - before[1])
            return age(before[0] + share * (middle - before[0]))
        before = middle, mean
    return f"> {age(max(b.last for b in norm.bands if b.mean is not None))}"


# ---- the file ------------------------------------------------------------------------------------


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
    lengths: dict[tuple[str, str], int] = {}
    for written in choicefile.table(Path(path), _COLUMNS, _OPTIONAL):
        row = written._replace(cells={name: cell.strip() for name, cell in written.cells.items()})
        key, ages = _key(row)
        length = _number(row, "items")
        if length is not None:
            if length < 1 or length != int(length):
                raise row.fault(f"items is {length:g}; give a whole number, or none")
            if lengths.setdefault(key, int(length)) != length:
                raise row.fault(
                    f"items is {length:g}, but {lengths[key]} in another row of {key[0]!r} "
                    f"({key[1]}); give one number"
                )
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
        Norm(*key, lengths.get(key), tuple(sorted(found.values(), key=lambda band: band.first)))
        for key, found in bands.items()
    ]


def _key(row: choicefile.Row) -> tuple[tuple[str, str], tuple[int, int]]:
    """Return category and kind of score, and the ages in months."""
    cells = row.cells
    if not cells["category"]:
        raise row.fault("category is empty; name a category or the suite")
    if cells["score"] not in SCORES:
        raise row.fault(f"unknown score {cells['score']!r}{did_you_mean(cells['score'], SCORES)}")
    try:
        first, last = months(cells["age_from"]), months(cells["age_to"])
    except ValueError as error:
        raise row.fault(f"{error}") from error
    if last < first:
        raise row.fault(f"age_to {age(last)} is before age_from {age(first)}; exchange them")
    return (cells["category"], cells["score"]), (first, last)


def _add(row: choicefile.Row, score: str, band: Band) -> None:
    """Add a row's mean, or its entry of the table, to the band."""
    mean, sd, raw, standard, percentile = (
        _number(row, name) for name in ("mean", "sd", "raw_score", "standard_score", "percentile")
    )
    of_table = raw is not None
    if of_table == (mean is not None or sd is not None):
        raise row.fault("give either mean and sd, or raw_score with standard_score or percentile")
    for value in (mean, raw):
        if score == "accuracy" and value is not None and not 0 <= value <= 1:
            raise row.fault(f"{value:g} is no share; divide per cents by 100")
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


def _number(row: choicefile.Row, name: str) -> float | None:
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


# ---- runs ----------------------------------------------------------------------------------------


def compared(
    rows: pl.DataFrame,
    norms: Sequence[Norm],
    suite: str,
    name: str | Path | None = "norms",
    *,
    mean: float = 100.0,
    sd: float = 15.0,
) -> pl.DataFrame:
    """Return where runs stand among children.

    Args:
        rows: columns of ``MEASURES``, of one suite.
        norms: of categories, or of the suite as a whole under its name.
        suite: its name.
        name: of the norms' file, for messages.
        mean: of standard scores.
        sd: of standard scores.

    Returns:
        The columns of ``NORMS``.

    Raises:
        PoshgridError: a norm is of an unknown category, of blocks where there are none, or of a
            test of another length.
    """
    categories = rows.filter(pl.col("level") == "category")["category"].unique().sort().to_list()
    found: list[dict[str, Any]] = []
    for norm in norms:
        whole = norm.category == suite and norm.category not in categories
        if not whole and norm.category not in categories:
            raise PoshgridError(
                f"{name}: category {norm.category!r} is not in suite {suite!r}"
                f"{did_you_mean(norm.category, [*categories, suite])}"
            )
        mine = rows.filter(
            pl.col("level") == ("suite" if whole else "category"),
            pl.col("category") == ("" if whole else norm.category),
        )
        for row in mine.iter_rows(named=True):
            _check_length(norm, row, name)
            found += _standings(norm, row, mean, sd)
    return pl.DataFrame(found, schema=NORMS)


def _check_length(norm: Norm, row: dict[str, Any], name: str | Path | None) -> None:
    """Refuse to compare with a norm of missing blocks, or of a test of another length."""
    blocks = norm.score == "blocks"
    length = row["blocks"] if blocks else row["n"]
    if length is None:
        raise PoshgridError(
            f"{name}: {norm.category!r} is normed by blocks, but its items have none; "
            "fill the column block of the suite's file"
        )
    if norm.items is not None and norm.items != length:
        raise PoshgridError(
            f"{name}: {norm.category!r} ({norm.score}) is normed on {norm.items} "
            f"{'blocks' if blocks else 'items'}, the suite has {length}: scores are not "
            "comparable; to compare all the same, leave the column items empty"
        )


def _standings(norm: Norm, row: dict[str, Any], mean: float, sd: float) -> list[dict[str, Any]]:
    """Return the rows of ``NORMS`` of a run and a norm."""
    column = {"raw": "raw", "blocks": "blocks_passed", "accuracy": "accuracy"}[norm.score]
    value = float(row[column])
    equivalent = age_equivalent(norm, value)
    rows = []
    for band in norm.bands:
        found = standing(band, value, mean=mean, sd=sd)
        rows.append(
            {
                **{name: row[name] for name in RUN},
                "category": norm.category,
                "score": norm.score,
                "value": value,
                "age_equivalent": equivalent,
                "age_from": age(band.first),
                "age_to": age(band.last),
                "mean": band.mean,
                "sd": band.sd,
                "z": found.z,
                "within_1_sd": None if found.z is None else abs(found.z) <= 1,
                "standard_score": found.standard_score,
                "percentile": found.percentile,
                "percentile_by": found.by,
            }
        )
    return rows
