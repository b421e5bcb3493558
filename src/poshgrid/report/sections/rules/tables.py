"""The tables of rules: which is followed, what each explains, and which the items tell apart."""

from __future__ import annotations

from typing import Any

import polars as pl

from poshgrid.report.sections.rules.explained import Explained, Learner
from poshgrid.rules.mixture import FEW, GUESSING, LEAST, SURE
from poshgrid.rules.table import rivals
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import count, percent, probability


def _interval(row: dict[str, Any]) -> str | None:
    if row["low"] is None:
        return None
    return f"{percent(row['low'])}–{percent(row['high'])}"


def rules(found: Explained) -> Table:
    """List the rules that have a say: what each does, and whether it is hierarchical."""
    known = rivals()
    there = [name for name in found.shares["rule"].unique().sort() if name in known]
    rows = [
        [name, known[name].SAYS, "yes" if getattr(known[name], "HIERARCHICAL", False) else None]
        for name in there
    ]
    return Table(
        "rules",
        "The rules that have a say on some pair. None of them knows which member is grammatical.",
        [text("Rule"), text("What it does"), text("Hierarchical")],
        rows,
    )


def mixture(suite: str, found: Explained, there: list[Learner]) -> Table:
    """Say which rules each learner's choices are a mixture of: those named, and guessing.

    Args:
        suite: its name.
        found: of the suite.
        there: its learners.
    """
    rows: list[list[Any]] = []
    for category, phenomenon in found.phenomena():
        for each in there:
            for row in found.weights(each, category, phenomenon):
                if not row["named"] and row["rule"] != GUESSING and row["weight"] <= LEAST:
                    continue
                rows.append([
                    phenomenon, each.label, each.size, row["rule"], row["weight"], _interval(row),
                    row["largest"], "named" if row["named"] else None, row["sets"],
                ])  # fmt: skip
    columns = [
        text("Phenomenon"), text("Models"), text("Size"), text("Rule"),
        Column("Choices (%)", percent), text("95% interval"), Column("Largest", probability),
        text("Verdict"), Column("Sets", count),
    ]  # fmt: skip
    caption = (
        "Which rules the choices follow: a mixture, whose rest is guessing. Largest: share of "
        "bootstrap replicates in which the rule has the largest weight (of guessing: in which no "
        f"rule has more than {percent(LEAST)}%). Named: as few rules as have the largest weight in "
        f"{percent(SURE)}% of the replicates together, and those that fewer than {FEW} sets tell "
        f"apart from one of these. Rules of at most {percent(LEAST)}% that are not named are left "
        "out."
    )
    return Table(f"rules-mixture-{suite}", caption, columns, rows)


def shares(suite: str, found: Explained, there: list[Learner]) -> Table:
    """Say what share of the choices each rule explains, on all pairs and where rules disagree.

    Args:
        suite: its name.
        found: of the suite.
        there: its learners.
    """
    keys = [*RUN_AXES, "category", "phenomenon", "rule"]
    by_scope = {
        scope: {tuple(r[k] for k in keys): r for r in part.iter_rows(named=True)}
        for (scope,), part in found.shares.group_by("scope")
    }
    every = by_scope.get("all", {})
    rows: list[list[Any]] = []
    for category, phenomenon in found.phenomena():
        for each in there:
            mine = sorted(k for k in every if k[:7] == (*each.axes, category, phenomenon))
            for key in mine:
                whole, part = every[key], by_scope.get("disputed", {}).get(key)
                row = [phenomenon, each.label, each.size, key[-1], whole["right"]]
                for r in (whole, part):
                    row += [r["share"], _interval(r), r["pairs"]] if r else [None] * 3
                rows.append(row)
    numbers = [Column("Choices (%)", percent), text("95% interval"), Column("Pairs", count)]
    where = [Column(f"{c.title}, disputed", c.show, c.text) for c in numbers]
    caption = (
        "Share of choices that agree with a rule: on all pairs that it applies to, and on those "
        "where another rule says the opposite (disputed). Intervals over lexical sets. Rule right: "
        "share of all these pairs whose good member the rule itself prefers."
    )
    return Table(
        f"rules-shares-{suite}",
        caption,
        [text("Phenomenon"), text("Models"), text("Size"), text("Rule"),
         Column("Rule right (%)", percent), *numbers, *where],
        rows,
    )  # fmt: skip


def identifiability(suite: str, found: Explained) -> Table:
    """Say on how many lexical sets two rules disagree.

    Args:
        suite: its name.
        found: of the suite.
    """
    rows: list[list[Any]] = []
    flags = {}
    order = ["phenomenon", pl.col("apart"), "rule", "other"]
    for row in found.identifiability.sort(order).iter_rows(named=True):
        if row["apart"] < FEW:
            flags[len(rows)] = "flag"
        most = None if row["apart"] == row["apart_most"] else row["apart_most"]
        rows.append([
            row["phenomenon"], row["rule"], row["other"], row["both"], row["apart"], most,
        ])  # fmt: skip
    caption = (
        "Lexical sets on which both rules have a say, and on which they disagree; of the cell with "
        "the fewest, and the most where cells differ. Marked: fewer than "
        f"{FEW}, which hardly tells the two apart."
    )
    columns = [
        text("Phenomenon"), text("Rule"), text("Other rule"), Column("Both say", count),
        Column("Disagree", count), Column("At most", count),
    ]  # fmt: skip
    return Table(f"rules-identifiability-{suite}", caption, columns, rows, flags)
