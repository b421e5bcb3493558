"""What the Bayesian models say to the questions of the report's opening."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import polars as pl

from poshgrid.config.models import suite_of
from poshgrid.report import posterior
from poshgrid.report.collect import Collected, Fit
from poshgrid.tables.words import counted, decimals, listed, points, signed
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
"""A contrast of a model: overall, then by category."""


def converged(collected: Collected) -> list[Fit]:
    """Return the models whose numbers may be quoted, those of some phenomena alone last."""
    found = [fit for fit in collected.fits.values() if fit.diagnostics.get("converged", False)]
    return sorted(found, key=lambda fit: bool(fit.spec.get("phenomena")))


def answer(collected: Collected, question: Question) -> str:
    """Return what the models' contrasts say to a question, a line a model; "" if nothing.

    The first model that has such contrasts is quoted in full, the others by what they say overall
    of its first contrast. What is said of a model whose check finds its intervals too narrow, or of
    a single seed, ends with a caveat. Controls of biases are no findings: they come after their
    biases, with what they leave of them.
    """
    lines: list[str] = []
    quoted: tuple[str, str] | None = None
    for fit in converged(collected):
        found = [rows for rows in _contrasts(fit) if asked(collected, rows[0]) == question]
        controls = [rows[0] for rows in found if bias.controls(rows[0]["less"], rows[0]["first"])]
        if question == "biases":
            found = [rows for rows in found if rows[0] not in controls and not _control(rows[0])]
        if quoted:
            found = [rows[:1] for rows in found if _levels(rows[0]) == quoted]
        if found:
            quoted = quoted or _levels(found[0][0])
            name = _name(collected, fit, first=not lines)
            lines.append(f"{_TITLES[question]} ({name}): {_line(fit, found)}")
            lines += _structure([rows[0] for rows in found], controls)
    return " ".join(lines)


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
        short = [_less(each) for each in (row, *own) if not (_sure(each) and each["share"] > 0)]
        if own:
            said = "; ".join(f"minus {each['less']} {_number(each)}" for each in own)
            verdict = (
                f"structure is not shown to help, for it is not clearly above {listed(short)}"
                if short
                else "structure helps"
            )
            beside = "controls" if len(own) > 1 else "control"
            yield f"Against its {beside}, {row['first']} {said}: {verdict}."


def asked(collected: Collected, row: dict[str, Any]) -> Question:
    """Return the question that a contrast answers."""
    if row["factor"] != "condition":
        return _FACTORS.get(row["factor"], "other")
    spec = collected.spec
    facts = {key.split("/")[0]: cell for key, cell in spec.cells.items()}
    filtered = {key.split("/")[0] for key, cell in spec.cells.items() if cell.filtered}
    filtered |= set(spec.full)
    levels = set(_levels(row))
    if not levels <= set(facts):
        return "other"
    if len({facts[level].source for level in levels}) > 1:
        return "register"
    return "filtering" if len(filtered & levels) == 1 else "other"


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
            found += [
                f"Log odds ({_name(collected, fit)}): {'; '.join(parts)}.",
                posterior.halves(main),
            ]
    return " ".join(filter(None, found))


def checks(collected: Collected) -> str:
    """Say how many cells the models leave outside their predictive intervals."""
    parts = []
    for fit in converged(collected):
        if numbers := posterior.checked(fit):
            cells, out = numbers
            narrow = ", too narrow" if posterior.too_narrow(fit) else ""
            parts.append(f"{out} of {counted(cells, 'cell')} (Bayesian model {fit.name}{narrow})")
    if not parts:
        return ""
    return f"Outside the models' 95% predictive intervals (5% expected): {', '.join(parts)}."


def unconverged(collected: Collected) -> str:
    """Name the models that are not quoted."""
    known = {fit.name for fit in converged(collected)}
    names = [name for name in collected.fits if name not in known]
    return f"Not converged, and not quoted here: {', '.join(names)}." if names else ""


def _contrasts(fit: Fit) -> Iterator[Rows]:
    by = ("contrast", "first", "less")
    for _, group in fit.contrasts.group_by(*by, maintain_order=True):
        overall = group.filter(pl.col("by") == "").to_dicts()
        if overall:
            yield overall[:1] + group.filter(pl.col("by") == "category").to_dicts()


def _line(fit: Fit, found: list[Rows]) -> str:
    """Quote contrasts overall, the furthest from 0 if there are many; of one the categories too."""
    furthest = sorted(found, key=lambda rows: -abs(rows[0]["share"]))[:MOST]
    shown = [rows[0] for rows in (furthest if len(found) > MOST else found)]
    alone = [posterior.one_seed(fit, row) for row in shown]
    text = "; ".join(
        f"{_compared(row)} {_number(row)}"
        + ("" if _sure(row) else ", not clear")
        + (f" ({posterior.ONE_SEED})" if single and not all(alone) else "")
        for row, single in zip(shown, alone, strict=True)
    )
    if len(shown) < len(found):
        sure = sum(_sure(rows[0]) for rows in found)
        text = f"clear in {sure} of {len(found)}; furthest from 0: {text}"
    elif len(found) == 1 and (parts := found[0][1:]):
        sure_parts = [f"{posterior.place(p)} {_number(p)}" for p in parts if _sure(p)]
        rest = [posterior.place(p) for p in parts if not _sure(p)]
        text += f". Clear by category: {'; '.join(sure_parts) or 'none'}"
        text += f". Not clear: {', '.join(rest)}" if rest else ""
    reasons = [posterior.ONE_SEED] if all(alone) else []
    reasons += ["intervals too narrow: see the model's check"] if posterior.too_narrow(fit) else []
    return text + (f" ({'; '.join(reasons)})." if reasons else ".")


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
