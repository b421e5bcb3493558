"""Which heuristic explains what models choose: a table of verdicts, and those behind it.

The numbers are :mod:`poshgrid.statistics.shares`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from poshgrid import files
from poshgrid.config.runs import PRETRAINED
from poshgrid.report.blocks import Block, Heading, Page, drawer
from poshgrid.report.layout import Layout
from poshgrid.report.texts import say
from poshgrid.rules.mixture import FEW, GUESSING
from poshgrid.rules.schema import DIFFER, IDENTIFIABILITY, MIXTURE, VERDICTS
from poshgrid.rules.table import EQUAL, hierarchical, rivals
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.statistics.shares import MOST, TOLERANCE
from poshgrid.tables.table import Column, Table, of_frame, text, texts
from poshgrid.tables.words import count, percent, span

TITLE, ORDER, AUDIENCE = "Which heuristic", 30, "reader"
LEAST = 0.1
"""Weight from which a heuristic is listed."""
TABLES = {"mixture": MIXTURE, "verdicts": VERDICTS, "identifiability": IDENTIFIABILITY}
Tables = dict[str, pl.DataFrame]  # those, of all suites or of one


@dataclass(frozen=True)
class Learner:
    """Runs that differ in nothing but the seed."""

    label: str  # its arm, in words
    axes: tuple[str, ...]


def blocks(page: Page) -> list[Block] | None:
    """Return, for each suite, the verdicts and the tables behind them; ``None``: nothing compared.

    Raises:
        PoshgridError: a file is broken.
    """
    folder = Path(page.paths.rule_shares(page.collected.spec.target))
    if not (folder / "verdicts.parquet").is_file():
        return None
    tables = {n: files.read_table(folder / f"{n}.parquet", s) for n, s in TABLES.items()}
    made: list[Block] = []
    for suite in page.collected.spec.suites:
        mine = {name: table.filter(suite=suite) for name, table in tables.items()}
        judged = learners(mine, page.layout)
        if not judged:
            continue
        largest = list({learner.label: learner for learner in judged}.values())
        made += [
            Heading(suite),
            page.table(verdicts(suite, mine, largest))
            or "No hierarchical heuristic has a say on these pairs.",
            *(
                drawer(title, page.shelf.table(table))
                for title, table in (
                    ("Weights of heuristics, all sizes", mixture(suite, mine, judged)),
                    ("Which heuristics the items tell apart", identifiability(suite, mine)),
                )
            ),
        ]  # fmt: skip
    return [*made, drawer("The heuristics", page.table(rules(tables)))] if made else None


def learners(tables: Tables, layout: Layout) -> list[Learner]:
    """Return the learners that were judged, in the order of arms and sizes, then given ones.

    Args:
        tables: of a suite.
        layout: order of the rows.
    """
    known = set(tables["verdicts"].select(RUN_AXES).unique().iter_rows())
    trained = [
        Learner(arm.label, axes)
        for arm in layout.arms
        for size in layout.sizes
        if (axes := layout.point(arm, size)) in known
    ]
    given = sorted(axes for axes in known if axes[0] == PRETRAINED)
    return trained + [Learner(axes[2], axes) for axes in given]


def rules(tables: Tables) -> Table:
    """List the heuristics that have a say: what each does, and whether it is hierarchical."""
    known = rivals()
    names = {name for group in tables["mixture"]["rule"].unique() for name in group.split(EQUAL)}
    rows = [
        [name, known[name].SAYS, "yes" if hierarchical(name) else None]
        for name in sorted(names & known.keys())
    ]
    return Table("rules", say("rules"), texts("Heuristic", "What it does", "Hierarchical"), rows)


def verdicts(suite: str, tables: Tables, judged: list[Learner]) -> Table:
    """Say which heuristic each learner follows, where a hierarchical one has a say.

    Args:
        suite: its name.
        tables: of the suite.
        judged: learners, one row each in a phenomenon.
    """
    names = tables["mixture"].select("phenomenon", "rule").unique().iter_rows()
    wanted = {place for place, group in names if any(map(hierarchical, group.split(EQUAL)))}
    shown = _ordered(tables["verdicts"], judged).filter(pl.col("phenomenon").is_in(wanted))
    detail = pl.format("{}: {}", "verdict", "seed_verdicts")
    shown = shown.with_columns(
        pl.when(verdict=DIFFER).then(detail).otherwise("verdict").alias("verdict"),
        pl.col("hierarchical").replace_strict({True: "yes", False: "no"}, default=None),
        _spans(shown, "shared_low", "shared_high").alias("shared"),
    )
    columns = {
        "phenomenon": text("Phenomenon"), "models": text("Models"), "size": text("Size"),
        "verdict": text("Verdict"), "hierarchical": text("Hierarchical"),
        "best": text("Best heuristic"), "explained": Column("Explains (%)", percent),
        "interval": text("95% interval"),
        "unexplained": Column("Unexplained (%)", percent), "shared": text("Shared, not listed"),
        "seeds": Column("Seeds", count),
    }  # fmt: skip
    caption = say("heuristics", MOST, TOLERANCE)
    return of_frame(f"rules-verdicts-{suite}", caption, shown, columns)


def mixture(suite: str, tables: Tables, judged: list[Learner]) -> Table:
    """Say which heuristics each learner's choices are a mixture of.

    Args:
        suite: its name.
        tables: of the suite.
        judged: its learners.
    """
    weight, guessing = pl.col("weight"), pl.col("rule") == GUESSING
    shown = _ordered(tables["mixture"].filter((weight > LEAST) | guessing), judged)
    columns = {
        "phenomenon": text("Phenomenon"), "models": text("Models"), "size": text("Size"),
        "rule": text("Heuristic"), "weight": Column("Weight (%)", percent),
        "interval": text("95% interval"), "least": Column("Lowest seed (%)", percent),
        "most": Column("Highest seed (%)", percent),
    }  # fmt: skip
    return of_frame(f"rules-mixture-{suite}", say("mixture", LEAST, FEW), shown, columns)


def _ordered(table: pl.DataFrame, judged: list[Learner]) -> pl.DataFrame:
    """Return a table's rows of learners, with what they are called and the interval in words."""
    points = [(*learner.axes, learner.label) for learner in judged]
    named = pl.DataFrame(points, schema=[*RUN_AXES, "models"], orient="row")
    rows = table.join(named.with_row_index("order"), on=RUN_AXES)
    rows = rows.sort("category", "phenomenon", "order", maintain_order=True)
    return rows.with_columns(_spans(rows, "low", "high").alias("interval"))


def _spans(rows: pl.DataFrame, *ends: str) -> pl.Series:
    """Return intervals in words."""
    intervals = [span(low, high, percent) for low, high in rows.select(ends).iter_rows()]
    return pl.Series(intervals, dtype=pl.String)


def identifiability(suite: str, tables: Tables) -> Table:
    """Say on how many lexical sets two heuristics disagree.

    Args:
        suite: its name.
        tables: of the suite.
    """
    most = pl.when(pl.col("apart") != pl.col("apart_most")).then("apart_most")
    order = ["phenomenon", "apart", "rule", "other"]
    shown = tables["identifiability"].sort(order).with_columns(most=most)
    columns = {
        "phenomenon": text("Phenomenon"), "rule": text("Heuristic"), "other": text("Other one"),
        "both": Column("Both say", count), "apart": Column("Disagree", count),
        "most": Column("At most", count),
    }  # fmt: skip
    flags = {i: "flag" for i, apart in enumerate(shown["apart"]) if apart < FEW}
    name = f"rules-identifiability-{suite}"
    return of_frame(name, say("identifiability", FEW), shown, columns, flags)
