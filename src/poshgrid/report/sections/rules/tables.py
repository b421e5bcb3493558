"""The tables of rules: which is followed, what each explains, and which the items tell apart."""

from __future__ import annotations

import polars as pl

from poshgrid.report.sections.rules.explained import Explained, Learner
from poshgrid.report.texts import say
from poshgrid.rules.mixture import FEW, GUESSING, LEAST, SURE
from poshgrid.rules.table import rivals
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, of_frame, text, texts
from poshgrid.tables.words import count, percent, probability, span


def rules(explained: Explained) -> Table:
    """List the rules that have a say: what each does, and whether it is hierarchical."""
    known = rivals()
    rows = [
        [name, known[name].SAYS, "yes" if getattr(known[name], "HIERARCHICAL", False) else None]
        for name in explained.shares["rule"].unique().sort()
        if name in known
    ]
    return Table("rules", say("rules"), texts("Rule", "What it does", "Hierarchical"), rows)


def mixture(suite: str, explained: Explained, learners: list[Learner]) -> Table:
    """Say which rules each learner's choices are a mixture of: those named, and guessing.

    Args:
        suite: its name.
        explained: of the suite.
        learners: its learners.
    """
    rows = [
        [phenomenon, learner.label, learner.size, row["rule"], row["weight"],
         span(row["low"], row["high"], percent), row["largest"],
         "named" if row["named"] else None, row["sets"]]
        for category, phenomenon in explained.phenomena()
        for learner in learners
        for row in explained.weights(learner, category, phenomenon)
        if row["named"] or row["rule"] == GUESSING or row["weight"] > LEAST
    ]  # fmt: skip
    columns = [
        *texts("Phenomenon", "Models", "Size", "Rule"), Column("Choices (%)", percent),
        text("95% interval"), Column("Largest", probability), text("Verdict"),
        Column("Sets", count),
    ]  # fmt: skip
    caption = say("mixture", percent(LEAST), percent(SURE), FEW)
    return Table(f"rules-mixture-{suite}", caption, columns, rows)


def shares(suite: str, explained: Explained, learners: list[Learner]) -> Table:
    """Say what share of the choices each rule explains, on all pairs and where rules disagree.

    Args:
        suite: its name.
        explained: of the suite.
        learners: its learners.
    """
    keys = [*RUN_AXES, "category", "phenomenon", "rule"]
    scopes = {
        scope: {tuple(r[k] for k in keys): r for r in part.iter_rows(named=True)}
        for (scope,), part in explained.shares.group_by("scope")
    }
    every, disputed = scopes.get("all", {}), scopes.get("disputed", {})
    rows = []
    for category, phenomenon in explained.phenomena():
        for learner in learners:
            start = (*learner.axes, category, phenomenon)
            for key in sorted(key for key in every if key[:-1] == start):
                row = [phenomenon, learner.label, learner.size, key[-1], every[key]["right"]]
                for r in (every[key], disputed.get(key)):
                    ends = r and span(r["low"], r["high"], percent)
                    row += [r["share"], ends, r["pairs"]] if r else [None] * 3
                rows.append(row)
    columns = [*texts("Phenomenon", "Models", "Size", "Rule"), Column("Rule right (%)", percent)]
    for where in ("", ", disputed"):
        columns += [
            Column(f"Choices (%){where}", percent), text(f"95% interval{where}"),
            Column(f"Pairs{where}", count),
        ]  # fmt: skip
    return Table(f"rules-shares-{suite}", say("shares"), columns, rows)


def identifiability(suite: str, explained: Explained) -> Table:
    """Say on how many lexical sets two rules disagree.

    Args:
        suite: its name.
        explained: of the suite.
    """
    most = pl.when(pl.col("apart") != pl.col("apart_most")).then("apart_most")
    order = ["phenomenon", "apart", "rule", "other"]
    shown = explained.identifiability.sort(order).with_columns(most=most)
    columns = {
        "phenomenon": text("Phenomenon"), "rule": text("Rule"), "other": text("Other rule"),
        "both": Column("Both say", count), "apart": Column("Disagree", count),
        "most": Column("At most", count),
    }  # fmt: skip
    flags = {i: "flag" for i, apart in enumerate(shown["apart"]) if apart < FEW}
    name = f"rules-identifiability-{suite}"
    return of_frame(name, say("identifiability", FEW), shown, columns, flags)
