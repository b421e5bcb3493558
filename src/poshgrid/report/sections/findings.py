"""The findings: sentences that each say what a table holds, the most important first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean

import polars as pl

from poshgrid.config.runs import REFERENCE, SCORED, parts
from poshgrid.report import answers, figures, posterior
from poshgrid.report.blocks import Block, Bullets, Facts, Fold, Note, Page
from poshgrid.report.cells import CHANCE, Cell, Scores
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Arm, Layout, Point
from poshgrid.report.texts import say
from poshgrid.statistics.schema import CANNOT_TELL, NO, NOT_TESTABLE, YES
from poshgrid.tables.words import count, counted, duration
from poshgrid.training import bias

TITLE, ORDER, AUDIENCE = "Findings", 10, "reader"
FIRST = 3  # sentences that are seen at once
MOST = 10  # sentences
LISTED = 4  # differences that a sentence lists; more are summed up

Cells = dict[tuple[Arm, str], Cell]


def blocks(page: Page) -> list[Block]:
    """Return the figure, the sentences, what they do not show, and what was run."""
    collected, layout = page.collected, page.layout
    texts = findings(collected, layout)
    run = Facts(facts(collected, layout))
    if not texts:
        if not collected.spec.suites:
            return ["The grid has no minimal pairs: its results are the other tasks’.", run]
        return ["Not run: there are no accuracies to speak of yet.", run]
    first, more = texts[:FIRST], texts[FIRST:]
    suite = next(iter(collected.suites), None)
    return [
        figures.opening(page, suite) or figures.picture(page, suite) if suite else None,
        Bullets(first, "findings"),
        Note(say("limits")),
        Fold("More findings", f"({len(more)})", [Bullets(more, "findings")]) if more else None,
        run,
    ]


def findings(collected: Collected, layout: Layout) -> list[str]:
    """Return the sentences, most important first, at most ``MOST``.

    First the questions of the paper: is anything learned that the nulls do not do, does filtering
    matter, do biases help. Models answer where they have contrasts, or else the accuracies. Then
    nulls, sizes, models, tests. What is missing comes last, and always; the models'
    checks are never left out.
    """
    suites = collected.spec.suites
    overall = {suite: _overall(collected, layout, suite) for suite in suites}

    def each(said: Callable[[str], Iterable[str]]) -> list[str]:
        judged = [suite for suite in suites if overall[suite]]
        return [f"{s}: {text}" if len(suites) > 1 else text for s in judged for text in said(s)]

    def question(name: answers.Question, otherwise: list[str]) -> list[str]:
        said = answers.answer(collected, name)
        return [said] if said else otherwise

    checked = answers.checks(collected)
    found = [
        *each(lambda s: _learned(collected, layout, s)),
        *question("filtering", each(lambda s: _by_evidence(collected, layout, overall[s]))),
        *question("biases", each(lambda s: _by_bias(layout, overall[s]))),
        *question("register", []),
        *each(lambda s: _solved_by_words(collected, layout, s)),
        *each(lambda s: _only(layout, overall[s])),
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


def _overall(collected: Collected, layout: Layout, suite: str) -> Cells:
    """Return the overall accuracy of every cell that was run."""
    scores = Scores(collected.accuracy)
    return {
        (arm, size): cell
        for size, arm in layout.places
        if isinstance(cell := scores.cell(layout, arm, size, suite, "overall"), Cell)
    }


def _learned(collected: Collected, layout: Layout, suite: str) -> Iterator[str]:
    """List the phenomena of each verdict on whether they are learned, with the cells that have it.

    Every cell is counted: none is chosen for being the best.
    """
    rows = collected.accuracy.filter(pl.col("learned").is_not_null(), suite=suite)
    phenomena: dict[str, list[str]] = {}
    for verdict in (YES, NO, CANNOT_TELL, NOT_TESTABLE):
        for _, phenomenon in layout.phenomena[suite]:
            own = rows.filter(phenomenon=phenomenon)
            if number := own.filter(learned=verdict).height:
                cells = "" if number == own.height else f" ({number} of {own.height} cells)"
                phenomena.setdefault(verdict, []).append(phenomenon + cells)
    if phenomena:
        yield say("learned", phenomena)


def _by_evidence(collected: Collected, layout: Layout, overall: Cells) -> Iterator[str]:
    """Compare conditions without evidence with those of the same base that have it."""
    cells = collected.spec.cells
    found = []
    for (without, size), one in overall.items():
        first = cells.get(f"{without.condition}/{size}")
        for with_ in layout.arms:
            second, other = cells.get(f"{with_.condition}/{size}"), overall.get((with_, size))
            if first and second and other and first.filtered and not second.filtered and (
                (first.source, without.variant) == (second.source, with_.variant)
            ):  # fmt: skip
                found.append((f"at {size} ({without.label} minus {with_.label})", [(one, other)]))
    names = [f"{c} {figures.without(collected, c)}" for c in collected.filtered]
    yield from _changes(f"where direct evidence is removed ({'; '.join(names)})", found)


def _by_bias(layout: Layout, overall: Cells) -> Iterator[str]:
    """Compare arms with an inductive bias with those that differ in nothing else; then controls."""
    found: dict[str, list[tuple[Cell, Cell]]] = {}
    controls: dict[str, list[tuple[Cell, Cell]]] = {}
    for (arm, size), cell in overall.items():
        for bare in layout.arms if arm.bias != "none" else ():
            other = overall.get((bare, size))
            point, beside = (layout.point(each, size) or () for each in (arm, bare))
            if other and point[:-1] == beside[:-1]:
                if bare.bias == "none" and not any(map(bias.controlled, parts(arm.bias))):
                    found.setdefault(arm.bias, []).append((cell, other))
                elif bias.controls(bare.bias, arm.bias):
                    name = f"{arm.bias} minus {bare.bias}"
                    controls.setdefault(name, []).append((cell, other))
    for what, each in (("with a bias", found), ("from a control to its bias", controls)):
        yield from _changes(
            what, [(f"{name} (mean of {counted(len(p), 'cell')})", p) for name, p in each.items()]
        )


def _solved_by_words(collected: Collected, layout: Layout, suite: str) -> Iterator[str]:
    """Name the phenomena that counts of words decide, one way or the other, in some cell."""
    rows = collected.accuracy.filter(suite=suite)
    far = set(rows.filter(pl.col("far").str.contains("gram"), level="phenomenon")["phenomenon"])
    names = [name for _, name in layout.phenomena[suite] if name in far]
    if names or rows["ngram"].count():
        yield say("solved_by_words", names, len(layout.phenomena[suite]))


def _only(layout: Layout, overall: Cells) -> Iterator[str]:
    """Say the accuracy of a single cell; the best of several would be chosen for being it."""
    if len(overall) == 1:
        (((arm, size), cell),) = overall.items()
        yield say("only", cell, arm.label, layout.read(arm.condition, size))


def _by_size(layout: Layout, overall: Cells) -> Iterator[str]:
    found = []
    for arm in layout.arms:
        sizes = [size for size in layout.sizes if (arm, size) in overall]
        if len(sizes) > 1:
            place = f"for {arm.label} ({sizes[0]} to {sizes[-1]})"
            found.append((place, [(overall[arm, sizes[-1]], overall[arm, sizes[0]])]))
    yield from _changes("from the smallest to the largest size", found)


def _tested(collected: Collected, suite: str) -> Iterator[str]:
    rows = collected.accuracy.filter(
        ~pl.col("regimen").is_in(REFERENCE), pl.col("p_fisher_holm").is_not_null(),
        suite=suite, level="category",
    )  # fmt: skip

    def sides(column: str) -> tuple[int, int]:
        sure = rows.filter(pl.col(column) < 0.05)["mean"]
        return int((sure > CHANCE).sum()), int((sure < CHANCE).sum())

    if rows.height:
        yield say("tested", rows.height, sides("p_fisher_holm"), sides("p_pooled"))


def _missing(collected: Collected, layout: Layout, overall: dict[str, Cells]) -> Iterator[str]:
    """Count the cells that the sentences leave out, or know from fewer seeds than asked for."""
    places = layout.places
    cells = [cells.get((arm, size)) for cells in overall.values() for size, arm in places]
    asked = [_seeds(collected, layout.point(arm, size)) for size, arm in places] * len(overall)
    absent = sum(cell is None for cell in cells)
    short = sum(
        cell is not None and (cell.n_seeds or 0) < seeds
        for cell, seeds in zip(cells, asked, strict=True)
    )
    if any(overall.values()) and (absent or short):
        yield say("missing", absent, short, len(cells))


def _seeds(collected: Collected, point: Point | None) -> int:
    runs = (t.run for t in collected.asked)
    return len(
        {r.seed for r in runs if (r.condition, r.size, r.learner, r.regimen, r.bias) == point}
    )


def _changes(what: str, found: Sequence[tuple[str, list[tuple[Cell, Cell]]]]) -> Iterator[str]:
    """List differences, or sum up many.

    Args:
        what: between the cells of a pair.
        found: (where, pairs of cells, whose mean difference is told).
    """
    values = [fmean(one.mean - other.mean for one, other in pairs) for _, pairs in found]
    if found:
        alone = all(cell.n_seeds == 1 for _, pairs in found for pair in pairs for cell in pair)
        caveat = posterior.ONE_SEED if alone else ""
        single = zip(values, (where for where, _ in found), strict=True)
        yield say("changes", what, list(single) if len(found) <= LISTED else [], values, caveat)


def facts(collected: Collected, layout: Layout) -> list[tuple[str, str, str]]:
    """Return what was run, in numbers: (name, number, note)."""
    spec = collected.spec
    done = sum(t.done for t in collected.asked)
    nulls = len(collected.trained) - len(collected.asked)
    ours = any(t.run.regimen not in SCORED for t in collected.asked)
    pairs = sum(items.height for items in collected.items.values())
    seeds = sorted({t.run.seed for t in collected.asked})
    biases = sorted({t.run.bias for t in collected.asked} - {"none"})
    wall = sum(r.content.get("wall_seconds", 0) for r in collected.records)
    memory = max((r.content.get("peak_memory_mb", 0) for r in collected.records), default=0)
    found = [
        (f"Models {'trained' if ours else 'scored'}", f"{done} of {len(collected.asked)}",
         f"and {counted(nulls, 'null')}"),
        ("Conditions", str(len(spec.conditions)), ", ".join(spec.conditions)),
        ("Sizes", str(len(layout.sizes)), ", ".join(layout.sizes)),
        ("Seeds", str(len(seeds)), ", ".join(map(str, seeds))),
        ("Biases", str(len(biases)), ", ".join(biases)) if biases else None,
        ("Minimal pairs", count(pairs), ", ".join(spec.suites)),
        ("Computing time", duration(wall), f"{len(collected.records)} jobs; "
         f"{memory:,.0f} MB at most") if wall else None,
    ]  # fmt: skip
    return [fact for fact in found if fact]
