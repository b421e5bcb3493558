"""A fitted model in a terminal: coefficients, contrasts, diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid.report.terminal.table import fits, plain
from poshgrid.report.terminal.view import ABOVE, BAD, BELOW, CHECK, FAINT, IMPLICIT
from poshgrid.tables.words import percent, points, probability

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table


def draw(
    name: str,
    summary: pl.DataFrame,
    contrasts: pl.DataFrame,
    diagnostics: Mapping[str, Any],
    console: Console,
) -> list[RenderableType]:
    """Return what is printed of a fitted model: coefficients, contrasts, diagnostics.

    Args:
        name: of the model.
        summary: columns of ``SUMMARY``; single seeds and phenomena are left out.
        contrasts: columns of ``CONTRASTS``; empty: none.
        diagnostics: what ``diagnostics.json`` holds.
        console: where it is printed.
    """
    from rich.text import Text

    drawn: list[RenderableType] = [Text(f"{name}: {diagnostics.get('formula', '')}", style="bold")]
    table = plain(["Log odds"])
    for head in ("Median", "Mean", "95% interval"):
        table.add_column(head, justify="right", no_wrap=True)
    table.columns[0].no_wrap = False  # "Training size (z) × Filtering (yes vs. no)"
    for row, end in _with_ends(summary.filter(pl.col("kind") != "group"), "kind"):
        text = row["label"] + (f" {IMPLICIT}" if row["implicit"] else "")
        style = _clear(row) if row["kind"] == "common" else ""
        numbers = (_two(row["median"]), _two(row["mean"]), _interval(row, _two))
        table.add_row(
            Text(text), *(Text(number, style=style) for number in numbers), end_section=end
        )
    drawn.append(table)
    if summary["implicit"].any():
        drawn.append(Text(f"{IMPLICIT} Minus the sum of the factor's other levels.", style=FAINT))
    if not contrasts.is_empty():
        whole = _contrasts(contrasts, ("odds", "points"))
        halves = [_contrasts(contrasts, ("odds",)), _contrasts(contrasts, ("points",))]
        for each in [whole] if fits(whole, console) else halves:
            drawn += [Text(""), each]
        drawn.append(
            Text(
                "Contrast: difference of log odds, and of accuracy in points of percent; medians "
                "with 95% intervals, those of points simultaneous over levels (Bonferroni). "
                "P(> 0): posterior probability that the difference is above 0.",
                style=FAINT,
            )
        )
    return [*drawn, Text(""), *_diagnosis(diagnostics)]


def _contrasts(frame: pl.DataFrame, parts: Sequence[str]) -> Table:
    """Lay differences out: in log odds, in points of percent, or both."""
    from rich.text import Text

    clear = {"odds": ("low", "high"), "points": ("joint_low", "joint_high")}
    heads = {"odds": ("Log odds", "95% interval", "P(> 0)"), "points": ("Points", "95% interval")}
    table = plain(["Contrast", "At"])
    for part in parts:
        for head in heads[part]:
            table.add_column(head, justify="right", no_wrap=True)
    for row, end in _with_ends(frame, "contrast"):
        numbers = {
            "odds": (_two(row["median"]), _interval(row, _two), probability(row["above"])),
            "points": (
                points(row["share"]),
                _interval(row, percent, *clear["points"]),
            ),
        }
        table.add_row(
            Text(row["contrast"]),
            Text(row["level"] or "all"),
            *(
                Text(number, style=_clear(row, *clear[part]))
                for part in parts
                for number in numbers[part]
            ),
            end_section=end,
        )
    return table


def _with_ends(frame: pl.DataFrame, column: str) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield rows, and whether the next one has another value in a column."""
    rows = frame.to_dicts()
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        yield row, following is not None and following[column] != row[column]


def _clear(row: Mapping[str, Any], low: str = "low", high: str = "high") -> str:
    """Return the style of an effect: coloured where its interval is clear of zero."""
    if row[low] <= 0 <= row[high]:
        return ""
    return ABOVE if row["median"] > 0 else BELOW


def _two(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _interval(
    row: Mapping[str, Any], show: Callable[[float], str], low: str = "low", high: str = "high"
) -> str:
    return f"[{show(row[low])}, {show(row[high])}]"


def _diagnosis(diagnostics: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    parts = []
    for key, text in (
        ("rows", "{:,} counts"), ("pairs", "{:,} pairs"), ("max_r_hat", "largest R-hat {:.3f}"),
        ("min_ess", "smallest ESS {:,.0f}"), ("divergences", "{:,} divergences"),
    ):  # fmt: skip
        if diagnostics.get(key) is not None:
            parts.append(text.format(diagnostics[key]))
    if parts:
        yield Text(f"{'; '.join(parts)}.", style=FAINT)
    check = diagnostics.get("predictive") or {}
    if check.get("cells"):
        p = "< .001" if check["p"] < 0.001 else f"= {check['p']:.3f}"
        yield Text(
            f"Predictive check: {check['inside']:,} of {check['cells']:,} cells inside their 95% "
            f"intervals; p {p}.",
            style=BAD if check["p"] < CHECK else FAINT,
        )
    for note in diagnostics.get("notes", []):
        yield Text(f"Note: {note}.", style=FAINT)
    if diagnostics.get("converged"):
        yield Text("Converged.", style=FAINT)
    else:
        reasons = "; ".join(diagnostics.get("reasons", [])) or "no diagnostics"
        yield Text(f"NOT CONVERGED ({reasons}): not to be quoted.", style=BAD)
