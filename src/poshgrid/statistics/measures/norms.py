"""Compare scores with children's norms: age equivalent, z, standard score, percentile.

Ages are written years;months (*4;7*), the convention of developmental studies. The use of
children's norms for a model's scores follows Capone, Suozzi, Lebani and Lenci (2024), BaBIEs,
section 4.2: a model is typical of the ages whose mean is within one SD. Norms come from a CSV file
of the user; this project has none. A row is either

- the mean and SD of an age band: ``category, score, age_from, age_to, mean, sd``; or
- an entry of the test's table of ages: ``category, score, raw_score, age``; ``age_from`` and
  ``age_to`` are empty.

``score`` is ``raw`` (items right) or ``blocks`` (blocks passed). The optional columns ``items`` and
``excluded`` are the length of the normed test (in items or blocks), and how many of its items the
suite leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import polars as pl
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from scipy import special

from poshgrid.benchmark.reading import tablefile
from poshgrid.core.errors import PoshgridError, did_you_mean
from poshgrid.statistics.measures.schema import NORMS, RUN

SCORES = {"raw": "raw", "blocks": "blocks_passed"}
"""Kind of score -> its column in ``CHOICE_MEASURES``."""

SLACK = 1e-9  # scores are sums of shares, with rounding errors: 1/3 + 1/3 + 1/3 must reach 1
_AGE = re.compile(r"([0-9]{1,3});([0-9]|1[01])")


def months(text: str) -> int:
    """Return an age in months.

    Args:
        text: years;months, e.g. ``4;7``.

    Raises:
        ValueError: the text is not an age.
    """
    match = _AGE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not an age; write years;months, e.g. 4;7, months 0 to 11")
    return int(match[1]) * 12 + int(match[2])


def age(value: int) -> str:
    """Return an age in months as years;months."""
    return f"{value // 12};{value % 12}"


_Months = Annotated[int | None, BeforeValidator(months)]
_KINDS = ({"age_from", "age_to", "mean", "sd"}, {"raw_score", "age"})


class Row(BaseModel):
    """A row of a table of norms."""

    model_config = ConfigDict(allow_inf_nan=False, extra="forbid")

    category: str = Field(min_length=1)
    score: Literal["raw", "blocks"]
    age_from: _Months = None
    age_to: _Months = None
    mean: float | None = None
    sd: float | None = Field(None, gt=0)
    raw_score: float | None = None
    age: _Months = None
    items: int | None = Field(None, ge=1)
    excluded: int | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if self.model_fields_set - {"category", "score", "items", "excluded"} not in _KINDS:
            raise ValueError("give age_from, age_to, mean and sd; or raw_score and age")
        if self.age_from is not None and self.age_to is not None and self.age_to < self.age_from:
            raise ValueError("age_to is before age_from; exchange them")
        if self.excluded and self.score != "raw":
            raise ValueError("excluded counts items, not blocks; use it with score raw only")
        return self


@dataclass(frozen=True)
class Norm:
    """The norms of one category and kind of score."""

    category: str  # the suite's name stands for the whole test
    score: str  # one of SCORES
    items: int | None = None  # length of the normed test; None: unknown
    # first and last month (4;5 ends on the day before 4;6), mean and SD of the children, by age
    bands: Sequence[tuple[Any, ...]] = ()
    ages: Sequence[tuple[Any, ...]] = ()  # score and months, sorted
    excluded: int | None = None  # items of the normed test that the suite leaves out


def read(path: str | Path) -> list[Norm]:
    """Read a table of norms.

    Args:
        path: a CSV file: UTF-8, commas, a header.

    Returns:
        One norm for each category and kind of score, in the order of the file.

    Raises:
        PoshgridError: with file and line: the file is missing or broken, a column is missing or
            unknown, a cell is not an age or a number, or an SD is not above 0. With file and
            category: bands overlap, a table of ages is not sorted, or lengths contradict each
            other.
    """
    rows: dict[tuple[str, str], list[Row]] = {}
    for line in tablefile.table(Path(path)):
        row = line.read_as(Row)
        rows.setdefault((row.category, row.score), []).append(row)
    try:
        return [_norm(category, score, members) for (category, score), members in rows.items()]
    except ValueError as error:
        raise PoshgridError(f"{path}: {error}") from error


def _norm(category: str, score: str, rows: Sequence[Row]) -> Norm:
    """Return the norm of one category; raise ValueError if its rows contradict each other."""
    lengths: dict[str, int | None] = {}
    for name in ("items", "excluded"):
        numbers = {getattr(row, name) for row in rows} - {None}
        if len(numbers) > 1:
            raise ValueError(f"{category!r}: {name} is {' and '.join(map(str, numbers))}; give one")
        lengths[name] = next(iter(numbers), None)
    bands: list[tuple[Any, ...]] = sorted(
        (row.age_from, row.age_to, row.mean, row.sd) for row in rows if row.age is None
    )
    for (_, end, *_), (start, *_) in pairwise(bands):
        if start <= end:
            raise ValueError(
                f"{category!r}: bands overlap at {age(start)}; a band ends in the month "
                "before the next, and has one mean"
            )
    ages: list[tuple[Any, ...]] = [(r.raw_score, r.age) for r in rows if r.age is not None]
    if any(other[0] <= one[0] or other[1] < one[1] for one, other in pairwise(ages)):
        raise ValueError(f"{category!r}: the table of ages does not rise; sort it by raw_score")
    return Norm(category, score, bands=bands, ages=ages, **lengths)


def age_equivalent(norm: Norm, score: float) -> str:
    """Return the age that corresponds to a score in the test's table of ages.

    A score between two entries gets the age of the lower one.

    Args:
        norm: with or without a table of ages.
        score: of the normed kind.

    Returns:
        Years;months; e.g. ``< 4;0`` for a score below the first entry; "" without a table.
    """
    if not norm.ages:
        return ""
    reached = [entry for entry in norm.ages if entry[0] <= score + SLACK]
    return age(reached[-1][1]) if reached else f"< {age(norm.ages[0][1])}"


def compared(
    rows: pl.DataFrame, norms: Sequence[Norm], suite: str, name: str | Path
) -> pl.DataFrame:
    """Compare the scores of runs with norms of children.

    Args:
        rows: columns of ``CHOICE_MEASURES``, of one suite.
        norms: of categories, or of the whole suite (the category is the suite's name).
        suite: its name.
        name: name of the norms' file in messages.

    Returns:
        The columns of ``NORMS``.

    Raises:
        PoshgridError: a norm's category is unknown, it is for blocks and the items have none, or
            its test has another length.
    """
    categories = set(rows.filter(level="category")["category"])
    standings: list[dict[str, Any]] = []
    for norm in norms:
        whole = norm.category == suite and norm.category not in categories
        if not whole and norm.category not in categories:
            raise PoshgridError(
                f"{name}: category {norm.category!r} is not in suite {suite!r}"
                f"{did_you_mean(norm.category, [*sorted(categories), suite])}"
            )
        of = {"level": "suite"} if whole else {"level": "category", "category": norm.category}
        for row in rows.filter(**of).iter_rows(named=True):
            _check_length(norm, row, name)
            standings += _standings(norm, row)
    return pl.DataFrame(standings, schema=NORMS)


def _check_length(norm: Norm, row: dict[str, Any], name: str | Path) -> None:
    """Raise if the norm is for blocks and the items have none, or its test has another length."""
    length = row["blocks"] if norm.score == "blocks" else row["n"]
    if length is None:
        raise PoshgridError(
            f"{name}: {norm.category!r} is normed by blocks, but its items have none; "
            "fill the column block of the suite's file"
        )
    if norm.items not in (None, length + (norm.excluded or 0)):
        raise PoshgridError(
            f"{name}: {norm.category!r} ({norm.score}) is normed on {norm.items} items, the suite "
            f"has {length} and leaves {norm.excluded or 0} out: scores are not comparable; correct "
            "the columns items and excluded, or leave items empty to compare all the same"
        )


def _standings(norm: Norm, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of ``NORMS`` of a run and a norm.

    It is unknown how many of the items that the suite leaves out would be right. There is a row
    for none of them and a row for all of them (Capone et al., section 4.2: 62 right of 165, with
    10 left out, is 62-72).
    """
    rows = []
    for added in sorted({0, norm.excluded or 0}):
        value = float(row[SCORES[norm.score]]) + added
        equivalent = age_equivalent(norm, value)
        reached = months(equivalent) if equivalent[:1].isdigit() else None
        typical = [band for band in norm.bands if abs(value - band[2]) <= band[3] + SLACK]
        of_all = {
            **{name: row[name] for name in RUN}, "category": norm.category, "score": norm.score,
            "excluded_right": added, "value": value, "age_equivalent": equivalent,
            "age_months": reached, "typical_from": typical[0][0] if typical else None,
            "typical_to": typical[-1][1] if typical else None,
        }  # fmt: skip
        if not norm.bands:
            rows.append({**of_all, "age_from": "", "age_to": "", "own_age": False})
        for first, last, mean, sd in norm.bands:
            z = (value - mean) / sd
            rows.append({
                **of_all, "age_from": age(first), "age_to": age(last),
                "own_age": reached is not None and first <= reached <= last,
                "mean": mean, "sd": sd, "z": z, "standard": 100 + 15 * z,
                "percentile": 100 * float(special.ndtr(z)),
            })  # fmt: skip
    return rows
