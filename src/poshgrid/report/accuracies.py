"""Accuracies with their baselines: frames for figures, and wide tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from poshgrid.config.runs import BASELINES, UNTRAINED
from poshgrid.core.table import Column, Table
from poshgrid.core.writing import NOT_RUN
from poshgrid.report.collect import Collected
from poshgrid.report.layout import Layout, title
from poshgrid.report.texts import say
from poshgrid.statistics.schema import RUN_AXES, YES

BASELINE_NAMES = {baseline: baseline for baseline in BASELINES} | {
    "ngram": "n-gram",
    "class_ngram": "class n-gram",
}
"""Baseline -> its name on the page."""
GROUP = "Baselines"
"""Heading of the rows (or columns) of the baselines."""
MARKS = {"far": "‡", "turns": "§", "above": "✓"}
"""Far: a baseline is far from 50%. Turns: judging by sums instead of means over tokens (or the
other way round) would change the accuracy by more than ``TURN``. Above: above every rival."""
TURN = 0.05  # share

Place = tuple[str, str, str, str, str]
"""The part of a suite that an accuracy is about: suite, level, category, phenomenon, part."""
PLACE = ("suite", "level", "category", "phenomenon", "part")


def drawn(
    collected: Collected, layout: Layout, marks: Iterable[tuple[str, str, str, str, Place]]
) -> pl.DataFrame:
    """Return the data of a figure of accuracies by words (:func:`poshgrid.report.figures.lines`).

    Args:
        collected: all results.
        layout: order of sizes.
        marks: facet, panel, series, models and place: each is drawn as one line, with a mark for
            each size.
    """
    heads = ("facet", "panel", "series", "models", *PLACE)
    rows = [(*names, *where) for *names, where in marks]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(heads, pl.String), orient="row")
    points = layout.points.select("models", *RUN_AXES, pl.col("words").cast(pl.Float64))
    judged = collected.accuracy.drop("words")
    return (
        frame.join(points, on="models", maintain_order="left_right")
        .join(judged, on=[*RUN_AXES, *PLACE], how="left", maintain_order="left")
        .select("suite", "category", "facet", "panel", "series", "size", "words", "mean", "sd",
                "low", "high", "n_seeds", "n_pairs", *BASELINES)
    )  # fmt: skip


def cells(
    collected: Collected,
    layout: Layout,
    places: Sequence[tuple[str, str, Place]],
    *,
    baselines: bool,
) -> pl.DataFrame:
    """Return the accuracies of all models at all places; a model that was not run has no mean.

    Args:
        collected: all results.
        layout: order of models.
        places: group, title and place of each row.
        baselines: whether to add rows of the baselines. Such a row is a mean over the rows of the
            models. A baseline model counts once, even if arms that differ in bias or recipe have
            the same baseline.

    Returns:
        ``group``, ``title``, ``size``, ``models``, :data:`PLACE`, and columns of ``ACCURACY``; in
        rows of baselines, also ``least``, ``most`` and ``n_cells``.
    """
    rows = [(group, name, *where) for group, name, where in places]
    named = pl.DataFrame(
        rows, schema=dict.fromkeys(("group", "title", *PLACE), pl.String), orient="row"
    )
    models = named.join(layout.points.select("models", *RUN_AXES), how="cross").join(
        collected.accuracy.drop("words"), on=[*RUN_AXES, *PLACE], how="left", maintain_order="left"
    )
    trained = collected.trained
    asked = {UNTRAINED if t.run.recipe == UNTRAINED else t.run.model for t in trained}
    known = {n for n in BASELINES if collected.accuracy[n].null_count() < collected.accuracy.height}
    frames = [models]
    for baseline in BASELINES if baselines else ():
        if baseline in asked | known:
            # Models of counts depend on condition and size only; untrained ones on the model, too
            axes = RUN_AXES[: 3 if baseline == UNTRAINED else 2]
            once = models.drop_nulls(baseline).unique([*named.columns, *axes], maintain_order=True)
            of_baselines = pl.col("far").str.split(", ").list.contains(baseline).any()
            means = once.group_by(named.columns, maintain_order=True).agg(
                # A sum in fixed order: its last digit does not depend on the number of cells
                mean=pl.col(baseline).cum_sum().last() / pl.len(), n_cells=pl.len(),
                least=pl.min(baseline), most=pl.max(baseline),
                far=pl.when(of_baselines).then(pl.lit(baseline)).otherwise(pl.lit("")),
            )  # fmt: skip
            all_places = named.join(means, on=named.columns, how="left", maintain_order="left")
            row = {"size": pl.lit(GROUP), "models": pl.lit(BASELINE_NAMES[baseline])}
            frames.append(all_places.with_columns(**row))
    own = {"least": pl.Float64, "most": pl.Float64, "n_cells": pl.UInt32}
    both = pl.concat([*frames, pl.DataFrame(schema=own)], how="diagonal_relaxed")
    # 1e-9: rounding errors must not make a change of 5 points more than 5 points
    turns = (pl.col("mean_sum") - pl.col("mean_mean")).abs() > TURN + 1e-9
    holds = {"far": pl.col("far") != "", "turns": turns,
             "above": pl.col("learned") == YES}  # fmt: skip
    marks = [pl.when(holds[kind]).then(pl.lit(mark)).otherwise(pl.lit(""))
             for kind, mark in MARKS.items()]  # fmt: skip
    return both.with_columns(
        pl.col("stars_pooled", "stars_fisher_holm", "far").fill_null(""),
        pl.col("rival").replace(BASELINE_NAMES), marks=pl.concat_str(marks),
    )  # fmt: skip


def wide(
    name: str, caption: str, frame: pl.DataFrame, places: tuple[str, str] | None = None
) -> Table:
    """Return a table of cells with a row for each place and a column for each model, or vice versa.

    Args:
        name: of the table on the page.
        caption: its macro in ``texts.txt``.
        frame: :func:`cells`.
        places: heads of the two columns that name a place; None: a row for each model.
    """
    heads = places or ("Size", "Condition")
    down, across = ("group", "title"), ("size", "models")
    if places is None:
        down, across = across, down
    rows: dict[tuple[str, str], dict[tuple[str, str], Any]] = {}
    for cell in frame.iter_rows(named=True):
        shown = NOT_RUN if cell["mean"] is None else cell
        rows.setdefault((cell[down[0]], cell[down[1]]), {})[cell[across[0]], cell[across[1]]] = (
            shown
        )
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    marks = frame["marks"].str.join("").item() if frame.height else ""
    words = say("marks", marks, MARKS, TURN, baselines=GROUP in set(frame["size"]),
                stars=(frame["stars_pooled"] != "").any())  # fmt: skip
    titles = [Column(head, text=True) for head in heads]
    titles += [Column(title, group=group, graded=True) for group, title in columns]
    body = [[*names, *(row.get(key, NOT_RUN) for key in columns)] for names, row in rows.items()]
    values = frame.drop("mean").insert_column(0, frame["mean"])
    return Table(name, f"{say(caption)} {words}".strip(), titles, body, grouped=True, values=values)


def of_level(layout: Layout, suite: str, level: str) -> list[tuple[str, str, Place]]:
    """Return the categories or phenomena of a suite as places, and the mean of all at the end."""
    if level == "category":
        places = [("", title(c), (suite, level, c, "", "")) for c in layout.categories(suite)]
        return [*places, ("", title("overall"), (suite, "overall", "", "", ""))]
    places = [(title(c), p, (suite, level, c, p, "")) for c, p in layout.phenomena[suite]]
    return [*places, ("", title("average"), (suite, "average", "", "", ""))]
