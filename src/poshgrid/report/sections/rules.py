"""Which rule explains what models choose: words, a figure and tables for each suite.

The numbers are :mod:`poshgrid.statistics.shares`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

import polars as pl

from poshgrid import files
from poshgrid.config.runs import GIVEN, PRETRAINED
from poshgrid.report import style
from poshgrid.report.blocks import Block, Bullets, Heading, Page, drawer
from poshgrid.report.layout import Group, Layout, groups
from poshgrid.report.texts import say
from poshgrid.rules.mixture import FEW, GUESSING, LEAST, SURE
from poshgrid.rules.schema import IDENTIFIABILITY, MIXTURE, SHARES
from poshgrid.rules.table import rivals
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tables.table import Column, Table, of_frame, text, texts
from poshgrid.tables.words import count, percent, probability, span

TITLE, ORDER, AUDIENCE = "Which rule models follow", 30, "reader"
LEAST_DRAWN = 0.02
"""Weight from which a rule is drawn."""
MARKS: files.Schema = {
    "phenomenon": pl.String,
    "arm": pl.String,
    "series": pl.String,  # the rule, one of those that say the same; or guessing
    "same": pl.String,  # all of them; "" where it is alone
    "size": pl.String,
    "words": pl.UInt64,
    "weight": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}
"""The figure: one row per mark."""


@dataclass(frozen=True)
class Learner:
    """Runs that differ in nothing but the seed."""

    label: str  # its arm, in words
    axes: tuple[str, ...]

    @property
    def size(self) -> str:
        """Of what it was trained on."""
        return self.axes[1]

    @property
    def name(self) -> str:
        """The learner in words."""
        return self.label if self.size == GIVEN else f"{self.label} at {self.size}"


@dataclass(frozen=True)
class Explained:
    """The three tables, of all suites or of one."""

    shares: pl.DataFrame  # SHARES
    mixture: pl.DataFrame  # MIXTURE
    identifiability: pl.DataFrame  # IDENTIFIABILITY

    def of(self, suite: str) -> Explained:
        """Return what is of a suite."""
        tables = (self.shares, self.mixture, self.identifiability)
        return Explained(*(table.filter(suite=suite) for table in tables))

    def phenomena(self, *, hierarchical: bool = False) -> list[tuple[str, str]]:
        """Return category and phenomenon, as sorted.

        Args:
            hierarchical: those alone that a hierarchical rule has a say in.
        """
        rows = self.mixture.select("category", "phenomenon", "rule").unique().iter_rows()
        return sorted({(c, p) for c, p, rule in rows if not hierarchical or stands(rule)})

    def weights(self, learner: Learner, category: str, phenomenon: str) -> list[dict[str, Any]]:
        """Return a learner's rows of ``MIXTURE``, the largest weight first, guessing last."""
        point = dict(zip(RUN_AXES, learner.axes, strict=True))
        rows = self.mixture.filter(category=category, phenomenon=phenomenon, **point).to_dicts()
        return sorted(rows, key=lambda r: (r["rule"] == GUESSING, -r["weight"], r["rule"]))


@cache
def _hierarchical() -> frozenset[str]:
    return frozenset(n for n, rule in rivals().items() if getattr(rule, "HIERARCHICAL", False))


def stands(rule: str) -> bool:
    """Say whether a rule, or one of equal ones, stands for the hierarchical hypothesis."""
    return not _hierarchical().isdisjoint(rule.split(" = "))


def blocks(page: Page) -> list[Block] | None:
    """Return, for each suite, sentences, figures and tables; ``None``: no rule was compared.

    Raises:
        PoshgridError: a file is broken.
    """
    folder = Path(page.paths.rule_shares(page.collected.spec.target))
    schemas = {"shares": SHARES, "mixture": MIXTURE, "identifiability": IDENTIFIABILITY}
    if not (folder / "shares.parquet").is_file():
        return None
    tables = (files.read_table(folder / f"{n}.parquet", s) for n, s in schemas.items())
    explained = Explained(*tables)
    made: list[Block] = []
    for suite in page.collected.spec.suites:
        mine = explained.of(suite)
        judged = learners(mine, page.layout)
        if not judged:
            continue
        said = list(sentences(mine, judged))
        made += [
            Heading(suite),
            Bullets(said) if said else "No hierarchical rule has a say on these pairs.",
            *(
                page.picture(
                    "-".join(filter(None, ("rules", suite, group.condition))),
                    say("rule_figure", LEAST_DRAWN), draw, marks(mine, page.layout, group),
                )
                for group in groups(page.layout)
            ),
            *(
                drawer(title, page.shelf.table(table))
                for title, table in (
                    ("Rules by phenomenon and models", mixture(suite, mine, judged)),
                    ("What each rule explains", shares(suite, mine, judged)),
                    ("Which rules the items tell apart", identifiability(suite, mine)),
                )
            ),
        ]  # fmt: skip
    return [*made, drawer("The rules", page.table(rules(explained)))] if made else None


def learners(explained: Explained, layout: Layout) -> list[Learner]:
    """Return the learners that were judged, in the order of arms and sizes, then given ones.

    Args:
        explained: of a suite.
        layout: order of the rows.
    """
    known = set(explained.mixture.select(RUN_AXES).unique().iter_rows())
    trained = [
        Learner(arm.label, axes)
        for arm in layout.arms
        for size in layout.sizes
        if (axes := layout.point(arm, size)) in known
    ]
    given = sorted(axes for axes in known if axes[0] == PRETRAINED)
    return trained + [Learner(axes[2], axes) for axes in given]


def sentences(explained: Explained, judged: list[Learner]) -> Iterator[str]:
    """Say which rule each learner follows at its largest size, phenomenon by phenomenon.

    Args:
        explained: of a suite.
        judged: its learners, in the order of sizes.
    """
    largest = list({learner.label: learner for learner in judged}.values())
    for category, phenomenon in explained.phenomena(hierarchical=True):
        verdicts: dict[str, list[str]] = {}
        for learner in largest:
            if rows := explained.weights(learner, category, phenomenon):
                named = [row for row in rows if row["named"]]
                hierarchical = len(named) == 1 and stands(named[0]["rule"])
                verdict = say("verdict", named, hierarchical, GUESSING, LEAST)
                verdicts.setdefault(verdict, []).append(learner.name)
        if verdicts:
            yield say("rules_followed", phenomenon, verdicts)


# ---- tables --------------------------------------------------------------------------------------


def rules(explained: Explained) -> Table:
    """List the rules that have a say: what each does, and whether it is hierarchical."""
    known = rivals()
    rows = [
        [name, known[name].SAYS, "yes" if stands(name) else None]
        for name in explained.shares["rule"].unique().sort()
        if name in known
    ]
    return Table("rules", say("rules"), texts("Rule", "What it does", "Hierarchical"), rows)


def mixture(suite: str, explained: Explained, judged: list[Learner]) -> Table:
    """Say which rules each learner's choices are a mixture of: those named, and guessing.

    Args:
        suite: its name.
        explained: of the suite.
        judged: its learners.
    """
    rows = [
        [phenomenon, learner.label, learner.size, row["rule"], row["weight"],
         span(row["low"], row["high"], percent), row["largest"],
         "named" if row["named"] else None, row["sets"]]
        for category, phenomenon in explained.phenomena()
        for learner in judged
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


def shares(suite: str, explained: Explained, judged: list[Learner]) -> Table:
    """Say what share of the choices each rule explains, on all pairs and where rules disagree.

    Args:
        suite: its name.
        explained: of the suite.
        judged: its learners.
    """
    points = [(*learner.axes, learner.label) for learner in judged]
    named = pl.DataFrame(points, schema=[*RUN_AXES, "models"], orient="row")
    named = named.with_row_index("order")
    by = [*RUN_AXES, "category", "phenomenon", "rule"]
    every, disputed = (explained.shares.filter(scope=scope) for scope in ("all", "disputed"))
    shown = (
        every.join(disputed, on=by, how="left", suffix="_disputed")
        .join(named, on=RUN_AXES)
        .sort("category", "phenomenon", "order", "rule")
    )
    columns = {
        "phenomenon": text("Phenomenon"), "models": text("Models"), "size": text("Size"),
        "rule": text("Rule"), "right": Column("Rule right (%)", percent),
    }  # fmt: skip
    for end, where in (("", ""), ("_disputed", ", disputed")):
        ends = shown.select(f"low{end}", f"high{end}").iter_rows()
        interval = [span(low, high, percent) for low, high in ends]
        shown = shown.with_columns(pl.Series(f"interval{end}", interval, pl.String))
        columns |= {
            f"share{end}": Column(f"Choices (%){where}", percent),
            f"interval{end}": text(f"95% interval{where}"),
            f"pairs{end}": Column(f"Pairs{where}", count),
        }
    return of_frame(f"rules-shares-{suite}", say("shares"), shown, columns)


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


# ---- figure --------------------------------------------------------------------------------------


def marks(explained: Explained, layout: Layout, group: Group) -> pl.DataFrame:
    """Return the rows of a figure: phenomena in which a hierarchical rule has a say.

    Args:
        explained: of a suite.
        layout: order of sizes.
        group: whose choices.
    """
    rows = []
    places = [(name, arm, size) for name, arm in group.arms for size in layout.sizes]
    points = [(place, axes) for place in places if (axes := layout.point(*place[1:]))]
    for category, phenomenon in explained.phenomena(hierarchical=True):
        for (name, arm, size), axes in points:
            for row in explained.weights(Learner(name, axes), category, phenomenon):
                equal = row["rule"].split(" = ")
                rows.append({
                    "phenomenon": phenomenon, "arm": name, "size": size,
                    "series": min(equal, key=lambda rule: not stands(rule)),
                    "same": row["rule"] if len(equal) > 1 else "",
                    "words": layout.read(arm.condition, size),
                    **{key: row[key] for key in ("weight", "low", "high")},
                })  # fmt: skip
    frame = pl.DataFrame(rows, schema=MARKS)
    # Rules that explain nothing anywhere would only fill the legend
    largest = frame.group_by("series").agg(pl.col("weight").max())
    seen = largest.filter(pl.col("weight") > LEAST_DRAWN)["series"]
    return frame.filter(pl.col("series").is_in([*seen, GUESSING]))


def draw(marks: pl.DataFrame) -> style.Figure:
    """Draw the weight of each rule: a panel for each phenomenon, a row for each arm and size.

    Args:
        marks: :data:`MARKS`.

    Returns:
        Bars are 95% intervals; one that is not known has no width.
    """
    weight = pl.col("weight")
    ends = (pl.col(end).fill_null(weight) for end in ("low", "high"))
    shown = marks.with_columns(*ends).filter(weight >= LEAST_DRAWN)
    shown = shown.with_columns(pl.col("weight", "low", "high") * 100)
    phenomena = marks["phenomenon"].unique(maintain_order=True).to_list()
    rows = list(marks.select("arm", "size").unique(maintain_order=True).iter_rows())
    series = sorted(set(marks["series"]) - {GUESSING})
    looks = {name: style.series(i)[:2] for i, name in enumerate(series)}
    looks[GUESSING] = (style.MUTED.light, "|")
    height = 0.7 + 0.15 * len(rows)
    figure, flat, _ = style.panels(len(phenomena), 3, (0.75, height), sharey=True)
    for axes, phenomenon in zip(flat, phenomena, strict=True):
        panel = shown.filter(phenomenon=phenomenon)
        for name, (colour, marker) in reversed(looks.items()):  # others are drawn over guessing
            mine = panel.filter(series=name)
            y = [rows.index(row) for row in mine.select("arm", "size").iter_rows()]
            if name != GUESSING:
                axes.hlines(y, mine["low"], mine["high"], color=colour, alpha=0.45, linewidth=2.5)
            axes.plot(mine["weight"], y, color=colour, linestyle="", marker=marker)
        axes.set_title(phenomenon, fontsize=8)
        # Which rules are one mark
        same = [set(name.split(" = ")) for name in sorted(set(panel["same"]) - {""})]
        most = [" = ".join(sorted(one)) for one in same if not any(one < other for other in same)]
        below = "\n".join(fill(one, 40) for one in most)
        axes.set_xlabel(below, fontsize=6.5, color=style.MUTED.light, loc="left")
        axes.set_xlim(-4, 104)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks(range(len(rows)), [f"{arm}, {size}" for arm, size in rows], fontsize=7)
    style.legend(figure, [
        style.handle(name, color=colour, marker=marker, linestyle="")
        for name, (colour, marker) in looks.items()
    ])  # fmt: skip
    return figure
