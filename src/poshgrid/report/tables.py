"""The tables of the report, each one frame or layout that page, CSV and LaTeX show alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from poshgrid.files import Schema
from poshgrid.grid import NULLS
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Arm, Layout, title

NOT_RUN = "not run"
ABSENT = "–"
FAR = "‡"
"""Marks a cell whose null (untrained, unigram or n-gram) is far from 50%."""

POINTS: Schema = {
    "suite": pl.String,
    "facet": pl.String,  # the condition, where conditions and other axes vary; "" otherwise
    "panel": pl.String,  # a category, or Overall
    "series": pl.String,  # the arm within its facet
    "size": pl.String,
    "words": pl.UInt64,
    "mean": pl.Float64,  # share of pairs; null: not run
    "sd": pl.Float64,  # over seeds; null with one seed
    "n_seeds": pl.UInt32,
    "untrained": pl.Float64,  # mean of the untrained models
}
"""The accuracy figure: one row per mark."""

EFFECTS: Schema = {
    "name": pl.String,
    "median": pl.Float64,  # log odds
    "low": pl.Float64,
    "high": pl.Float64,
}
"""The forest plot: one row per effect, from top to bottom."""

CURVES: Schema = {
    "series": pl.String,
    "size": pl.String,
    "words": pl.UInt64,
    "run": pl.String,
    "step": pl.Int64,
    "dev_loss": pl.Float64,  # nats per token
    "best": pl.Boolean,  # the checkpoint that was kept
}
"""The learning curves: one row per evaluation on the dev split."""


@dataclass(frozen=True)
class Cell:
    """An accuracy as a table shows it; all shares, 0-1."""

    mean: float
    sd: float | None
    n_seeds: int
    n_pairs: int
    low: float | None
    high: float | None
    p_pooled: float | None
    stars_pooled: str
    p_fisher_holm: float | None
    stars_fisher_holm: str
    untrained: float | None = None
    unigram: float | None = None
    ngram: float | None = None
    far: str = ""  # the nulls that are far from 50%

    @property
    def text(self) -> str:
        """Mean and SD in percent, without stars."""
        return f"{100 * self.mean:.1f}" + (f" ({100 * self.sd:.1f})" if self.sd is not None else "")

    @property
    def detail(self) -> str:
        """What the cell rests on: interval, seeds, pairs, p values."""
        parts = []
        if self.low is not None and self.high is not None:
            parts.append(f"95% interval {100 * self.low:.1f}–{100 * self.high:.1f}")
        parts.append(f"{counted(self.n_seeds, 'seed')} × {counted(self.n_pairs, 'pair')}")
        for name, p in (("pooled p", self.p_pooled), ("per-seed p", self.p_fisher_holm)):
            if p is not None:
                parts.append(f"{name} {'< .001' if p < 0.001 else f'= {p:.3f}'}")
        for name in NULLS:
            null = getattr(self, name)
            if null is not None:
                far = ", far from 50%" if name in self.far.split(", ") else ""
                parts.append(f"{name} {percent(null)}{far}")
        return "; ".join(parts)

    @property
    def weight(self) -> float:
        """Strength of the cell's colour: distance from 50%, 0-1."""
        return round(min(1.0, abs(self.mean - 0.5) / 0.5), 3)


@dataclass(frozen=True)
class AccuracyTable:
    """Accuracies in rows and columns; a cell is a :class:`Cell`, ``NOT_RUN``, or ``ABSENT``."""

    name: str
    caption: str
    header: list[tuple[str, str]]  # group ("" for none), column
    rows: list[tuple[str, str, list[Cell | str]]]  # group, row, cells


@dataclass(frozen=True)
class Column:
    """A column of a plain table: its title and how its values are written."""

    title: str
    show: Callable[[Any], str] = str
    text: bool = False  # words, set flush left; numbers are set flush right


@dataclass(frozen=True)
class PlainTable:
    """Rows of values; ``None`` is shown as a dash."""

    name: str
    caption: str
    columns: list[Column]
    rows: list[list[Any]]
    classes: dict[int, str] = field(default_factory=dict)  # row -> CSS class

    def shown(self) -> list[list[str]]:
        """Return the texts of the cells."""
        return [
            [ABSENT if v is None else c.show(v) for v, c in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]


def count(value: float) -> str:
    """Write a whole number with thousands apart: ``12,345``."""
    return f"{value:,.0f}"


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number of things: ``1 model``, ``12 models``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def decimals(places: int, unit: float = 1) -> Callable[[float], str]:
    """Return a writer of numbers, as multiples of a unit, with so many decimals."""
    return lambda value: f"{value / unit:,.{places}f}".replace("-", "−")


def percent(value: float) -> str:
    """Write a share as a percentage with one decimal."""
    return f"{100 * value:.1f}"


def duration(seconds: float) -> str:
    """Write seconds as ``42 s``, ``3 min 10 s`` or ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


# ---- accuracy ------------------------------------------------------------------------------------


class Scores:
    """Looks up cells of ``accuracy.parquet``."""

    def __init__(self, accuracy: pl.DataFrame) -> None:
        self._rows = {
            tuple(row[k] for k in (
                "condition", "size", "learner", "regimen", "bias", "suite", "level", "category",
                "phenomenon",
            )): row
            for row in accuracy.iter_rows(named=True)
        }  # fmt: skip

    def cell(
        self, layout: Layout, arm: Arm, size: str, suite: str, level: str,
        category: str = "", phenomenon: str = "",
    ) -> Cell | str:  # fmt: skip
        """Return a cell; ``ABSENT`` if the grid leaves it out, ``NOT_RUN`` if it has no score."""
        learner = layout.learner(arm, size)
        if learner is None:
            return ABSENT
        row = self._rows.get(
            (
                arm.condition,
                size,
                learner,
                arm.regimen,
                arm.bias,
                suite,
                level,
                category,
                phenomenon,
            )
        )
        if row is None or row["mean"] is None:
            return NOT_RUN
        fields = {name: row[name] for name in Cell.__dataclass_fields__ if name in row}
        for text in ("stars_pooled", "stars_fisher_holm", "far"):
            fields[text] = fields[text] or ""
        return Cell(**fields)


def table3(collected: Collected, layout: Layout, suite: str) -> AccuracyTable:
    """Lay a suite out as the paper's Table 3: sizes and conditions by categories and overall."""
    scores = Scores(collected.accuracy)
    categories = layout.categories[suite]
    rows = []
    for size in layout.sizes:
        for arm in layout.arms:
            if layout.learner(arm, size) is None:
                continue
            cells = [scores.cell(layout, arm, size, suite, "category", c) for c in categories]
            rows.append(
                (size, arm.label, [*cells, scores.cell(layout, arm, size, suite, "overall")])
            )
    header = [("", title(c)) for c in categories] + [("", title("overall"))]
    caption = (
        "Accuracy by category in percent, mean over seeds (SD). "
        "Overall is the mean of the categories."
    )
    return _captioned(f"accuracy-{suite}-categories", caption, header, rows)


def table8(collected: Collected, layout: Layout, suite: str) -> AccuracyTable:
    """Lay a suite out as the paper's Table 8: phenomena by sizes and conditions."""
    scores = Scores(collected.accuracy)
    columns = [
        (size, arm) for size in layout.sizes for arm in layout.arms if layout.learner(arm, size)
    ]
    rows = [
        (title(c), p, [scores.cell(layout, a, s, suite, "phenomenon", c, p) for s, a in columns])
        for c, p in layout.phenomena[suite]
    ]
    rows.append(
        ("", title("average"), [scores.cell(layout, a, s, suite, "average") for s, a in columns])
    )
    header = [(size, arm.label) for size, arm in columns]
    caption = (
        "Accuracy by phenomenon in percent, mean over seeds (SD). "
        "Average is the mean of the phenomena."
    )
    return _captioned(f"accuracy-{suite}-phenomena", caption, header, rows)


def _captioned(
    name: str, caption: str, header: list[tuple[str, str]], rows: list[tuple[str, str, list[Any]]]
) -> AccuracyTable:
    """Explain the mark of a null that is far from 50%, if any cell has it."""
    if any(isinstance(cell, Cell) and cell.far for *_, cells in rows for cell in cells):
        caption += (
            f" {FAR} A null of this cell (untrained, unigram or n-gram; point at it) is far from "
            "50%: see Nulls under Benchmark."
        )
    return AccuracyTable(name, caption, header, rows)


def points(collected: Collected, layout: Layout, suite: str) -> pl.DataFrame:
    """Return the marks of a suite's accuracy figure (:data:`POINTS`)."""
    scores = Scores(collected.accuracy)
    faceted = (
        len({a.condition for a in layout.arms}) > 1 and len({a.variant for a in layout.arms}) > 1
    )
    panels = [(title(c), "category", c) for c in layout.categories[suite]]
    rows = []
    for arm in layout.arms:
        series = (arm.variant if faceted else arm.label) or arm.condition
        if not faceted and len({a.condition for a in layout.arms}) == 1 and arm.variant:
            series = arm.variant
        for panel, level, category in [*panels, (title("overall"), "overall", "")]:
            for size in layout.sizes:
                cell = scores.cell(layout, arm, size, suite, level, category)
                if cell == ABSENT:
                    continue
                known = cell if isinstance(cell, Cell) else None
                rows.append({
                    "suite": suite,
                    "facet": arm.condition if faceted else "",
                    "panel": panel,
                    "series": series,
                    "size": size,
                    "words": layout.words[size],
                    "mean": known and known.mean,
                    "sd": known and known.sd,
                    "n_seeds": known and known.n_seeds,
                    "untrained": known and known.untrained,
                })  # fmt: skip
    return pl.DataFrame(rows, schema=POINTS)


def long(table: AccuracyTable) -> pl.DataFrame:
    """Return an accuracy table with one row per cell, numbers unrounded, for CSV."""
    names = list(Cell.__dataclass_fields__)
    rows = [
        {
            "row_group": group,
            "row": label,
            "column_group": column_group,
            "column": column,
            "status": "run" if isinstance(cell, Cell) else str(cell),
            **{name: getattr(cell, name, None) for name in names},
        }
        for group, label, cells in table.rows
        for (column_group, column), cell in zip(table.header, cells, strict=True)
    ]
    kinds = {
        name: pl.String
        if name.startswith("stars") or name == "far"
        else pl.UInt32
        if name.startswith("n_")
        else pl.Float64
        for name in names
    }
    texts = dict.fromkeys(("row_group", "row", "column_group", "column", "status"), pl.String)
    return pl.DataFrame(rows, schema={**texts, **kinds})


# ---- figures' frames -----------------------------------------------------------------------------


def effects(summary: pl.DataFrame) -> pl.DataFrame:
    """Return the effects of a fit (:data:`EFFECTS`): all common terms but the intercept."""
    return summary.filter(
        (pl.col("kind") == "common") & ~pl.col("term").str.to_lowercase().str.contains("intercept")
    ).select(pl.col("label").alias("name"), "median", "low", "high").cast(EFFECTS)  # fmt: skip


def curves(collected: Collected, layout: Layout) -> pl.DataFrame:
    """Return the dev losses of all trained runs (:data:`CURVES`)."""
    rows = []
    one_condition = len({a.condition for a in layout.arms}) == 1
    for arm in layout.arms:
        for item in collected.asked:
            run = item.run
            if (run.condition, run.regimen, run.bias) != (arm.condition, arm.regimen, arm.bias) or (
                arm.learner not in (None, run.learner)
            ):
                continue
            losses = [
                (e["step"], e["dev_loss"]) for e in item.curve if e.get("dev_loss") is not None
            ]
            kept = item.statistics.get("best_step")
            rows += [
                {
                    "series": arm.variant if one_condition and arm.variant else arm.label,
                    "size": run.size,
                    "words": layout.words[run.size],
                    "run": run.name,
                    "step": step,
                    "dev_loss": loss,
                    "best": step == kept,
                }
                for step, loss in losses
            ]
    return pl.DataFrame(rows, schema=CURVES)
