"""The opening: its numbers, which question a model answers, what is warned of and left out."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from poshgrid.report import answers, figures, page
from poshgrid.report.collect import Fit, gather
from poshgrid.report.layout import lay_out
from poshgrid.report.records import Record
from poshgrid.report.sections import findings
from poshgrid.report.shelf import Shelf
from tests.unit.report import report_results


def built(tmp_path_factory, **options):
    results = tmp_path_factory.mktemp("results")
    return gather(report_results.build(results, **options), results)


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """Three conditions, three sizes, and both models."""
    return built(tmp_path_factory)


@pytest.fixture(scope="module")
def biased(tmp_path_factory):
    """Two conditions and biases, one size, and the model of biases."""
    return built(
        tmp_path_factory, conditions=("baby", "baby-f"), sizes=("10K",), seeds=(1, 2),
        biases=("none", "recency"), models=("bias",),
    )  # fmt: skip


def found(collected):
    return findings.findings(collected, lay_out(collected))


def signed(text):
    """Return the signed numbers of a sentence."""
    return [float(n.replace("−", "-")) for n in re.findall(r"(?<![\w.])[+−]\d+\.\d", text)]


def bare(name="other", contrasts=(), diagnostics=None, **spec):
    facts = {"converged": True} if diagnostics is None else diagnostics
    cells = report_results.predictive().clear()
    rows = report_results.contrasts(*contrasts)
    return Fit(name, report_results.summary([]), rows, cells, facts, spec)


def with_fits(collected, *fits):
    return replace(collected, fits={fit.name: fit for fit in fits})


def overall_of(collected, *axes):
    rows = collected.accuracy.filter(level="overall", regimen="packed")
    return {row[:-1]: 100 * row[-1] for row in rows.select(*axes, "mean").iter_rows()}


def test_the_opening_shows_conditions_alone_and_says_which_lost_evidence(biased, tmp_path):
    made = report_results.page(biased, Shelf(tmp_path))
    assert figures.opening(made, "posh").name == "opening-posh"
    csv = pl.read_csv(tmp_path / "tables/opening-posh-data.csv")
    # No bias: recency is out
    assert set(csv["series"]) == {"baby", "baby-f (without binding and question-formation)"}
    plain = biased.accuracy.filter(bias="none", level="overall", regimen="packed")
    assert sorted(csv.filter(panel="Overall")["mean"]) == pytest.approx(sorted(plain["mean"]))


# ---- what models say -----------------------------------------------------------------------------


def test_a_contrast_is_quoted_with_its_parts_where_evidence_is_gone_and_kept(complete):
    said = answers.answer(complete, "filtering")
    aimed, _, kept = said.partition("Where evidence is kept")
    assert signed(aimed) == [-1.2, -3.8, 1.2, -7.5, -10.0, -5.0]  # overall, binding
    assert signed(kept) == [5.0, 2.5, 7.5]  # wanna
    # A filter that names no phenomenon may be aimed at any; without filters nothing is named
    unnamed = complete.spec.model_copy(update={"removed": {"baby-f": {"own": []}}})
    said = answers.answer(replace(complete, spec=unnamed), "filtering")
    assert "of own" in said and "kept" not in said and len(signed(said)) == 9
    assert signed(answers.answer(complete, "register"))[:3] == [-5.0, -7.5, -2.5]
    assert answers.answer(complete, "biases") == ""


def test_a_model_that_has_not_converged_is_not_quoted(complete):
    failed = {"converged": False, "reasons": ["17 divergences"], "predictive": {}}
    fits = {**complete.fits}
    fits["condition"] = replace(fits["condition"], diagnostics=failed)
    broken = replace(complete, fits=fits)
    assert answers.answer(broken, "filtering") == ""
    texts = found(broken)
    assert answers.unconverged(broken) in texts and "condition" in answers.unconverged(broken)
    # The accuracies answer in its place
    (said,) = [text for text in texts if "direct evidence is removed" in text]
    overall = overall_of(complete, "condition", "size")
    changes = [overall["baby-f", s] - overall["baby", s] for s in ("10M", "30M", "50M")]
    assert signed(said) == pytest.approx(changes, abs=0.051)


def test_a_model_of_some_phenomena_speaks_of_its_templates_after_the_others(complete):
    by = pl.when(pl.col("by") == "").then(pl.lit(""))
    rows = report_results.contrasts("filtering").with_columns(
        by=by.otherwise(pl.lit("template")), level=by.otherwise("b/" + pl.col("level"))
    )
    more = replace(bare("binding", phenomena=["binding"]), contrasts=rows)
    said = answers.answer(with_fits(complete, more, complete.fits["condition"]), "filtering")
    first, _, second = said.partition("Bayesian model binding")
    assert signed(first)[0] == -1.2
    assert signed(second) == [-7.5, -10.0, -5.0, 5.0, 2.5, 7.5]  # no overall number again


@pytest.mark.parametrize(
    ("factor", "first", "less", "question"),
    [
        ("condition", "baby", "baby-f", "filtering"), ("condition", "wiki", "baby-f", "register"),
        ("condition", "elsewhere", "baby", "other"), ("filter", "yes", "no", "filtering"),
        ("source", "wiki", "baby", "register"), ("bias", "dyck", "none", "biases"),
        ("learner", "a", "b", "other"),
    ],
)  # fmt: skip
def test_which_question_a_contrast_answers(complete, factor, first, less, question):
    row = {"factor": factor, "first": first, "less": less}
    assert answers.asked(complete, row) == question


def controlled(*less_of_tree_planting):
    """Contrasts of tree-planting: (less, low, high in points); and of a control less none."""
    row = report_results.contrasts("dyck - none").filter(by="")
    return pl.concat([
        row.with_columns(
            contrast=pl.lit(f"{first} - {less}"), first=pl.lit(first), less=pl.lit(less),
            share=pl.lit((low + high) / 200), joint_low=pl.lit(low / 100),
            joint_high=pl.lit(high / 100),
        )
        for first, less, low, high in [
            *(("tree-planting", *each) for each in less_of_tree_planting),
            ("random-trees", "none", 1.0, 3.0),
        ]
    ])  # fmt: skip


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
    fit = replace(bare("bias"), contrasts=controlled(*rows))
    said = answers.answer(with_fits(biased, fit), "biases")
    verdict = said.rpartition(": ")[2]
    assert ("not shown to help" in verdict) == bool(short)
    assert all(name in verdict for name in short)
    assert "random-trees compared with no bias" not in said  # a control is no finding of its own
    assert signed(said)[0] == (rows[0][1] + rows[0][2]) / 2


def test_of_many_contrasts_the_furthest_from_zero_are_listed(biased):
    rows = pl.concat([
        report_results.contrasts("dyck - none").filter(by="").with_columns(
            first=pl.lit(f"b{i}"), contrast=pl.lit(f"b{i} - none"),
            share=pl.lit(i * (-1) ** i / 100),
        )
        for i in range(1, 7)
    ])  # fmt: skip
    said = answers.answer(with_fits(biased, replace(bare("many"), contrasts=rows)), "biases")
    assert re.findall(r"b\d", said) == ["b6", "b5", "b4", "b3"] and "6 of 6" in said


def test_one_seed_is_said_of_models_and_of_accuracies(biased):
    one_seed = "one seed only"
    cells = report_results.predictive(0).with_columns(n_seeds=pl.lit(1, dtype=pl.UInt32))
    fit = bare("bias", ("recency - none", "dyck - none"))
    alone = with_fits(biased, replace(fit, predictive=cells))
    assert one_seed in answers.answer(alone, "biases")
    assert one_seed not in answers.answer(with_fits(biased, fit), "biases")
    bare_ = with_fits(biased)
    changes = [text for text in found(bare_) if text.startswith("Change with a bias")]
    overall = overall_of(biased, "condition", "bias")
    mean = sum(overall[c, "recency"] - overall[c, "none"] for c in ("baby", "baby-f")) / 2
    assert signed(changes[0]) == [pytest.approx(mean, abs=0.051)] and one_seed not in changes[0]
    single = biased.accuracy.with_columns(n_seeds=pl.lit(1, dtype=pl.UInt32))
    assert sum(one_seed in text for text in found(replace(bare_, accuracy=single))) == 2


def test_coefficients_and_checks_are_those_of_the_fits(complete):
    medians = re.findall(r"([+−]\d\.\d\d) \[", answers.coefficients(complete))
    assert medians == ["+0.12", "+0.09", "+0.07"]  # size, filter, source
    facts = {"converged": True, "predictive": {"cells": 99, "inside": 58}}
    seeds = {"converged": True, "predictive": {"cells": 20, "inside": 19, "p": 0.002}}
    fine = {"converged": True, "predictive": {"cells": 20, "inside": 19}}
    fits = [bare(n, diagnostics=d) for n, d in (("a", facts), ("b", seeds), ("c", fine))]
    said = answers.checks(with_fits(complete, *fits))
    shown = re.findall(r"(\d+) of (\d+) cells \(Bayesian model (\w)(, too narrow)?\)", said)
    assert shown == [
        ("41", "99", "a", ", too narrow"), ("1", "20", "b", ", too narrow"), ("1", "20", "c", ""),
    ]  # fmt: skip
    assert answers.checks(with_fits(complete, bare("a"))) == ""


# ---- what accuracies say, what is missing --------------------------------------------------------


def test_several_suites_are_named_and_the_opening_stays_short(complete):
    suites = [f"suite{i}" for i in range(4)]
    rows = [complete.accuracy.with_columns(suite=pl.lit(name)) for name in suites]
    spec = complete.spec.model_copy(update={"suites": [*suites, "empty"]})
    items = dict.fromkeys(spec.suites, complete.items["posh"])
    made = replace(complete, spec=spec, accuracy=pl.concat(rows), items=items)
    texts = found(made)
    assert len(texts) == findings.MOST
    assert [text.split(": ")[0] for text in texts[:4]] == suites
    # Far more sentences than there is room for: the check and what is missing stay
    assert texts[-2] == answers.checks(made)
    assert "9 of 45 cells" in texts[-1]
    assert found(replace(with_fits(complete), accuracy=complete.accuracy.clear())) == []


def test_what_is_missing_is_counted_by_cells_and_seeds(tmp_path):
    spec = report_results.build(
        tmp_path, conditions=("baby", "baby-f"), sizes=("10K", "20K"), seeds=(1, 2), models=(),
        missing=("baby-f/20K/gpt2-small/packed", "baby/20K/gpt2-small/packed/none/seed2"),
    )  # fmt: skip
    collected = gather(spec, tmp_path)
    assert re.findall(r"(\d+) of 4 cells", found(collected)[-1]) == ["1", "1"]
    ((what, why),) = page.warnings(collected)
    assert what == "Incomplete." and "3 of 16 models" in why


def test_learned_counts_every_cell_and_chooses_none(complete):
    """Once intervals tell, the sentence is no longer about each phenomenon's best cell."""
    trained = (pl.col("level") == "phenomenon") & (pl.col("regimen") == "packed")
    sure = (
        pl.when(phenomenon="wanna").then(pl.lit(value=True))
        .when(phenomenon="island-wh").then(pl.col("condition") == "baby")
        .otherwise(pl.lit(value=False))
    )  # fmt: skip
    rows = complete.accuracy.with_columns(learned=pl.when(trained).then(sure))
    text = found(replace(complete, accuracy=rows))[0]
    assert "in every cell: wanna;" in text
    assert "in some cells: island-wh (3 of 9: baby 10M, baby 30M and baby 50M);" in text
    assert text.count(",") >= 6 and "in none: " in text


def test_void_conditions_shared_pairs_and_models_without_files_are_warned_of(complete):
    def warned(**fields):
        return dict(page.warnings(replace(complete, **fields)))

    assert warned() == {}
    (place, facts), *_ = complete.conditions.items()
    nothing = {"binding.paper": {"rule": 0, "backstop": 0, "words": 0, "never": []}}
    blind = {"passive.paper": {"rule": 9, "backstop": 0, "words": 80, "never": ["Voice=Pass"]}}
    for change, names in (
        ({"removed": nothing}, ("binding.paper",)),
        ({"removed": blind}, ("passive.paper", "Voice=Pass")),
        ({"reinserted": {"binding": {"sentences": 0}}}, ("binding",)),
    ):
        told = warned(conditions=complete.conditions | {place: facts | change})["No contrast."]
        assert all(name in told for name in (*names, f"{place[0]} at {place[1]}"))
    same = {key: f | {"base": "b", "digest": key[1]} for key, f in complete.conditions.items()}
    assert warned(conditions=same)["No contrast."].count("baby and baby-f and wiki") == 3
    (suite, items), *_ = complete.items.items()
    turned = items.head(3).rename({"good": "bad", "bad": "good"})
    told = warned(items={suite: items, "again": items.head(2), "turned": turned})
    shared = told["Pairs in two suites."]
    assert "share 2 pairs" in shared or "share 1 pair" in shared
    assert "calls good what turned calls bad" in shared
    assert warned(items={suite: items, f"{suite}-holistic": items}) == {}
    assert warned(fits={"paper": complete.fits["paper"]})["Models missing."].endswith("condition.")
    content = {"settings": {"source": {"name": "made-up", "reader": "toy"}}}
    toys = [*complete.records, Record("read", "made-up", "read", content)]
    assert warned(records=toys)["Toy text."].startswith("made-up: ")
