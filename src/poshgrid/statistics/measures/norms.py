"""A score among children: z, standard score, percentile and age equivalent by norms.

Ages are written years;months (*4;7*), the convention of developmental studies.

The use of children's norms for a model's scores follows Capone, Suozzi, Lebani and Lenci (2024),
BaBIEs, section 4.2. Norms come from a file that the user supplies
(:mod:`poshgrid.statistics.measures.normfile`); this project ships none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from scipy import stats

from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.statistics.measures.schema import NORMS, RUN

SCORES = {"raw": "raw", "blocks": "blocks_passed", "accuracy": "accuracy"}
"""What a norm is a norm of -> the column of ``CHOICE_MEASURES`` that holds it."""

_SLACK = 1e-9  # scores are sums of shares: 1/3 + 1/3 + 1/3 reaches 1; 59.999... months are 60
_AGE = re.compile(r"([0-9]{1,3});([0-9]{1,2})")


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
    ages: tuple[tuple[float, int], ...] = ()  # the test's table of ages: score, months; rising
    excluded: int = 0  # items of the normed test that the suite leaves out


def standing(band: Band, score: float) -> dict[str, Any]:
    """Return where a score stands among the children of a band; null: the norms do not tell.

    What the table of conversion gives is taken from there. Otherwise the standard score is
    ``100 + 15 z``, and the percentile is that of the standard score in a normal distribution.

    Args:
        band: the children.
        score: of the kind that was normed.

    Returns:
        z, within_1_sd, standard_score, percentile and percentile_by, as in ``NORMS``.
    """
    z = band.z(score)
    entry = band.entry(score)
    standard = entry.standard_score if entry else None
    if standard is None and z is not None:
        standard = 100 + 15 * z
    percentile, by = None, ""
    if entry and entry.percentile is not None:
        percentile, by = entry.percentile, "table"
    elif standard is not None:
        percentile, by = 100 * float(stats.norm.cdf((standard - 100) / 15)), "normal"
    return {
        "z": z,
        "within_1_sd": None if z is None else abs(z) <= 1,
        "standard_score": standard,
        "percentile": percentile,
        "percentile_by": by,
    }


def age_equivalent(norm: Norm, score: float) -> str:
    """Return the age of a score: by the test's table, or the youngest whose mean reaches it.

    A score between two entries of the table has reached the lower one. Without a table, each mean
    is taken at the middle of its band; between two middles it is interpolated linearly. Where means
    fall with age, nothing is smoothed: the youngest age counts.

    Args:
        norm: its table of ages, or its bands with a mean.
        score: of the kind that was normed.

    Returns:
        Years;months; ``< 4;0`` for a score below the mean of the youngest band, which begins at
        4;0, or below the first entry of the table; ``> 11;11`` for one that no band's mean reaches,
        where the oldest ends at 11;11; "" without a table and means.
    """
    if norm.ages:
        reached = [entry for entry in norm.ages if entry[0] <= score + _SLACK]
        return age(reached[-1][1]) if reached else f"< {age(norm.ages[0][1])}"
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


def compared(
    rows: pl.DataFrame, norms: Sequence[Norm], suite: str, name: str | Path
) -> pl.DataFrame:
    """Return where runs stand among children.

    Args:
        rows: columns of ``CHOICE_MEASURES``, of one suite.
        norms: of categories, or of the suite as a whole under its name.
        suite: its name.
        name: of the norms' file, for messages.

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
            found += _standings(norm, row)
    return pl.DataFrame(found, schema=NORMS)


def _check_length(norm: Norm, row: dict[str, Any], name: str | Path) -> None:
    """Refuse to compare with a norm of missing blocks, or of a test of another length."""
    blocks = norm.score == "blocks"
    length = row["blocks"] if blocks else row["n"]
    if length is None:
        raise PoshgridError(
            f"{name}: {norm.category!r} is normed by blocks, but its items have none; "
            "fill the column block of the suite's file"
        )
    if norm.items is not None and norm.items != length + norm.excluded:
        without = f" and leaves {norm.excluded} out" if norm.excluded else ""
        remedy = "" if blocks else "say in the column excluded how many it leaves out; "
        raise PoshgridError(
            f"{name}: {norm.category!r} ({norm.score}) is normed on {norm.items} "
            f"{'blocks' if blocks else 'items'}, the suite has {length}{without}: scores are not "
            f"comparable; {remedy}to compare all the same, leave the column items empty"
        )


def _standings(norm: Norm, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of ``NORMS`` of a run and a norm.

    Of items that the suite leaves out nobody knows how many would be right: none and all of them
    are the ends of a range (Capone et al., section 4.2: 62 right of 165 and 10 left out is 62-72).
    """
    rows = []
    for added in sorted({0, norm.excluded}):
        value = float(row[SCORES[norm.score]]) + added
        of_all = {
            **{name: row[name] for name in RUN},
            "category": norm.category,
            "score": norm.score,
            "excluded_right": added,
            "value": value,
            "age_equivalent": age_equivalent(norm, value),
        }
        if not norm.bands:
            rows.append({**of_all, "age_from": "", "age_to": "", "percentile_by": ""})
        for band in norm.bands:
            ages = {"age_from": age(band.first), "age_to": age(band.last)}
            of_band = {"mean": band.mean, "sd": band.sd, **standing(band, value)}
            rows.append({**of_all, **ages, **of_band})
    return rows
