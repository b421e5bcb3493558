"""Figure 1 and Table 7: children stand at words that follow from their age, models at theirs."""

import polars as pl
import pytest

from poshgrid.config.paths import Paths
from poshgrid.errors import PoshgridError
from poshgrid.report import style
from poshgrid.report.blocks import Page
from poshgrid.report.collect import gather
from poshgrid.report.layout import groups, lay_out
from poshgrid.report.sections import children
from poshgrid.report.shelf import Shelf
from poshgrid.statistics import published
from tests.unit.report import report_results


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    return report_results.build(folder, missing=("wiki/30M",)), folder


def read(results):
    spec, folder = results
    found = gather(spec, folder)
    return found, lay_out(found)


def drawn(frame, **options):
    with style.drawing("test"):
        return children.draw(frame, **options)


@pytest.mark.parametrize(
    ("age", "years"),
    [("3", 3), ("3-4", 3.5), ("3;2-4;7", 3 + 10.5 / 12), ("4-4;6", 4.25), ("6-6;6", 6.25)],
)
def test_ages(age, years):
    assert children.years(age) == pytest.approx(years)


@pytest.mark.parametrize("age", ["", "three", "3;12", "3-", "3.5"])
def test_what_is_no_age_is_refused(age):
    with pytest.raises(PoshgridError, match=r"table7\.csv: .* is no age"):
        children.years(age)


def test_children_have_heard_10_30_and_50_million_words_at_five():
    assert [rate * 5 for rate in children.A_YEAR] == [10_000_000, 30_000_000, 50_000_000]


def test_children_stand_at_the_words_of_their_age(results):
    frame = children.points(*read(results), published.load(*published.POSH, "table7"), "posh")
    heard = frame.filter(series=children.CHILDREN)
    assert heard["panel"].unique(maintain_order=True).to_list() == [
        "Adjunct island", "Complex-NP island", "Question formation", "Binding",
    ]  # fmt: skip
    younger, older = heard.filter(panel="Complex-NP island").rows()
    assert younger[2:7] == ("3-4", "", 21e6, 7e6, 35e6)
    assert older[2:7] == ("4-5", "", 27e6, 9e6, 45e6)
    assert (younger[7], older[7]) == pytest.approx((0.553, 0.925))
    assert younger[8:] == older[8:] == (None,) * 3  # no seeds, no nulls


def test_models_stand_at_their_words_with_the_phenomenon_or_category_of_the_row(results):
    found, layout = read(results)
    frame = children.points(found, layout, published.load(*published.POSH, "table7"), "posh")
    rows = found.accuracy.filter(regimen="packed")
    places = {
        "Adjunct island": {"level": "phenomenon", "phenomenon": "island-adjunct"},
        "Complex-NP island": {"level": "phenomenon", "phenomenon": "island-complex-np"},
        "Question formation": {"level": "category", "category": "question-formation"},
        "Binding": {"level": "category", "category": "binding"},
    }
    for panel, place in places.items():
        for condition in ("baby", "baby-f", "wiki"):
            asked = rows.filter(condition=condition, **place).sort("words")
            mine = frame.filter(panel=panel, series=condition)
            assert mine["size"].to_list() == [
                size for size in ("10M", "30M", "50M") if (condition, size) != ("wiki", "30M")
            ]
            for column in ("words", "mean", "sd", "untrained"):
                assert mine[column].to_list() == asked[column].to_list()


def test_the_figure_draws_the_numbers_of_the_frame(results):
    frame = children.points(*read(results), published.load(*published.POSH, "table7"), "posh")
    panels = [axes for axes in drawn(frame).axes if axes.axison]
    assert len(panels) == 4
    for axes in panels:
        mine = frame.filter(panel=axes.get_title(loc="left"))
        for series in ("children", "baby", "baby-f", "wiki"):
            rows = mine.filter(series=series)
            line = next(a for a in axes.lines if a.get_label() == series)
            assert list(line.get_xdata()) == rows["words"].to_list()
            assert list(line.get_ydata()) == pytest.approx([100 * v for v in rows["mean"]])
        bars = [tuple(a.get_xdata()) for a in axes.lines if a.get_label().startswith("_")]
        heard = mine.filter(series="children")
        for bar in heard.select("words_low", "words_high").iter_rows():
            assert bar in bars
        assert [t.get_text() for t in axes.texts] == [a.replace("-", "–") for a in heard["age"]]
        low, high = axes.get_xlim()
        assert low < min(6e6, mine["words"].min()) and high > 62.5e6


def test_models_of_one_small_size_stay_at_their_size_and_are_moved_apart(tmp_path):
    spec = report_results.build(
        tmp_path, conditions=("baby-f",), sizes=("100K",), biases=("none", "dyck", "recency")
    )
    found = gather(spec, tmp_path)
    layout = lay_out(found)
    frame = children.points(found, layout, published.load(*published.POSH, "table7"), "posh")
    models = frame.filter(pl.col("series") != "children")
    assert models["series"].unique(maintain_order=True).to_list() == ["no bias", "dyck", "recency"]
    assert models["words"].unique().to_list() == [100_000 - report_results.LESS]
    axes = drawn(frame).axes[0]
    at = {a.get_label(): a.get_xdata()[0] for a in axes.lines if len(a.get_xdata()) == 1}
    assert at["dyck"] == pytest.approx(100_000 - report_results.LESS)
    assert 70_000 < at["no bias"] < at["dyck"] < at["recency"] < 150_000
    assert axes.get_xlim()[0] < at["no bias"]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert "100K" in names and "10M" in names and len(names) == len(set(names))


def test_table_7_stands_beside_the_models(results):
    found, layout = read(results)
    table = children.table7(found, layout, published.load(*published.POSH, "table7"), "posh")
    assert [column.title for column in table.columns][5:] == [
        f"{size} {condition}" for size in ("10M", "30M", "50M")
        for condition in ("baby", "baby-f", "wiki")
    ]  # fmt: skip
    shown = {row[0]: row[1:] for row in table.shown()}
    assert shown["Question formation"][:4] == ["3;2–4;7", "38.0", "4;7–5;11", "80.0"]
    assert shown["Binding"][:4] == ["4–4;6", "57.5", "6–6;6", "89.4"]
    assert [row[9] for row in shown.values()] == ["not run"] * 4  # 30M wiki
    ours = found.accuracy.filter(
        condition="baby-f", size="50M", regimen="packed", level="category", category="binding"
    )["mean"].item()
    assert shown["Binding"][11] == f"{100 * ours:.1f}"


def test_the_suite_is_the_one_that_has_most_of_the_table(results):
    _, layout = read(results)
    names = published.load(*published.POSH, "table7")["name"].to_list()
    assert children.suite_of(layout, names) == "posh"
    layout.phenomena["other"], layout.categories["other"] = [("binding", "x")], ["binding"]
    assert children.suite_of(layout, names) == "posh"
    assert children.suite_of(layout, ["x"]) == "other"
    assert children.suite_of(layout, ["nothing"]) is None


def page(found, layout, folder):
    return Page(found, layout, Shelf(folder), Paths(""))


def test_the_section_without_scores_and_without_phenomena(results, tmp_path):
    found, layout = read(results)
    figure, _ = children.blocks(page(found, layout, tmp_path))
    assert figure.name == "children-and-models"
    assert "2M to 10M a year" in figure.caption
    data = pl.read_csv(tmp_path / "tables/children-and-models-data.csv")
    assert data.filter(series="children").height == 8

    bare = found.__class__(**(found.__dict__ | {"accuracy": found.accuracy.clear()}))
    told, table = children.blocks(page(bare, layout, tmp_path))
    assert told.startswith("Not run")
    assert table.shown()[0][5:] == ["not run"] * 9

    nothing = layout.__class__(**(layout.__dict__ | {
        "phenomena": {"posh": [("agreement", "verbs")]}, "categories": {"posh": ["agreement"]},
    }))  # fmt: skip
    assert children.blocks(page(found, nothing, tmp_path)) is None


def test_the_group_of_the_figure_is_that_of_the_conditions(results):
    _, layout = read(results)
    (group,) = groups(layout)
    assert [name for name, _ in group.arms] == ["baby", "baby-f", "wiki"]


def test_a_given_model_whose_words_nobody_knows_has_no_place_on_the_axis(
    results, tmp_path, monkeypatch
):
    """It made the page end in a division by zero."""
    found, layout = read(results)
    plain = children.points
    monkeypatch.setattr(
        children, "points",
        lambda *given: plain(*given).with_columns(
            words=pl.when(pl.col("series") == children.CHILDREN).then("words").otherwise(0)
        ),
    )  # fmt: skip
    figure, _ = children.blocks(page(found, layout, tmp_path))
    assert figure.startswith("Not run")
