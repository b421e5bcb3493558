"""The sentences that open the report, each made from the numbers of its tables."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from poshgrid.grid import REFERENCE
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Arm, Layout, title
from poshgrid.report.tables import Cell, Scores, decimals, percent

MARGIN = 0.10  # share: how far above the untrained model counts as learned


def findings(collected: Collected, layout: Layout) -> list[str]:
    """Return the headline sentences: best cell, nulls, tests, sizes, evidence, models."""
    found: list[str] = []
    for suite in collected.spec.suites:
        prefix = f"{suite}: " if len(collected.spec.suites) > 1 else ""
        found += [prefix + sentence for sentence in _of_suite(collected, layout, suite)]
    return [*found, *_of_fits(collected)]


def warnings(collected: Collected) -> list[tuple[str, str]]:
    """Return what a reader must know before the numbers: (what, explanation)."""
    found = []
    missing = [t.run.name for t in collected.trained if not t.done]
    if missing:
        few = ", ".join(missing[:3]) + (" …" if len(missing) > 3 else "")
        found.append((
            "Incomplete.",
            f"{len(missing)} of {len(collected.trained)} models are not there yet ({few}); "
            "their cells say “not run”.",
        ))  # fmt: skip
    if collected.accuracy.is_empty():
        found.append(("No accuracies.", "The target has not been scored, or not been judged."))
    for name, fit in collected.fits.items():
        if not fit.diagnostics.get("converged", False):
            reasons = "; ".join(fit.diagnostics.get("reasons", [])) or "no diagnostics"
            found.append((
                "Not converged.",
                f"Model {name}: {reasons}. Its estimates are shown but must not be quoted; "
                "raise target_accept, warmup or draws.",
            ))  # fmt: skip
    for model in collected.spec.models:
        if model not in collected.fits:
            found.append(("Not fitted.", f"Model {model} has not been run."))
    for package, versions in collected.packages.items():
        if len(versions) > 1:
            found.append(("Mixed versions.", f"{package}: {', '.join(versions)}."))
    return found


def _of_suite(collected: Collected, layout: Layout, suite: str) -> Iterator[str]:
    scores = Scores(collected.accuracy)
    cells = [(a, s) for s in layout.sizes for a in layout.arms if layout.learner(a, s)]
    overall = {
        (arm, size): cell
        for arm, size in cells
        if isinstance(cell := scores.cell(layout, arm, size, suite, "overall"), Cell)
    }
    if not overall:
        return
    yield _best(overall)
    yield from _learned(scores, layout, cells, suite)
    yield from _solved_by_words(collected, layout, suite)
    yield from _tested(collected, suite)
    yield from _by_size(layout, overall)
    yield from _by_evidence(collected, layout, overall)


def _best(overall: dict[tuple[Arm, str], Cell]) -> str:
    (arm, size), cell = max(overall.items(), key=lambda pair: pair[1].mean)
    spread = f", SD {percent(cell.sd)} over {cell.n_seeds} seeds" if cell.sd is not None else ""
    text = (
        f"The highest overall accuracy is {percent(cell.mean)}% ({arm.label}, {size} words{spread})"
    )
    if cell.untrained is not None:
        text += f"; the same model untrained reaches {percent(cell.untrained)}%"
    return text + "."


def _learned(
    scores: Scores, layout: Layout, cells: list[tuple[Arm, str]], suite: str
) -> Iterator[str]:
    """Compare phenomena with the untrained models, in the cell where each does best."""
    gains: dict[str, float] = {}
    for category, phenomenon in layout.phenomena[suite]:
        found = [
            cell.mean - cell.untrained
            for cell in (
                scores.cell(layout, arm, size, suite, "phenomenon", category, phenomenon)
                for arm, size in cells
            )
            if isinstance(cell, Cell) and cell.untrained is not None
        ]
        if found:
            gains[phenomenon] = max(found)
    if not gains:
        return
    learned = {name: gain for name, gain in gains.items() if gain >= MARGIN}
    text = (
        f"{len(learned)} of {len(gains)} phenomena are at least {100 * MARGIN:.0f} points above "
        "the untrained model in some cell"
    )
    if learned:
        best = max(learned, key=lambda name: learned[name])
        text += f"; the largest gain is {best} ({_points(learned[best])})"
    yield text + "."
    never = [name for name, gain in gains.items() if gain <= 0]
    if never:
        yield f"No cell is above its untrained model on {_list(never)}."


def _solved_by_words(collected: Collected, layout: Layout, suite: str) -> Iterator[str]:
    """Name the phenomena that counts of words decide, one way or the other, in some cell."""
    rows = collected.accuracy.filter(
        (pl.col("suite") == suite)
        & (pl.col("level") == "phenomenon")
        & pl.col("far").str.contains("gram")
    )
    found = set(rows["phenomenon"])
    names = [name for _, name in layout.phenomena[suite] if name in found]
    counted = collected.accuracy.filter((pl.col("suite") == suite) & pl.col("ngram").is_not_null())
    if names:
        yield (
            f"On {len(names)} of {len(layout.phenomena[suite])} phenomena a model that only counts "
            f"words (unigram or n-gram) is far from 50% in some cell: {_list(names)}."
        )
    elif counted.height:
        yield "Models that only count words are near 50% on all phenomena."


def _tested(collected: Collected, suite: str) -> Iterator[str]:
    rows = collected.accuracy.filter(
        (pl.col("suite") == suite)
        & (pl.col("level") == "category")
        & ~pl.col("regimen").is_in(REFERENCE)
        & pl.col("p_fisher_holm").is_not_null()
    )
    if rows.is_empty():
        return

    def sides(column: str) -> tuple[int, int]:
        sure = rows.filter(pl.col(column) < 0.05)["mean"]
        return int((sure > 0.5).sum()), int((sure < 0.5).sum())

    above, below = sides("p_fisher_holm")
    pooled_above, pooled_below = sides("p_pooled")
    yield (
        f"Of {rows.height} category accuracies, {above} are above 50% and {below} below it by one "
        "χ² test per seed (Fisher-combined, Holm-corrected, p < .05); the pooled, uncorrected test "
        f"counts {pooled_above} and {pooled_below}."
    )


def _by_size(layout: Layout, overall: dict[tuple[Arm, str], Cell]) -> Iterator[str]:
    changes = []
    for arm in layout.arms:
        sizes = [size for size in layout.sizes if (arm, size) in overall]
        if len(sizes) > 1:
            change = overall[arm, sizes[-1]].mean - overall[arm, sizes[0]].mean
            changes.append(f"{arm.label} {_points(change)} ({sizes[0]} to {sizes[-1]})")
    if changes:
        yield f"From smallest to largest size, overall accuracy changes by {_list(changes)}."


def _by_evidence(
    collected: Collected, layout: Layout, overall: dict[tuple[Arm, str], Cell]
) -> Iterator[str]:
    """Compare conditions without evidence with those of the same base that have it."""
    cells = collected.spec.cells
    changes = []
    for size in layout.sizes:
        for without in layout.arms:
            for with_ in layout.arms:
                first, second = (cells.get(f"{a.condition}/{size}") for a in (without, with_))
                if first is None or second is None or not first.filtered or second.filtered:
                    continue
                if first.source != second.source or (without.variant != with_.variant):
                    continue
                if (without, size) in overall and (with_, size) in overall:
                    change = overall[without, size].mean - overall[with_, size].mean
                    changes.append(
                        f"{_points(change)} at {size} ({without.label} less {with_.label})"
                    )
    if changes:
        yield f"Training without direct evidence makes a difference of {_list(changes)}."


def _of_fits(collected: Collected) -> Iterator[str]:
    two = decimals(2)
    for name, fit in collected.fits.items():
        if not fit.diagnostics.get("converged", False):
            yield f"Model {name} has not converged; its estimates are not quoted here."
            continue
        main = fit.summary.filter(
            (pl.col("kind") == "common")
            & ~pl.col("label").str.contains("×")
            & pl.col("label").str.contains("(?i)filter|size|source|condition")
        )
        parts = [
            f"{row['label']} {_signed(row['median'])} [{two(row['low'])}, {two(row['high'])}]"
            for row in main.iter_rows(named=True)
        ]
        if parts:
            yield f"Model {name}, log-odds with 95% intervals: {_list(parts)}."


def _points(share: float) -> str:
    return f"{100 * share:+.1f} points".replace("-", "−")


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _list(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def category_names(layout: Layout, suite: str) -> str:
    """Return a suite's categories in words, for the methods."""
    names = [title(c) for c in layout.categories[suite]]
    lower = [n[0].lower() + n[1:] for n in names]
    return _list(lower) if lower else ""
