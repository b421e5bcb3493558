"""The opening: its numbers, which question a model answers, what is warned of and left out."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from poshgrid import files
from poshgrid.config.paths import Paths
from poshgrid.report import answers, figures, page
from poshgrid.report.sections import findings
from tests.unit.report import report_results


def sentences(study):
    return findings.findings(study.collected, study.layout)


def signed(text):
    """Return the signed numbers of a sentence."""
    return [float(n.replace("−", "-")) for n in re.findall(r"(?<![\w.])[+−]\d+\.\d", text)]


def fitted(name="bias", contrasts=None, diagnostics=None, **spec):
    """Return a fit whose cells are not known."""
    made = report_results.fit("bias")
    return replace(
        made, name=name, spec=spec, predictive=made.predictive.clear(),
        contrasts=made.contrasts.clear() if contrasts is None else contrasts,
        diagnostics=diagnostics or {"converged": True},
    )  # fmt: skip


def answer(study, question, *fits):
    fits = {fit.name: fit for fit in fits} or study.collected.fits
    return answers.answer(replace(study.collected, fits=fits), question)


def overall_of(study, *axes):
    rows = study.collected.accuracy.filter(level="overall", regimen="packed")
    return {row[:-1]: 100 * row[-1] for row in rows.select(*axes, "mean").iter_rows()}


def test_the_opening_shows_conditions_alone_and_says_which_lost_evidence(biased, tmp_path):
    figures.opening(biased.page(tmp_path), "posh")
    csv = pl.read_csv(tmp_path / "tables/opening-posh-data.csv")
    # No bias: recency is out
    assert set(csv["series"]) == {"baby", "baby-f (without binding and question-formation)"}
    plain = biased.collected.accuracy.filter(bias="none", level="overall", regimen="packed")
    assert sorted(csv.filter(panel="Overall")["mean"]) == pytest.approx(sorted(plain["mean"]))


# ---- what models say -----------------------------------------------------------------------------


def test_a_contrast_is_quoted_with_its_parts_where_evidence_is_gone_and_kept(study):
    aimed, _, kept = answer(study, "filtering").partition("Where evidence is kept")
    assert signed(aimed) == [-1.2, -3.8, 1.2, -7.5, -10.0, -5.0]  # overall, binding
    assert signed(kept) == [5.0, 2.5, 7.5]  # wanna
    # A filter that names no phenomenon may be aimed at any; without filters nothing is named
    unnamed = study.spec.model_copy(update={"removed": {"baby-f": {"own": []}}})
    said = answer(study.changed(spec=unnamed), "filtering")
    assert "of own" in said and "kept" not in said and len(signed(said)) == 9
    assert signed(answer(study, "register"))[:3] == [-5.0, -7.5, -2.5]
    assert answer(study, "biases") == ""


def test_a_model_that_has_not_converged_is_not_quoted(study):
    fits = study.collected.fits
    broken = replace(fits["condition"], diagnostics={"converged": False})
    made = study.changed(fits=fits | {"condition": broken})
    assert answer(made, "filtering") == ""
    assert answers.unconverged(made.collected) in sentences(made)
    # The accuracies answer in its place
    (said,) = [text for text in sentences(made) if "direct evidence is removed" in text]
    overall = overall_of(study, "condition", "size")
    changes = [overall["baby-f", s] - overall["baby", s] for s in ("10M", "30M", "50M")]
    assert signed(said) == pytest.approx(changes, abs=0.051)


@pytest.mark.parametrize(
    ("factor", "first", "less", "question"),
    [
        ("condition", "baby", "baby-f", "filtering"), ("condition", "wiki", "baby-f", "register"),
        ("condition", "elsewhere", "baby", "other"), ("filter", "yes", "no", "filtering"),
        ("bias", "dyck", "none", "biases"), ("learner", "a", "b", "other"),
    ],
)  # fmt: skip
def test_which_question_a_contrast_answers(study, factor, first, less, question):
    row = {"factor": factor, "first": first, "less": less}
    assert answers.asked(study.collected, row) == question


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
    usual = report_results.contrasts("dyck - none").filter(by="")
    compared = [*(("tree-planting", *row) for row in rows), ("random-trees", "none", 1, 3)]
    frame = pl.concat([
        usual.with_columns(
            contrast=pl.lit(f"{first} - {less}"), first=pl.lit(first), less=pl.lit(less),
            share=pl.lit((low + high) / 200), joint_low=pl.lit(low / 100),
            joint_high=pl.lit(high / 100),
        )
        for first, less, low, high in compared
    ])  # fmt: skip
    said = answer(biased, "biases", fitted(contrasts=frame))
    verdict = said.rpartition(": ")[2]
    assert ("not shown to help" in verdict) == bool(short)
    assert all(name in verdict for name in short)
    assert "random-trees compared with no bias" not in said  # a control is no finding of its own
    assert signed(said)[0] == (rows[0][1] + rows[0][2]) / 2


def test_the_change_with_a_bias_is_the_mean_over_conditions(biased):
    bare = biased.changed(fits={})
    (change,) = [text for text in sentences(bare) if text.startswith("Change with a bias")]
    overall = overall_of(biased, "condition", "bias")
    mean = sum(overall[c, "recency"] - overall[c, "none"] for c in ("baby", "baby-f")) / 2
    assert signed(change) == [pytest.approx(mean, abs=0.051)]
    single = biased.collected.accuracy.with_columns(n_seeds=pl.lit(1, dtype=pl.UInt32))
    texts = sentences(bare.changed(accuracy=single))
    assert sum("one seed only" in text for text in texts) == 2


def test_coefficients_are_those_of_the_fit(study):
    medians = re.findall(r"([+−]\d\.\d\d) \[", answers.coefficients(study.collected))
    assert medians == ["+0.12", "+0.09", "+0.09"]  # size, filter, source


# ---- what accuracies say, what is missing --------------------------------------------------------


def test_seeds_that_are_missing_are_counted(tmp_path):
    study = report_results.study(
        tmp_path, conditions=("baby", "baby-f"), sizes=("10K", "20K"), seeds=(1, 2), models=(),
        missing=("baby-f/20K/gpt2-small/packed", "baby/20K/gpt2-small/packed/none/seed2"),
    )  # fmt: skip
    assert re.findall(r"(\d+) of 4 cells", sentences(study)[-1]) == ["1", "1"]
    ((_, why),) = page.warnings(study.collected)
    assert "3 of 16 models" in why


def test_learned_counts_every_cell_and_chooses_none(study):
    trained = (pl.col("level") == "phenomenon") & (pl.col("regimen") == "packed")
    verdict = (
        pl.when(phenomenon="wanna").then(pl.lit("yes"))
        .when(phenomenon="island-wh", condition="baby").then(pl.lit("yes"))
        .otherwise(pl.lit("cannot tell"))
    )  # fmt: skip
    rows = study.collected.accuracy.with_columns(learned=pl.when(trained).then(verdict))
    text = sentences(study.changed(accuracy=rows))[0]
    yes, _, unsure = text.partition("; cannot tell: ")
    assert re.findall(r"\((\d+) of (\d+) cells\)", yes) == [("3", "8")]
    assert "wanna" in yes and "wanna" not in unsure
    assert re.findall(r"island-wh \((\d+)", text) == ["3", "5"]


def test_void_conditions_shared_pairs_and_models_without_files_are_warned_of(study):
    collected = study.collected

    def warned(**fields):
        return dict(page.warnings(replace(collected, **fields)))

    assert list(warned()) == ["Incomplete."]
    (cell, facts), *_ = collected.conditions.items()
    nothing = {"binding.paper": {"rule": 0, "backstop": 0, "words": 0, "never": []}}
    for change in ({"removed": nothing}, {"reinserted": {"binding": {"sentences": 0}}}):
        why = warned(conditions=collected.conditions | {cell: facts | change})["No contrast."]
        assert "binding" in why and f"{cell[0]} at {cell[1]}" in why
    same = {key: f | {"base": "b", "digest": key[1]} for key, f in collected.conditions.items()}
    assert warned(conditions=same)["No contrast."].count("baby and baby-f and wiki") == 3
    posh = collected.items["posh"]
    turned = posh.head(3).rename({"good": "bad", "bad": "good"})
    shared = warned(items={"posh": posh, "again": posh.head(2), "turned": turned})
    assert {"again", "turned"} <= set(shared["Pairs in two suites."].split())
    assert "Pairs in two suites." not in warned(items={"posh": posh, "posh-holistic": posh})
    assert "condition" in warned(fits={"paper": collected.fits["paper"]})["Models missing."]


def test_overridden_checks_are_told_before_the_numbers(tmp_path):
    spec = report_results.build(tmp_path, conditions=("baby", "baby-f"), sizes=("20K",), seeds=(1,))
    paths = Paths(str(tmp_path))
    assert list(page.allowed(report_results.study(tmp_path, spec).collected)) == []
    condition = f"{paths.condition('baby-f', '20K')}/statistics.json"
    leak = {"allowed": {"leak": "99 of 100 dev sentences are trained on"}}
    files.write_json(condition, files.read_json(condition) | leak)
    base = paths.sentences("baby").replace("sentences.parquet", "statistics.json")
    statistics = files.read_json(base)
    statistics["train"]["20K"]["words"] = 30_000
    files.write_json(base, statistics)
    first, second = page.allowed(report_results.study(tmp_path, spec).collected)
    assert first == leak["allowed"]["leak"]
    assert "20K" in second and "30,000" in second
