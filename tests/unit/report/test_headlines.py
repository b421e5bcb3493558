"""The sentences of the opening: their numbers, their order, their grammar, what they leave out."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from poshgrid.report import answers, headlines
from poshgrid.report.collect import Fit, gather
from poshgrid.report.layout import lay_out
from tests.unit.report import report_results


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """Three conditions, three sizes, and both models."""
    results = tmp_path_factory.mktemp("complete")
    return gather(report_results.build(results), results, results)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """One condition, size and seed, no model."""
    results = tmp_path_factory.mktemp("small")
    spec = report_results.build(
        results, conditions=("baby",), sizes=("10K",), seeds=(1,), models=()
    )  # fmt: skip
    return gather(spec, results, results)


@pytest.fixture(scope="module")
def biased(tmp_path_factory):
    """Two conditions and biases, one size, and the model of biases."""
    results = tmp_path_factory.mktemp("biased")
    spec = report_results.build(
        results, conditions=("baby", "baby-f"), sizes=("10K",), seeds=(1, 2),
        biases=("none", "recency"), models=("bias",),
    )  # fmt: skip
    return gather(spec, results, results)


def found(collected):
    return headlines.findings(collected, lay_out(collected))


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


def set_phenomena(collected, values):
    """Return the results with these accuracies and nulls (share) by phenomenon, in every cell."""
    frame = collected.accuracy
    for name, changes in values.items():
        here = (pl.col("phenomenon") == name) & (pl.col("regimen") == "packed")
        frame = frame.with_columns(
            pl.when(here).then(pl.lit(value)).otherwise(column).alias(column)
            for column, value in changes.items()
        )
    return replace(collected, accuracy=frame)


# ---- learned -------------------------------------------------------------------------------------


def learned(collected):
    return next(headlines._learned(collected, lay_out(collected), "posh"))


def only(collected, *names):
    """Return the results with these phenomena alone."""
    items = {s: f.filter(pl.col("phenomenon").is_in(names)) for s, f in collected.items.items()}
    rows = collected.accuracy.filter(
        (pl.col("level") != "phenomenon") | pl.col("phenomenon").is_in(names)
    )
    return replace(collected, items=items, accuracy=rows)


def test_what_is_below_half_or_below_a_null_is_not_learned(complete):
    made = set_phenomena(complete, {
        "wanna": {"mean": 0.45, "untrained": 0.12},  # 33 points above its null, below 50%
        "island-wh": {"mean": 0.80, "untrained": 0.40, "ngram": 0.78},  # words alone reach 78%
        "island-adjunct": {"mean": 0.60, "untrained": 0.50},  # 10 points: just enough
        "principle-a-command": {"mean": 0.90, "untrained": 0.55, "unigram": 0.61},
    })  # fmt: skip
    made = only(made, "wanna", "island-wh", "island-adjunct", "principle-a-command")
    assert learned(made) == (
        "2 of 4 phenomena are at least 10 points above 50% and the nulls of the cell (untrained, "
        "unigram and n-gram) in some cell; principle-a-command is furthest above (+29.0 points). "
        "No cell is above them on wanna."
    )


def test_one_phenomenon_and_no_null(small):
    made = set_phenomena(small, {"wanna": {"mean": 0.75, "untrained": None}})
    assert learned(only(made, "wanna")) == (
        "1 of 1 phenomenon is at least 10 points above 50% (no null was run) in some cell; "
        "wanna is furthest above (+25.0 points)."
    )
    made = set_phenomena(small, {"wanna": {"mean": 0.35, "untrained": 0.3}})
    assert learned(only(made, "wanna")) == (
        "0 of 1 phenomenon is at least 10 points above 50% and the null of the cell (untrained) "
        "in some cell. No cell is above them on wanna."
    )


def test_a_cell_without_nulls_is_not_held_to_half_alone(complete):
    made = set_phenomena(complete, {
        "wanna": {"mean": 0.72, "untrained": 0.70},
        "island-wh": {"mean": 0.80, "untrained": 0.40},
    })  # fmt: skip
    made = only(made, "wanna", "island-wh")
    none = pl.lit(None, dtype=pl.Float64)
    bare_ = (pl.col("condition") == "wiki") & (pl.col("size") != "10M")
    frame = made.accuracy.with_columns(
        pl.when(~bare_).then(pl.col(name)).otherwise(none).alias(name)
        for name in ("untrained", "unigram", "ngram")
    )
    assert learned(replace(made, accuracy=frame)) == (
        "1 of 2 phenomena is at least 10 points above 50% and the null of the cell (untrained) in "
        "some cell; island-wh is furthest above (+30.0 points). 2 of 9 cells have no null, and are "
        "left out here."
    )
    frame = made.accuracy.with_columns(
        ngram=pl.when(~bare_ & (pl.col("regimen") == "packed")).then(0.45)
    )
    said = learned(replace(made, accuracy=frame))
    assert "(untrained and n-gram)" in said
    assert said.endswith(". 2 of 9 cells are held to some of these nulls.")


# ---- contrasts -----------------------------------------------------------------------------------


def test_filtering_is_quoted_from_the_condition_model(complete):
    assert answers.answer(complete, "filtering") == (
        "Filtering changes accuracy by −1.2 points [−3.8, +1.2] (model condition: baby-f less "
        "baby; 95% interval), which may be no change at all; by category, Binding −7.5 [−10.0, "
        "−5.0] and Wanna +5.0 [+2.5, +7.5] (no sure change: Islands and Question formation) "
        "(intervals too narrow: see its check)."
    )
    register = answers.answer(complete, "register")
    assert register.startswith("Register changes accuracy by −5.0 points [−7.5, −2.5] (model")
    assert "no change" not in register and "no sure" not in register
    assert answers.answer(complete, "biases") == ""


def test_without_a_model_the_accuracies_answer(complete):
    quoted = found(complete)
    assert not any(text.startswith("Training without direct evidence") for text in quoted)
    without = found(with_fits(complete))
    said = one(without, "Training without direct evidence changes overall accuracy by")
    overall = {
        (r["condition"], r["size"]): r["mean"]
        for r in complete.accuracy.filter(
            (pl.col("level") == "overall") & (pl.col("regimen") == "packed")
        ).iter_rows(named=True)
    }
    for size in ("10M", "30M", "50M"):
        change = 100 * (overall["baby-f", size] - overall["baby", size])
        assert f"{change:+.1f} points at {size} (baby-f less baby)".replace("-", "−").replace(
            "baby−f", "baby-f"
        ) in said  # fmt: skip


def test_a_model_that_has_not_converged_is_not_quoted(complete):
    failed = {"converged": False, "reasons": ["17 divergences"], "predictive": {}}
    texts = found(model(complete, "condition", diagnostics=failed))
    assert "Model condition has not converged; its estimates are not quoted here." in texts
    assert not any("(model condition" in text or "of model condition" in text for text in texts)
    assert one(texts, "Training without direct evidence")  # the accuracies answer in its place
    both = with_fits(
        complete, *(replace(fit, diagnostics=failed) for fit in complete.fits.values())
    )
    texts = found(both)
    assert (
        "Models paper and condition have not converged; their estimates are not quoted here."
        in (texts)
    )
    assert not any("log odds" in text for text in texts)
    assert not any("Posterior predictive" in text for text in texts)


def test_a_second_model_adds_its_number(complete):
    more = bare("factorial", ("filtering",))
    said = answers.answer(with_fits(complete, complete.fits["condition"], more), "filtering")
    assert said.endswith("; −1.2 points [−3.8, +1.2] in model factorial.".replace(" points", ""))


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
        "Bias changes accuracy by +1.0 points [−1.5, +3.5] (model bias: recency less none; "
        "95% interval), which may be no change at all; by category, Binding +5.0 [+2.5, +7.5] "
    )
    two = with_fits(biased, bare("bias", ("recency - none", "dyck - none")))
    assert answers.answer(two, "biases") == (
        "1 of 2 biases changes overall accuracy for sure against none (model bias; 95% intervals): "
        "recency +1.0 points [−1.5, +3.5] and dyck +3.8 points [+1.2, +6.2]."
    )


def test_of_many_contrasts_the_furthest_from_zero_are_listed(biased):
    rows = pl.concat([
        report_results.contrasts("dyck - none").filter(pl.col("by") == "").with_columns(
            first=pl.lit(f"b{i}"), contrast=pl.lit(f"b{i} - none"),
            share=pl.lit(i * (-1) ** i / 100),
        )
        for i in range(1, 7)
    ])  # fmt: skip
    said = answers.answer(with_fits(biased, replace(bare("many"), contrasts=rows)), "biases")
    assert said.startswith("6 of 6 biases change overall accuracy for sure against none (model many"
                           "; 95% intervals, the furthest from 0): b6 +6.0 points")  # fmt: skip
    assert re.findall(r"b\d", said) == ["b6", "b5", "b4", "b3"]


def test_what_is_sure_is_so_of_the_points_that_are_quoted(biased):
    rows = report_results.contrasts("dyck - none")
    # Log odds above 0, points not: what is quoted decides
    rows = rows.with_columns(low=pl.lit(0.01), high=pl.lit(0.9), share_low=pl.lit(-0.01),
                             share_high=pl.lit(0.09))  # fmt: skip
    said = answers.answer(with_fits(biased, replace(bare(), contrasts=rows)), "biases")
    assert said == (
        "Bias changes accuracy by +3.8 points [−1.0, +9.0] (model other: dyck less none; 95% "
        "interval), which may be no change at all; the interval of every category holds 0."
    )


def test_one_seed_is_said_of_models_and_of_accuracies(biased):
    def trained(number):
        return report_results.predictive(0).with_columns(n_seeds=pl.lit(number, dtype=pl.UInt32))

    names = ("recency - none", "dyck - none")
    both = replace(bare("bias", names), predictive=trained(1))
    told = "(one seed: differences between runs)."
    assert answers.answer(with_fits(biased, both), "biases").endswith(f"[+1.2, +6.2] {told}")
    alone = replace(both, contrasts=report_results.contrasts(*names[:1]))
    assert answers.answer(with_fits(biased, alone), "biases").endswith(told)
    narrow = replace(alone, predictive=trained(1).with_columns(observed=pl.lit(0.01)))
    assert answers.answer(with_fits(biased, narrow), "biases").endswith(
        "(one seed: differences between runs; intervals too narrow: see its check)."
    )
    # One bias of two: its own number says so
    mixed = pl.concat([trained(2), trained(1).with_columns(bias=pl.lit("dyck"))])
    said = answers.answer(with_fits(biased, replace(both, predictive=mixed)), "biases")
    assert said.endswith(f"and dyck +3.8 points [+1.2, +6.2] {told}")
    assert "recency +1.0 points [−1.5, +3.5] and" in said
    without = with_fits(biased)
    assert told not in one(found(without), "Overall accuracy with a bias")
    single = replace(
        without, accuracy=without.accuracy.with_columns(n_seeds=pl.lit(1, dtype=pl.UInt32))
    )
    assert one(found(single), "Overall accuracy with a bias").endswith(told)
    assert one(found(single), "Training without direct evidence").endswith(told)


def test_a_second_model_of_another_suite_says_so(complete):
    spec = complete.spec.model_copy(update={"suites": ["posh", "zorro"]})
    more = replace(bare("factorial", ("filtering",)), spec={"suite": "zorro"})
    made = replace(with_fits(complete, complete.fits["condition"], more), spec=spec)
    said = answers.answer(made, "filtering")
    assert said.startswith("posh: Filtering changes accuracy by")
    assert said.endswith("; −1.2 [−3.8, +1.2] in model factorial, of zorro.")
    made = replace(made, fits={"paper": complete.fits["paper"]})
    assert answers.coefficients(made).startswith("posh: Model paper, log odds")


def test_biases_without_a_model_are_compared_cell_by_cell(biased):
    overall = {
        (r["condition"], r["bias"]): r["mean"]
        for r in biased.accuracy.filter(
            (pl.col("level") == "overall") & (pl.col("regimen") == "packed")
        ).iter_rows(named=True)
    }
    changes = [overall[c, "recency"] - overall[c, "none"] for c in ("baby", "baby-f")]
    said = one(found(with_fits(biased)), "Overall accuracy with a bias")
    assert said == (
        "Overall accuracy with a bias, less that without, mean over 2 cells: recency "
        f"{50 * sum(changes):+.1f} points.".replace("-", "−")
    )


# ---- coefficients and checks ---------------------------------------------------------------------


def test_main_effects_of_a_model_without_contrasts(complete):
    assert answers.coefficients(complete) == (
        "Model paper, log odds with 95% intervals: Training size (z) +0.12 [0.08, 0.16], Filtering "
        "(yes vs. no) +0.09 [0.05, 0.13] and Training source (baby vs. wiki) +0.07 [0.03, 0.11]; "
        "coefficients of factors with two levels are half the difference between yes and no and "
        "half the difference between baby and wiki."
    )


def test_the_checks_are_counted(complete):
    def facts(cells, outside):
        numbers = {"cells": cells, "inside": cells - outside}
        return {"converged": True, "predictive": numbers}

    one_ = with_fits(complete, bare("a", diagnostics=facts(99, 41)))
    assert answers.checks(one_) == (
        "Posterior predictive check: outside the 95% interval (5% by chance) lie 41 of 99 cells of "
        "model a. The intervals of model a are too narrow for how much cells and single runs "
        "differ."
    )
    seeds = facts(20, 1)
    seeds["predictive"]["p"] = 0.002  # of single runs
    assert "intervals of model a are too narrow" in answers.checks(
        with_fits(complete, bare("a", diagnostics=seeds))
    )
    two = with_fits(
        complete, bare("a", diagnostics=facts(20, 1)), bare("b", diagnostics=facts(20, 2))
    )
    assert answers.checks(two) == (
        "Posterior predictive check: outside the 95% interval (5% by chance) lies 1 of 20 cells of "
        "model a and 2 of 20 cells of model b, no more than is to be expected."
    )
    assert answers.checks(with_fits(complete, bare("a"))) == ""


# ---- order, suites, partial grids ----------------------------------------------------------------


def test_the_papers_questions_come_first(complete):
    texts = found(complete)
    begins = [
        "7 of 9 phenomena", "Filtering changes", "Register changes", "On 1 of 9",
        "From smallest", "Model paper", "Posterior predictive", "Of 36 category",
    ]  # fmt: skip
    assert [text.startswith(b) for text, b in zip(texts, begins, strict=True)] == [True] * 8


def test_one_cell_needs_no_comparison(small):
    texts = found(small)
    assert not any("smallest" in text or "evidence" in text or "SD" in text for text in texts)
    best = one(texts, "The only overall accuracy is")
    row = small.accuracy.filter(
        (pl.col("level") == "overall") & (pl.col("regimen") == "packed")
    ).row(0, named=True)  # fmt: skip
    assert best == (
        f"The only overall accuracy is {100 * row['mean']:.1f}% (baby, 10K words); the same model "
        f"untrained reaches {100 * row['untrained']:.1f}%."
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
    assert len(texts) == headlines.MOST
    assert [text.split(": ")[0] for text in texts[:4]] == suites
    assert texts[4].startswith("posh: Filtering changes")
    # Far more sentences than there is room for: the check stays
    check = one(texts, "Posterior predictive check")
    assert texts.index(check) == headlines.MOST - 2
    assert "of model paper (posh) and" in check
    assert texts[-1] == "9 of 45 cells are not run, and left out above."


def test_what_is_missing_comes_last_and_in_words(tmp_path):
    spec = report_results.build(
        tmp_path, conditions=("baby", "baby-f"), sizes=("10K", "20K"), seeds=(1, 2), models=(),
        missing=("baby-f/20K/gpt2-small/packed", "baby/20K/gpt2-small/packed/none/seed2"),
    )  # fmt: skip
    collected = gather(spec, tmp_path, tmp_path)
    assert found(collected)[-1] == (
        "1 of 4 cells is not run, and left out above; 1 of 4 cells rests on fewer seeds than were "
        "asked for."
    )
    assert headlines.warnings(collected)[0] == (
        "Incomplete.",
        "3 of 16 models are not there yet (baby-f/20K/gpt2-small/packed/none/seed1, "
        "baby-f/20K/gpt2-small/packed/none/seed2, baby/20K/gpt2-small/packed/none/seed2); their "
        "cells say “not run”.",
    )


def test_models_without_files_are_warned_of(complete):
    none = with_fits(complete)
    assert ("No model.", "Models paper and condition: not fitted, or did not converge: see their "
            "logs.") in headlines.warnings(none)  # fmt: skip
    less = with_fits(complete, complete.fits["paper"])
    assert (
        "Models missing.", "Model condition: not fitted, or did not converge: see its log.",
    ) in headlines.warnings(less)  # fmt: skip
    assert headlines.warnings(complete) == []


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
        (planted(("baby", size), removed=blind), f"baby at {size}: filter passive.paper asks for "
         "Voice=Pass, which no tree of its parser bears"),
        (planted(("baby", size), reinserted=back), f"baby at {size}: nothing is put back of what "
         "binding removes"),
    ):  # fmt: skip
        assert headlines.warnings(found) == [
            ("Void.", f"{told}. What is compared there does not differ."),
        ]  # fmt: skip
    known = complete.conditions
    same = {
        place: facts | {"base": "baby", "digest": f"{place[1]}{place[0] == 'wiki'}"}
        for place, facts in known.items()
    }
    mine = sorted({condition for condition, _ in known} - {"wiki"})
    sizes = list(dict.fromkeys(at for _, at in known))
    (warning,) = headlines.warnings(replace(complete, conditions=same))
    assert warning[1] == (
        "; ".join(f"{' and '.join(mine)} hold the same training sentences at {at}" for at in sizes)
        + ". What is compared there does not differ."
    )


def test_no_accuracies_no_findings(complete):
    empty = replace(with_fits(complete), accuracy=complete.accuracy.clear())
    assert found(empty) == []


def test_many_differences_are_summed_up():
    few = [("for a", 0.01), ("for b", -0.02)]
    assert headlines._changes(few) == "+1.0 points for a and −2.0 points for b"
    many = [("for a", value) for value in (-0.02, 0.0, 0.01, 0.03, 0.08)]
    assert headlines._changes(many) == "+2.0 points on average (−2.0 to +8.0, 5 comparisons)"


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
    text = one(found(replace(complete, accuracy=rows)), "Learned for sure")
    assert "in every cell wanna;" in text
    assert f"in some cells island-wh ({of_baby} of {cells});" in text
    assert "in none " in text
    assert "in some cell;" not in " ".join(found(replace(complete, accuracy=rows)))
