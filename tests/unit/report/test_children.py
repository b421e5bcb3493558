"""Figure 1 and Table 7: children stand at words that follow from their age, models at theirs."""

from dataclasses import replace

import polars as pl
import pytest

from poshgrid.config.paths import Paths
from poshgrid.errors import PoshgridError
from poshgrid.report import style
from poshgrid.report.blocks import Page
from poshgrid.report.collect import gather
from poshgrid.report.layout import lay_out
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
    [
        ("three", None),
        ("3-", None),
        ("3", 3),
        ("3-4", 3.5),
        ("3;2-4;7", 3 + 10.5 / 12),
        ("4-4;6", 4.25),
        ("6-6;6", 6.25),
    ],
)
def test_ages(age, years):
    if years is None:
        with pytest.raises(PoshgridError, match="table7"):
            children.years(age)
    else:
        assert children.years(age) == pytest.approx(years)


def test_children_stand_at_the_words_of_their_age(results):
    frame = children.points(*read(results), published.load(*published.POSH, "table7"), "posh")
    heard = frame.filter(series=children.CHILDREN)
    assert heard["panel"].unique(maintain_order=True).to_list() == [
        "Adjunct island", "Complex-NP island", "Question formation", "Binding",
    ]  # fmt: skip
    columns = ("age", "words", "words_low", "words_high", "sd")
    rows = heard.filter(panel="Complex-NP island")
    assert rows.select(columns).rows() == [
        ("3-4", 21e6, 7e6, 35e6, None), ("4-5", 27e6, 9e6, 45e6, None),
    ]  # fmt: skip
    assert rows["mean"].to_list() == pytest.approx([0.553, 0.925])


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


def page(found, layout, folder):
    return Page(found, layout, Shelf(folder), Paths(""))


def test_the_section_without_scores_and_without_phenomena(results, tmp_path):
    found, layout = read(results)
    figure, _ = children.blocks(page(found, layout, tmp_path))
    assert figure.name == "children-and-models"
    assert "2M to 10M a year" in figure.caption
    data = pl.read_csv(tmp_path / "tables/children-and-models-data.csv")
    assert data.filter(series="children").height == 8

    bare = replace(found, accuracy=found.accuracy.clear())
    told, table = children.blocks(page(bare, layout, tmp_path))
    assert told.startswith("Not run")
    assert table.shown()[0][5:] == ["not run"] * 9

    other = {"posh": [("agreement", "verbs")]}
    nothing = replace(layout, phenomena=other, categories={"posh": ["agreement"]})
    assert children.blocks(page(found, nothing, tmp_path)) is None


def test_a_given_model_whose_words_nobody_knows_has_no_place_on_the_axis(results, tmp_path):
    """It made the page end in a division by zero."""
    found, layout = read(results)
    unknown = replace(layout, trained=dict.fromkeys(layout.trained, 0))
    figure, _ = children.blocks(page(found, unknown, tmp_path))
    assert figure.startswith("Not run")
