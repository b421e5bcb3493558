"""The opening: its tables, which question a model answers, what is warned of and left out."""

import re
from dataclasses import replace

import polars as pl
import pytest

from poshgrid.config.paths import Paths
from poshgrid.core import files
from poshgrid.report import page
from poshgrid.report.sections import findings
from poshgrid.statistics.schema import CONTRASTS
from tests.unit.report import report_results

PASSED = {"converged": True, "predictive": {"cells": 9, "inside": 9}}


def contrast(first="dyck", less="none", low=1, high=3, **part):
    """Return a contrast, overall or at a part; the interval in points."""
    row = report_results.contrasts("dyck - none").filter(by="").row(0, named=True)
    ends = {"share": (low + high) / 200, "joint_low": low / 100, "joint_high": high / 100}
    names = {"contrast": f"{first} - {less}", "first": first, "less": less}
    return pl.DataFrame([row | names | ends | part], schema=CONTRASTS)


def contrasts(study, **fits):
    """Return the table of contrasts of fits that pass their checks."""
    fits = fits or study.collected.fits
    passed = {name: replace(fit, diagnostics=PASSED) for name, fit in fits.items()}
    return findings.contrasts(study.changed(fits=passed).collected)


# ---- contrasts -----------------------------------------------------------------------------------


def test_a_contrast_has_its_numbers_a_verdict_and_the_parts_that_differ(study):
    filtering, register = contrasts(study).to_dicts()
    assert "(without binding and question-formation) − baby" in filtering["comparison"]
    numbers = [filtering[name] for name in ("share", "joint_low", "joint_high", "raw")]
    assert numbers == pytest.approx([-0.0125, -0.0375, 0.0125, -0.05 / 3])
    assert filtering["difference"] == "−1.2 [−3.8, +1.2]"
    assert [filtering["verdict"], register["verdict"]] == ["alike", "lower"]
    assert filtering["lower"] == "Binding −7.5 [−10.0, −5.0]"
    assert filtering["higher"] == "Wanna (evidence kept) +5.0 [+2.5, +7.5]"
    assert register["lower"].count("; ") == 3 and register["higher"] is None
    assert filtering["model"] is register["model"] is None  # of one Bayesian model
    assert filtering["seeds"] is filtering["structure"] is None
    # A filter that names no phenomenon may be aimed at any
    unnamed = study.spec.model_copy(update={"removed": {"baby-f": {"own": []}}})
    first, _ = contrasts(study.changed(spec=unnamed)).to_dicts()
    assert "without own" in first["comparison"] and "kept" not in first["higher"]
    fit = study.collected.fits["condition"]
    alone = replace(fit, predictive=fit.predictive.with_columns(n_seeds=pl.lit(1)))
    assert contrasts(study, condition=alone)["seeds"].null_count() == 0


def test_a_phenomenon_is_named_if_its_category_has_another_verdict(study):
    parts = [("category", "binding", -9, -1), ("phenomenon", "principle-a-command", -9, -1),
             ("phenomenon", "principle-a-locality", 1, 2), ("category", "island", -9, 1),
             ("phenomenon", "island-wh", -5, -2)]  # fmt: skip
    rows = [contrast(low=low, high=high, by=by, level=level) for by, level, low, high in parts]
    fit = replace(study.collected.fits["condition"], contrasts=pl.concat([contrast(), *rows]))
    (row,) = contrasts(study, condition=fit).to_dicts()
    assert row["higher"] == "principle-a-locality +1.5 [+1.0, +2.0]"
    assert row["lower"] == "Binding −5.0 [−9.0, −1.0]; island-wh −3.5 [−5.0, −2.0]"


def test_each_contrast_names_its_model_and_words_that_differ(study):
    fit = study.collected.fits["condition"]
    words = [(1_000, 900), (1_000, 991)]
    made = {
        name: replace(fit, name=name, contrasts=contrast(words_first=first, words_less=less))
        for name, (first, less) in zip(["bias", "factorial"], words, strict=True)
    }
    rows = contrasts(study, **made)
    assert dict(rows.select("model", "words").iter_rows()) == {
        "bias": "1,000 and 900", "factorial": None,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["study", "biased"])
def test_each_planned_contrast_is_a_row(name, request, tmp_path):
    made = request.getfixturevalue(name)
    fits = {name: replace(fit, diagnostics=PASSED) for name, fit in made.collected.fits.items()}
    made.changed(fits=fits).written(findings, tmp_path)
    csv = pl.read_csv(tmp_path / "tables/findings.csv")
    planned = pl.concat(fit.contrasts for fit in fits.values()).filter(by="")
    numbers = ["share", "joint_low", "joint_high", "raw"]
    assert sorted(csv.select(numbers).rows()) == sorted(planned.select(numbers).rows())


def test_what_was_removed_and_put_back_as_far_as_it_is_known(study):
    """263 of 27,146 sentences; 4 of them direct evidence, of 8; 54 put back, one of them is."""
    taken = {"rule": 250, "backstop": 13, "direct": 4, "direct_whole": 8}
    back = {"rate": 0.002, "sentences": 54, "direct": 1}
    made = {
        "whole": {"sentences": 27_146}, "removed_sentences": 263, "control": None,
        "removed": {"qf.paper": taken}, "reinserted": {"qf": back}, "refilled": {"sentences": 0},
    }  # fmt: skip
    vague = made | {"removed": {"qf": {"rule": 263, "backstop": 0}}, "reinserted": {}}
    control = made | {"control": "x", "refilled": {"sentences": 1_270}}
    changes = {"sentences": 13_573, "rewriters": {"drop-articles": {}}}
    changed = made | {"removed": {}, "reinserted": {}, "rewritten": changes}
    cells = {("a", "1M"): made, ("b", "1M"): vague, ("c", "1M"): control, ("d", "1M"): {},
             ("e", "1M"): changed}  # fmt: skip
    changed_cells = study.changed(conditions=cells).collected
    first, second, third, fourth = findings.treatments(changed_cells).to_dicts()
    assert [first[name] for name in ("removed", "direct", "evidence", "evidence_whole", "back",
                                     "back_direct")] == pytest.approx(
        [263 / 27_146, 4 / 263, 4, 8, 0.002, 1 / 54])  # fmt: skip
    assert second["removed"] == 263 / 27_146 and second["direct"] is second["back"] is None
    assert [first[name] for name in ("rule", "backstop", "sentences")] == [250, 13, 54]
    assert third["filter"].endswith("as many as x")
    assert (third["removed"], third["refilled"]) == (263 / 27_146, 1_270)
    assert (fourth["filter"], fourth["changed"], fourth["removed"]) == ("drop-articles", 0.5, None)


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
    assert findings.contrasts(made.collected).is_empty()
    assert 'href="tables/fit-condition.csv"' in made.html(findings, tmp_path)
    facts, _ = made.written(findings, tmp_path)
    assert facts["failed"] and facts["unquoted"].keys() == {"condition"}
    none_planned = made.changed(
        fits={"condition": replace(broken, contrasts=fit.contrasts.clear())}
    )
    assert not none_planned.written(findings, tmp_path)[0]["failed"]


@pytest.mark.parametrize(
    ("controls", "short"),
    [  # what tree-planting is compared with, and the interval in points
        ([("none", 2, 4), ("random-trees", 1, 3)], ()),
        ([("none", -2, 4), ("random-trees", 1, 3), ("sequential-trees", -4, -1)],
         ("no bias", "sequential-trees")),
    ],
)  # fmt: skip
def test_structure_helps_only_where_it_beats_its_controls(biased, controls, short):
    compared = [("recency", "none", -9, 9), ("random-trees", "none", 6, 7),
                *(("tree-planting", *row) for row in controls), ("dyck", "none", 5, 7)]  # fmt: skip
    frame = pl.concat([contrast(*row) for row in compared])
    fit = replace(report_results.fit("bias"), contrasts=frame)
    dyck, planting, *of_controls, recency = contrasts(biased, bias=fit).to_dicts()
    names = [row["comparison"] for row in (dyck, planting, *of_controls, recency)]
    assert names[:3] == ["dyck − no bias", "tree-planting − no bias", "random-trees − no bias"]
    assert set(names[3:-1]) == {f"tree-planting − {less}" for less, *_ in controls[1:]}
    assert names[-1] == "recency − no bias"
    verdict, _, below = planting["structure"].partition(":")
    assert verdict == ("cannot tell" if short else "yes")
    assert all(name in below for name in short)
    assert {row["structure"] for row in (dyck, *of_controls, recency)} == {None}


@pytest.mark.parametrize(
    ("planted", "inside", "good", "reproduced"),
    [
        ({"overall": "none", "binding": "below", "wanna": "above"}, 9, True, "3 of 3"),
        ({"overall": "below", "binding": "below", "wanna": "above"}, 9, False, "2 of 3"),
        ({"overall": "none", "ilands": "none"}, 9, False, "1 of 2"),  # no level is called so
        ({"overall": "none"}, 1, False, "1 of 1"),  # its model may not be quoted
    ],
)
def test_the_control_holds_where_every_planted_effect_is_found(
    study, planted, inside, good, reproduced
):
    fit = study.collected.fits["condition"]
    (filtering, *_) = fit.spec["contrasts"]
    spec = fit.spec | {"contrasts": [filtering | {"planted": planted}]}
    diagnostics = PASSED | {"predictive": {"cells": 9, "inside": inside}}
    fits = {"condition": replace(fit, spec=spec, diagnostics=diagnostics)}
    alert = findings.control(study.changed(fits=fits).collected)
    assert alert["good"] == good
    assert re.findall(r"\d of \d", alert["why"]) == [reproduced]
    assert findings.control(study.collected) is None


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
    rows = {row.pop("phenomenon"): row for row in table.to_dicts()}
    counts = dict.fromkeys(findings.VERDICTS)
    assert rows["wanna"] == counts | {"yes": 8, "rival": "n-gram"}
    assert rows["island-wh"] == counts | {"cannot tell": 5, "not testable": 3, "rival": "n-gram"}
    few = made.changed(accuracy=made.collected.accuracy.filter(size="10M"))
    table = findings.learned(few.collected, few.layout)[0]
    assert table.row(by_predicate=pl.col("phenomenon") == "island-wh", named=True) == {
        "phenomenon": "island-wh", "in baby": "not testable", "in wiki": "cannot tell",
        "in baby-f": "cannot tell", "rival": "n-gram",
    }  # fmt: skip
    bare = made.changed(accuracy=made.collected.accuracy.with_columns(untrained=None))
    assert "untrained" in findings.learned(bare.collected, made.layout)[2]
    alone = judged(study, pl.lit("cannot tell"), low=None)
    assert findings.learned(alone.collected, alone.layout)[0].is_empty()


def test_void_conditions_and_models_without_files_are_warned_of(study):
    collected = study.collected

    def warned(**fields):
        return dict(page.warnings(study.changed(**fields).collected))

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
