"""The section of the Bayesian models: tables, figures and checks hold the numbers of the fit."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from poshgrid.report import posterior, style
from poshgrid.report.blocks import Alert, Facts, Page
from poshgrid.report.collect import Fit, gather
from poshgrid.report.sections import model
from poshgrid.report.shelf import Picture, Shelf
from poshgrid.statistics import published
from poshgrid.statistics.schema import PREDICTIVE, SUMMARY
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


def page(folder):
    return Page(None, None, Shelf(folder), None)


def cells(table):
    return {row[0]: row[1:] for row in table.shown()}


def titles(table):
    return [column.title for column in table.columns]


# ---- coefficients --------------------------------------------------------------------------------


def test_median_and_mean_stand_side_by_side_for_every_category():
    table = posterior.coefficients(fit("condition"))
    assert titles(table)[:5] == ["Term", "Median", "Mean", "2.5%", "97.5%"]
    shown = cells(table)
    assert shown["Category (wanna) †"][:4] == ["−0.33", "−0.33", "−0.37", "−0.29"]
    assert shown["Category (binding)"][:4] == ["−0.31", "−0.31", "−0.35", "−0.27"]
    assert shown["Phenomenon intercept SD"][:4] == ["0.69", "0.69", "0.65", "0.73"]
    assert not any(name.startswith("Seed 42") for name in shown)
    values = {row[0]: row[1:3] for row in table.rows}
    assert values["Intercept"] == [0.5, pytest.approx(0.504)]  # not the median twice


def test_the_published_values_stand_beside_the_papers_model():
    table = posterior.coefficients(fit())
    assert titles(table)[5:8] == ["Paper", "Paper 2.5%", "Paper 97.5%"]
    theirs = {r["term"]: r for r in published.coefficients().iter_rows(named=True)}
    labels = dict(fit().summary.select("label", "term").iter_rows())
    beside = 0
    for label, row in zip((r[0] for r in table.rows), table.rows, strict=True):
        paper = theirs.get(labels[label.removesuffix(" †")])
        if paper is None:
            assert row[5:8] == [None, None, None] and label.endswith("†")
        else:
            beside += 1
            assert row[5:8] == [paper["median"], paper["low"], paper["high"]]
    assert beside == len(theirs) == 13


def lacks_a_term():
    found = fit()
    return replace(found, summary=found.summary.filter(pl.col("term") != "S(source)[baby]"))


def has_one_more():
    found = fit()
    more = report_results.summary([("S(learner)[a]", "Learner (a)", "common", False, 0.1)])
    return replace(found, summary=pl.concat([found.summary, more]))


@pytest.mark.parametrize(
    "other",
    [
        fit("condition"),
        lacks_a_term(),
        has_one_more(),
        fit(spec=fit().spec | {"slope_sd": 1.0}),
        fit(spec=fit().spec | {"priors": [{"term": "size_z", "sd": 0.1, "rate": None}]}),
        fit(spec=fit().spec | {"formula": "p(correct, n) ~ size_z"}),
    ],
    ids=["formula and terms", "a term less", "a term more", "priors", "one prior", "formula"],
)
def test_another_model_has_no_published_values(other):
    assert posterior.published(other) == {}
    assert "Paper" not in titles(posterior.coefficients(other))


def test_spaces_in_the_formula_and_an_older_manifest_make_no_other_model():
    spec = fit().spec
    assert posterior.published(fit(spec=spec | {"formula": spec["formula"].replace(" ", "")}))
    assert posterior.published(fit(spec={"formula": spec["formula"]}))


def test_a_coefficient_of_two_levels_is_half_their_difference(tmp_path):
    told = (
        "A coefficient of two levels is half the difference between them (yes and no; baby and "
        "wiki)."
    )
    assert told in posterior.coefficients(fit()).caption
    assert told in model._forest(fit(), page(tmp_path)).caption
    # Four categories are no two levels, and a factor without S() has its whole difference.
    assert "half" not in posterior.coefficients(fit("condition")).caption
    treated = [
        ("C(filter)[yes]", "Filtering (yes vs. no)", "common", False, 0.2),
        ("S(category):C(filter)[binding, yes]", "Category (binding) × Filtering (yes vs. no)",
         "common", False, 0.2),
    ]  # fmt: skip
    assert posterior.halves(report_results.summary(treated)) == ""
    coded = [("S(filter)[yes]", "Filtering (yes vs. no)", "common", False, 0.1)]
    assert posterior.halves(report_results.summary(coded)).endswith("them (yes and no).")


# ---- contrasts -----------------------------------------------------------------------------------


def test_contrasts_are_in_log_odds_and_points():
    table = posterior.contrasts(fit("condition"))
    rows = {(row[0], row[1]): row[2:] for row in table.shown()}
    assert rows["Filtering (baby-f − baby)", "Binding"] == [
        "−0.30", "−0.40", "−0.20", "< .001", "−7.5", "−10.0", "−5.0",
    ]  # fmt: skip
    assert rows["Register (wiki − baby)", "Overall"] == [
        "−0.20", "−0.30", "−0.10", "< .001", "−5.0", "−7.5", "−2.5",
    ]  # fmt: skip
    # The probability is of the log odds, and stands with their interval.
    assert titles(table)[4:7] == ["97.5%", "P(> 0), log odds", "Points"]
    assert rows["Filtering (baby-f − baby)", "Islands"][3] == ".520"
    assert len(rows) == 10
    assert table.classes == {0: "total", 5: "total"}
    assert posterior.contrasts(fit()).rows == []


def test_what_was_planted_stands_beside_what_was_found():
    """Binding −7.5 [−10, −5] and wanna +5 [2.5, 7.5]; islands, at 0.5 [−2, 3], are told apart."""
    found = fit("condition")
    signs = {"binding": "below", "island": "none", "wanna": "none"}
    made = {"name": "filtering", "factor": "condition", "first": "baby-f", "less": "baby"}
    made["planted"] = signs
    told = replace(found, spec={**found.spec, "contrasts": [made]})
    table = posterior.contrasts(told)
    assert titles(table)[-2:] == ["Planted", "Found"]
    rows = {(row[0], row[1]): row[-2:] for row in table.shown()}
    name = "Filtering (baby-f − baby)"
    assert rows[name, "Binding"] == ["below", "below"]
    assert rows[name, "Islands"] == ["none", "none"]
    assert rows[name, "Wanna"] == ["none", "above"]
    assert rows[name, "Overall"][0] == ""  # nothing was said of it
    assert "As planted: 2 of 3." in table.caption
    assert "Planted" not in titles(posterior.contrasts(found))


def test_a_category_and_its_only_phenomenon_are_one_truth():
    """It is wrong if either row is."""
    found = fit("condition")
    made = {"name": "filtering", "factor": "condition", "first": "baby-f", "less": "baby"}
    made["planted"] = {"binding": "below", "wanna": "above"}
    known = (pl.col("contrast") == "filtering") & (pl.col("level") == "wanna")
    for low, right in ((0.1, 2), (-0.1, 1)):
        again = found.contrasts.filter(known).with_columns(
            by=pl.lit("phenomenon"), joint_low=pl.lit(low)
        )
        told = replace(
            found,
            spec={**found.spec, "contrasts": [made]},
            contrasts=pl.concat([found.contrasts, again]),
        )
        assert f"As planted: {right} of 2." in posterior.contrasts(told).caption


def test_a_contrast_without_a_name_is_its_levels_and_other_factors_are_named():
    table = posterior.contrasts(fit("bias"))
    assert [row[:2] for row in table.rows][:2] == [
        ["recency − none", "Overall"], ["recency − none", "Binding"],
    ]  # fmt: skip
    row = {"by": "condition", "level": "wiki"}
    assert posterior.place(row) == "condition wiki"


def test_the_contrasts_figure_draws_every_row():
    rows = fit("condition").contrasts
    with style.drawing("test"):
        panels = [a for a in model.contrasts(rows).axes if a.axison]
    assert [a.get_title(loc="left") for a in panels] == [
        "Filtering (baby-f − baby)", "Register (wiki − baby)",
    ]  # fmt: skip
    marks = {
        line.get_label(): (line, axes)
        for axes in panels
        for line in axes.lines
        if not line.get_label().startswith("_")
    }
    assert len(marks) == rows.height == 10
    for row in rows.iter_rows(named=True):
        line, axes = marks[f"{row['contrast']}: {posterior.place(row)}"]
        assert line.get_xdata()[0] == row["median"]
        assert line.get_marker() == ("o" if row["by"] else "D")
        hollow = line.get_markerfacecolor() == style.PAGE.light
        assert hollow == (row["low"] <= 0 <= row["high"])
        ends = [
            (list(other.get_xdata()), other.get_ydata()[0])
            for other in axes.lines
            if len(other.get_xdata()) == 2
        ]
        assert ([row["low"], row["high"]], line.get_ydata()[0]) in ends
    assert "Overall" in [text.get_text() for text in panels[0].get_yticklabels()]


def biased_cells(seeds):
    """Cells of biases that were trained from so many seeds each."""
    return pl.concat([
        report_results.predictive().with_columns(
            bias=pl.lit(bias), n_seeds=pl.lit(number, dtype=pl.UInt32)
        )
        for bias, number in seeds.items()
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        ({"none": 3, "recency": 3, "dyck": 3}, ""),
        ({"none": 1, "recency": 1, "dyck": 1}, "One seed only, so runs may differ by chance."),
        ({"none": 3, "recency": 3, "dyck": 1},
         "One seed only, so runs may differ by chance (dyck − none)."),
    ],
)  # fmt: skip
def test_contrasts_that_rest_on_one_seed_are_named(seeds, told):
    found = fit("bias", predictive=biased_cells(seeds))
    caption = posterior.contrasts(found).caption
    assert caption.endswith(told or "(Bonferroni).")
    every = {"factor": "none of the columns"}
    assert posterior.one_seed(found, every) == (set(seeds.values()) == {1})
    unchecked = replace(found, predictive=pl.DataFrame(schema=PREDICTIVE))
    assert not posterior.one_seed(unchecked, every)


# ---- predictive check ----------------------------------------------------------------------------


def test_the_check_marks_the_cells_outside():
    found = report_results.predictive(outside=4)
    with style.drawing("test"):
        panels = [a for a in model.predictive(found).axes if a.axison]
    assert [a.get_title(loc="left") for a in panels] == [
        "Islands\n3 of 9 outside", "Question formation\n1 of 9 outside",
        "Binding\n0 of 6 outside", "Wanna\n0 of 3 outside",
    ]  # fmt: skip
    drawn = {"inside": [], "outside": []}
    for axes in panels:
        for line in axes.lines:
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
    assert posterior.checked(bare) is None
    assert posterior.check(bare) == ""


@pytest.mark.parametrize(
    ("cells", "out", "begins", "narrow"),
    [
        (99, 41, "41 of 99 cells; about 5 would be by chance.", True),
        (99, 5, "5 of 99 cells;", False),
        (20, 1, "1 of 20 cells;", False),
        (1, 1, "1 of 1 cell;", False),
        (40, 0, "0 of 40 cells;", False),
    ],
)  # fmt: skip
def test_the_check_says_whether_the_intervals_are_too_narrow(cells, out, begins, narrow):
    said = posterior.check(fit(diagnostics={"predictive": {"cells": cells, "inside": cells - out}}))
    assert said.startswith(f"Outside the model’s 95% predictive intervals: {begins}")
    assert ("too narrow for the differences between cells" in said) == narrow
    assert ("fit the differences between cells" in said) != narrow


@pytest.mark.parametrize(
    ("p", "says", "narrow"),
    [
        (0.0, "are too narrow for those between single runs (posterior predictive p < .001)", True),
        (
            0.049,
            "are too narrow for those between single runs (posterior predictive p = .049)",
            True,
        ),
        (0.4, "fit those between single runs (posterior predictive p = .400)", False),
    ],
)
def test_the_check_of_single_runs_speaks_of_single_runs(p, says, narrow):
    found = fit(diagnostics={"predictive": {"cells": 40, "inside": 39, "p": p}})
    said = posterior.check(found)
    assert said.endswith(f"between cells, and {says}.")
    assert "seeds" not in said
    assert posterior.too_narrow(found) == narrow


def test_more_outside_than_chance_is_a_binomial_tail():
    # P(X >= 3 | 20, .05) = 0.0755, P(X >= 4 | 20, .05) = 0.0159: by hand
    assert posterior.fits_cells(20, 3)
    assert not posterior.fits_cells(20, 4)


# ---- diagnostics ---------------------------------------------------------------------------------


def attempt(**changes):
    return {"target_accept": 0.99, "warmup": 1000, "draws": 1000, "seconds": 12.0,
            "divergences": 3, "max_r_hat": 1.004, "min_ess": 900.0, "converged": False,
            "reasons": ["3 divergences"], **changes}  # fmt: skip


def test_attempts_are_listed_if_there_was_a_retry():
    second = attempt(target_accept=0.995, divergences=0, converged=True, reasons=[])
    table = posterior.attempts(fit(diagnostics={"attempts": [attempt(), second]}))
    assert [(row[0], row[1], row[5], row[8]) for row in table.shown()] == [
        ("1", "0.99", "3", "3 divergences"), ("2", "0.995", "0", "yes"),
    ]  # fmt: skip
    assert posterior.attempts(fit(diagnostics={"attempts": [second]})) is None
    assert posterior.attempts(fit(diagnostics={})) is None


def test_the_facts_say_engine_sampler_attempts_and_time():
    diagnostics = {
        "engine": "fast", "sampler": "nutpie", "divergences": 0, "max_r_hat": 1.0012,
        "min_ess": 1850.0, "pairs": 148_500, "rows": 297, "seconds": 12.0,
        "attempts": [attempt(), attempt(target_accept=0.995)],
    }  # fmt: skip
    facts = {name: (number, note) for name, number, note in model._facts(diagnostics)}
    assert facts["Engine"] == ("fast", "sampler nutpie")
    assert facts["Attempts"] == ("2", "1 retry; target acceptance 0.995")
    assert facts["Divergences"] == ("0", "0 to pass")
    assert facts["Largest R-hat"][0] == "1.001"
    assert facts["Pairs judged"] == ("148,500", "297 rows of counts")
    assert facts["Time"] == ("12 s", "")


def test_diagnostics_of_an_older_version_will_do():
    facts = [name for name, *_ in model._facts({"sampler": "nutpie", "divergences": 0})]
    assert facts == ["Sampler", "Divergences"]
    assert list(model._facts({})) == []


# ---- the section ---------------------------------------------------------------------------------


def test_a_model_without_files_has_no_section_and_an_older_one_no_check(tmp_path):
    spec = report_results.build(
        tmp_path / "results", conditions=("baby",), sizes=("10K",), seeds=(1,), models=("paper",)
    )
    collected = gather(spec, tmp_path / "results")
    made = page(tmp_path / "page")
    shelf = made.shelf
    assert model.of_model("absent", None, made)[1].startswith("Not fitted, or did not converge")
    assert shelf.written == {"figures": [], "tables": []}
    full = model.of_model("paper", collected.fits["paper"], made)
    assert set(report_results.tables(full)) == {"fit-paper"}
    assert report_results.of(full, str)[0].startswith(
        "Outside the model’s 95% predictive intervals: 4 of 27 cells"
    )
    assert {"forest-paper.pdf", "predictive-paper.pdf"} <= set(shelf.written["figures"])
    assert "contrasts-paper-forest.pdf" not in shelf.written["figures"]
    old = replace(
        collected.fits["paper"], predictive=pl.DataFrame(schema=PREDICTIVE), diagnostics={}
    )
    made = model.of_model("paper", old, page(tmp_path / "old"))
    assert report_results.of(made, str) == ["Posterior predictive check: not run."]
    assert [p.name for p in report_results.of(made, Picture)] == ["forest-paper"]
    assert report_results.of(made, Facts) == [Facts([])]
    assert report_results.of(made, Alert) == [
        Alert("Not converged.", "There are no diagnostics. Do not quote these estimates.")
    ]


def test_a_summary_of_an_intercept_alone_has_no_forest(tmp_path):
    only = report_results.summary([("Intercept", "Intercept", "common", False, 0.5)])
    assert model._forest(fit(summary=only), page(tmp_path)) is None
    assert model._forest(fit(summary=pl.DataFrame(schema=SUMMARY)), page(tmp_path)) is None
