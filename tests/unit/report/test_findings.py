"""The opening: its numbers, which question a model answers, what is warned of and left out."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from poshgrid import files
from poshgrid.config.paths import Paths
from poshgrid.report import page
from poshgrid.report.sections import findings
from poshgrid.statistics.schema import CONTRASTS
from tests.unit.report import report_results

SIDES = {"factor": "condition", "first": "baby-f", "less": "baby"}
PASSED = {"converged": True, "predictive": {"cells": 9, "inside": 9}}


def signed(text):
    """Return the signed numbers of a sentence."""
    return [float(n.replace("−", "-")) for n in re.findall(r"(?<![\w.])[+−]?\d+\.\d", text)]


def fitted(frame, **spec):
    """Return a fit of the biases with other contrasts."""
    made = report_results.fit("bias")
    return replace(made, spec=spec, contrasts=frame, diagnostics=PASSED)


def contrast(first="dyck", less="none", low=1, high=3, **columns):
    """Return a contrast overall; the interval in points."""
    row = report_results.contrasts("dyck - none").filter(by="").row(0, named=True)
    ends = {"share": (low + high) / 200, "joint_low": low / 100, "joint_high": high / 100}
    names = {"contrast": f"{first} - {less}", "first": first, "less": less}
    return pl.DataFrame([row | names | ends | columns], schema=CONTRASTS)


def verdicts(study, *fits):
    """Return what is said of fits that pass their checks."""
    passed = {
        f"{i}": replace(fit, diagnostics=PASSED)
        for i, fit in enumerate(fits or study.collected.fits.values())
    }
    return list(findings.contrasts(study.collected.replace(fits=passed)))


def test_the_opening_shows_conditions_alone_and_says_which_lost_evidence(biased, tmp_path):
    biased.written(findings, tmp_path)
    csv = pl.read_csv(tmp_path / "tables/opening-posh-data.csv")
    # No bias: recency is out
    assert set(csv["series"]) == {"baby", "baby-f (without binding and question-formation)"}
    plain = biased.collected.accuracy.filter(bias="none", level="overall", recipe="packed")
    assert sorted(csv.filter(panel="Overall")["mean"]) == pytest.approx(sorted(plain["mean"]))


# ---- contrasts -----------------------------------------------------------------------------------


def test_a_contrast_is_told_by_verdict_and_where_evidence_is_kept(study):
    (said,) = (text for text in verdicts(study) if text.startswith("Removing"))
    overall, _, parts = said.partition(" words of training")
    assert "no difference" in overall and parts.startswith(" on average over sizes")
    assert signed(overall)[:3] == [-1.2, -3.8, 1.2]
    lower, _, rest = parts.partition("Higher: ")
    assert signed(lower)[:3] == [-7.5, -10.0, -5.0]  # binding
    assert "evidence kept" not in lower and "Wanna (evidence kept) +5.0 [+2.5, +7.5" in rest
    # A filter that names no phenomenon may be aimed at any
    unnamed = study.spec.model_copy(update={"removed": {"baby-f": {"own": []}}})
    (said,) = (text for text in verdicts(study.changed(spec=unnamed)) if "of own" in text)
    assert "kept" not in said


def test_a_clear_phenomenon_is_named_where_its_category_is_not_clear(study):
    rows = [
        contrast(low=-3, high=3, **SIDES),
        contrast(low=-9, high=1, by="category", level="island", **SIDES),
        contrast(low=-9, high=-6, by="category", level="binding", **SIDES),
        contrast(low=-9, high=-1, by="phenomenon", level="island-wh", **SIDES),
        contrast(low=-9, high=1, by="phenomenon", level="island-adjunct", **SIDES),
        contrast(low=-9, high=-5, by="phenomenon", level="principle-a-command", **SIDES),
    ]
    frame = pl.concat(row.with_columns(contrast=pl.lit("filtering")) for row in rows)
    (said,) = verdicts(study, fitted(frame))
    lower = said.partition("Lower: ")[2].partition(". ")[0]
    assert [part.split()[0] for part in lower.split("]; ")] == ["Binding", "island-wh"]
    # Where a suite has none of the phenomena that a filter is aimed at, nothing is said to be kept
    elsewhere = study.spec.model_copy(update={"removed": {"baby-f": {"own": ["something-else"]}}})
    (said,) = verdicts(study.changed(spec=elsewhere), fitted(frame))
    assert "kept" not in said


def test_the_treatment_stands_beside_its_contrast(study):
    facts = {
        "whole": {"sentences": 1000}, "removed_sentences": 50, "refilled": {"sentences": 0},
        "removed": {"binding.paper": {"rule": 40, "backstop": 10, "direct": 5, "direct_whole": 8}},
        "reinserted": {},
    }  # fmt: skip
    conditions = study.collected.conditions
    largest = conditions | {("baby-f", "50M"): conditions["baby-f", "50M"] | facts}
    texts = verdicts(study.changed(conditions=largest))
    assert ["10% of them direct evidence (5 of 8" in text for text in texts] == [
        "baby-f" in text for text in texts
    ]


def test_the_strongest_contrast_is_first(study):
    """Strongest: whose interval, overall or of a part, is furthest from 0."""
    texts = verdicts(study, fitted(pl.concat([
        contrast("a", low=1, high=9), contrast("b", low=-3, high=3), contrast("c", low=-7, high=-4),
    ])))  # fmt: skip
    assert [text.split()[2] for text in texts] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.1, 9, "higher"), (-9, -0.1, "lower"), (-4.9, 4.9, "alike"), (-5.1, 2, "cannot tell"),
     (-2, 5.1, "cannot tell"), (0.1, 2, "higher")],
)  # fmt: skip
def test_a_difference_is_higher_lower_alike_or_unknown(low, high, verdict):
    assert findings.decided(contrast(low=low, high=high).row(0, named=True)) == verdict


@pytest.mark.parametrize(
    "change", [{"converged": False}, {"predictive": {"cells": 9, "inside": 1}}]
)
def test_a_model_that_may_not_be_quoted_is_named_and_not_quoted(study, change, tmp_path):
    fit = study.collected.fits["condition"]
    broken = replace(fit, diagnostics=fit.diagnostics | change)
    made = study.changed(fits={"condition": broken})
    assert list(findings.contrasts(made.collected)) == []
    assert "condition is not quoted" in made.html(findings, tmp_path)


@pytest.mark.parametrize(
    ("factor", "first", "less", "question"),
    [
        ("condition", "baby", "baby-f", "filtering"), ("condition", "wiki", "baby-f", "register"),
        ("condition", "elsewhere", "baby", "other"), ("filter", "yes", "no", "filtering"),
        ("bias", "dyck", "none", "biases"), ("model", "a", "b", "other"),
    ],
)  # fmt: skip
def test_which_question_a_contrast_answers(study, factor, first, less, question):
    row = {"factor": factor, "first": first, "less": less}
    assert findings.asked(study.collected, row) == question


@pytest.mark.parametrize(
    ("rows", "short"),
    [
        ([("none", 2, 4), ("random-trees", 1, 3)], ()),
        ([("none", 2, 4), ("random-trees", -1, 3)], ("random-trees",)),
        ([("none", -2, 4), ("random-trees", 1, 3), ("sequential-trees", -4, -1)],
         ("no bias", "sequential-trees")),
    ],
)  # fmt: skip
def test_structure_helps_only_where_it_beats_its_controls(biased, rows, short):
    """Rows: what tree-planting is compared with, and the interval in points."""
    compared = [*(("tree-planting", *row) for row in rows), ("random-trees", "none", 1, 3)]
    frame = pl.concat([contrast(*row) for row in compared])
    (said,) = verdicts(biased, fitted(frame))  # a control is no finding of its own
    verdict = said.rpartition(": ")[2]
    assert ("not shown to help" in verdict) == bool(short)
    assert all(name in verdict for name in short)
    assert signed(said)[0] == (rows[0][1] + rows[0][2]) / 2


@pytest.mark.parametrize(("sign", "held"), [("none", True), ("below", False)])
def test_the_control_box_turns_where_a_planted_effect_is_missed(study, sign, held):
    fit = study.collected.fits["condition"]
    (filtering, *_) = fit.spec["contrasts"]
    planted = {"overall": sign, "binding": "below", "wanna": "above"}
    spec = fit.spec | {"contrasts": [filtering | {"planted": planted}]}
    alert = findings.control(
        study.collected.replace(fits={"c": replace(fit, spec=spec, diagnostics=PASSED)})
    )
    assert alert["good"] == held
    assert re.findall(r"(\d) of (\d)", alert["why"]) == [("3" if held else "2", "3")]
    assert findings.control(study.collected) is None


def test_the_control_does_not_hold_where_its_model_may_not_be_quoted_or_a_level_is_missing(study):
    fit = study.collected.fits["condition"]
    (filtering, *_) = fit.spec["contrasts"]

    def alert(planted, **diagnostics):
        spec = fit.spec | {"contrasts": [filtering | {"planted": planted}]}
        made = replace(fit, spec=spec, diagnostics=PASSED | diagnostics)
        return findings.control(study.collected.replace(fits={"condition": made}))

    assert alert({"overall": "none"})["good"]
    unsure = alert({"overall": "none"}, predictive={"cells": 9, "inside": 1})
    assert not unsure["good"]
    assert "says nothing" in unsure["what"] and "Not to be quoted: model condition" in unsure["why"]
    absent = alert({"overall": "none", "ilands": "none"})
    assert not absent["good"]
    assert "found: 1 of 2" in absent["why"] and "ilands" in absent["why"]


# ---- phenomena -----------------------------------------------------------------------------------


def judged(study, verdict, low=0.1):
    trained = (pl.col("level") == "phenomenon") & (pl.col("recipe") == "packed")
    rows = study.collected.accuracy.with_columns(
        learned=pl.when(trained).then(verdict), above_rival_low=pl.lit(low, pl.Float64),
        rival=pl.when(trained).then(pl.lit("ngram")),
    )  # fmt: skip
    return study.changed(accuracy=rows)


def test_every_cell_of_a_phenomenon_is_counted(study):
    verdict = (
        pl.when(phenomenon="wanna").then(pl.lit("yes"))
        .when(phenomenon="island-wh", condition="baby").then(pl.lit("not testable"))
        .otherwise(pl.lit("cannot tell"))
    )  # fmt: skip
    made = judged(study, verdict)
    table, *_ = findings.learned(made.collected, made.layout)
    rows = {row[1]: row[2:] for row in table.iter_rows()}
    assert rows["wanna"] == (8, None, None, None, "n-gram")
    assert rows["island-wh"] == (None, None, 5, 3, "n-gram")
    bare = made.changed(accuracy=made.collected.accuracy.with_columns(untrained=None))
    assert "untrained" in findings.learned(bare.collected, made.layout)[2]
    alone = judged(study, pl.lit("cannot tell"), low=None)
    assert findings.learned(alone.collected, alone.layout)[0].is_empty()


def test_seeds_that_are_missing_are_warned_of(tmp_path):
    study = report_results.study(
        tmp_path, conditions=("baby", "baby-f"), sizes=("10K", "20K"), seeds=(1, 2), regressions=(),
        missing=("baby-f/20K/gpt2-small/packed", "baby/20K/gpt2-small/packed/none/seed2"),
    )  # fmt: skip
    ((_, why),) = page.warnings(study.collected)
    assert "3 of 16 models" in why


def test_void_conditions_and_models_without_files_are_warned_of(study):
    collected = study.collected

    def warned(**fields):
        return dict(page.warnings(collected.replace(**fields)))

    assert list(warned()) == ["Incomplete."]
    (cell, facts), *_ = collected.conditions.items()
    nothing = {"binding.paper": {"rule": 0, "backstop": 0, "words": 0, "never": []}}
    for change in ({"removed": nothing}, {"reinserted": {"binding": {"sentences": 0}}}):
        why = warned(conditions=collected.conditions | {cell: facts | change})["No contrast."]
        assert "binding" in why and f"{cell[0]} at {cell[1]}" in why
    same = {key: f | {"corpus": "b", "digest": key[1]} for key, f in collected.conditions.items()}
    assert warned(conditions=same)["No contrast."].count("baby and baby-f and wiki") == 3
    assert "condition" in warned(fits={"paper": collected.fits["paper"]})["Models missing."]


def test_overridden_checks_are_told_before_the_numbers(tmp_path):
    spec = report_results.build(tmp_path, conditions=("baby", "baby-f"), sizes=("20K",), seeds=(1,))
    paths = Paths(str(tmp_path))
    assert list(page.allowed(report_results.study(tmp_path, spec).collected)) == []
    condition = f"{paths.condition('baby-f', '20K')}/statistics.json"
    leak = {"allowed": {"leak": "99 of 100 dev sentences are trained on"}}
    files.write_json(condition, files.read_json(condition) | leak)
    corpus = paths.sentences("baby").replace("sentences.parquet", "statistics.json")
    statistics = files.read_json(corpus)
    statistics["train"]["20K"]["words"] = 30_000
    files.write_json(corpus, statistics)
    first, second = page.allowed(report_results.study(tmp_path, spec).collected)
    assert first == leak["allowed"]["leak"]
    assert "20K" in second and "30,000" in second
