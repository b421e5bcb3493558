"""The sentences of the opening: their numbers, their order, their grammar, what they leave out."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from poshgrid.report import answers, frames, page
from poshgrid.report.cells import Cell
from poshgrid.report.collect import Fit, gather
from poshgrid.report.layout import lay_out
from poshgrid.report.records import Record
from poshgrid.report.sections import findings
from poshgrid.report.shelf import Shelf
from tests.unit.report import report_results

REMOVING = "Removing direct evidence of binding and question-formation"


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """Three conditions, three sizes, and both models."""
    results = tmp_path_factory.mktemp("complete")
    return gather(report_results.build(results), results)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """One condition, size and seed, no model."""
    results = tmp_path_factory.mktemp("small")
    spec = report_results.build(
        results, conditions=("baby",), sizes=("10K",), seeds=(1,), models=()
    )  # fmt: skip
    return gather(spec, results)


@pytest.fixture(scope="module")
def biased(tmp_path_factory):
    """Two conditions and biases, one size, and the model of biases."""
    results = tmp_path_factory.mktemp("biased")
    spec = report_results.build(
        results, conditions=("baby", "baby-f"), sizes=("10K",), seeds=(1, 2),
        biases=("none", "recency"), models=("bias",),
    )  # fmt: skip
    return gather(spec, results)


def test_the_opening_shows_conditions_alone_and_says_which_lost_evidence(biased, tmp_path):
    made = report_results.page(biased, Shelf(tmp_path))
    assert frames.opening(made, "posh").name == "opening-posh"
    csv = pl.read_csv(tmp_path / "tables/opening-posh-data.csv")
    assert set(csv["series"]) == {
        "baby",
        "baby-f (without binding and question-formation)",
    }  # no bias: recency is out
    bare = biased.accuracy.filter(
        (pl.col("bias") == "none")
        & (pl.col("level") == "overall")
        & (pl.col("regimen") == "packed")
    )
    overall = csv.filter(pl.col("panel") == "Overall")
    assert sorted(overall["mean"]) == pytest.approx(sorted(bare["mean"]))


def found(collected):
    return findings.findings(collected, lay_out(collected))


def one(texts, begins):
    """Return the only sentence that begins so."""
    matching = [text for text in texts if re.match(begins, text)]
    assert len(matching) == 1, (begins, texts)
    return matching[0]


def model(collected, name, **changes):
    """Return the collected results with one model changed, or left out."""
    fits = {**collected.fits, name: replace(collected.fits[name], **changes)}
    return replace(collected, fits=fits)


def bare(name="other", contrasts=(), diagnostics=None, terms=()):
    rows = report_results.contrasts(*contrasts)
    facts = {"converged": True} if diagnostics is None else diagnostics
    cells = report_results.predictive().clear()
    return Fit(name, report_results.summary(list(terms)), rows, cells, facts, {})


def with_fits(collected, *fits):
    return replace(collected, fits={fit.name: fit for fit in fits})


def test_text_of_the_toy_grammar_is_called_so(small):
    assert not any(what == "Toy text." for what, _ in page.warnings(small))
    content = {"settings": {"source": {"name": "made-up", "reader": "toy"}}}
    made = replace(small, records=[*small.records, Record("read", "made-up", "read", content)])
    assert dict(page.warnings(made))["Toy text."].startswith("made-up: sentences of a small")


# ---- learned -------------------------------------------------------------------------------------


def test_single_seeds_cannot_tell_what_is_learned(complete):
    untold = complete.accuracy.with_columns(learned=pl.lit(None, dtype=pl.Boolean))
    texts = found(replace(complete, accuracy=untold))
    assert one(texts, "No cell can tell what is learned: that takes two seeds") == texts[0]
    assert not any(text.startswith("Learned") for text in texts)


# ---- contrasts -----------------------------------------------------------------------------------


def test_filtering_is_quoted_from_the_condition_model(complete):
    assert answers.answer(complete, "filtering") == (
        "Removing direct evidence of binding and question-formation (95% intervals): baby-f minus "
        "baby −1.2 points [−3.8, +1.2], not clear. Clear by category: Binding −7.5 points [−10.0, "
        "−5.0]. Not clear: Question formation. Where evidence is kept, clear: Wanna +5.0 points "
        "[+2.5, +7.5]. Not clear: Islands (intervals too narrow: see the model's check)."
    )
    # A filter that names no phenomenon may be aimed at any; without filters nothing is named
    unnamed = complete.spec.model_copy(update={"removed": {"baby-f": {"own": []}}})
    assert answers.answer(replace(complete, spec=unnamed), "filtering") == (
        "Removing direct evidence of own (95% intervals): baby-f minus baby −1.2 points [−3.8, "
        "+1.2], not clear. Clear by category: Binding −7.5 points [−10.0, −5.0]; Wanna +5.0 points "
        "[+2.5, +7.5]. Not clear: Islands, Question formation (intervals too narrow: see the "
        "model's check)."
    )
    unknown = complete.spec.model_copy(update={"removed": {}})
    said = answers.answer(replace(complete, spec=unknown), "filtering")
    assert said.startswith("Removing direct evidence (95% intervals): baby-f minus baby")
    register = answers.answer(complete, "register")
    assert register.startswith(
        "Another kind of text (95% intervals): wiki minus baby −5.0 points [−7.5, −2.5]. Clear"
    )
    assert "not clear" not in register and "Not clear" not in register
    assert answers.answer(complete, "biases") == ""


def test_without_a_model_the_accuracies_answer(complete):
    quoted = found(complete)
    assert not any(text.startswith("Change where direct evidence is removed") for text in quoted)
    without = found(with_fits(complete))
    said = one(
        without,
        r"Change where direct evidence is removed \(baby-f without binding and question-formation\)"
        ", in points: ",
    )
    overall = {
        (r["condition"], r["size"]): r["mean"]
        for r in complete.accuracy.filter(
            (pl.col("level") == "overall") & (pl.col("regimen") == "packed")
        ).iter_rows(named=True)
    }
    for size in ("10M", "30M", "50M"):
        change = 100 * (overall["baby-f", size] - overall["baby", size])
        assert f"{change:+.1f} at {size} (baby-f minus baby)".replace("-", "−").replace(
            "baby−f", "baby-f"
        ) in said  # fmt: skip


def test_a_model_that_has_not_converged_is_not_quoted(complete):
    failed = {"converged": False, "reasons": ["17 divergences"], "predictive": {}}
    texts = found(model(complete, "condition", diagnostics=failed))
    assert "Not converged, and not quoted here: condition." in texts
    assert not any("model condition" in text for text in texts)
    assert one(
        texts, "Change where direct evidence is removed"
    )  # the accuracies answer in its place
    both = with_fits(
        complete, *(replace(fit, diagnostics=failed) for fit in complete.fits.values())
    )
    texts = found(both)
    assert "Not converged, and not quoted here: paper, condition." in texts
    assert not any("log odds" in text for text in texts)
    assert not any("predictive intervals" in text for text in texts)


def test_a_second_model_adds_its_number(complete):
    more = bare("factorial", ("filtering",))
    said = answers.answer(with_fits(complete, complete.fits["condition"], more), "filtering")
    assert said.endswith(
        " Bayesian model factorial, 95% intervals: baby-f minus baby −1.2 points [−3.8, +1.2], "
        "not clear."
    )


def test_a_model_of_some_phenomena_comes_last_and_says_so(complete):
    more = replace(bare("binding", ("filtering",)), spec={"phenomena": ["binding"]})
    said = answers.answer(with_fits(complete, more, complete.fits["condition"]), "filtering")
    assert said.startswith(f"{REMOVING} (95% intervals): baby-f minus baby")
    assert " Bayesian model binding, binding alone, 95% intervals: baby-f minus baby −1.2" in said
    assert answers.answer(with_fits(complete, more), "filtering").startswith(
        f"{REMOVING} (binding alone, 95% intervals): baby-f minus baby −1.2"
    )


def test_such_a_model_speaks_of_its_templates_where_another_has_spoken_of_it_all(complete):
    rows = report_results.contrasts("filtering").with_columns(
        by=pl.when(pl.col("by") == "").then(pl.lit("")).otherwise(pl.lit("template")),
        level=pl.when(pl.col("by") == "").then(pl.lit("")).otherwise("b/" + pl.col("level")),
    )
    more = replace(bare("binding"), contrasts=rows, spec={"phenomena": ["binding"]})
    said = answers.answer(with_fits(complete, complete.fits["condition"], more), "filtering")
    assert said.endswith(
        " Bayesian model binding, binding alone, 95% intervals: baby-f minus baby. "
        "Clear by template: binding −7.5 points [−10.0, −5.0]; b/wanna +5.0 points [+2.5, +7.5]. "
        "Not clear: b/island, b/question-formation."
    )


def test_which_question_a_contrast_answers(complete):
    def asked(factor, first, less):
        row = {"factor": factor, "first": first, "less": less}
        return answers.asked(complete, row)

    assert asked("condition", "baby-f", "baby") == "filtering"
    assert asked("condition", "baby", "baby-f") == "filtering"
    assert asked("condition", "wiki", "baby") == "register"
    assert asked("condition", "wiki", "baby-f") == "register"
    assert asked("condition", "elsewhere", "baby") == "other"
    assert asked("filter", "yes", "no") == "filtering"
    assert asked("source", "wiki", "baby") == "register"
    assert asked("bias", "dyck", "none") == "biases"
    assert asked("learner", "a", "b") == "other"


def test_one_bias_and_several(biased):
    assert answers.answer(biased, "biases").startswith(
        "Inductive biases (95% intervals): recency compared with no bias +1.0 points [−1.5, "
        "+3.5], not "
        "clear. Clear by category: Binding +5.0 points [+2.5, +7.5]"
    )
    two = with_fits(biased, bare("bias", ("recency - none", "dyck - none")))
    assert answers.answer(two, "biases") == (
        "Inductive biases (95% intervals): recency compared with no bias +1.0 points [−1.5, "
        "+3.5], not "
        "clear; dyck compared with no bias +3.8 points [+1.2, +6.2]."
    )


def controlled(*less_of_tree_planting):
    """Contrasts of tree-planting: (less, low, high in points); and of a control less none."""
    row = report_results.contrasts("dyck - none").filter(pl.col("by") == "")
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
    ("rows", "verdict"),
    [
        ([("none", 2, 4), ("random-trees", 1, 3)], "structure helps."),
        (
            [("none", 2, 4), ("random-trees", -1, 3)],
            "structure is not shown to help, for it is not clearly above random-trees.",
        ),
        (
            [("none", -2, 4), ("random-trees", 1, 3), ("sequential-trees", -4, -1)],
            "structure is not shown to help, for it is not clearly above no bias and "
            "sequential-trees.",
        ),
    ],
)
def test_structure_helps_only_where_it_beats_its_controls(biased, rows, verdict):
    said = answers.answer(
        with_fits(biased, replace(bare("bias"), contrasts=controlled(*rows))), "biases"
    )
    assert said.endswith(verdict)
    assert "random-trees compared with no bias" not in said  # a control is no finding of its own
    assert (
        f"tree-planting compared with no bias +{(rows[0][1] + rows[0][2]) / 2:.1f} points" in said
    )


def test_without_a_control_nothing_is_said_of_structure(biased):
    assert "structure" not in answers.answer(biased, "biases")


def test_of_many_contrasts_the_furthest_from_zero_are_listed(biased):
    rows = pl.concat([
        report_results.contrasts("dyck - none").filter(pl.col("by") == "").with_columns(
            first=pl.lit(f"b{i}"), contrast=pl.lit(f"b{i} - none"),
            share=pl.lit(i * (-1) ** i / 100),
        )
        for i in range(1, 7)
    ])  # fmt: skip
    said = answers.answer(with_fits(biased, replace(bare("many"), contrasts=rows)), "biases")
    assert said.startswith(
        "Inductive biases (95% intervals): clear in 6 of 6; furthest from 0: b6 compared with "
        "no bias +6.0 "
        "points"
    )
    assert re.findall(r"b\d", said) == ["b6", "b5", "b4", "b3"]


def test_what_is_sure_is_so_of_the_points_that_are_quoted(biased):
    rows = report_results.contrasts("dyck - none")
    # Log odds above 0, points not: what is quoted decides
    rows = rows.with_columns(low=pl.lit(0.01), high=pl.lit(0.9), joint_low=pl.lit(-0.01),
                             joint_high=pl.lit(0.09))  # fmt: skip
    said = answers.answer(with_fits(biased, replace(bare(), contrasts=rows)), "biases")
    assert said == (
        "Inductive biases (95% intervals): dyck compared with no bias +3.8 points [−1.0, "
        "+9.0], not clear. "
        "Clear by category: none. Not clear: Binding, Islands, Question formation, Wanna."
    )


def test_one_seed_is_said_of_models_and_of_accuracies(biased):
    def trained(number):
        return report_results.predictive(0).with_columns(n_seeds=pl.lit(number, dtype=pl.UInt32))

    names = ("recency - none", "dyck - none")
    both = replace(bare("bias", names), predictive=trained(1))
    told = "(one seed only, so runs may differ by chance)."
    assert answers.answer(with_fits(biased, both), "biases").endswith(f"[+1.2, +6.2] {told}")
    alone = replace(both, contrasts=report_results.contrasts(*names[:1]))
    assert answers.answer(with_fits(biased, alone), "biases").endswith(told)
    narrow = replace(alone, predictive=trained(1).with_columns(observed=pl.lit(0.01)))
    assert answers.answer(with_fits(biased, narrow), "biases").endswith(
        "(one seed only, so runs may differ by chance; intervals too narrow: see the model's "
        "check)."
    )
    # One bias of two: its own number says so
    mixed = pl.concat([trained(2), trained(1).with_columns(bias=pl.lit("dyck"))])
    said = answers.answer(with_fits(biased, replace(both, predictive=mixed)), "biases")
    assert said.endswith(f"; dyck compared with no bias +3.8 points [+1.2, +6.2] {told}")
    assert "recency compared with no bias +1.0 points [−1.5, +3.5], not clear;" in said
    without = with_fits(biased)
    assert told not in one(found(without), "Change with a bias")
    single = replace(
        without, accuracy=without.accuracy.with_columns(n_seeds=pl.lit(1, dtype=pl.UInt32))
    )
    assert one(found(single), "Change with a bias").endswith(told)
    assert one(found(single), "Change where direct evidence is removed").endswith(told)


def test_a_second_model_of_another_suite_says_so(complete):
    spec = complete.spec.model_copy(update={"suites": ["posh", "zorro"]})
    more = replace(bare("factorial", ("filtering",)), spec={"suite": "zorro"})
    made = replace(with_fits(complete, complete.fits["condition"], more), spec=spec)
    said = answers.answer(made, "filtering")
    assert said.startswith(f"{REMOVING} (on posh, 95% intervals): ")
    assert " Bayesian model factorial on zorro, 95% intervals: baby-f minus baby −1.2" in said
    made = replace(made, fits={"paper": complete.fits["paper"]})
    assert answers.coefficients(made).startswith("Log odds (Bayesian model paper on posh, 95%")


def test_biases_without_a_model_are_compared_cell_by_cell(biased):
    overall = {
        (r["condition"], r["bias"]): r["mean"]
        for r in biased.accuracy.filter(
            (pl.col("level") == "overall") & (pl.col("regimen") == "packed")
        ).iter_rows(named=True)
    }
    changes = [overall[c, "recency"] - overall[c, "none"] for c in ("baby", "baby-f")]
    said = one(found(with_fits(biased)), "Change with a bias")
    change = f"{50 * sum(changes):+.1f}".replace("-", "−")
    assert said == f"Change with a bias, in points: {change} recency (mean of 2 cells)."


# ---- coefficients and checks ---------------------------------------------------------------------


def test_main_effects_of_a_model_without_contrasts(complete):
    assert answers.coefficients(complete) == (
        "Log odds (Bayesian model paper, 95% intervals): Training size (z) +0.12 [0.08, "
        "0.16]; Filtering "
        "(yes vs. no) +0.09 [0.05, 0.13]; Training source (baby vs. wiki) +0.07 [0.03, 0.11]. A "
        "coefficient of two levels is half the difference between them (yes and no; baby and wiki)."
    )


def test_the_checks_are_counted(complete):
    def facts(cells, outside):
        numbers = {"cells": cells, "inside": cells - outside}
        return {"converged": True, "predictive": numbers}

    one_ = with_fits(complete, bare("a", diagnostics=facts(99, 41)))
    assert answers.checks(one_) == (
        "Outside the models' 95% predictive intervals (5% expected): 41 of 99 cells (Bayesian "
        "model a, too "
        "narrow)."
    )
    seeds = facts(20, 1)
    seeds["predictive"]["p"] = 0.002  # of single runs
    assert "1 of 20 cells (Bayesian model a, too narrow)" in answers.checks(
        with_fits(complete, bare("a", diagnostics=seeds))
    )
    two = with_fits(
        complete, bare("a", diagnostics=facts(20, 1)), bare("b", diagnostics=facts(20, 2))
    )
    assert answers.checks(two) == (
        "Outside the models' 95% predictive intervals (5% expected): 1 of 20 cells (Bayesian "
        "model a), 2 of "
        "20 cells (Bayesian model b)."
    )
    assert answers.checks(with_fits(complete, bare("a"))) == ""


# ---- order, suites, partial grids ----------------------------------------------------------------


def test_the_papers_questions_come_first(complete):
    texts = found(complete)
    begins = [
        "No cell can tell", f"{REMOVING} (", "Another kind of text (",
        "Models that only",
        "Change from the smallest", "Log odds (", "Outside the models'", "Of 36 category",
    ]  # fmt: skip
    assert [text.startswith(b) for text, b in zip(texts, begins, strict=True)] == [True] * 8


def test_one_cell_needs_no_comparison(small):
    texts = found(small)
    assert not any("smallest" in text or "evidence" in text or "SD" in text for text in texts)
    best = one(texts, "Overall accuracy: ")
    row = small.accuracy.filter(
        (pl.col("level") == "overall") & (pl.col("regimen") == "packed")
    ).row(0, named=True)  # fmt: skip
    words = small.conditions["baby", "10K"]["splits"]["train"]["words"]
    assert words != 10_000  # the size's name
    assert best == (
        f"Overall accuracy: {100 * row['mean']:.1f}% (baby, {words:,} words); untrained, "
        f"{100 * row['untrained']:.1f}%."
    )
    assert one(texts, "Of 4 category accuracies")


def test_several_suites_are_named_and_the_opening_stays_short(complete):
    suites = [f"suite{i}" for i in range(4)]
    rows = [complete.accuracy.with_columns(suite=pl.lit(name)) for name in suites]
    spec = complete.spec.model_copy(update={"suites": [*suites, "empty"]})
    made = replace(
        complete, spec=spec, accuracy=pl.concat(rows),
        items=dict.fromkeys(spec.suites, complete.items["posh"]),
    )  # fmt: skip
    texts = found(made)
    assert len(texts) == findings.MOST
    assert [text.split(": ")[0] for text in texts[:4]] == suites
    assert texts[4].startswith(f"{REMOVING} (on posh")
    # Far more sentences than there is room for: the check stays
    check = one(texts, "Outside the models' 95% predictive intervals")
    assert texts.index(check) == findings.MOST - 2
    assert "(Bayesian model paper" in check
    assert texts[-1] == "Not run, and left out above: 9 of 45 cells."


def test_what_is_missing_comes_last_and_in_words(tmp_path):
    spec = report_results.build(
        tmp_path, conditions=("baby", "baby-f"), sizes=("10K", "20K"), seeds=(1, 2), models=(),
        missing=("baby-f/20K/gpt2-small/packed", "baby/20K/gpt2-small/packed/none/seed2"),
    )  # fmt: skip
    collected = gather(spec, tmp_path)
    assert found(collected)[-1] == (
        "Not run, and left out above: 1 of 4 cells. With fewer seeds than asked for: 1 of 4 cells."
    )
    assert next(page.warnings(collected)) == (
        "Incomplete.",
        "Not there yet: 3 of 16 models (baby-f/20K/gpt2-small/packed/none/seed1, "
        "baby-f/20K/gpt2-small/packed/none/seed2, baby/20K/gpt2-small/packed/none/seed2). Cells "
        "that need them say “not run”.",
    )


def test_models_without_files_are_warned_of(complete):
    none = with_fits(complete)
    assert ("No model.", "Not fitted, or not converged (the logs say which): paper, "
            "condition.") in page.warnings(none)  # fmt: skip
    less = with_fits(complete, complete.fits["paper"])
    assert (
        "Models missing.", "Not fitted, or not converged (the logs say which): condition.",
    ) in page.warnings(less)  # fmt: skip
    assert list(page.warnings(complete)) == []


def test_pairs_that_two_suites_share_are_warned_of(complete):
    """The same pair under two names, and one suite's good member as another's bad one."""
    (suite, items), *_ = complete.items.items()
    turned = items.head(3).rename({"good": "bad", "bad": "good"})
    several = {suite: items, "again": items.head(2), "turned": turned}
    again = replace(complete, items={suite: items, f"{suite}-holistic": items})
    assert list(page.warnings(again)) == []
    (told,) = page.warnings(replace(complete, items=several))
    assert told == (
        "Pairs in two suites.",
        f"{suite} and again share 1 pair; {suite} calls good what turned calls bad in 1 pair; "
        "again calls good what turned calls bad in 1 pair. They count in each.",
    )


def test_void_conditions_are_warned_of(complete):
    """A filter and a re-insertion without effect, a blind one, two conditions that are one."""
    (first, size), *_ = complete.conditions
    assert first == "baby"

    def planted(place, **statistics):
        known = complete.conditions
        return replace(complete, conditions=known | {place: known[place] | statistics})

    nothing = {"binding.paper": {"rule": 0, "backstop": 0, "words": 0, "never": []}}
    blind = {"passive.paper": {"rule": 9, "backstop": 0, "words": 80, "never": ["Voice=Pass"]}}
    back = {"binding": {"sentences": 0, "available": 0}}
    for found, told in (
        (planted(("baby", size), removed=nothing), f"baby at {size}: filter binding.paper removes "
         "nothing"),
        (planted(("baby", size), removed=blind), f"baby at {size}: filter passive.paper looks for "
         "Voice=Pass, which its parser never writes"),
        (planted(("baby", size), reinserted=back), f"baby at {size}: none of what "
         "binding removes is put back"),
    ):  # fmt: skip
        assert list(page.warnings(found)) == [
            ("No contrast.", f"{told}. What is compared there is the same."),
        ]  # fmt: skip
    known = complete.conditions
    same = {
        place: facts | {"base": "baby", "digest": f"{place[1]}{place[0] == 'wiki'}"}
        for place, facts in known.items()
    }
    mine = sorted({condition for condition, _ in known} - {"wiki"})
    sizes = list(dict.fromkeys(at for _, at in known))
    (warning,) = page.warnings(replace(complete, conditions=same))
    assert warning[1] == (
        "; ".join(f"{' and '.join(mine)} hold the same training sentences at {at}" for at in sizes)
        + ". What is compared there is the same."
    )


def test_no_accuracies_no_findings(complete):
    empty = replace(with_fits(complete), accuracy=complete.accuracy.clear())
    assert found(empty) == []


def test_many_differences_are_summed_up():
    def told(*changes):
        cells = [Cell(0.5 + c, None, 2, 9, None, None, None, "", None, "") for c in (0, *changes)]
        return next(findings._changes("of x", [(f"at {i}", [(cell, cells[0])])
                                               for i, cell in enumerate(cells[1:])]))  # fmt: skip

    assert told(0.01, -0.02) == "Change of x, in points: +1.0 at 0; −2.0 at 1."
    assert told(-0.02, 0.0, 0.01, 0.03, 0.08) == (
        "Change of x, in points: +2.0 on average (−2.0 to +8.0, 5 comparisons)."
    )


def test_learned_counts_every_cell_and_chooses_none(complete):
    """Once intervals tell, the sentence is no longer about each phenomenon's best cell."""
    trained = (pl.col("level") == "phenomenon") & (pl.col("regimen") == "packed")
    sure = (
        pl.when(pl.col("phenomenon") == "wanna")
        .then(pl.lit(True))
        .when(pl.col("phenomenon") == "island-wh")
        .then(pl.col("condition") == "baby")
        .otherwise(pl.lit(False))
    )
    rows = complete.accuracy.with_columns(learned=pl.when(trained).then(sure))
    cells = rows.filter(trained, phenomenon="wanna").height
    of_baby = rows.filter(trained, phenomenon="island-wh", condition="baby").height
    assert 0 < of_baby < cells
    text = one(found(replace(complete, accuracy=rows)), "Learned in every cell")
    assert "in every cell: wanna;" in text
    assert (
        f"in some cells: island-wh ({of_baby} of {cells}: baby 10M, baby 30M and baby 50M);" in text
    )
    assert "in none: " in text
    assert "in some cell;" not in " ".join(found(replace(complete, accuracy=rows)))
