"""Tables and figures of accuracies: baselines, marks, rivals, suites, children, curves."""

from dataclasses import replace
from functools import partial

import polars as pl
import pytest

from poshgrid.core import writing
from poshgrid.report import figures
from poshgrid.report.accuracies import cells, of_level, wide
from poshgrid.report.collect import children_of
from poshgrid.report.layout import groups
from poshgrid.report.sections import accuracy
from poshgrid.statistics.curves import over_seeds
from poshgrid.statistics.schema import CURVES

from . import report_results
from .report_results import percents

UNTRAINED = {"10M": 0.30, "30M": 0.40, "50M": 0.35}
UNIGRAM = {"10M": 0.52, "30M": 0.60, "50M": 0.50}
TRAINED = pl.col("recipe") == "packed"


def table3(study):
    places = of_level(study.layout, "posh", "category")
    return wide("t", "table3", cells(study.collected, study.layout, places, baselines=True))


def table8(study):
    places = of_level(study.layout, "posh", "phenomenon")
    frame = cells(study.collected, study.layout, places, baselines=True)
    return wide("t", "table8", frame, ("Category", "Phenomenon"))


# ---- baselines and marks -------------------------------------------------------------------------


def test_table3_ends_with_the_baselines_over_its_rows(study):
    """Only the unigram baseline is far from 50%, and at 30M alone."""
    size = pl.col("size")
    far = pl.when(TRAINED & (size == "30M")).then(pl.lit("unigram")).otherwise(pl.lit(""))
    frame = study.collected.accuracy.with_columns(
        untrained=pl.when(TRAINED).then(size.replace_strict(UNTRAINED, return_dtype=pl.Float64)),
        unigram=pl.when(TRAINED).then(size.replace_strict(UNIGRAM, return_dtype=pl.Float64)),
        far=far,
    )
    table = table3(study.changed(accuracy=frame))
    assert [row[:2] for row in table.rows[-2:]] == [
        ["Baselines", "untrained"], ["Baselines", "unigram"]
    ]  # fmt: skip
    assert table.rows[5][1:] == ["wiki", *[writing.NOT_RUN] * 5]
    for (_, baseline, *own), values in zip(table.rows[-2:], (UNTRAINED, UNIGRAM), strict=True):
        # three conditions at 10M and 50M, and two at 30M, were run
        mean = (3 * values["10M"] + 2 * values["30M"] + 3 * values["50M"]) / 8
        for cell in own:
            assert cell["mean"] == pytest.approx(mean)
            assert (cell["least"], cell["most"]) == (min(values.values()), max(values.values()))
            assert (cell["n_cells"], cell["stars_pooled"], cell["sd"]) == (8, "", None)
            assert cell["marks"] == ("‡" if baseline == "unigram" else "")


def test_a_baseline_enters_once_however_many_biases_share_it(biased):
    runs = [t for t in biased.collected.trained if "baby-f/10K/gpt2-mini/packed/rec" not in
            t.run.name]  # fmt: skip
    # By hand: baby's two arms share one baseline of 30%, the only one of baby-f has 60%.
    value = pl.when(pl.col("condition") == "baby").then(0.3).otherwise(0.6)
    frame = biased.collected.accuracy.with_columns(untrained=pl.when(TRAINED).then(value))
    made = biased.changed(accuracy=frame, trained=runs)
    for cell in (*table3(made).rows[-1][2:], *(row[-1] for row in table8(made).rows)):
        assert cell["mean"] == pytest.approx(0.45)  # 0.4 if every cell counted
        assert cell["n_cells"] == 2


@pytest.mark.parametrize(
    ("by_sum", "by_mean", "marked"),
    [(0.6, 0.66, True), (0.66, 0.6, True), (0.6, 0.65, False), (None, 0.6, False)],
)
def test_a_cell_that_the_reduction_turns_by_more_than_five_points_is_marked(
    study, by_sum, by_mean, marked
):
    ends = {"mean_sum": pl.lit(by_sum, pl.Float64), "mean_mean": pl.lit(by_mean)}
    frame = study.collected.accuracy.with_columns(**ends, far=pl.lit(""))
    cell = table3(study.changed(accuracy=frame)).rows[0][2]
    assert cell["marks"] == ("§" if marked else "")


# ---- levels and rivals ---------------------------------------------------------------------------

RIVAL = {
    "rival": "nearest-noun", "rival_mean": 0.55, "above_rival": 0.2, "above_rival_low": 0.1,
    "above_rival_high": 0.3, "learned": "yes",
}  # fmt: skip


def test_a_rival_is_named_marked_and_listed_and_parts_have_tables_of_their_own(study, tmp_path):
    at = {"level": "phenomenon", "phenomenon": "principle-a-command", "condition": "baby",
             "size": "10M"}  # fmt: skip
    here = pl.all_horizontal(TRAINED, *(pl.col(axis) == value for axis, value in at.items()))
    frame = study.collected.accuracy.with_columns(
        pl.when(here).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in {"mean": 0.75, **RIVAL}.items()
    )
    parts = pl.concat([
        frame.filter(here).with_columns(
            level=pl.lit(level), part=pl.lit(part), mean=pl.lit(mean)
        )
        for level, part, mean in (
            ("template", "relative", 0.3), ("template", "possessor", 0.9), ("cell", "a", 0.1))
    ])  # fmt: skip
    made = study.changed(accuracy=pl.concat([frame, parts]))
    _, page = made.written(accuracy, tmp_path)
    table = page.shown["accuracy-posh-phenomena"]
    row = next(row for row in table.rows if row[1] == "principle-a-command")
    assert row[2]["marks"] == "✓" and row[2]["mean"] == 0.75  # not the last template's
    csv = pl.read_csv(tmp_path / "tables/accuracy-posh-phenomena.csv")
    own = csv.filter(title="principle-a-command", models="baby", size="10M")
    assert own.select(list(RIVAL)).row(0, named=True) == RIVAL
    (rival,) = report_results.shown(page, "rivals-posh")
    assert list(rival.values())[3:] == [
        "75.0", "nearest-noun", "55.0", "+20.0", "+10.0", "+30.0", "yes"
    ]  # fmt: skip
    templates = page.shown["accuracy-posh-templates"].rows
    assert {row[1]: row[2]["mean"] for row in templates} == {"possessor": 0.9, "relative": 0.3}
    assert templates[0][3] == writing.NOT_RUN  # baby-f at 10M has no such row
    _, page = study.written(accuracy, tmp_path)
    assert not {"accuracy-posh-templates", "rivals-posh"} & set(page.shown)


# ---- across suites -------------------------------------------------------------------------------


def test_conditions_are_compared_where_all_else_is_alike(study):
    """Of all experiments together: conditions without a bias, then the biases of one of them."""
    arms = [(0, "baby", "no bias"), (1, "wiki", "no bias"), (2, "wiki", "dyck")]
    points = pl.DataFrame(arms, schema=["arm", "condition", "variant"], orient="row")
    both = points.with_columns(models=pl.format("{} {}", "condition", "variant"), series=None)
    made = groups(replace(study.layout, points=both))
    assert [(condition, [name for name, _ in arms]) for condition, arms in made] == [
        ("", ["baby", "wiki"]), ("wiki", ["no bias", "dyck"])
    ]  # fmt: skip


def test_categories_are_drawn_in_every_suite(study, tmp_path):
    _, page = study.written(accuracy, tmp_path)
    assert not [name for name in page.shown if name.startswith("figure-accuracy")]
    own = study.collected
    other = own.accuracy.with_columns(
        mean=pl.col("mean") / 2, suite=pl.lit("blimp"), unigram=pl.lit(0.41), ngram=pl.lit(0.59)
    )
    spec = study.spec.model_copy(update={"suites": ["blimp", "posh"]})
    items = dict.fromkeys(spec.suites, own.items["posh"])
    both = study.changed(spec=spec, items=items, accuracy=pl.concat([own.accuracy, other]))
    both.written(accuracy, tmp_path)
    categories = pl.read_csv(tmp_path / "tables/accuracy-data.csv")
    assert set(categories["suite"]) == {"blimp", "posh"}
    marks = report_results.drawn(figures.lines, categories)
    assert percents(categories["mean"]) | {41.0, 59.0} <= marks


def test_boxes_hold_the_accuracy_of_each_seed_on_each_template(study, tmp_path, monkeypatch):
    counts = study.collected.table("counts").filter(TRAINED, suite="posh")
    frame = accuracy.spread(study.collected, study.layout, "posh")
    shares = counts.select(pl.col("correct") / pl.col("n")).to_series()
    assert sorted(frame["share"]) == sorted(shares)
    medians = frame.group_by("panel", "size", "series").agg(pl.median("share"))
    assert percents(medians["share"]) <= report_results.drawn(figures.boxes, frame)
    study.written(accuracy, tmp_path)
    assert (tmp_path / "figures/spread-posh.pdf").is_file()
    monkeypatch.setattr(accuracy, "BOXES", frame.select("size", "series").n_unique() - 1)
    assert accuracy.spread(study.collected, study.layout, "posh").is_empty()


def test_children_stand_beside_models_of_the_same_phenomena(study, tmp_path):
    _, page = study.changed(children=children_of("posh-bench")).written(accuracy, tmp_path)
    rows = report_results.shown(page, "children-posh")
    questions = [
        list(row.values())[:3] for row in rows if row["Phenomenon"] == "question-formation"
    ]
    assert questions == [
        ["question-formation", "3;2-4;7", "38.0"], ["question-formation", "4;7-5;11", "80.0"],
    ]  # fmt: skip
    adjunct = study.collected.accuracy.filter(
        TRAINED, condition="wiki", size="10M", level="phenomenon", phenomenon="island-adjunct"
    )
    assert rows[0]["10M wiki"] == f"{100 * adjunct['mean'][0]:.1f}"
    assert {row["30M wiki"] for row in rows} == {"–"}  # it was not run


# ---- in the course of training -------------------------------------------------------------------


def curve(bias="none", epochs=(0, 1, 2)):
    """Return the rows of one arm: the categories at every epoch, and what was kept (epoch 1.5)."""
    usual = {"condition": "baby-f", "size": "10K", "model": "gpt2-mini", "recipe": "packed",
             "suite": "posh", "level": "category", "phenomenon": "", "n_seeds": 2, "sd": 0.02,
             "bias": bias, "pairs": 100}  # fmt: skip
    return [
        usual | {
            "category": category, "kept": epoch is None, "epoch": epoch or 1.5 * (epoch is None),
            "step": None if epoch is None else 10 * epoch,
            "mean": 0.3 + number / 100 + (epoch or 1.5) / 10 + 0.05 * (bias != "none"),
        }
        for number, category in enumerate(sorted(set(report_results.CATEGORY.values())))
        for epoch in (*epochs, None)
    ]  # fmt: skip


def test_curves_draw_the_numbers_of_the_table(biased):
    rows = pl.DataFrame(
        [*curve(), *curve("recency", (1, 2))], schema=over_seeds(pl.DataFrame(schema=CURVES)).schema
    )
    other = rows.with_columns(step=pl.when("kept").then(None).otherwise(0), size=pl.lit("20K"))
    made = biased.changed(
        curves=pl.concat([rows, other.cast(rows.schema)])
    )  # of step 0 alone there is no curve
    panels = of_level(made.layout, "posh", "category")[:-1]
    frame = accuracy.trajectories(made.collected, made.layout, panels)
    assert sorted(frame["mean"]) == pytest.approx(sorted(rows["mean"]))
    marks = report_results.drawn(partial(figures.lines, x="epoch"), frame)
    assert percents(rows["mean"]) | {0, 1, 1.5, 2} <= marks
