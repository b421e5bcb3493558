"""The sentences that Bayesian models contribute to the report's opening, by question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from poshgrid.report import posterior
from poshgrid.report.collect import Collected, Fit
from poshgrid.report.layout import title
from poshgrid.tables.words import counted, decimals, listed, points, signed

Question = Literal["filtering", "biases", "register", "other"]
_FACTORS: dict[str, Question] = {"bias": "biases", "filter": "filtering", "source": "register"}
MOST = 4  # contrasts that a sentence lists; of more, those furthest from 0
_KINDS = {"biases": "Biases", "filtering": "Filters", "register": "Registers"}
_SUBJECTS = {
    "filtering": "Filtering", "biases": "Bias", "register": "The text’s register", "other": "",
}  # fmt: skip


@dataclass(frozen=True)
class Contrast:
    """A contrast of a model that has converged: its row, and its rows by level."""

    fit: Fit
    overall: dict[str, Any]
    parts: list[dict[str, Any]]  # by category

    @property
    def model(self) -> str:
        """The model's name."""
        return self.fit.name

    @property
    def one_seed(self) -> bool:
        """Whether a level is known from one seed, so that the seed may be what differs."""
        return posterior.one_seed(self.fit, self.overall)


def converged(collected: Collected) -> list[Fit]:
    """Return the models whose numbers may be quoted, in the order of the configuration."""
    return [fit for fit in collected.fits.values() if fit.diagnostics.get("converged", False)]


def answer(collected: Collected, question: Question) -> str:
    """Return what the models' contrasts say to a question; "" if nothing.

    The first model that has such contrasts is quoted in full, the others by their overall numbers.
    What is said of a model whose check finds its intervals too narrow, or of a single seed, ends
    with a caveat.
    """
    by_model: dict[str, list[Contrast]] = {}
    for contrast in _contrasts(collected):
        if asked(collected, contrast.overall) == question:
            by_model.setdefault(contrast.model, []).append(contrast)
    if not by_model:
        return ""
    (model, found), *others = by_model.items()
    named = suite(collected, found[0].fit)
    prefix = f"{named}: " if named else ""
    if len(found) > 1:
        return f"{prefix}{_several(model, found, question)}."
    also = [
        f"model {name}{_on(suite(collected, o.fit), named)}, {_number(o.overall)}"
        + _caveat(o.fit, one_seed=o.one_seed)
        for name, more in others
        for o in more
        if _same(o.overall, found[0].overall)
    ]
    return f"{prefix}{_one(found[0], question)}." + (f" Also {'; '.join(also)}." if also else "")


def _on(suite: str, known: str) -> str:
    return f" on {suite}" if suite != known else ""


def suite(collected: Collected, fit: Fit) -> str:
    """Return the suite that sentences on a model name; "" where the page has one suite."""
    suites = collected.spec.suites
    return posterior.suite(fit, suites) if len(suites) > 1 else ""


def asked(collected: Collected, row: dict[str, Any]) -> Question:
    """Return the question that a contrast answers."""
    if row["factor"] != "condition":
        return _FACTORS.get(row["factor"], "other")
    spec = collected.spec
    facts = {key.split("/")[0]: cell for key, cell in spec.cells.items()}
    filtered = {key.split("/")[0] for key, cell in spec.cells.items() if cell.filtered}
    filtered |= set(spec.full)
    levels = (row["first"], row["less"])
    if not set(levels) <= set(facts):
        return "other"
    if facts[levels[0]].source != facts[levels[1]].source:
        return "register"
    return "filtering" if len(filtered & set(levels)) == 1 else "other"


def coefficients(collected: Collected) -> str:
    """Quote the main effects of the models without contrasts, in log odds."""
    two = decimals(2)
    found = []
    for fit in converged(collected):
        main = fit.summary.filter(
            (pl.col("kind") == "common")
            & ~pl.col("label").str.contains("×")
            & pl.col("label").str.contains("(?i)filter|size|source|condition|bias")
        )
        parts = [
            f"{row['label']} {signed(row['median'])} [{two(row['low'])}, {two(row['high'])}]"
            for row in main.iter_rows(named=True)
        ]
        if parts and fit.contrasts.is_empty():
            named = suite(collected, fit)
            said = f"Model {fit.name}, log odds with 95% intervals: {'; '.join(parts)}."
            found += [f"{named}: {said}" if named else said, posterior.halves(main)]
    return " ".join(filter(None, found))


def checks(collected: Collected) -> str:
    """Say how many cells the models leave outside their predictive intervals."""
    parts, narrow = [], []
    for fit in converged(collected):
        numbers = posterior.checked(fit)
        if numbers is None:
            continue
        cells, out = numbers
        named = suite(collected, fit)
        parts.append(f"{out} of {counted(cells, 'cell')} (model {fit.name}{_on(named, '')})")
        narrow += [fit.name] if posterior.too_narrow(fit) else []
    if not parts:
        return ""
    text = f"Outside the models' 95% predictive intervals: {', '.join(parts)}; 5% are expected."
    if not narrow:
        return f"{text} That is no more than chance."
    return (
        f"{text} Too narrow for how much cells and single runs differ: the intervals of "
        f"{listed(narrow)}."
    )


def unconverged(collected: Collected) -> str:
    """Name the models that are not quoted."""
    known = {fit.name for fit in converged(collected)}
    names = [name for name in collected.fits if name not in known]
    return f"Not converged, and not quoted here: {', '.join(names)}." if names else ""


def _contrasts(collected: Collected) -> Iterator[Contrast]:
    for fit in converged(collected):
        key = ("contrast", "first", "less")
        for _, group in fit.contrasts.group_by(*key, maintain_order=True):
            rows = list(group.iter_rows(named=True))
            overall = [row for row in rows if not row["by"]]
            if overall:
                parts = [row for row in rows if row["by"] == "category"]
                yield Contrast(fit, overall[0], parts)


def _one(contrast: Contrast, question: Question) -> str:
    """Quote one contrast: overall, then the categories whose intervals exclude 0."""
    row = contrast.overall
    subject = title(row["contrast"]) if posterior.named(row) else _SUBJECTS[question]
    subject = subject or f"{row['first']} instead of {row['less']}"
    verb = "changes accuracy by" if _sure(row) else "has no clear effect on accuracy:"
    text = (
        f"{subject} {verb} {_number(row)} ({row['first']} less {row['less']}, model "
        f"{contrast.model}, 95% interval)"
    )
    sure = [f"{posterior.place(p)} {_number(p)}" for p in contrast.parts if _sure(p)]
    rest = [posterior.place(part) for part in contrast.parts if not _sure(part)]
    text += f". Clear by category: {listed(sure)}" if sure else ""
    text += f". Not clear: {listed(rest) if sure else 'any category'}" if rest else ""
    return text + _caveat(contrast.fit, one_seed=contrast.one_seed)


def _several(model: str, found: Sequence[Contrast], question: Question) -> str:
    """Quote contrasts of one kind side by side, the furthest from 0 if there are many."""
    less = {contrast.overall["less"] for contrast in found}
    by_size = sorted(found, key=lambda contrast: -abs(contrast.overall["share"]))
    shown = by_size[:MOST] if len(found) > MOST else found
    one_seed = all(contrast.one_seed for contrast in shown)
    parts = [
        f"{row['first'] if len(less) == 1 else posterior.contrast_name(row)} {_number(row)}"
        + (f" ({posterior.ONE_SEED})" if contrast.one_seed and not one_seed else "")
        for contrast in shown
        for row in [contrast.overall]
    ]
    kind = _KINDS.get(question, "Contrasts")
    against = f", compared with {less.pop()}" if len(less) == 1 else ""
    sure = sum(_sure(contrast.overall) for contrast in found)
    most = ", the furthest from 0" if len(shown) < len(found) else ""
    return (
        f"{kind} with a clear effect on accuracy{against}: {sure} of {len(found)} (model {model}, "
        f"95% intervals{most}). {'; '.join(parts)}{_caveat(found[0].fit, one_seed=one_seed)}"
    )


def _number(row: dict[str, Any]) -> str:
    low, high = points(row["share_low"]), points(row["share_high"])
    return f"{points(row['share'])} points [{low}, {high}]"


def _caveat(fit: Fit, *, one_seed: bool) -> str:
    """Say why what is quoted of a model must be read with care; "": no reason."""
    reasons = [posterior.ONE_SEED] if one_seed else []
    reasons += ["intervals too narrow: see the model's check"] if posterior.too_narrow(fit) else []
    return f" ({'; '.join(reasons)})" if reasons else ""


def _sure(row: dict[str, Any]) -> bool:
    # Of the shares, which are what the sentences quote: those of the log odds may differ.
    return row["share_low"] > 0 or row["share_high"] < 0


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return (one["first"], one["less"]) == (other["first"], other["less"])
