"""The main table in a terminal: which rows of the results, in what order, at what width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

import polars as pl

from poshgrid.config import words
from poshgrid.config.runs import COUNTED, NULL_REGIMENS, NULLS, PRETRAINED, UNTRAINED, Run, words_of
from poshgrid.report.cells import APART, FAR, SURE
from poshgrid.report.layout import rank, title
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.words import ABSENT, NOT_RUN, percent, points

LEVELS = {
    "template": ("template",),
    "cell": ("cell",),
    "phenomenon": ("phenomenon", "average"),
    "category": ("category", "overall"),
    "overall": ("overall",),
    "average": ("average",),
}
"""What may be asked for -> the levels whose columns are shown: a mean stands beside its parts."""
STARS = {"pooled": "stars_pooled", "per-seed": "stars_fisher_holm"}
AIMED, IMPLICIT = "†", "†"
ABOVE, BELOW, BAD, FAINT = "#3f8fc9", "#d9812f", "bold #d9812f", "dim"
SMALL, LARGE = 0.05, 0.15  # distances from the centre at which a colour begins, and is bold
CHECK = 0.05  # posterior predictive p below which the counts vary more than the model can
HEAD = 13  # characters of a column's heading on one line
LABEL = 24  # characters of a row's labels on one line, where space is scarce

Point = tuple[str, ...]
"""Condition, size, learner, regimen, bias."""
Place = tuple[str, str, str, str]
"""Level, category, phenomenon, part of it."""


@dataclass(frozen=True)
class Measure:
    """What the cells hold.

    Attributes:
        value: column of ``ACCURACY`` or of ``DELTAS``.
        what: in words, for the first note.
        spread: column in parentheses; none: nothing.
        interval: columns of the ends in brackets.
        centre: the value that says nothing: 50% of an accuracy, 0 of a difference, which is
            written with its sign.
        tested: stars belong to it.
    """

    value: str
    what: str
    spread: str | None = None
    interval: tuple[str, str] | None = None
    centre: float = 0.5
    tested: bool = False


MEASURES = {
    "accuracy": Measure("mean", "Accuracy in percent", spread="sd", tested=True),
    "interval": Measure(
        "mean",
        "Accuracy in percent [95% interval: bootstrap over lexical sets]",
        interval=("low", "high"),
    ),
    "set": Measure(
        "by_set",
        "Sets in percent all of whose pairs are right [95% interval: bootstrap over sets]",
        interval=("by_set_low", "by_set_high"),
    ),
    "sum": Measure("mean_sum", "Accuracy in percent, had sentences been scored by sums of logs"),
    "mean": Measure("mean_mean", "Accuracy in percent, had sentences been scored by means of logs"),
    "delta": Measure(
        "delta",
        "Accuracy less that of the full corpus, in points of percent",
        spread="delta_sd",
        centre=0.0,
    ),
}
"""Word on the command line -> what the cells hold."""


@dataclass(frozen=True)
class Cell:
    """One number with its marks; ``away`` is its distance from the centre, for the colour."""

    text: str
    marks: str = ""
    away: float | None = None
    null: bool = False  # of a null, where points stand in columns


@dataclass(frozen=True)
class Row:
    """One point of the grid, or a null of its cell."""

    labels: tuple[str, ...]
    cells: list[Cell]
    null: bool = False


@dataclass(frozen=True)
class View:
    """A table before its width is known."""

    axes: list[str]
    columns: list[str]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)


def select(
    frame: pl.DataFrame,
    suite: str,
    level: str,
    only: Mapping[str, set[str]],
    *,
    nulls: bool = False,
    conditions: Sequence[str] = (),
) -> pl.DataFrame:
    """Return the rows that a table shows, in its order.

    The nulls of a cell are those of its condition and size (and learner, if untrained), whatever
    the filter says of the other axes.

    Args:
        frame: columns of ``ACCURACY`` or of ``DELTAS``.
        suite: which suite.
        level: one of :data:`LEVELS`.
        only: axis -> values that are kept.
        nulls: keep the rows of the nulls.
        conditions: their order; those that it does not name come last.
    """
    levels = LEVELS[level]
    rows = frame.filter(pl.col("level").is_in(levels), suite=suite)
    is_null = pl.col("regimen").is_in(NULL_REGIMENS)
    kept = rows.filter(
        ~is_null, *(pl.col(axis).is_in(sorted(values)) for axis, values in only.items())
    )
    if nulls:
        cells = kept.select("condition", "size").unique()
        learners = kept.select("condition", "size", "learner").unique()
        counted = rows.filter(regimen=COUNTED)
        untrained = rows.filter(regimen=UNTRAINED)
        kept = pl.concat(
            [
                kept,
                untrained.join(learners, on=learners.columns, how="semi"),
                counted.join(cells, on=cells.columns, how="semi"),
            ]
        )
    order = {key: i for i, key in enumerate(sorted(_points(kept), key=_sorter(conditions)))}
    columns = {key: i for i, key in enumerate(_columns(kept, level))}
    places = [(order[_point(row)], columns[_place(row)]) for row in kept.iter_rows(named=True)]
    return kept[sorted(range(len(places)), key=places.__getitem__)]


def view(
    frame: pl.DataFrame,
    level: str,
    measure: Measure,
    *,
    stars: str = "pooled",
    expected: Mapping[Point, int] | None = None,
    conditions: Sequence[str] = (),
) -> View:
    """Lay the rows of :func:`select` out.

    Args:
        frame: what :func:`select` returns.
        level: one of :data:`LEVELS`.
        measure: one of the values of :data:`MEASURES`.
        stars: whose stars: a key of :data:`STARS`.
        expected: points that the grid asks for -> number of seeds; those without a row are shown as
            not run, those with fewer seeds are noted.
        conditions: as in :func:`select`.
    """
    asked = dict(expected or {})
    cells = {(_point(row), _place(row)): row for row in frame.iter_rows(named=True)}
    columns = _columns(frame, level)
    points = sorted({*_points(frame), *asked}, key=_sorter(conditions))
    shown = _axes([p for p in points if not _is_null(p)])
    rows = []
    for point in points:
        found = [cells.get((point, column)) for column in columns]
        absent = Cell(ABSENT if any(found) else NOT_RUN)
        rows.append(
            Row(
                _labels(point, shown),
                [_cell(row, measure, stars) if row else absent for row in found],
                _is_null(point),
            )
        )
    titles = [
        _named(phenomenon, part) or title(category or level)
        for level, category, phenomenon, part in columns
    ]
    notes = list(_notes(frame, level, measure, stars, shown))
    return View([a.capitalize() for a in shown], titles, rows, [*notes, *missing(frame, asked)])


def missing(frame: pl.DataFrame, expected: Mapping[Point, int]) -> list[str]:
    """Return a line that names the points of the grid with fewer seeds than asked for, if any."""
    seeds = {_point(row): row["n_seeds"] for row in frame.iter_rows(named=True)}
    short = {p: n - seeds.get(p, 0) for p, n in expected.items() if seeds.get(p, 0) < n}
    if not short:
        return []
    shown = _axes(list(expected))
    named = [
        " ".join(_labels(point, shown))
        + (f" ({n} of {expected[point]} seeds)" if n < expected[point] else "")
        for point, n in sorted(short.items(), key=lambda pair: _sorter(())(pair[0]))
    ]
    return [f"Not run: {sum(short.values())} of {sum(expected.values())} runs: {', '.join(named)}."]


def points_of(runs: Iterable[Run], only: Mapping[str, set[str]]) -> dict[Point, int]:
    """Return the points of runs that a filter keeps -> number of seeds."""
    found: dict[Point, int] = {}
    for run in runs:
        point = astuple(run)[:-1]
        if all(getattr(run, axis) in values for axis, values in only.items()):
            found[point] = found.get(point, 0) + 1
    return found


# ---- order and labels ----------------------------------------------------------------------------


def _point(row: Mapping[str, Any]) -> Point:
    return tuple(row[axis] for axis in RUN_AXES)


def _points(frame: pl.DataFrame) -> set[Point]:
    return set(frame.select(RUN_AXES).iter_rows())


def _is_null(point: Point) -> bool:
    return point[3] in NULL_REGIMENS


def _sorter(conditions: Sequence[str]) -> Callable[[Point], tuple[Any, ...]]:
    """Return the key that sorts points: by condition, words, then runs before their nulls."""
    known = list(conditions)

    def key(point: Point) -> tuple[Any, ...]:
        condition, size, learner, regimen, bias = point
        null = regimen if regimen == UNTRAINED else learner
        return (
            condition == PRETRAINED,
            known.index(condition) if condition in known else len(known),
            condition,
            words_of(size),
            1 + NULLS.index(null) if _is_null(point) and null in NULLS else 0,
            learner,
            regimen,
            bias != "none",
            bias,
        )

    return key


def _place(row: Mapping[str, Any]) -> Place:
    return (row["level"], row["category"], row["phenomenon"], row.get("part") or "")


def _columns(frame: pl.DataFrame, level: str) -> list[Place]:
    """Return the places of the columns: parts first, their mean last."""

    def key(column: Place) -> tuple[Any, ...]:
        at, category, phenomenon, part = column
        return (LEVELS[level].index(at), rank(category), category, phenomenon, part)

    return sorted({_place(row) for row in frame.iter_rows(named=True)}, key=key)


def _named(phenomenon: str, part: str) -> str:
    """Return the name of a part, with its phenomenon's unless it begins with that."""
    return part if part.startswith(f"{phenomenon}-") else f"{phenomenon} {part}".strip()


def _axes(points: Sequence[Point]) -> list[str]:
    """Return the axes that tell points apart: condition and size always, others if they vary.

    A learner that the size decides needs no naming.
    """
    ours = [p for p in points if p[0] != PRETRAINED]
    shown = ["condition", "size"]
    by_size = {(p[1], p[2]) for p in ours}
    learner = len(by_size) > len({p[1] for p in ours}) or len(ours) < len(points)
    for axis in ("learner", "regimen", "bias"):
        index = RUN_AXES.index(axis)
        varies = len({p[index] for p in ours}) > 1
        if learner if axis == "learner" else varies:
            shown.append(axis)
    return shown


def _labels(point: Point, shown: Sequence[str]) -> tuple[str, ...]:
    named = dict(zip(RUN_AXES, point, strict=True))
    if _is_null(point):
        # The null's name stands where that of a learner or regimen would; else after the size.
        null = UNTRAINED if named["regimen"] == UNTRAINED else named["learner"]
        named |= {"learner": null, "regimen": null, "bias": ""}
        if "regimen" in shown and "learner" in shown:
            named["learner"] = point[2] if null == UNTRAINED else ""
        if not {"regimen", "learner"} & set(shown):
            named["size"] = f"{named['size']} {null}"
    if named["regimen"] == PRETRAINED:
        named |= {"bias": "", "size": ""}
    if named["bias"] == "none":
        named["bias"] = "no bias"
    return tuple(named[axis] for axis in shown)


# ---- cells and notes -----------------------------------------------------------------------------


def _cell(row: Mapping[str, Any], measure: Measure, stars: str) -> Cell:
    value = row[measure.value]
    if value is None:
        return Cell(ABSENT)
    text = (percent if measure.centre else points)(value)
    spread = row[measure.spread] if measure.spread else None
    if spread is not None:
        text += f" ({percent(spread)})"
    ends = [row[end] for end in measure.interval or () if row[end] is not None]
    if ends:
        text += f" [{', '.join(map(percent, ends))}]"
    marks = (row[STARS[stars]] or "") if measure.tested else ""
    marks += FAR if row.get("far") else ""
    marks += AIMED if row.get("targeted") else ""
    marks += APART if (row.get("p_apart") or 1.0) < SURE else ""
    return Cell(text, marks, value - measure.centre)


def _notes(
    frame: pl.DataFrame, level: str, measure: Measure, stars: str, shown: Sequence[str]
) -> Iterator[str]:
    if frame.is_empty():
        return
    ours = frame.filter(~pl.col("regimen").is_in(NULL_REGIMENS))
    seeds = _span(ours["n_seeds"], "seed")
    spread = f" (SD over seeds; {seeds})" if measure.spread else f"; {seeds}"
    mean = {
        "overall": " Overall: mean of the categories.",
        "average": " Average: mean of the phenomena.",
    }
    of_parts = f" Of phenomena that have several {level}s; 50% is chance for pairs, less for sets."
    pairs = ""
    if "n_pairs" in frame.columns:
        parts = ours.filter(level=LEVELS[level][0])
        of = f" a {level}" if len(LEVELS[level]) > 1 else ""
        pairs = f"; {_span(parts['n_pairs'], 'pair')}{of}"
    yield f"{measure.what}, mean over seeds{spread}{pairs}.{mean.get(LEVELS[level][-1], of_parts)}"
    if measure.tested and level in ("category", "phenomenon"):
        test = {
            "pooled": "chi-square against 50% over all seeds' pairs, uncorrected",
            "per-seed": "chi-square against 50% of each seed, Fisher-combined, Holm-corrected",
        }
        yield f"Stars: {test[stars]}: * p < .05, ** p < .01, *** p < .001."
    if "far" in frame.columns and (frame["far"].fill_null("") != "").any():
        yield (
            f"{FAR} A null of the cell (untrained, unigram or n-gram) is itself far from 50%; "
            "--nulls shows them."
        )
    if "p_apart" in frame.columns and (frame["p_apart"].fill_null(1.0) < SURE).any():
        yield f"{APART} Its templates differ by more than their sets allow: see --level template."
    if "targeted" in frame.columns and frame["targeted"].fill_null(False).any():
        yield f"{AIMED} A filter of the condition is aimed at the phenomenon."
    trained = ours.filter(pl.col("regimen") != PRETRAINED)
    fixed = [
        f"{axis} {_values(trained, axis)}"
        for axis in ("learner", "regimen", "bias")
        if axis not in shown and not trained.is_empty()
    ]
    if fixed:
        yield f"{'; '.join(fixed)}.".replace(fixed[0], fixed[0][0].upper() + fixed[0][1:], 1)


def _values(frame: pl.DataFrame, axis: str) -> str:
    """Write the values of an axis; where there are several, the sizes that each belongs to."""
    values = sorted(frame[axis].unique())
    if len(values) == 1:
        return str(values[0])
    sizes = {v: sorted(frame.filter(pl.col(axis) == v)["size"].unique(), key=words) for v in values}
    return ", ".join(f"{v} ({', '.join(sizes[v])})" for v in values)


def _span(values: pl.Series, one: str) -> str:
    low, high = values.to_numpy().min(), values.to_numpy().max()
    many = one if high == 1 else f"{one}s"
    return f"{low:,} {many}" if low == high else f"{low:,}–{high:,} {many}"
