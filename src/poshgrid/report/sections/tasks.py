"""Suites of other tasks than minimal pairs: filler x gap, and a battery of language tests.

The figure of filler x gap is Figure 1 of Pistotti, Brown & Witbrock (2025): for each data set, the
share of sets with a positive delta after a filler, and that with a positive difference in
differences. The figure of tests is Figure 1 of Capone, Suozzi, Lebani and Lenci (2024): the
accuracy on every test, and that of guessing. Both have 95% intervals.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from poshgrid.config.runs import BASELINE_RECIPES
from poshgrid.core.writing import percent, span
from poshgrid.report import figures
from poshgrid.report.accuracies import BASELINE_NAMES
from poshgrid.report.collect import Collected
from poshgrid.report.layout import model_names
from poshgrid.report.parts import Page
from poshgrid.report.texts import say
from poshgrid.statistics import intervals
from poshgrid.statistics.measures import choices, norms
from poshgrid.statistics.schema import RUN_AXES

TITLE, ORDER, AUDIENCE = "Paradigms, choices, completions", 125, "reader"
CRITERIA = {
    "delta_plus_filler": "A gap is expected after a filler (delta > 0)",
    "did": "More so than without a filler (DiD > 0)",
}
"""Measure of filler x gap -> its criterion: when a set counts."""
SHORT = {"delta_plus_filler": "delta > 0", "did": "DiD > 0"}


def write(page: Page) -> dict[str, Any] | None:
    """Write the figures and tables; None if all suites are minimal pairs."""
    collected = page.collected
    if not collected.measures:
        return None
    gaps, rows = shares(collected), tests(collected)
    if not gaps.is_empty():
        draw = partial(figures.rows, label="Sets (%)", percent=True, columns=2)
        page.picture("filler-gap", draw, marks(gaps, "criterion", "sets"), say("filler_gap"))
        sets = gaps.sort("suite", "phenomenon", "sets", maintain_order=True)
        page.table("filler-gap", sets.drop("criterion", "chance"), caption=say("filler_gap_table"))
    if not rows.is_empty():
        draw = partial(figures.rows, label="Items right (%)", percent=True, columns=4)
        page.picture("tests", draw, marks(rows, "suite", "series"), say("language_tests"))
        page.table("tests", rows.sort("suite", maintain_order=True))
        page.table("tests-by-category", tests(collected, "phenomenon"))
    for crossed in (False, True) if collected.tags else ():
        tags = tagged(pl.concat(collected.tags.values()), crossed=crossed)
        page.table("tags-crossed" if crossed else "tags", tags, crossed)
    for kind, frame in normed(collected).items():
        page.table(kind, frame)
    for suite, frame in collected.answers.items():
        page.table("answers", answers(frame), suite, of=suite)
    return {"counts": above(gaps), "answered": list(collected.answers)}


def marks(rows: pl.DataFrame, panel: str, row: str) -> pl.DataFrame:
    """Return the data of a figure of shares (:data:`poshgrid.report.figures.ROWS`).

    Args:
        rows: accuracy, low, high, chance (shares), series, baseline, ``panel`` and ``row``.
        panel: the column that names a mark's panel.
        row: the column that names its row.
    """
    share = pl.col("accuracy", "low", "high", "chance") * 100
    series = ["series"] if row != "series" else []
    return rows.with_columns(share).select(
        *series, "low", "high", panel=panel, row=row, value="accuracy",
        filled=~pl.col("baseline"), reference="chance",
    )  # fmt: skip


# ---- filler x gap --------------------------------------------------------------------------------


def shares(collected: Collected) -> pl.DataFrame:
    """Return a row for each criterion, data set and run of suites of filler x gap.

    A suite in which some sets are ambiguous is two data sets, with and without these sets.

    Returns:
        Columns of ``PARADIGM_MEASURES``, ``sets`` (name of the data set), ``series`` (name of the
        model), ``baseline``, ``criterion``, and ``chance``.
    """
    frames = [frame for suite, frame in collected.measures.items()
              if collected.spec.measured[suite] == "paradigms"]  # fmt: skip
    if not frames:
        return pl.DataFrame()
    measures = pl.concat(frames)
    of = (*RUN_AXES, "seed", "suite", "phenomenon", "measure")
    # The unambiguous sets are a data set only if they are fewer than all sets
    clear = (pl.col("subset") == "unambiguous") & (pl.col("n") < pl.col("n").max().over(of))
    everything = pl.col("subset") == "all"
    runs = measures.filter(everything | clear, pl.col("measure").is_in(list(CRITERIA)))
    alone = pl.col("phenomenon").n_unique().over("suite") == 1
    name = pl.when(alone).then("suite").otherwise(pl.format("{}: {}", "suite", "phenomenon"))
    rank = pl.col("measure").cast(pl.Enum(list(CRITERIA)))
    ordered = runs.with_columns(
        model_names(runs).alias("series"),
        pl.col("seed").replace(0, None),
        sets=pl.when(everything).then(name).otherwise(pl.format("{}, unambiguous", name)),
        baseline=pl.col("recipe").is_in(BASELINE_RECIPES),
        chance=pl.lit(0.5),
    ).sort(rank, "baseline", "series", "seed", maintain_order=True)
    return ordered.with_columns(
        pl.when("baseline").then(pl.col("series").replace(BASELINE_NAMES)).otherwise("series"),
        criterion=pl.col("measure").replace(CRITERIA), measure=pl.col("measure").replace(SHORT),
    )  # fmt: skip


def above(rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Count the runs whose difference in differences is above every baseline's, by data set.

    Args:
        rows: from :func:`shares`.

    Returns:
        Data set, number of runs that are clearly above, number of runs; empty without baselines.
    """
    if rows.is_empty():
        return []
    did = rows.filter(measure=SHORT["did"])
    rivals = did.filter("baseline").group_by("sets").agg(rival=pl.col("accuracy").max())
    runs = did.filter(~pl.col("baseline")).join(rivals, on="sets", maintain_order="left")
    clear = (pl.col("low") > pl.col("rival")).sum()
    return runs.group_by("sets", maintain_order=True).agg(clear, runs=pl.len()).rows()


# ---- tests of language ---------------------------------------------------------------------------


def tests(collected: Collected, level: str = "suite") -> pl.DataFrame:
    """Return a row for each suite and model; the number of right items is a mean over seeds.

    Args:
        collected: the results.
        level: ``suite``, or ``phenomenon`` for a row for each phenomenon of suites with several.
    """
    frames = [frame.filter(level=level) for suite, frame in collected.measures.items()
              if collected.spec.measured[suite] != "paradigms"]  # fmt: skip
    if level != "suite":
        frames = [frame for frame in frames if frame["phenomenon"].n_unique() > 1]
    if not frames:
        return pl.DataFrame()
    by = ["suite", "category", "phenomenon", *RUN_AXES]
    means = pl.concat(frames).group_by(by, maintain_order=True).agg(
        pl.first("n", "chance", "blocks"),
        pl.col("raw", "blocks_passed", "people_rho").mean(),
    )  # fmt: skip
    ends = [intervals.wilson(raw, n) for raw, n in means.select("raw", "n").iter_rows()]
    blocks = means.select("blocks_passed", "blocks").iter_rows()
    passed = [f"{number:.4g}/{of}" if of else None for number, of in blocks]
    rows = means.with_columns(
        model_names(means).alias("series"),
        pl.Series("low", [low for low, _ in ends], pl.Float64),
        pl.Series("high", [high for _, high in ends], pl.Float64),
        pl.Series("passed", passed, pl.String),
        accuracy=pl.col("raw") / pl.col("n"), baseline=pl.col("recipe").is_in(BASELINE_RECIPES),
    )  # fmt: skip
    return _in_words(rows).sort("baseline", "series", maintain_order=True)


def _in_words(rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``right`` (``12/40``) and ``interval`` to columns raw, n, low and high."""
    ends = [span(low, high, percent) for low, high in rows.select("low", "high").iter_rows()]
    right = [f"{raw:.4g}/{n}" for raw, n in rows.select("raw", "n").iter_rows()]
    return rows.with_columns(
        pl.Series("right", right, pl.String), pl.Series("interval", ends, pl.String)
    )


def tagged(tags: pl.DataFrame, *, crossed: bool = False) -> pl.DataFrame:
    """Return results on subsets of items, over all suites and without baselines.

    Args:
        tags: columns of ``TAGS``.
        crossed: whether to return a row for each model and pair of tags, instead of each model and
            tag.
    """
    rows = choices.pooled(tags.filter(~pl.col("recipe").is_in(BASELINE_RECIPES)))
    rows = rows.filter((pl.col("other") != "") == crossed)
    rest = [f"{raw:.4g}/{n}" for raw, n in rows.select("raw_rest", "n_rest").iter_rows()]
    names = model_names(rows, seeds=True).alias("series")
    other = pl.col("other").replace("", None)
    return _in_words(rows).with_columns(names, pl.Series("rest", rest, pl.String), other)


def normed(collected: Collected) -> dict[str, pl.DataFrame]:
    """Return the tables that compare scores with norms: name -> rows, without baselines."""
    if not collected.norms:
        return {}
    rows = pl.concat(collected.norms.values()).filter(~pl.col("recipe").is_in(BASELINE_RECIPES))
    ends = rows.select("typical_from", "typical_to").iter_rows()
    reached = [span(first, last, lambda month: norms.age(int(month))) for first, last in ends]
    rows = rows.with_columns(
        model_names(rows, seeds=True).alias("series"),
        pl.Series("typical", reached, pl.String),
        age=pl.col("age_equivalent").replace("", None),
        ages=pl.format("{}–{}", "age_from", "age_to"),
    )
    of = ["suite", "category", "score", "series", "excluded_right"]
    near = pl.col("z").abs() <= 1 + norms.SLACK
    within = pl.when(near).then(pl.lit("yes")).otherwise(pl.lit("no"))
    return {
        "norms": rows.unique(of, keep="first", maintain_order=True),
        "norms-by-age": rows.drop_nulls("z").with_columns(typical=within),
    }


def answers(rows: pl.DataFrame) -> pl.DataFrame:
    """Return wrong answers, then right ones, sorted by the number of models that gave them.

    Args:
        rows: columns of ``ANSWERS``.
    """
    names = ["item_id", "category", "phenomenon", "answer", "correct", "right"]
    counted = rows.group_by(names).agg(models=pl.len())
    order = ["correct", "models", "item_id", "answer"]
    return counted.sort(order, descending=[False, True, False, False]).with_columns(
        correct=pl.when("correct").then(pl.lit("yes")).otherwise(pl.lit("no"))
    )
