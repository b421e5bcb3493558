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
    """Return what the models' contrasts say to a question, in a sentence; "" if nothing.

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
        f"{points(o.overall['share'])} {_interval(o.overall)} in model {name}"
        + (f", of {where}" if (where := suite(collected, o.fit)) != named else "")
        + _caveat(o.fit, one_seed=o.one_seed)
        for name, more in others
        for o in more
        if _same(o.overall, found[0].overall)
    ]
    return prefix + _one(found[0], question) + (f"; {listed(also)}" if also else "") + "."


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
        if not fit.contrasts.is_empty():
            continue
        main = fit.summary.filter(
            (pl.col("kind") == "common")
            & ~pl.col("label").str.contains("×")
            & pl.col("label").str.contains("(?i)filter|size|source|condition|bias")
        )
        parts = [
            f"{row['label']} {signed(row['median'])} [{two(row['low'])}, {two(row['high'])}]"
            for row in main.iter_rows(named=True)
        ]
        if parts:
            named = suite(collected, fit)
            halves = posterior.halves(main)
            found.append(
                f"{named}: " * bool(named)
                + f"Model {fit.name}, log odds with 95% intervals: {listed(parts)}"
                + (f"; {halves}." if halves else ".")
            )
    return " ".join(found)


def checks(collected: Collected) -> str:
    """Say how many cells the models leave outside their predictive intervals."""
    parts, first, narrow = [], 0, []
    for fit in converged(collected):
        numbers = posterior.checked(fit)
        if numbers is None:
            continue
        cells, out = numbers
        first = first if parts else out
        named = suite(collected, fit)
        on = f" ({named})" if named else ""
        parts.append(f"{out} of {counted(cells, 'cell')} of model {fit.name}{on}")
        if posterior.too_narrow(fit):
            narrow.append(fit.name)
    if not parts:
        return ""
    text = (
        f"Posterior predictive check: outside the 95% interval (5% by chance) "
        f"{'lies' if first == 1 else 'lie'} {listed(parts)}"
    )
    if not narrow:
        return f"{text}, no more than is to be expected."
    models = f"model{'s' if len(narrow) > 1 else ''} {listed(narrow)}"
    return (
        f"{text}. The intervals of {models} are too narrow for how much cells and single runs "
        "differ."
    )


def unconverged(collected: Collected) -> str:
    """Name the models that are not quoted."""
    names = [
        name
        for name, fit in collected.fits.items()
        if not fit.diagnostics.get("converged", False)
    ]  # fmt: skip
    if not names:
        return ""
    if len(names) == 1:
        return f"Model {names[0]} has not converged; its estimates are not quoted here."
    return f"Models {listed(names)} have not converged; their estimates are not quoted here."


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
    """Quote one contrast: overall, then the categories whose intervals leave 0 out."""
    row = contrast.overall
    subject = title(row["contrast"]) if posterior.named(row) else _SUBJECTS[question]
    subject = subject or f"{row['first']} instead of {row['less']}"
    text = (
        f"{subject} changes accuracy by {points(row['share'])} points {_interval(row)} "
        f"(model {contrast.model}: {row['first']} less {row['less']}; 95% interval)"
    )
    if not _sure(row):
        text += ", which may be no change at all"
    caveat = _caveat(contrast.fit, one_seed=contrast.one_seed)
    if not contrast.parts:
        return text + caveat
    sure = [part for part in contrast.parts if _sure(part)]
    if not sure:
        return f"{text}; the interval of every category holds 0{caveat}"
    quoted = [f"{posterior.place(p)} {points(p['share'])} {_interval(p)}" for p in sure]
    text += f"; by category, {listed(quoted)}"
    rest = [posterior.place(part) for part in contrast.parts if not _sure(part)]
    return text + (f" (no sure change: {listed(rest)})" if rest else "") + caveat


def _several(model: str, found: Sequence[Contrast], question: Question) -> str:
    """Quote contrasts of one kind side by side, the furthest from 0 if there are many."""
    rows = [contrast.overall for contrast in found]
    sure = [row for row in rows if _sure(row)]
    subject = {"biases": "biases", "filtering": "filters", "register": "registers"}.get(
        question, "contrasts"
    )
    less = {row["less"] for row in rows}
    same = len(less) == 1
    by_size = sorted(found, key=lambda contrast: -abs(contrast.overall["share"]))
    shown = by_size[:MOST] if len(rows) > MOST else found
    one_seed = all(contrast.one_seed for contrast in shown)
    parts = [
        f"{row['first'] if same else posterior.contrast_name(row)} {points(row['share'])} "
        f"points {_interval(row)}"
        + (f" ({posterior.ONE_SEED})" if contrast.one_seed and not one_seed else "")
        for contrast in shown
        for row in [contrast.overall]
    ]
    what = f"{len(sure)} of {len(rows)} {subject} {'changes' if len(sure) == 1 else 'change'}"
    against = f" against {less.pop()}" if same else ""
    most = ", the furthest from 0" if len(shown) < len(rows) else ""
    return (
        f"{what} overall accuracy for sure{against} (model {model}; 95% intervals{most}): "
        f"{listed(parts)}{_caveat(found[0].fit, one_seed=one_seed)}"
    )


def _caveat(fit: Fit, *, one_seed: bool) -> str:
    """Say why what is quoted of a model must be read with care; "": no reason."""
    reasons = [posterior.ONE_SEED] if one_seed else []
    reasons += ["intervals too narrow: see its check"] if posterior.too_narrow(fit) else []
    return f" ({'; '.join(reasons)})" if reasons else ""


def _sure(row: dict[str, Any]) -> bool:
    # Of the shares, which are what the sentences quote: those of the log odds may differ.
    return row["share_low"] > 0 or row["share_high"] < 0


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return (one["first"], one["less"]) == (other["first"], other["less"])


def _interval(row: dict[str, Any]) -> str:
    return f"[{points(row['share_low'])}, {points(row['share_high'])}]"
