"""The section of the Bayesian models: tables, figures and checks hold the numbers of the fit."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from poshgrid.report import posterior, style
from poshgrid.report.blocks import Alert, Page
from poshgrid.report.collect import Fit, gather
from poshgrid.report.sections import model
from poshgrid.report.shelf import Picture, Shelf
from poshgrid.statistics import published
from poshgrid.statistics.schema import PREDICTIVE
from tests.unit.report import report_results


def fit(name="paper", **changes):
    made, terms = report_results.FITS[name]
    names = {"condition": ("filtering", "register"), "bias": ("recency - none", "dyck - none")}
    found = Fit(
        name,
        report_results.summary(terms),
        report_results.contrasts(*names.get(name, ())),
        report_results.predictive(),
        {"converged": True, "formula": made.formula},
        made.model_dump(),
    )
    return replace(found, **changes)


def titles(table):
    return [column.title for column in table.columns]


# ---- coefficients --------------------------------------------------------------------------------


def test_median_and_mean_stand_side_by_side_for_every_category():
    table = posterior.coefficients(fit("condition"))
    assert titles(table)[:5] == ["Term", "Median", "Mean", "2.5%", "97.5%"]
    shown = {row[0]: row[1:5] for row in table.shown()}
    assert shown["Category (wanna) †"] == ["−0.33", "−0.33", "−0.37", "−0.29"]
    assert shown["Phenomenon intercept SD"] == ["0.69", "0.69", "0.65", "0.73"]
    assert not any(name.startswith("Seed 42") for name in shown)
    values = {row[0]: row[1:3] for row in table.rows}
    assert values["Intercept"] == [0.5, pytest.approx(0.504)]  # not the median twice


def test_the_published_values_stand_beside_the_papers_model():
    table = posterior.coefficients(fit())
    assert titles(table)[5:8] == ["Paper", "Paper 2.5%", "Paper 97.5%"]
    theirs = {r["term"]: r for r in published.coefficients().iter_rows(named=True)}
    labels = dict(fit().summary.select("label", "term").iter_rows())
    beside = 0
    for label, *row in table.rows:
        paper = theirs.get(labels[label.removesuffix(" †")])
        beside += paper is not None
        expected = [paper["median"], paper["low"], paper["high"]] if paper else [None] * 3
        assert row[4:7] == expected
    assert beside == len(theirs) == 13


@pytest.mark.parametrize(
    "other",
    [
        fit("condition"),
        fit(summary=fit().summary.filter(pl.col("term") != "S(source)[baby]")),
        fit(spec=fit().spec | {"slope_sd": 1.0}),
        fit(spec=fit().spec | {"priors": [{"term": "size_z", "sd": 0.1, "rate": None}]}),
        fit(spec=fit().spec | {"formula": "p(correct, n) ~ size_z"}),
    ],
    ids=["formula and terms", "a term less", "priors", "one prior", "formula"],
)
def test_another_model_has_no_published_values(other):
    assert "Paper" not in titles(posterior.coefficients(other))


def test_a_coefficient_of_two_levels_is_half_their_difference():
    assert "yes and no; baby and wiki" in posterior.coefficients(fit()).caption
    # Four categories are no two levels, and a factor without S() has its whole difference.
    assert posterior.halves(fit("condition").summary) == ""
    treated = [("C(filter)[yes]", "Filtering (yes vs. no)", "common", False, 0.2)]
    assert posterior.halves(report_results.summary(treated)) == ""


def test_the_forest_draws_the_effects_without_intercept_sds_and_groups():
    effects = posterior.effects(fit().summary)
    assert effects.height == 12 and effects["name"][0] == "Training size (z)"
    with style.drawing("test"):
        (axes,) = model.forest_of(effects).axes
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
    assert [mark.get_xdata()[0] for mark in marks] == effects["median"].to_list()
    hollow = [mark.get_markerfacecolor() == style.PAGE.light for mark in marks]
    assert hollow == [low <= 0 <= high for _, _, low, high in effects.iter_rows()]
    assert [text.get_text() for text in axes.get_yticklabels()] == effects["name"].to_list()


# ---- contrasts -----------------------------------------------------------------------------------


def test_contrasts_are_in_log_odds_and_points():
    table = posterior.contrasts(fit("condition"))
    rows = {(row[0], row[1]): row[2:] for row in table.shown()}
    assert rows["Filtering (baby-f − baby)", "Binding"] == [
        "−0.30", "−0.40", "−0.20", "< .001", "−7.5", "−10.0", "−5.0",
    ]  # fmt: skip
    assert rows["Filtering (baby-f − baby)", "Islands"][3] == ".520"
    assert len(rows) == 10 and table.classes == {0: "total", 5: "total"}
    assert posterior.contrasts(fit("bias")).rows[0][:2] == ["recency − none", "Overall"]


@pytest.mark.parametrize(("low", "right"), [(0.1, 3), (-0.1, 2)])
def test_what_was_planted_stands_beside_what_was_found(low, right):
    """Binding −7.5 [−10, −5], wanna +5 [2.5, 7.5]; a category's only phenomenon is one truth."""
    found = fit("condition")
    made = {"name": "filtering", "factor": "condition", "first": "baby-f", "less": "baby",
            "planted": {"binding": "below", "island": "none", "wanna": "above",
                        "question-formation": "above"}}  # fmt: skip
    again = found.contrasts.filter(contrast="filtering", level="wanna").with_columns(
        by=pl.lit("phenomenon"), joint_low=pl.lit(low)
    )
    told = replace(found, spec={**found.spec, "contrasts": [made]},
                   contrasts=pl.concat([found.contrasts, again]))  # fmt: skip
    table = posterior.contrasts(told)
    rows = {(row[0], row[1]): row[-2:] for row in table.shown()}
    name = "Filtering (baby-f − baby)"
    assert rows[name, "Binding"] == ["below", "below"] and rows[name, "Overall"][0] == ""
    assert rows[name, "Question formation"] == ["above", "none"]
    assert f"{right} of 4" in table.caption
    assert "Planted" not in titles(posterior.contrasts(found))


@pytest.mark.parametrize(
    ("seeds", "named"),
    [({"none": 3, "recency": 3, "dyck": 3}, None), ({"none": 1, "recency": 1, "dyck": 1}, ""),
     ({"none": 3, "recency": 3, "dyck": 1}, "(dyck − none)")],
)  # fmt: skip
def test_contrasts_that_rest_on_one_seed_are_named(seeds, named):
    cells = pl.concat([
        report_results.predictive().with_columns(
            bias=pl.lit(bias), n_seeds=pl.lit(number, dtype=pl.UInt32)
        )
        for bias, number in seeds.items()
    ])  # fmt: skip
    caption = posterior.contrasts(fit("bias", predictive=cells)).caption
    assert ("One seed only" in caption) == (named is not None)
    assert ("dyck" in caption) == bool(named)
    unchecked = fit("bias", predictive=pl.DataFrame(schema=PREDICTIVE))
    assert not posterior.one_seed(unchecked, {"factor": "none of the columns"})


# ---- predictive check ----------------------------------------------------------------------------


def test_the_check_marks_the_cells_outside():
    found = report_results.predictive(outside=4)
    with style.drawing("test"):
        panels = [a for a in model.predictive(found).axes if a.axison]
    drawn = {"inside": [], "outside": []}
    for line in (line for axes in panels for line in axes.lines):
        if line.get_label() in drawn:
            drawn[line.get_label()] += zip(line.get_xdata(), line.get_ydata(), strict=True)
    assert len(drawn["outside"]) == 4 and len(drawn["inside"]) == 23
    for row in found.iter_rows(named=True):
        place = (100 * row["predicted"], 100 * row["observed"])
        out = not row["low"] <= row["observed"] <= row["high"]
        assert any(p == pytest.approx(place) for p in drawn["outside" if out else "inside"])


def test_the_check_is_counted_from_the_diagnostics_or_else_from_the_cells():
    facts = {"predictive": {"cells": 99, "inside": 58, "share": 58 / 99, "p": 0.5}}
    assert posterior.checked(fit(diagnostics=facts)) == (99, 41)
    assert posterior.checked(fit(diagnostics={})) == (27, 4)
    bare = fit(diagnostics={}, predictive=pl.DataFrame(schema=PREDICTIVE))
    assert posterior.checked(bare) is None and posterior.check(bare) == ""


@pytest.mark.parametrize(
    ("cells", "out", "p", "narrow"),
    [(99, 41, None, True), (99, 5, None, False), (1, 1, None, False), (40, 1, 0.0, True),
     (40, 1, 0.049, True), (40, 1, 0.4, False)],
)  # fmt: skip
def test_the_check_says_whether_the_intervals_are_too_narrow(cells, out, p, narrow):
    facts = {"cells": cells, "inside": cells - out} | ({} if p is None else {"p": p})
    found = fit(diagnostics={"predictive": facts})
    assert posterior.too_narrow(found) == narrow
    said = posterior.check(found)
    assert f"{out} of {cells} cell" in said and ("too narrow" in said) == narrow


def test_more_outside_than_chance_is_a_binomial_tail():
    # P(X >= 3 | 20, .05) = 0.0755, P(X >= 4 | 20, .05) = 0.0159: by hand
    assert posterior.fits_cells(20, 3)
    assert not posterior.fits_cells(20, 4)


def test_a_model_without_files_has_no_numbers_and_one_without_checks_says_so(tmp_path):
    spec = report_results.build(
        tmp_path / "results", conditions=("baby",), sizes=("10K",), seeds=(1,), models=("paper",)
    )
    fits = gather(spec, tmp_path / "results").fits
    page = Page(None, None, Shelf(tmp_path / "page"), None)
    model.of_model("absent", None, page)
    assert page.shelf.written == {"figures": [], "tables": []}
    full = model.of_model("paper", fits["paper"], page)
    assert set(report_results.tables(full)) == {"fit-paper"}
    assert "contrasts-paper-forest.pdf" not in page.shelf.written["figures"]
    old = replace(fits["paper"], predictive=pl.DataFrame(schema=PREDICTIVE), diagnostics={})
    made = model.of_model("paper", old, page)
    assert [p.name for p in report_results.of(made, Picture)] == ["forest-paper"]
    assert len(report_results.of(made, Alert)) == 1
