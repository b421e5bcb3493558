"""The opening: its numbers, which question a model answers, what is warned of and left out."""

import re
from dataclasses import replace

import polars as pl
import pytest

from poshgrid.config.paths import Paths
from poshgrid.core import files
from poshgrid.report import page
from poshgrid.report.sections import findings, model
from poshgrid.statistics.schema import CONTRASTS
from tests.unit.report import report_results

PASSED = {"converged": True, "predictive": {"cells": 9, "inside": 9}}


def signed(text):
    """Return the signed numbers of a sentence."""
    return [float(n.replace("−", "-")) for n in re.findall(r"(?<![\w.])[+−]?\d+\.\d", text)]


def contrast(first="dyck", less="none", low=1, high=3):
    """Return a contrast overall; the interval in points."""
    row = report_results.contrasts("dyck - none").filter(by="").row(0, named=True)
    ends = {"share": (low + high) / 200, "joint_low": low / 100, "joint_high": high / 100}
    names = {"contrast": f"{first} - {less}", "first": first, "less": less}
    return pl.DataFrame([row | names | ends], schema=CONTRASTS)


def verdicts(study, **fits):
    """Return what is said of fits that pass their checks, contrast by contrast."""
    fits = fits or study.collected.fits
    passed = {name: replace(fit, diagnostics=PASSED) for name, fit in fits.items()}
    said = findings.contrasts(report_results.changed(study.collected, fits=passed))
    return [" ".join(sentence.text for sentence in sentences) for sentences in said]


# ---- contrasts -----------------------------------------------------------------------------------


def test_a_contrast_is_told_by_verdict_and_where_evidence_is_kept(study):
    (said,) = (
        text for text in verdicts(study) if text.startswith("Filtering: baby-f (without binding")
    )
    overall, _, parts = said.partition(" words of training")
    assert "no difference" in overall and parts.startswith(" on average over sizes")
    assert signed(overall)[:3] == [-1.2, -3.8, 1.2]
    lower, _, rest = parts.partition("Higher: ")
    assert signed(lower)[:3] == [-7.5, -10.0, -5.0]  # binding
    assert "evidence kept" not in lower and "Wanna (evidence kept) +5.0 [+2.5, +7.5" in rest
    # A filter that names no phenomenon may be aimed at any
    unnamed = study.spec.model_copy(update={"removed": {"baby-f": {"own": []}}})
    (said,) = (text for text in verdicts(study.changed(spec=unnamed)) if "without own" in text)
    assert "kept" not in said


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
    first, second, third, fourth = findings.treatments(
        report_results.changed(study.collected, conditions=cells)
    ).to_dicts()
    assert [first[name] for name in ("removed", "direct", "evidence", "evidence_whole", "back",
                                     "back_direct")] == pytest.approx(
        [263 / 27_146, 4 / 263, 4, 8, 0.002, 1 / 54])  # fmt: skip
    assert second["removed"] == 263 / 27_146 and second["direct"] is second["back"] is None
    assert [first[name] for name in ("rule", "backstop", "sentences")] == [250, 13, 54]
    assert third["filter"].endswith("as many as x")
    assert (third["removed"], third["refilled"]) == (263 / 27_146, 1_270)
    assert (fourth["filter"], fourth["changed"], fourth["removed"]) == ("drop-articles", 0.5, None)


def numbers(text):
    """Return the numbers of a text, without the names of conditions."""
    return [n.replace("−", "-").replace(",", "") for n in
            re.findall(r"(?<![\w.−-])[+−]?\d[\d,]*(?:\.\d+)?(?![\w-])", text)]  # fmt: skip


def written_as(value):
    """Return how a table's value may stand in a sentence."""
    if isinstance(value, float):
        return {f"{100 * value:+.1f}", f"{value:+.2f}", f"{value:.2g}"}
    return {str(value)}


@pytest.mark.parametrize("name", ["study", "biased"])
def test_the_numbers_of_each_finding_are_those_of_its_row(name, request, tmp_path):
    made = request.getfixturevalue(name)
    own = made.collected
    fits = {name: replace(fit, diagnostics=PASSED) for name, fit in own.fits.items()}
    made = made.changed(fits=fits)
    facts, page = made.written(findings, tmp_path)
    with report_results.undrawn():
        model.write(page)
    said = [finding for contrast in facts["verdicts"] for finding in contrast]
    assert {finding.table for finding in said} == (
        {"contrasts-bias"} if name == "biased" else {"contrasts-condition"}
    )
    for finding in said:
        csv = pl.read_csv(tmp_path / f"tables/{finding.table}.csv")
        rows = [csv.row(number - 1) for number in finding.rows]
        known = set().union(*(written_as(value) for row in rows for value in row)) | {"95", "5"}
        assert numbers(finding.text) and set(numbers(finding.text)) <= known, finding
    html = made.html(findings, tmp_path)
    for finding in said:
        assert all(f'href="#{finding.table}-{number}"' in html for number in finding.rows)


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
    (finding,) = findings.unquoted(made.collected)
    assert "condition is not quoted" in finding.text
    assert 'href="tables/fit-condition.csv"' in made.html(findings, tmp_path)
    assert made.written(findings, tmp_path)[0]["failed"]
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
    compared = [*(("tree-planting", *row) for row in controls), ("random-trees", "none", 1, 3)]
    frame = pl.concat([contrast(*row) for row in compared])
    fit = replace(report_results.fit("bias"), contrasts=frame)
    (said,) = verdicts(biased, bias=fit)  # a control is no finding of its own
    verdict = said.rpartition(": ")[2]
    assert ("not shown that structure helps" in verdict) == bool(short)
    assert all(name in verdict for name in short)


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
    alert = findings.control(report_results.changed(study.collected, fits=fits))
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
        return dict(page.warnings(report_results.changed(collected, **fields)))

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
