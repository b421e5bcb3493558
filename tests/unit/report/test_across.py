"""Figures 2 and 5 and Table 10: suites beside each other, like under like."""

from dataclasses import replace

import polars as pl
import pytest

from poshgrid.report import figures, style
from poshgrid.report.collect import gather
from poshgrid.report.layout import Arm, groups, lay_out
from poshgrid.report.sections import across
from poshgrid.report.shelf import Picture, Shelf
from tests.unit.report import report_results

BLIMP = {"adjunct_island": "island", "wh_island": "island", "principle_A_case_2": "binding"}


def two_suites(folder, **grid):
    """Return results of posh and of a second suite, whose accuracies and nulls say their place."""
    spec = report_results.build(folder, **grid)
    spec = spec.model_copy(update={"suites": ["blimp", "posh"]})
    found = gather(spec, folder)
    model = found.accuracy.filter(level="category", category="island").with_columns(
        suite=pl.lit("blimp"), unigram=pl.lit(0.41), ngram=pl.lit(0.59)
    )
    rows = [model, model.with_columns(category=pl.lit("binding"), mean=pl.col("mean") / 2)]
    for rank, (phenomenon, category) in enumerate(BLIMP.items()):
        rows.append(model.with_columns(
            level=pl.lit("phenomenon"), category=pl.lit(category), phenomenon=pl.lit(phenomenon),
            mean=0.6 + 0.1 * rank + 0.01 * pl.col("size").str.strip_suffix("M").cast(pl.Float64)
            / 10 + 0.05 * (pl.col("bias") != "none"),
        ))  # fmt: skip
    items = found.items["posh"].head(len(BLIMP) * 7).with_columns(
        phenomenon=pl.Series([p for p in BLIMP for _ in range(7)]),
    ).with_columns(category=pl.col("phenomenon").replace_strict(BLIMP))  # fmt: skip
    found = replace(
        found,
        accuracy=pl.concat([found.accuracy, *rows]),
        items={"blimp": items, "posh": found.items["posh"]},
    )
    return found, lay_out(found)


def drawn(draw, frame, **options):
    with style.drawing("test"):
        return draw(frame, **options)


def arm(condition, variant="", bias="none"):
    return Arm(condition, None, "packed", bias, variant)


# ---- what is compared ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arms", "found"),
    [
        ([arm("baby"), arm("wiki")], [("", ["baby", "wiki"])]),
        ([arm("baby")], [("", ["baby"])]),
        # Experiment 3: one condition, its biases
        ([arm("baby-f", "no bias"), arm("baby-f", "dyck")], [("baby-f", ["no bias", "dyck"])]),
        # all experiments together: conditions without a bias, then the biases of one of them
        (
            [arm("baby", "no bias"), arm("wiki", "no bias"), arm("wiki", "dyck")],
            [("", ["baby", "wiki"]), ("wiki", ["no bias", "dyck"])],
        ),
        # an arm of no common variant is not left out, and says its variant
        (
            [arm("baby", "packed"), arm("wiki", "packed"), arm("x", "sentence")],
            [("", ["baby · packed", "wiki · packed", "x · sentence"])],
        ),
    ],
)
def test_conditions_are_compared_where_all_else_is_alike(tmp_path, arms, found):
    layout = replace(two_suites(tmp_path, sizes=("10M",))[1], arms=arms)
    made = groups(layout)
    assert [(g.condition, [name for name, _ in g.arms]) for g in made] == found
    assert {a for g in made for _, a in g.arms} == set(arms)


# ---- Figure 2 ------------------------------------------------------------------------------------


def test_categories_stand_below_each_other_in_every_suite(tmp_path):
    found, layout = two_suites(tmp_path)
    (group,) = groups(layout)
    frame = across.by_category(found, layout, group)
    names = {"island": "Islands", "binding": "Binding", "wanna": "Wanna",
             "question-formation": "Question formation"}  # fmt: skip
    figure = drawn(figures.accuracy, frame)
    panels = {
        tuple(axes.get_title(loc="left").split("\n")): axes for axes in figure.axes if axes.axison
    }
    posh = [("posh", n) for n in ("Islands", "Binding", "Question formation", "Wanna")]
    assert list(panels) == [*posh, ("blimp", "Islands"), ("blimp", "Binding")]
    for row in found.accuracy.filter(level="category", regimen="packed").iter_rows(named=True):
        axes = panels[row["suite"], names[row["category"]]]
        line = next(a for a in axes.lines if a.get_label() == row["condition"])
        at = list(line.get_xdata()).index(row["words"])
        assert line.get_ydata()[at] == pytest.approx(100 * row["mean"])
        low, high = axes.get_ylim()
        assert low <= 100 * (row["mean"] - row["sd"])
        assert high >= 100 * (row["mean"] + row["sd"])
    grid = drawn(figures.accuracy, frame).axes
    columns = {axes.get_title(loc="left"): axes.get_subplotspec().colspan.start for axes in grid}
    for name in ("Islands", "Binding"):
        assert columns[f"posh\n{name}"] == columns[f"blimp\n{name}"]


def test_all_nulls_are_drawn_apart_and_explained(tmp_path):
    found, layout = two_suites(tmp_path)
    frame = across.by_category(found, layout, groups(layout)[0])
    figure = drawn(figures.accuracy, frame)
    axes = next(a for a in figure.axes if a.get_title(loc="left") == "blimp\nIslands")
    lines = {line.get_label(): line for line in axes.lines}
    assert set(lines["unigram baby"].get_ydata()) == {41.0}
    assert set(lines["ngram baby"].get_ydata()) == {59.0}
    places = [lines[f"{null} baby"].get_xdata()[0] for null in ("unigram", "untrained", "ngram")]
    assert places == sorted(set(places))
    marks = {lines[f"{null} baby"].get_marker() for null in ("unigram", "untrained", "ngram")}
    assert len(marks) == 3
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["baby", "baby-f", "wiki", "untrained model", "unigram", "n-gram"]
    bare = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(n) for n in ("unigram", "sd"))
    legend = [text.get_text() for text in drawn(figures.accuracy, bare).legends[0].get_texts()]
    assert "unigram" not in legend and "n-gram" in legend


# ---- Figure 5 ------------------------------------------------------------------------------------


def test_islands_and_binding_are_drawn_one_by_one(tmp_path):
    found, layout = two_suites(tmp_path, missing=("wiki/50M",))
    frame = across.by_phenomenon(found, layout, groups(layout)[0])
    facets = ["Islands · blimp", "Islands · posh", "Binding · blimp", "Binding · posh"]
    assert frame["facet"].unique(maintain_order=True).to_list() == facets
    rows = frame.select("facet", "panel").unique(maintain_order=True)
    assert rows.height == 8  # 3 of blimp, 3 islands and 2 of binding of posh
    figure = drawn(across.dots, frame)
    assert [a.get_title(loc="left").removeprefix("Size ") for a in figure.axes] == [
        "10M",
        "30M",
        "50M",
    ]
    tops = {}
    for axes, size in zip(figure.axes, ("10M", "30M", "50M"), strict=True):
        for series in ("baby", "baby-f", "wiki"):
            here = frame.filter(pl.col("mean").is_not_null(), size=size, series=series)
            dots = [line for line in axes.lines if line.get_label() == series]
            assert [d.get_xdata()[0] for d in dots] == pytest.approx(
                [100 * v for v in here["mean"]]
            )
            assert len(dots) == (0 if (series, size) == ("wiki", "50M") else 8)
            tops[series] = [d.get_ydata()[0] for d in dots] or tops[series]
            assert tops[series] == sorted(tops[series])  # rows from top to bottom: y grows down
        bars = [sorted(line.get_xdata()) for line in axes.lines
                if len(line.get_xdata()) == 2 and line.get_label().startswith("_")]  # fmt: skip
        one = frame.filter(size=size, series="baby", panel="island-wh").row(0, named=True)
        ends = [100 * (one["mean"] - one["sd"]), 100 * (one["mean"] + one["sd"])]
        assert any(bar == pytest.approx(ends) for bar in bars)
    assert max(a - b for a, b in zip(tops["baby"], tops["wiki"], strict=True)) < 0  # lanes
    written = {label.get_text() for label in figure.axes[0].get_yticklabels()}
    written |= {text.get_text() for text in figure.axes[0].texts}
    assert {*facets, *rows["panel"]} <= written


def test_nulls_have_a_lane_of_their_own_below_the_row(tmp_path):
    found, layout = two_suites(tmp_path, sizes=("10M",))
    frame = across.by_phenomenon(found, layout, groups(layout)[0]).filter(panel="adjunct_island")
    (axes,) = drawn(across.dots, frame).axes
    lines = {line.get_label(): line for line in axes.lines}
    assert lines["unigram"].get_xdata()[0] == pytest.approx(41)
    assert lines["ngram"].get_xdata()[0] == pytest.approx(59)
    assert lines["untrained"].get_xdata()[0] == pytest.approx(100 * frame["untrained"].mean())
    assert lines["unigram"].get_ydata()[0] > lines["wiki"].get_ydata()[0]


class Told(Shelf):
    """A shelf that draws nothing and keeps what it was told."""

    def picture(self, name, caption, draw, frame):
        return name, caption, draw, frame


def test_biases_are_compared_within_their_condition(tmp_path):
    grid = {"conditions": ("baby", "baby-f"), "sizes": ("10M",), "biases": ("none", "dyck")}
    found, _ = two_suites(tmp_path / "results", **grid)
    blocks = across.blocks(report_results.page(found, Told(tmp_path / "page")))
    pictures = [block for block in blocks if isinstance(block, tuple)]
    phenomena = [each for each in pictures if each[0].startswith("across-phenomena")]
    categories = [each for each in pictures if each[0].startswith("across-categories")]
    assert pictures == [*categories, *phenomena]
    assert [name for name, *_ in phenomena] == [
        "across-phenomena", "across-phenomena-baby", "across-phenomena-baby-f",
    ]  # fmt: skip
    assert [name for name, *_ in categories] == [
        "across-categories", "across-categories-baby", "across-categories-baby-f",
    ]  # fmt: skip
    _, caption, draw, frame = phenomena[2]
    mine = frame.filter(panel="wh_island")
    assert dict(mine.select("series", "mean").iter_rows()) == pytest.approx(
        {"no bias": 0.71, "dyck": 0.76}
    )
    assert draw is across.dots and "of baby-f by bias" in caption


# ---- Table 10, and what is not there -------------------------------------------------------------


def test_the_mapping_counts_pairs_and_tells_the_papers_categories(tmp_path):
    found, layout = two_suites(tmp_path)
    table = across.mapping(found, layout)
    rows = {(suite, phenomenon): (c, n, theirs) for c, suite, phenomenon, n, theirs in table.rows}
    assert len(rows) == len(table.rows) == 12
    assert rows["blimp", "wh_island"] == ("Islands", 7, "Islands")
    assert rows["posh", "question-formation-or"] == (
        "Question formation", report_results.N, "Question formation",
    )  # fmt: skip
    ranks = {"Islands": 0, "Question formation": 1, "Binding": 2, "Wanna": 3}
    assert [ranks[row[0]] for row in table.rows] == sorted(ranks[row[0]] for row in table.rows)
    assert not table.classes

    other = found.items["blimp"].with_columns(
        category=pl.lit("agreement"), phenomenon=pl.col("phenomenon") + "_x"
    )
    wrong = found.items["blimp"].with_columns(category=pl.lit("wanna"))
    judged = found.accuracy.filter(pl.col("suite") != "blimp")
    changed = replace(
        found, accuracy=judged, items=found.items | {"blimp": pl.concat([other, wrong])}
    )
    table = across.mapping(changed, lay_out(changed))
    flagged = [table.rows[index] for index in table.classes]
    assert [row[0:2] + row[4:] for row in flagged] == [
        ["Wanna", "blimp", "Islands"], ["Wanna", "blimp", "Binding"], ["Wanna", "blimp", "Islands"],
    ]  # fmt: skip
    assert table.shown()[-1] == ["Agreement", "blimp", "wh_island_x", "7", "–"]


def test_one_suite_has_no_figure_across_suites_and_no_suite_no_section(tmp_path):
    spec = report_results.build(tmp_path, sizes=("10M",))
    found = gather(spec, tmp_path)
    shelf = Shelf(tmp_path / "page")
    section = across.blocks(report_results.page(found, shelf))
    assert [each.name for each in report_results.of(section, Picture)] == ["across-phenomena"]
    assert section[-1].opened  # not long
    unscored = replace(found, accuracy=found.accuracy.clear())
    section = across.blocks(report_results.page(unscored, shelf))
    assert not report_results.of(section, Picture)
    assert len(report_results.tables(section)["mapping"].rows) == 9
    nothing = replace(unscored, items={"posh": found.items["posh"].clear()})
    assert across.blocks(report_results.page(nothing, shelf)) is None


def test_the_sections_are_html_that_escapes_names(tmp_path):
    found, _ = two_suites(tmp_path, sizes=("10M",))
    planted = "<script>x</script>"
    rename = {"adjunct_island": planted}
    found = replace(
        found,
        accuracy=found.accuracy.with_columns(pl.col("phenomenon").replace(rename)),
        items=found.items
        | {"blimp": found.items["blimp"].with_columns(pl.col("phenomenon").replace(rename))},
    )
    section = across.blocks(report_results.page(found, Shelf(tmp_path / "page")))
    text = report_results.rendered(section)
    assert "&lt;script&gt;" in text
    assert "<script" not in text.lower()
    for ending in ("csv", "tex", "md", "html"):
        assert f'href="tables/mapping.{ending}"' in text
        assert (tmp_path / f"page/tables/mapping.{ending}").is_file()
