"""A score among children: z, standard score, percentile and age equivalent by norms.

Ages are written years;months (*4;7*), the convention of developmental studies. The use of
children's norms for a model's scores follows Capone, Suozzi, Lebani and Lenci (2024), BaBIEs,
section 4.2. Norms come from a CSV file that the user supplies; this project ships none. A row of it
is one of three:

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
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import polars as pl
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from scipy import stats

from poshgrid.benchmark.reading import csvfile
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.statistics.measures.schema import NORMS, RUN

SCORES = {"raw": "raw", "blocks": "blocks_passed", "accuracy": "accuracy"}
"""What a norm is a norm of -> the column of ``CHOICE_MEASURES`` that holds it."""

_SLACK = 1e-9  # scores are sums of shares: 1/3 + 1/3 + 1/3 reaches 1; 59.999... months are 60
_AGE = re.compile(r"([0-9]{1,3});([0-9]|1[01])")


def months(text: str) -> int:
    """Return an age in months.

    Args:
        text: years;months, e.g. ``4;7``.

    Raises:
        ValueError: not an age; says why.
    """
    found = _AGE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is no age; write years;months, e.g. 4;7, months 0 to 11")
    return int(found[1]) * 12 + int(found[2])


def age(value: float) -> str:
    """Return an age as years;months, in completed months: 55.9 months are *4;7*."""
    whole = math.floor(value + _SLACK)
    return f"{whole // 12};{whole % 12}"


_Months = Annotated[int | None, BeforeValidator(months)]
_VALUES = ("age_from", "age_to", "mean", "sd", "raw_score", "standard_score", "percentile", "age")
_BAND = {"age_from", "age_to"}
_KINDS = (
    {"raw_score", "age"},
    _BAND | {"mean", "sd"},
    _BAND | {"raw_score", "standard_score"},
    _BAND | {"raw_score", "percentile"},
    _BAND | {"raw_score", "standard_score", "percentile"},
)


class Row(BaseModel):
    """A row of a table of norms."""

    model_config = ConfigDict(allow_inf_nan=False)

    category: str = Field(min_length=1)
    score: Literal["raw", "blocks", "accuracy"]
    age_from: _Months = None
    age_to: _Months = None
    mean: float | None = None
    sd: float | None = Field(None, gt=0)
    raw_score: float | None = None
    standard_score: float | None = None
    percentile: float | None = Field(None, ge=0, le=100)
    age: _Months = None
    items: int | None = Field(None, ge=1)
    excluded: int | None = Field(None, ge=0)

    def check(self) -> None:
        """Raise ValueError if the cells do not make one of the three kinds of rows."""
        given = {name for name in _VALUES if getattr(self, name) is not None}
        if given not in _KINDS:
            raise ValueError(
                "give age_from and age_to with mean and sd, or with raw_score and standard_score "
                "or percentile; or raw_score and age"
            )
        if self.age_from is not None and self.age_to is not None and self.age_to < self.age_from:
            raise ValueError("age_to is before age_from; exchange them")
        share = self.mean if self.raw_score is None else self.raw_score
        if self.score == "accuracy" and share is not None and not 0 <= share <= 1:
            raise ValueError(f"{share:g} is no share; divide per cents by 100")
        if self.excluded and self.score != "raw":
            raise ValueError(f"excluded is of items, not of {self.score}; norm the raw score")


class Entry(NamedTuple):
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


@dataclass
class Norm:
    """The norms of one category and kind of score."""

    category: str  # or the suite's name: the test as a whole
    score: str  # one of SCORES
    items: int | None = None  # length of the test that was normed; None: not said
    bands: list[Band] = field(default_factory=list)  # by rising age
    ages: list[tuple[float, int]] = field(default_factory=list)  # score, months; rising
    excluded: int | None = None  # items of the normed test that the suite leaves out

    def add(self, row: Row) -> None:
        """Add a row of the file.

        Raises:
            ValueError: the row contradicts an earlier one; says how.
        """
        for name in ("items", "excluded"):
            value, known = getattr(row, name), getattr(self, name)
            if value is not None:
                if known not in (None, value):
                    raise ValueError(f"{name} is {value}, but {known} in another row; give one")
                setattr(self, name, value)
        if row.age is not None:
            _append(self.ages, (row.raw_score, row.age), "the table of ages")
            return
        ages = (row.age_from, row.age_to)
        band = next((b for b in self.bands if (b.first, b.last) == ages), None)
        if band is None:
            band = Band(*ages)  # type: ignore[arg-type]
            for other in self.bands:
                if band.first <= other.last and other.first <= band.last:
                    raise ValueError(
                        f"ages {band.name} overlap {other.name}; a band ends in the month before "
                        "the next"
                    )
            self.bands = sorted([*self.bands, band], key=lambda each: each.first)
        if row.raw_score is not None:
            entry = Entry(row.raw_score, row.standard_score, row.percentile)
            _append(band.table, entry, f"the table of {band.name}")
        elif band.mean is not None:
            raise ValueError(f"{band.name} has a mean already; keep one")
        else:
            band.mean, band.sd = row.mean, row.sd


def _append(rows: list[Any], row: tuple[Any, ...], name: str) -> None:
    """Append a row whose score is above the last one's, and whose other values do not fall."""
    if rows:
        pairs = list(zip(rows[-1], row, strict=True))
        falls = any(a is not None and b is not None and b < a for a, b in pairs[1:])
        if pairs[0][0] >= pairs[0][1] or falls:
            raise ValueError(f"{name} does not rise; order its rows by raw_score")
    rows.append(row)


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
    found: dict[tuple[str, str], Norm] = {}
    needed = ("category", "score", "age_from", "age_to")
    others = [name for name in Row.model_fields if name not in needed]
    for line in csvfile.table(Path(path), needed, others):
        cells = {name: text for name, cell in line.cells.items() if (text := cell.strip())}
        try:
            row = Row.model_validate(cells)
            row.check()
            found.setdefault((row.category, row.score), Norm(row.category, row.score)).add(row)
        except ValidationError as error:
            first = error.errors()[0]
            column, value = first["loc"][0], cells.get(str(first["loc"][0]), "")
            raise line.fault(f"{column} is {value!r}: {first['msg']}") from error
        except ValueError as error:
            raise line.fault(str(error)) from error
    return list(found.values())


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
    if norm.items is not None and norm.items != length + (norm.excluded or 0):
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
    for added in sorted({0, norm.excluded or 0}):
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
