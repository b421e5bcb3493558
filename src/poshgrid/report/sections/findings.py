"""The findings: a verdict on each planned contrast, strongest first, then on each phenomenon."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import polars as pl

from poshgrid.benchmark.reading.table10 import key
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config.formula import suite_of
from poshgrid.config.runs import SCORED, words_of
from poshgrid.report import figures, posterior
from poshgrid.report.blocks import Alert, Block, Bullets, Facts, Fold, Note, Page
from poshgrid.report.cells import NULL_NAMES
from poshgrid.report.collect import Collected, Fit
from poshgrid.report.layout import Layout
from poshgrid.report.sections import development
from poshgrid.report.texts import say
from poshgrid.report.treatment import treatment
from poshgrid.statistics.gate import doubts
from poshgrid.statistics.schema import CANNOT_TELL, NO, NOT_TESTABLE, YES
from poshgrid.statistics.verdicts import MARGIN
from poshgrid.tables.table import Column, Table, texts
from poshgrid.tables.words import count, counted, duration, listed, points
from poshgrid.training import bias

TITLE, ORDER, AUDIENCE = "Findings", 10, "reader"
FIRST = 3  # contrasts that are seen at once
Question = Literal["filtering", "biases", "register", "other"]
_FACTORS: dict[str, Question] = {"bias": "biases", "filter": "filtering", "source": "register"}
HIGHER, LOWER, ALIKE = "higher", "lower", "alike"
_LEARNED = (YES, NO, CANNOT_TELL, NOT_TESTABLE)  # columns of the table
Row = dict[str, Any]
"""A contrast: columns of ``CONTRASTS``."""


def blocks(page: Page) -> list[Block]:
    """Return whether the control held, the figure, the verdicts, and what was run."""
    collected, layout = page.collected, page.layout
    run = Facts(facts(collected, layout))
    if not collected.spec.suites:
        return ["The grid has no minimal pairs: its results are the other tasks’.", run]
    if collected.accuracy.is_empty():
        return ["Not run: there are no accuracies to speak of yet.", run]
    suite = next(iter(collected.suites), None)
    verdicts = list(contrasts(collected))
    first, more = verdicts[:FIRST], verdicts[FIRST:]
    onsets = [] if collected.development.is_empty() else [development.sentence(collected)]
    return [
        control(collected),
        figures.opening(page, suite) or figures.picture(page, suite) if suite else None,
        Bullets(first, "findings") if first else say("no_contrast"),
        Fold("More contrasts", f"({len(more)})", [Bullets(more, "findings")]) if more else None,
        *map(Note, not_quoted(collected)),
        page.table(learned(collected, layout)) or say("no_seeds"),
        *onsets,
        Note(say("limits")),
        run,
    ]


def control(collected: Collected) -> Alert | None:
    """Say whether the planted effects were found; ``None``: nothing is planted."""
    planted = [
        (fit.name, contrast, place, sign, found)
        for fit in collected.fits.values()
        for (contrast, place), (sign, found) in posterior.planted_effects(fit).items()
    ]
    if not planted:
        return None
    missed = [effect for effect in planted if effect[-2] != effect[-1]]
    names = {effect[0] for effect in planted}
    broken = [
        f.name for f in collected.fits.values() if f.name in names and not posterior.quotable(f)
    ]
    unsure = "says nothing" if broken else "held"
    what = f"The positive control {'failed' if missed else unsure}."
    return Alert(what, say("control", len(planted), missed, broken), good=not (missed or broken))


# ---- contrasts -----------------------------------------------------------------------------------


def contrasts(collected: Collected) -> Iterator[str]:
    """Yield a verdict on each contrast of the models that may be quoted, the strongest first.

    Controls of biases are no findings: they come with their biases, with what they leave of them.
    """
    groups = [
        (fit, rows)
        for fit in collected.fits.values()
        if posterior.quotable(fit)
        for rows in _groups(fit)
    ]
    for fit, rows in sorted(groups, key=lambda group: -max(map(_strength, group[1]))):
        overall = rows[0]
        if not _control(overall):
            more = [*_structure(fit, overall), *_treatments(collected, overall)]
            yield " ".join([_verdict(collected, fit, rows), *more])


def _groups(fit: Fit) -> Iterator[list[Row]]:
    """Yield the rows of each contrast: overall, then its parts.

    Parts are categories and phenomena; of a model of some phenomena alone, templates.
    """
    parts = ["template"] if fit.spec.get("phenomena") else ["category", "phenomenon"]
    by = ("contrast", "first", "less")
    for _, rows in fit.contrasts.group_by(*by, maintain_order=True):
        if overall := rows.filter(by="").to_dicts():
            yield overall[:1] + rows.filter(pl.col("by").is_in(parts)).to_dicts()


def _strength(row: Row) -> float:
    """Return how far the interval is from 0; negative where it holds 0."""
    return float(max(row["joint_low"], -row["joint_high"]))


def decided(row: Row) -> str:
    """Return the verdict on a difference: higher, lower, alike within ``MARGIN``, cannot tell."""
    if row["joint_low"] > 0:
        return HIGHER
    if row["joint_high"] < 0:
        return LOWER
    alike = row["joint_low"] > -MARGIN and row["joint_high"] < MARGIN
    return ALIKE if alike else CANNOT_TELL


def _verdict(collected: Collected, fit: Fit, rows: list[Row]) -> str:
    """Return the sentences on a contrast: overall, then its parts by verdict.

    A phenomenon is named where it is clear, and its category does not say the same.
    """
    overall, *parts = rows
    suites = collected.spec.suites
    suite = suite_of(fit.spec.get("suite"), suites)
    items = collected.items.get(suite, pl.DataFrame(schema=ITEMS))
    category_of = dict(items.select("phenomenon", "category").unique().iter_rows())
    of_category = {row["level"]: decided(row) for row in parts if row["by"] == "category"}
    question = asked(collected, overall)
    removed = _removed(collected, overall) if question == "filtering" else {}
    kept = _kept(removed, category_of)
    of_parts: dict[str, list[str]] = {}
    for row in parts:
        name = posterior.place(row).removeprefix(f"{row['by']} ")
        name += " (evidence kept)" if row["level"] in kept else ""
        verdict = decided(row)
        said = of_category.get(category_of.get(row["level"], ""))
        if row["by"] == "phenomenon" and (verdict not in (HIGHER, LOWER) or verdict == said):
            continue
        shown = name if verdict == CANNOT_TELL else f"{name} {_number(row)}"
        of_parts.setdefault(verdict, []).append(shown)
    place = [f"on {suite}"] if len(suites) > 1 else []
    place += [f"{listed(fit.spec['phenomena'])} alone"] if fit.spec.get("phenomena") else []
    return say(
        "contrast", question, _compared(overall), ", ".join(place), list(removed),
        decided(overall), _number(overall), overall,
        {v: of_parts[v] for v in (LOWER, HIGHER, ALIKE, CANNOT_TELL) if v in of_parts},
        posterior.ONE_SEED if posterior.one_seed(fit, overall) else "",
        fit.predictive["size"].n_unique() > 1 if "size" in fit.predictive else False,
    )  # fmt: skip


def asked(collected: Collected, row: Row) -> Question:
    """Return the question that a contrast answers."""
    if row["factor"] != "condition":
        return _FACTORS.get(row["factor"], "other")
    spec = collected.spec
    facts = {key.split("/")[0]: cell for key, cell in spec.cells.items()}
    levels = {row["first"], row["less"]}
    if not levels <= set(facts):
        return "other"
    if len({facts[level].source for level in levels}) > 1:
        return "register"
    return "filtering" if len({*collected.filtered, *spec.full} & levels) == 1 else "other"


def _removed(collected: Collected, row: Row) -> dict[str, list[str]]:
    """Return the filters of a contrast -> what each is aimed at; {}: not known, or not one thing.

    Of the factor ``filter``, which joins all filtered conditions, those that all of them share.
    """
    removed = collected.spec.removed
    if row["factor"] == "condition":
        levels = (row["first"], row["less"])
        return next((removed[level] for level in levels if level in removed), {})
    first = next(iter(removed.values()), {})
    return first if all(filters == first for filters in removed.values()) else {}


def _kept(removed: dict[str, list[str]], category_of: dict[str, str]) -> set[str]:
    """Return the categories whose evidence filters leave; none where a filter names no aim."""
    aims = {key(name) for names in removed.values() for name in names}
    hit = {category for phenomenon, category in category_of.items() if key(phenomenon) in aims}
    # A suite that has none of the phenomena that filters are aimed at may test them by other names
    return {*category_of.values()} - hit if hit and all(removed.values()) else set()


def _control(row: Row) -> bool:
    """Say whether a contrast is of the control of a bias, or with one."""
    if row["factor"] != "bias":
        return False
    words = row["first"].split("+")
    return bias.controls(row["less"], row["first"]) or any(map(bias.controlled, words))


def _structure(fit: Fit, row: Row) -> Iterator[str]:
    """Say of a bias with controls whether its structure helps: only where it beats all of them."""
    own = [
        overall
        for overall, *_ in _groups(fit)
        if overall["first"] == row["first"] and bias.controls(overall["less"], overall["first"])
    ]
    short = [_less(r) for r in (row, *own) if decided(r) != HIGHER]
    if own:
        yield say("structure", row["first"], {r["less"]: _number(r) for r in own}, short)


def _treatments(collected: Collected, row: Row) -> Iterator[str]:
    """Yield what was removed and put back in each of two conditions, at its largest size."""
    for level in (row["first"], row["less"]) if row["factor"] == "condition" else ():
        sizes = [size for condition, size in collected.conditions if condition == level]
        if sizes:
            facts = collected.conditions[level, max(sizes, key=words_of)]
            if said := treatment(facts):
                yield f"{level}: {said}."


def _compared(row: Row) -> str:
    return f"{row['first']} compared with {_less(row)}"


def _less(row: Row) -> str:
    """Name the level that is subtracted; of biases ``none`` is to have no bias."""
    return "no bias" if (row["factor"], row["less"]) == ("bias", "none") else row["less"]


def _number(row: Row) -> str:
    low, high = points(row["joint_low"]), points(row["joint_high"])
    raw = "" if row["raw"] is None else f"; raw {points(row['raw'])}"
    return f"{points(row['share'])} [{low}, {high}{raw}]"


def not_quoted(collected: Collected) -> Iterator[str]:
    """Yield which models are not quoted, and why."""
    for fit in collected.fits.values():
        if reasons := doubts(fit.diagnostics):
            yield say("not_quoted", fit.name, reasons)


# ---- phenomena -----------------------------------------------------------------------------------


def learned(collected: Collected, layout: Layout) -> Table | None:
    """Count the cells of each verdict on each phenomenon, and say where else it can be tested.

    Every cell is counted: none is chosen for being the best.

    Returns:
        ``None`` where no cell can tell anything.
    """
    rows = collected.accuracy.filter(pl.col("learned").is_not_null())
    untestable = NOT_TESTABLE in set(rows["learned"])
    if not untestable and rows["above_rival_low"].null_count() == rows.height:
        return None
    testable = rows.filter(pl.col("learned") != NOT_TESTABLE)
    lines: list[list[Any]] = []
    for suite, phenomena in layout.phenomena.items():
        for category, phenomenon in phenomena:
            own = rows.filter(suite=suite, category=category, phenomenon=phenomenon)
            numbers = [own.filter(learned=v).height or None for v in _LEARNED]
            elsewhere = testable.filter(pl.col("suite") != suite, category=category)["suite"]
            others = elsewhere.unique(maintain_order=True).to_list() if numbers[-1] else []
            best = own["rival"].drop_nulls().unique(maintain_order=True)
            rivals = [NULL_NAMES.get(rival, rival) for rival in best]
            lines.append([suite, phenomenon, *numbers, ", ".join(rivals), ", ".join(others)])
    columns = [
        *texts("Suite", "Phenomenon"), *(Column(v.capitalize(), count) for v in _LEARNED),
        *texts("Rival", "Test it with"),
    ]  # fmt: skip
    if len(layout.phenomena) == 1:
        columns, lines = columns[1:-1], [line[1:-1] for line in lines]
    without = [name for null, name in NULL_NAMES.items() if rows[null].null_count() == rows.height]
    return Table("learned", say("learned", untestable, without), columns, lines)


def facts(collected: Collected, layout: Layout) -> list[tuple[str, str, str]]:
    """Return what was run, in numbers: (name, number, note)."""
    spec = collected.spec
    done = sum(t.done for t in collected.asked)
    baselines = len(collected.trained) - len(collected.asked)
    ours = any(t.run.regimen not in SCORED for t in collected.asked)
    pairs = sum(items.height for items in collected.items.values())
    seeds = sorted({t.run.seed for t in collected.asked})
    biases = sorted({t.run.bias for t in collected.asked} - {"none"})
    wall = sum(r.content.get("wall_seconds", 0) for r in collected.records)
    memory = max((r.content.get("peak_memory_mb", 0) for r in collected.records), default=0)
    found = [
        (f"Models {'trained' if ours else 'scored'}", f"{done} of {len(collected.asked)}",
         f"and {counted(baselines, 'baseline')}"),
        ("Conditions", str(len(spec.conditions)), ", ".join(spec.conditions)),
        ("Sizes", str(len(layout.sizes)), ", ".join(layout.sizes)),
        ("Seeds", str(len(seeds)), ", ".join(map(str, seeds))),
        ("Biases", str(len(biases)), ", ".join(biases)) if biases else None,
        ("Minimal pairs", count(pairs), ", ".join(spec.suites)),
        ("Computing time", duration(wall), f"{len(collected.records)} jobs; "
         f"{memory:,.0f} MB at most") if wall else None,
    ]  # fmt: skip
    return [fact for fact in found if fact]
