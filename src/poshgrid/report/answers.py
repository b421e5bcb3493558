"""What the Bayesian models say to the questions of the report's opening."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import polars as pl

from poshgrid.benchmark.reading.table10 import key
from poshgrid.config.formula import suite_of
from poshgrid.report import posterior
from poshgrid.report.collect import Collected, Fit
from poshgrid.report.texts import say
from poshgrid.tables.words import listed, points
from poshgrid.training import bias

Question = Literal["filtering", "biases", "register", "other"]
MOST = 4  # contrasts that a line lists; of more, those furthest from 0
_FACTORS: dict[str, Question] = {"bias": "biases", "filter": "filtering", "source": "register"}
_TITLES = {
    "filtering": "Removing direct evidence",
    "biases": "Inductive biases",
    "register": "Another kind of text",
    "other": "Other contrasts",
}
Rows = list[dict[str, Any]]
"""A contrast of a model: overall, then by category, or by template if it is of some phenomena."""


def converged(collected: Collected) -> list[Fit]:
    """Return the models whose numbers may be quoted, those of some phenomena alone last."""
    found = [fit for fit in collected.fits.values() if fit.converged]
    return sorted(found, key=lambda fit: bool(fit.spec.get("phenomena")))


def answer(collected: Collected, question: Question) -> str:
    """Return what the models' contrasts say to a question, a line a model; "" if nothing.

    The first model that has such contrasts is quoted in full, the others by what they say overall
    of its first contrast; one of some phenomena alone by what it says of their templates, where it
    has them, for the first has spoken of the phenomena. What is said of a model whose check finds
    its intervals too narrow, or of a single seed, ends with a caveat. Controls of biases are no
    findings: they come after their biases, with what they leave of them.
    """
    lines: list[str] = []
    quoted: tuple[str, str] | None = None
    for fit in converged(collected):
        found = [rows for rows in _contrasts(fit) if asked(collected, rows[0]) == question]
        controls = [rows[0] for rows in found if bias.controls(rows[0]["less"], rows[0]["first"])]
        if question == "biases":
            found = [rows for rows in found if rows[0] not in controls and not _control(rows[0])]
        if quoted:
            found = [rows for rows in found if _levels(rows[0]) == quoted]
            found = [(fit.spec.get("phenomena") and rows[1:]) or rows[:1] for rows in found]
        if found:
            quoted = quoted or _levels(found[0][0])
            gone = _gone(collected, found[0][0]) if question == "filtering" else {}
            of = f" of {listed(list(gone))}" if gone else ""
            name = _name(collected, fit, first=not lines)
            head = name if lines else f"{_TITLES[question]}{of} ({name})"
            lines.append(f"{head}: {_line(fit, found, _kept(collected, fit, gone))}")
            lines += _structure([rows[0] for rows in found], controls)
    return " ".join(lines)


def _gone(collected: Collected, row: dict[str, Any]) -> dict[str, list[str]]:
    """Return the filters of a contrast -> what each is aimed at; {}: not known, or not one thing.

    Of the factor ``filter``, which joins all filtered conditions, those that all of them share.
    """
    removed = collected.spec.removed
    if row["factor"] == "condition":
        return next((removed[level] for level in _levels(row) if level in removed), {})
    first = next(iter(removed.values()), {})
    return first if all(filters == first for filters in removed.values()) else {}


def _kept(collected: Collected, fit: Fit, gone: dict[str, list[str]]) -> set[str]:
    """Return the categories whose evidence filters leave; none where a filter names no aim."""
    items = collected.items.get(suite_of(fit.spec.get("suite"), collected.spec.suites))
    if not gone or items is None or not all(gone.values()):
        return set()
    aims = {key(name) for names in gone.values() for name in names}
    pairs = items.select("category", "phenomenon").unique().iter_rows()
    hit = {category for category, phenomenon in pairs if key(phenomenon) in aims}
    return set(items["category"]) - hit


def _control(row: dict[str, Any]) -> bool:
    """Say whether a contrast is of a control."""
    return any(bias.controlled(part) for part in row["first"].split("+"))


def _structure(found: Rows, controls: Rows) -> Iterator[str]:
    """Say of each bias with controls whether its structure helps: only where it beats all of them.

    Args:
        found: biases less none, overall.
        controls: biases less their controls, overall.
    """
    for row in found:
        own = [other for other in controls if other["first"] == row["first"]]
        short = [_less(r) for r in (row, *own) if not (_sure(r) and r["share"] > 0)]
        if own:
            yield say("structure", row["first"], {r["less"]: _number(r) for r in own}, short)


def asked(collected: Collected, row: dict[str, Any]) -> Question:
    """Return the question that a contrast answers."""
    if row["factor"] != "condition":
        return _FACTORS.get(row["factor"], "other")
    spec = collected.spec
    facts = {key.split("/")[0]: cell for key, cell in spec.cells.items()}
    filtered = {*collected.filtered, *spec.full}
    levels = set(_levels(row))
    if not levels <= set(facts):
        return "other"
    if len({facts[level].source for level in levels}) > 1:
        return "register"
    return "filtering" if len(filtered & levels) == 1 else "other"


def coefficients(collected: Collected) -> str:
    """Quote the main effects of the models without contrasts, in log odds."""
    quoted = []
    for fit in converged(collected):
        main = fit.summary.filter(
            ~pl.col("label").str.contains("×"),
            pl.col("label").str.contains("(?i)filter|size|source|condition|bias"),
            kind="common",
        )
        if main.height and fit.contrasts.is_empty():
            quoted.append(say("log_odds", _name(collected, fit), main.to_dicts()))
    return " ".join(quoted)


def checks(collected: Collected) -> str:
    """Say how many cells the models leave outside their predictive intervals."""
    checked = [
        (*numbers, fit.name, not posterior.quotable(fit))
        for fit in converged(collected)
        if (numbers := posterior.checked(fit))
    ]
    return say("checked", checked) if checked else ""


def unconverged(collected: Collected) -> str:
    """Name the models that are not quoted."""
    names = [name for name, fit in collected.fits.items() if not fit.converged]
    return f"Not converged, and not quoted here: {', '.join(names)}." if names else ""


def _contrasts(fit: Fit) -> Iterator[Rows]:
    by = ("contrast", "first", "less")
    for _, group in fit.contrasts.group_by(*by, maintain_order=True):
        overall = group.filter(by="").to_dicts()
        if overall:
            part = "template" if fit.spec.get("phenomena") else "category"
            yield overall[:1] + group.filter(by=part).to_dicts()


def _line(fit: Fit, found: list[Rows], kept: set[str]) -> str:
    """Quote contrasts overall, the furthest from 0 if there are many; of one its parts too.

    Args:
        fit: the model.
        found: its contrasts: overall, then the parts; the parts alone are quoted alone.
        kept: categories whose evidence is still there.
    """
    furthest = sorted(found, key=lambda rows: -abs(rows[0]["share"]))[:MOST]
    shown = [rows[0] for rows in (furthest if len(found) > MOST else found)]
    alone = [posterior.one_seed(fit, row) for row in shown]
    caveats = ["" if all(alone) or not single else posterior.ONE_SEED for single in alone]
    quoted = [
        (_compared(row), _number(row), _sure(row), caveat)
        for row, caveat in zip(shown, caveats, strict=True)
    ]
    parts = [row for row in found[0] if row["by"]] if len(found) == 1 else []
    aimed, rest = (
        [row for row in parts if (row["level"] in kept) == left] for left in (False, True)
    )
    reasons = [posterior.ONE_SEED] if all(alone) else []
    reasons += [] if posterior.quotable(fit) else ["intervals too narrow: see the model's check"]
    return say(
        "quoted", quoted, reasons, bare=shown[0] in parts, by=parts[0]["by"] if parts else "",
        clear=(sum(_sure(rows[0]) for rows in found), len(found)),
        aimed=_parts(aimed) if aimed else "", rest=_parts(rest) if rest else "",
    )  # fmt: skip


def _parts(rows: Rows) -> str:
    """List the parts of a contrast that are clear, with their numbers, then those that are not."""
    names = [posterior.place(row).removeprefix(f"{row['by']} ") for row in rows]
    sure = [f"{n} {_number(row)}" for n, row in zip(names, rows, strict=True) if _sure(row)]
    rest = [n for n, row in zip(names, rows, strict=True) if not _sure(row)]
    return ("; ".join(sure) or "none") + (f". Not clear: {', '.join(rest)}" if rest else "")


def _name(collected: Collected, fit: Fit, *, first: bool = False) -> str:
    """Return which model is quoted, unless it is the first, and of which suite and phenomena."""
    suites = collected.spec.suites
    model = [] if first else [f"Bayesian model {fit.name}"]
    on = [f"on {suite_of(fit.spec.get('suite'), suites)}"] if len(suites) > 1 else []
    of = [f"{listed(fit.spec['phenomena'])} alone"] if fit.spec.get("phenomena") else []
    return ", ".join(filter(None, [" ".join([*model, *on]), *of, "95% intervals"]))


def _levels(row: dict[str, Any]) -> tuple[str, str]:
    return row["first"], row["less"]


def _compared(row: dict[str, Any]) -> str:
    """Name the two levels of a contrast; a bias is compared with having none."""
    less = _less(row)
    return f"{row['first']} {'minus' if less == row['less'] else 'compared with'} {less}"


def _less(row: dict[str, Any]) -> str:
    """Name the level that is subtracted; of biases ``none`` is to have no bias."""
    return "no bias" if (row["factor"], row["less"]) == ("bias", "none") else row["less"]


def _number(row: dict[str, Any]) -> str:
    low, high = points(row["joint_low"]), points(row["joint_high"])
    return f"{points(row['share'])} points [{low}, {high}]"


def _sure(row: dict[str, Any]) -> bool:
    # Of the shares, which are what the lines quote: those of the log odds may differ.
    return posterior.found_sign(row) != "none"
