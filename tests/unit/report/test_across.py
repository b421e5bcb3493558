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
        # Experiment 3: one condition, its biases
        ([arm("baby-f", "no bias"), arm("baby-f", "dyck")], [("baby-f", ["no bias", "dyck"])]),
        # all experiments together: conditions without a bias, then the biases of one of them
        (
            [arm("baby", "no bias"), arm("wiki", "no bias"), arm("wiki", "dyck")],
            [("", ["baby", "wiki"]), ("wiki", ["no bias", "dyck"])],
        ),
        # an arm of no common variant is not left out, and says its variant
        (
            [arm("baby", "packed"), arm("wiki", "packed"), arm("x", "late")],
            [("", ["baby · packed", "wiki · packed", "x · late"])],
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
    page = report_results.page(found, Shelf(tmp_path))
    frame = across.marks(page, group, across.categories_of(found, layout))
    figure = drawn(figures.accuracy, frame)
    panels = {tuple(a.get_title(loc="left").split("\n")): a for a in figure.axes if a.axison}
    posh = [("posh", n) for n in ("Islands", "Binding", "Question formation", "Wanna")]
    assert list(panels) == [*posh, ("blimp", "Islands"), ("blimp", "Binding")]
    for row in frame.iter_rows(named=True):
        axes = panels[row["facet"], row["panel"]]
        lines = {line.get_label(): line for line in axes.lines}
        line = lines[row["series"]]
        at = list(line.get_xdata()).index(row["words"])
        assert line.get_ydata()[at] == pytest.approx(100 * row["mean"])
        low, high = axes.get_ylim()
        assert low <= 100 * (row["mean"] - row["sd"]) and high >= 100 * (row["mean"] + row["sd"])
    columns = {p: axes.get_subplotspec().colspan.start for p, axes in panels.items()}
    assert all(columns["posh", n] == columns["blimp", n] for n in ("Islands", "Binding"))
    lines = {line.get_label(): line for line in panels["blimp", "Islands"].lines}
    assert {lines[f"{n} baby"].get_ydata()[0] for n in ("unigram", "ngram")} == {41.0, 59.0}
    nulls = [lines[f"{n} baby"] for n in ("unigram", "untrained", "ngram")]
    assert len({null.get_marker() for null in nulls}) == 3
    assert len({null.get_xdata()[0] for null in nulls}) == 3


# ---- Figure 5 ------------------------------------------------------------------------------------


def test_islands_and_binding_are_drawn_one_by_one(tmp_path):
    found, layout = two_suites(tmp_path, missing=("wiki/50M",))
    page = report_results.page(found, Shelf(tmp_path))
    frame = across.marks(page, groups(layout)[0], across.phenomena_of(found, layout))
    facets = ["Islands · blimp", "Islands · posh", "Binding · blimp", "Binding · posh"]
    assert frame["facet"].unique(maintain_order=True).to_list() == facets
    assert frame.select("facet", "panel").n_unique() == 8  # 3 of blimp, 3 + 2 of posh
    figure = drawn(across.dots, frame)
    tops = {}
    for axes, size in zip(figure.axes, ("10M", "30M", "50M"), strict=True):
        for series in ("baby", "baby-f", "wiki"):
            rows = frame.filter(pl.col("mean").is_not_null(), size=size, series=series)
            marks = [line for line in axes.lines if line.get_label() == series]
            assert [m.get_xdata()[0] for m in marks] == pytest.approx(
                [100 * v for v in rows["mean"]]
            )
            assert len(marks) == (0 if (series, size) == ("wiki", "50M") else 8)
            tops[series] = [m.get_ydata()[0] for m in marks] or tops[series]
            assert tops[series] == sorted(tops[series])  # rows from top to bottom: y grows down
        unigram = next(line for line in axes.lines if line.get_label() == "unigram")
        assert unigram.get_xdata()[0] == 41 and unigram.get_ydata()[0] > tops["baby-f"][0]
    assert max(a - b for a, b in zip(tops["baby"], tops["wiki"], strict=True)) < 0  # lanes


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

    wrong = found.items["blimp"].with_columns(category=pl.lit("wanna"))
    judged = found.accuracy.filter(pl.col("suite") != "blimp")
    changed = replace(found, accuracy=judged, items=found.items | {"blimp": wrong})
    table = across.mapping(changed, lay_out(changed))
    assert [table.rows[index][4] for index in table.classes] == ["Islands", "Binding", "Islands"]


def test_one_suite_has_no_figure_across_suites_and_no_suite_no_section(tmp_path):
    spec = report_results.build(tmp_path, sizes=("10M",))
    found = gather(spec, tmp_path)

    def section(**fields):
        return across.blocks(report_results.page(replace(found, **fields), Shelf(tmp_path / "p")))

    assert [each.name for each in report_results.of(section(), Picture)] == ["across-phenomena"]
    unscored = section(accuracy=found.accuracy.clear())
    assert not report_results.of(unscored, Picture)
    assert len(report_results.tables(unscored)["mapping"].rows) == 9
    items = {"posh": found.items["posh"].clear()}
    assert section(accuracy=found.accuracy.clear(), items=items) is None
