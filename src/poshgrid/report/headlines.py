"""The sentences that open the report, each made from the numbers of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import polars as pl

from poshgrid.grid.runs import NULLS, REFERENCE
from poshgrid.report import answers, posterior
from poshgrid.report.cells import CHANCE, NULL_NAMES, Cell, Scores
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Arm, Layout, title
from poshgrid.report.plain import counted, listed, percent, points
from poshgrid.report.void import void

MARGIN = 0.10  # share: how far above 50% and the nulls counts as learned
MOST = 10  # sentences
LISTED = 4  # differences that a sentence lists; more are summed up

Cells = dict[tuple[Arm, str], Cell]


def findings(collected: Collected, layout: Layout) -> list[str]:
    """Return the headline sentences, most important first, at most ``MOST``.

    First the questions of the paper: is anything learned that the nulls do not do, does filtering
    matter, do biases help. Models answer where they have contrasts, or else the accuracies. Then
    nulls, sizes, models, tests. What is missing comes last, and always; the models'
    checks are never left out.
    """
    suites = collected.spec.suites
    prefix = (lambda suite: f"{suite}: ") if len(suites) > 1 else (lambda suite: "")
    overall = {suite: _overall(collected, layout, suite) for suite in suites}

    def each(make: Callable[[str], Iterable[str]]) -> list[str]:
        return [prefix(s) + text for s in suites if overall[s] for text in make(s)]

    def question(name: answers.Question, otherwise: list[str]) -> list[str]:
        said = answers.answer(collected, name)
        return [said] if said else otherwise

    checked = answers.checks(collected)
    found = [
        *each(lambda s: _sure(collected, layout, s) or _learned(collected, layout, s)),
        *question("filtering", each(lambda s: _by_evidence(collected, layout, overall[s]))),
        *question("biases", each(lambda s: _by_bias(layout, overall[s]))),
        *question("register", []),
        *each(lambda s: _solved_by_words(collected, layout, s)),
        *each(lambda s: _only(overall[s])),
        *each(lambda s: _by_size(layout, overall[s])),
        answers.coefficients(collected),
        checked,
        *question("other", []),
        *each(lambda s: _tested(collected, s)),
    ]
    last = [answers.unconverged(collected), *_missing(collected, layout, overall)]
    found, last = list(filter(None, found)), list(filter(None, last))
    left = MOST - len(last)
    if checked in found[left:]:
        found = [*found[: left - 1], checked]
    return [*found[:left], *last]


def warnings(collected: Collected) -> list[tuple[str, str]]:
    """Return what a reader must know before the numbers: (what, explanation)."""
    found = []
    missing = [t.run.name for t in collected.trained if not t.done]
    if missing:
        few = ", ".join(missing[:3]) + (" …" if len(missing) > 3 else "")
        verb = "is" if len(missing) == 1 else "are"
        found.append((
            "Incomplete.",
            f"{len(missing)} of {counted(len(collected.trained), 'model')} {verb} not there yet "
            f"({few}); {'its' if len(missing) == 1 else 'their'} cells say “not run”.",
        ))  # fmt: skip
    if collected.accuracy.is_empty():
        found.append(("No accuracies.", "The target has not been scored, or not been judged."))
    empty = list(void(collected))
    if empty:
        found.append(("Void.", f"{'; '.join(empty)}. What is compared there does not differ."))
    for name, fit in collected.fits.items():
        if not fit.diagnostics.get("converged", False):
            reasons = "; ".join(fit.diagnostics.get("reasons", [])) or "no diagnostics"
            found.append((
                "Not converged.",
                f"Model {name}: {reasons}. Its estimates are shown but must not be quoted; "
                "raise target_accept, warmup or draws.",
            ))  # fmt: skip
    absent = [model for model in collected.spec.models if model not in collected.fits]
    if absent:
        which = f"Model{'s' if len(absent) > 1 else ''} {listed(absent)}"
        found.append((
            "No model." if len(absent) == len(collected.spec.models) else "Models missing.",
            f"{which}: not fitted, or did not converge: see {_log(absent)}.",
        ))  # fmt: skip
    for package, versions in collected.packages.items():
        if len(versions) > 1:
            found.append(("Mixed versions.", f"{package}: {', '.join(versions)}."))
    return found


def _log(models: list[str]) -> str:
    return "its log" if len(models) == 1 else "their logs"


def _overall(collected: Collected, layout: Layout, suite: str) -> Cells:
    """Return the overall accuracy of every cell that was run."""
    scores = Scores(collected.accuracy)
    return {
        (arm, size): cell
        for arm, size in _places(layout)
        if isinstance(cell := scores.cell(layout, arm, size, suite, "overall"), Cell)
    }


def _places(layout: Layout) -> list[tuple[Arm, str]]:
    return [(a, s) for s in layout.sizes for a in layout.arms if layout.learner(a, s)]


# ---- what the accuracies say ---------------------------------------------------------------------


def _sure(collected: Collected, layout: Layout, suite: str) -> list[str]:
    """Say in how many cells each phenomenon is learned for sure; nothing where no cell can tell.

    Every cell is counted: none is chosen for being the best.
    """
    rows = collected.accuracy.filter(
        (pl.col("suite") == suite)
        & (pl.col("level") == "phenomenon")
        & pl.col("learned").is_not_null()
    )
    if rows.is_empty():
        return []
    shares = {
        phenomenon: (int(mine["learned"].sum()), mine.height)
        for _, phenomenon in layout.phenomena[suite]
        if (mine := rows.filter(pl.col("phenomenon") == phenomenon)).height
    }
    every = [name for name, (right, cells) in shares.items() if right == cells]
    never = [name for name, (right, _) in shares.items() if not right]
    some = [
        f"{name} ({right} of {cells})"
        for name, (right, cells) in shares.items()
        if 0 < right < cells
    ]
    parts = [
        f"{where} {listed(names)}"
        for where, names in (("in every cell", every), ("in some cells", some), ("in none", never))
        if names
    ]
    return [
        "Learned for sure, above 50% and above the best rival (a null or a rule) over sets and "
        f"seeds, Holm-corrected over the phenomena of a model: {'; '.join(parts)}."
    ]


def _learned(collected: Collected, layout: Layout, suite: str) -> Iterator[str]:
    """Compare phenomena with 50% and with the nulls, in the cell where each does best.

    For single seeds, of which nothing surer can be said.
    """
    scores = Scores(collected.accuracy)
    run = [
        (place, phenomenon, cell, {n: v for n in NULLS if (v := getattr(cell, n)) is not None})
        for category, phenomenon in layout.phenomena[suite]
        for place in _places(layout)
        if isinstance(
            cell := scores.cell(layout, *place, suite, "phenomenon", category, phenomenon), Cell
        )
    ]
    if not run:
        return
    has: dict[tuple[Arm, str], set[str]] = {}
    for place, _, _, known in run:
        has.setdefault(place, set()).update(known)
    nulls: set[str] = set().union(*has.values())
    gains: dict[str, float] = {}
    for _, phenomenon, cell, known in run:
        if nulls and not known:  # 50% alone would be a lower bar than the sentence names
            continue
        gain = cell.mean - max([CHANCE, *known.values()])
        gains[phenomenon] = max(gain, gains.get(phenomenon, -1.0))
    learned = {name: gain for name, gain in gains.items() if gain >= MARGIN - 1e-9}
    beside = [NULL_NAMES[null] for null in NULLS if null in nulls]
    above = f"50% and {_their_nulls(beside)}" if beside else "50% (no null was run)"
    verb = _is(1 if len(gains) == 1 else len(learned))
    text = (
        f"{len(learned)} of {counted(len(gains), 'phenomenon', 'phenomena')} {verb} at least "
        f"{100 * MARGIN:.0f} points above {above} in some cell"
    )
    if learned:
        best = max(learned, key=lambda name: learned[name])
        text += f"; {best} is furthest above ({_points(learned[best])})"
    never = [name for name, gain in gains.items() if gain <= 0]
    if never:
        text += f". No cell is above {'them' if beside else '50%'} on {listed(never)}"
    without = sum(not known for known in has.values()) if nulls else 0
    if without:
        text += (
            f". {without} of {counted(len(has), 'cell')} {'has' if without == 1 else 'have'} no "
            f"null, and {_is(without)} left out here"
        )
    part = sum(bool(known) and known != nulls for known in has.values())
    if part:
        text += f". {part} of {counted(len(has), 'cell')} {_is(part)} held to some of these nulls"
    yield text + "."


def _their_nulls(names: list[str]) -> str:
    return f"the null of the cell ({names[0]})" if len(names) == 1 else (
        f"the nulls of the cell ({listed(names)})"
    )  # fmt: skip


def _by_evidence(collected: Collected, layout: Layout, overall: Cells) -> Iterator[str]:
    """Compare conditions without evidence with those of the same base that have it."""
    cells = collected.spec.cells
    changes, compared = [], []
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
                    changes.append((f"at {size} ({without.label} less {with_.label})", change))
                    compared += [overall[without, size], overall[with_, size]]
    if changes:
        yield (
            "Training without direct evidence changes overall accuracy by "
            f"{_changes(changes)}{_single(compared)}."
        )


def _by_bias(layout: Layout, overall: Cells) -> Iterator[str]:
    """Compare arms with an inductive bias with those that differ in nothing else."""
    changes: dict[str, list[float]] = {}
    compared = []
    for (arm, size), cell in overall.items():
        if arm.bias == "none":
            continue
        for bare in layout.arms:
            if bare.bias == "none" and (bare, size) in overall and (
                (arm.condition, layout.learner(arm, size), arm.regimen)
                == (bare.condition, layout.learner(bare, size), bare.regimen)
            ):  # fmt: skip
                changes.setdefault(arm.bias, []).append(cell.mean - overall[bare, size].mean)
                compared += [cell, overall[bare, size]]
    if changes:
        cells = max(map(len, changes.values()))
        over = f", mean over {counted(cells, 'cell')}" if cells > 1 else ""
        said = [(bias, sum(all_) / len(all_)) for bias, all_ in changes.items()]
        parts = [f"{bias} {_points(change)}" for bias, change in said]
        yield (
            f"Overall accuracy with a bias, less that without{over}: {listed(parts)}"
            f"{_single(compared)}."
        )


def _solved_by_words(collected: Collected, layout: Layout, suite: str) -> Iterator[str]:
    """Name the phenomena that counts of words decide, one way or the other, in some cell."""
    rows = collected.accuracy.filter(
        (pl.col("suite") == suite)
        & (pl.col("level") == "phenomenon")
        & pl.col("far").str.contains("gram")
    )
    found = set(rows["phenomenon"])
    names = [name for _, name in layout.phenomena[suite] if name in found]
    counting = collected.accuracy.filter((pl.col("suite") == suite) & pl.col("ngram").is_not_null())
    if names:
        yield (
            f"On {len(names)} of {counted(len(layout.phenomena[suite]), 'phenomenon', 'phenomena')}"
            f" a model that only counts words (unigram or n-gram) is far from 50% in some cell: "
            f"{listed(names)}."
        )
    elif counting.height:
        yield "Models that only count words are near 50% on all phenomena."


def _only(overall: Cells) -> Iterator[str]:
    """Say the accuracy of a single cell; the best of several would be chosen for being it."""
    if len(overall) > 1:
        return
    (((arm, size), cell),) = overall.items()
    spread = f", SD {percent(cell.sd)} over {cell.n_seeds} seeds" if cell.sd is not None else ""
    text = f"The only overall accuracy is {percent(cell.mean)}% ({arm.label}, {size} words{spread})"
    if cell.untrained is not None:
        text += f"; the same model untrained reaches {percent(cell.untrained)}%"
    yield text + "."


def _by_size(layout: Layout, overall: Cells) -> Iterator[str]:
    changes, compared = [], []
    for arm in layout.arms:
        sizes = [size for size in layout.sizes if (arm, size) in overall]
        if len(sizes) > 1:
            change = overall[arm, sizes[-1]].mean - overall[arm, sizes[0]].mean
            changes.append((f"for {arm.label} ({sizes[0]} to {sizes[-1]})", change))
            compared += [overall[arm, sizes[-1]], overall[arm, sizes[0]]]
    if changes:
        yield (
            "From smallest to largest size, overall accuracy changes by "
            f"{_changes(changes)}{_single(compared)}."
        )


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
        return int((sure > CHANCE).sum()), int((sure < CHANCE).sum())

    above, below = sides("p_fisher_holm")
    pooled_above, pooled_below = sides("p_pooled")
    yield (
        f"Of {counted(rows.height, 'category accuracy', 'category accuracies')}, {above} "
        f"{_is(above)} above 50% and {below} below it by one χ² test per seed (Fisher-combined, "
        f"Holm-corrected, p < .05); the pooled, uncorrected test counts {pooled_above} and "
        f"{pooled_below}."
    )


def _missing(collected: Collected, layout: Layout, overall: dict[str, Cells]) -> Iterator[str]:
    """Count the cells that the sentences leave out, or know from fewer seeds than asked for."""
    places = _places(layout)
    if not any(overall.values()):
        return
    cells = [found.get(place) for found in overall.values() for place in places]
    asked = [_seeds(collected, layout, arm, size) for arm, size in places] * len(overall)
    absent = sum(cell is None for cell in cells)
    short = sum(
        cell is not None and (cell.n_seeds or 0) < seeds
        for cell, seeds in zip(cells, asked, strict=True)
    )
    of = f"of {counted(len(cells), 'cell')}"
    parts = []
    if absent:
        parts.append(f"{absent} {of} {_is(absent)} not run, and left out above")
    if short:
        rest = "rests" if short == 1 else "rest"
        parts.append(f"{short} {of} {rest} on fewer seeds than were asked for")
    if parts:
        yield f"{'; '.join(parts)}."


def _seeds(collected: Collected, layout: Layout, arm: Arm, size: str) -> int:
    here = (arm.condition, size, layout.learner(arm, size), arm.regimen, arm.bias)
    return len({
        t.run.seed
        for t in collected.asked
        if (t.run.condition, t.run.size, t.run.learner, t.run.regimen, t.run.bias) == here
    })  # fmt: skip


# ---- words ---------------------------------------------------------------------------------------


def _changes(found: Sequence[tuple[str, float]]) -> str:
    """List differences, or sum them up if they are many."""
    if len(found) <= LISTED:
        return listed([f"{_points(change)} {where}" for where, change in found])
    values = [change for _, change in found]
    mean = sum(values) / len(values)
    return (
        f"{_points(mean)} on average ({points(min(values))} to {points(max(values))}, "
        f"{len(values)} comparisons)"
    )


def _single(compared: Sequence[Cell]) -> str:
    """Say so where all cells that are compared rest on one seed."""
    return f" ({posterior.ONE_SEED})" if all(cell.n_seeds == 1 for cell in compared) else ""


def _points(share: float) -> str:
    return f"{points(share)} points"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def category_names(layout: Layout, suite: str) -> str:
    """Return a suite's categories in words, for the methods."""
    names = [title(c) for c in layout.categories[suite]]
    return listed([n[0].lower() + n[1:] for n in names])
