"""The accuracy tables with their nulls and marks, and the comparison with the published ones."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from poshgrid.report import cells, tables
from poshgrid.report.cells import Cell
from poshgrid.report.collect import gather
from poshgrid.report.layout import Arm, lay_out
from poshgrid.report.page import write
from poshgrid.report.sections import accuracy
from poshgrid.report.sections import accuracy as section
from poshgrid.report.shelf import Shelf
from poshgrid.statistics import published
from poshgrid.tables import formats, words

from . import report_results

UNTRAINED = {"10M": 0.30, "30M": 0.40}
UNIGRAM = {"10M": 0.52, "30M": 0.60}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two conditions and sizes; the wiki condition at 30M was not run."""
    folder = tmp_path_factory.mktemp("results")
    spec = report_results.build(
        folder, conditions=("baby", "wiki"), sizes=("10M", "30M"), models=(),
        missing=("wiki/30M",),
    )  # fmt: skip
    return folder, spec, gather(spec, folder)


@pytest.fixture
def collected(results):
    """The same with planted nulls; only the unigram null is far from 50%, and at 30M alone."""
    found = results[2]
    trained = pl.col("regimen") == "packed"
    size = pl.col("size")
    frame = found.accuracy.with_columns(
        untrained=pl.when(trained).then(size.replace_strict(UNTRAINED, return_dtype=pl.Float64)),
        unigram=pl.when(trained).then(size.replace_strict(UNIGRAM, return_dtype=pl.Float64)),
        far=pl.when(trained & (size == "30M")).then(pl.lit("unigram")).otherwise(pl.lit("")),
    )
    return replace(found, accuracy=frame)


def frame_with(collected, where, **values):
    columns = [
        pl.when(where).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in values.items()
    ]
    return replace(collected, accuracy=collected.accuracy.with_columns(columns))


# ---- nulls ---------------------------------------------------------------------------------------


def test_table3_ends_with_the_nulls_over_its_rows(collected):
    table = tables.table3(collected, lay_out(collected), "posh")
    assert [tuple(row[:2]) for row in table.rows] == [
        ("10M", "baby"), ("10M", "wiki"), ("30M", "baby"), ("30M", "wiki"),
        ("Nulls", "untrained"), ("Nulls", "unigram"),
    ]  # fmt: skip
    for null, values in (("untrained", UNTRAINED), ("unigram", UNIGRAM)):
        # two conditions at 10M and one at 30M were run
        mean = (2 * values["10M"] + values["30M"]) / 3
        row = next(found for _, label, *found in table.rows if label == null)
        for cell in row:
            assert cell.mean == pytest.approx(mean)
            assert (cell.least, cell.most, cell.n_cells) == (values["10M"], values["30M"], 3)
            assert cell.stars_pooled == "" and cell.sd is None
            assert cell.marks == ("‡" if null == "unigram" else "")
    assert table.rows[-2][2].detail == "least–most 30.0–40.0 over 3 nulls"
    assert "Nulls know no syntax" in table.caption and "‡ A null of this cell" in table.caption


def test_table8_ends_with_the_nulls_over_its_columns(collected):
    table = tables.table8(collected, lay_out(collected), "posh")
    assert [(c.group, c.title) for c in table.columns[-2:]] == [
        ("Nulls", "untrained"),
        ("Nulls", "unigram"),
    ]
    for _, label, *row in table.rows:
        assert len(row) == 6
        assert row[3] == words.NOT_RUN, label  # wiki at 30M
        assert row[-2].mean == pytest.approx(1 / 3)
        assert row[-1].most == 0.60


def test_a_null_enters_once_however_many_biases_share_it(tmp_path):
    spec = report_results.build(
        tmp_path, conditions=("baby", "wiki"), sizes=("10K",), seeds=(1,), models=(),
        biases=("none", "recency", "dyck"), missing=("wiki/10K/gpt2-mini/packed/recency",
                                                     "wiki/10K/gpt2-mini/packed/dyck"),
    )  # fmt: skip
    found = gather(spec, tmp_path)
    # By hand: baby's three arms share one null of 30%, wiki's only one has 60%.
    value = pl.when(pl.col("condition") == "baby").then(0.3).otherwise(0.6)
    trained = pl.col("regimen") == "packed"
    frame = found.accuracy.with_columns(
        untrained=pl.when(trained).then(value), ngram=pl.when(trained).then(value)
    )
    made = replace(found, accuracy=frame)
    layout = lay_out(made)
    by_row = [
        row for group, _, *row in tables.table3(made, layout, "posh").rows if group == "Nulls"
    ]
    by_column = [row[-2:] for row in tables.table8(made, layout, "posh").rows]
    assert len(by_row) == 2
    for null in [null for nulls in (*by_row, *by_column) for null in nulls]:
        assert null.mean == pytest.approx(0.45)  # 0.375 if every cell counted
        assert null.n_cells == 2


def test_an_untrained_null_is_of_a_learner_and_a_counted_one_is_not(collected):
    arms = [Arm("baby", name, "packed", "none", name) for name in ("a", "b")]
    asked = {("baby", "10M", name, "packed", "none") for name in ("a", "b")}
    layout = replace(lay_out(collected), arms=arms, asked=asked)
    both = [cell(untrained=0.2, ngram=0.4), cell(untrained=0.3, ngram=0.4)]
    assert list(tables._distinct("untrained", layout, both)) == both
    assert list(tables._distinct("ngram", layout, both)) == both[:1]


def test_a_null_that_was_asked_for_and_is_not_there_is_not_run(results):
    collected = results[2]
    asked = [*collected.trained]
    asked[0] = replace(asked[0], run=replace(asked[0].run, learner="ngram", regimen="counted"))
    collected = replace(collected, trained=asked)
    table = tables.table3(collected, lay_out(collected), "posh")
    assert table.rows[-1] == ["Nulls", "n-gram", *[words.NOT_RUN] * 5]
    assert {label for group, label, *_ in table.rows if group == "Nulls"} == {"untrained", "n-gram"}


def test_a_grid_without_nulls_has_no_such_rows(collected):
    bare = [t for t in collected.trained if t.run.regimen == "packed"]
    none = pl.lit(None, dtype=pl.Float64)
    frame = collected.accuracy.with_columns(untrained=none, unigram=none, ngram=none)
    made = replace(collected, trained=bare, accuracy=frame)
    table = tables.table3(made, lay_out(made), "posh")
    assert "Nulls" not in {group for group, *_ in table.rows}
    assert "Nulls know" not in table.caption


def test_the_csv_has_a_row_for_each_null_cell(collected):
    csv = tables.table3(collected, lay_out(collected), "posh").frame()
    nulls = csv.filter(pl.col("row_group") == "Nulls")
    assert nulls.height == 2 * 5
    assert nulls["n_cells"].unique().to_list() == [3]
    assert nulls["n_seeds"].null_count() == 10
    assert csv.filter(pl.col("row_group") != "Nulls")["least"].null_count() == 4 * 5


# ---- marks ---------------------------------------------------------------------------------------


def cell(**changes):
    bare = Cell(0.6, None, 1, 100, None, None, None, "", None, "")
    return replace(bare, **changes)


def test_both_marks_stand_together():
    assert cell(mean_sum=0.7, mean_mean=0.6, far="ngram").marks == "‡§"


@pytest.mark.parametrize(
    ("by_sum", "by_mean", "marked"),
    [(0.6, 0.66, True), (0.66, 0.6, True), (0.6, 0.65, False), (0.35, 0.3, False),
     (0.6, 0.6501, True), (None, 0.6, False), (0.6, None, False)],
)  # fmt: skip
def test_a_cell_that_the_reduction_turns_by_more_than_five_points_is_marked(
    by_sum, by_mean, marked
):
    made = cell(mean_sum=by_sum, mean_mean=by_mean)
    assert made.turns == marked
    assert made.marks == ("§" if marked else "")
    assert ("judged by sum" in made.detail) == marked


def test_the_mark_is_on_the_page_and_explained(results):
    folder, spec, collected = results
    page = folder / "page"
    with report_results.undrawn():
        write(spec, folder, page)
    assert "§" not in (page / "index.html").read_text(encoding="utf-8")
    here = (pl.col("level") == "category") & (pl.col("category") == "wanna")
    here &= (pl.col("condition") == "baby") & (pl.col("size") == "10M")
    made = frame_with(collected, here, mean_sum=0.71, mean_mean=0.60)
    table = tables.table3(made, lay_out(made), "posh")
    assert [c.marks for c in table.rows[0][2:]] == ["", "", "", "§", ""]
    assert "§ Judged by the sum of the log-probabilities" in table.caption
    assert "more than 5 points" in table.caption
    made.accuracy.write_parquet(folder / "statistics/all/accuracy.parquet")
    with report_results.undrawn():
        write(spec, folder, page)
    text = (page / "index.html").read_text(encoding="utf-8")
    assert text.count("<sup>§</sup>") == 1
    assert "judged by sum 71.0, by mean 60.0" in text
    collected.accuracy.write_parquet(folder / "statistics/all/accuracy.parquet")


def test_a_null_row_is_latex(collected):
    text = formats.latex(tables.table3(collected, lay_out(collected), "posh"))
    assert "Nulls & untrained & 33.3" in text


# ---- beside the published ------------------------------------------------------------------------


def rows_of(table):
    return {tuple(row[: 3 if "phenomena" not in table.name else 4]): row for row in table.rows}


def test_categories_and_phenomena_stand_beside_the_papers(collected):
    layout = lay_out(collected)
    theirs = published.accuracy()
    ours = collected.accuracy.filter(pl.col("regimen") == "packed")
    for number, levels, each in (
        (3, ["category", "overall"], 5),
        (8, ["phenomenon", "average"], 10),
    ):
        table = section.published(collected, layout, "posh", number)
        assert len(table.rows) == 3 * each  # three cells were run
        key = ["condition", "size", "level", "category", "phenomenon"]
        both = ours.filter(pl.col("level").is_in(levels)).join(theirs, on=key, suffix="_paper")
        assert both.height == len(table.rows)
        shown = sorted(tuple(row[-5:]) for row in table.rows)
        expected = sorted(
            (r["mean"], r["stars_pooled"] or None, r["mean_paper"], r["stars"] or None,
             r["mean"] - r["mean_paper"])
            for r in both.iter_rows(named=True)
        )  # fmt: skip
        assert [s[0] for s in shown] == [e[0] for e in expected]
        assert sorted(map(str, shown)) == sorted(map(str, expected))
        assert "Not run: wiki 30M." in table.caption


def test_the_difference_has_a_sign_and_the_caption_its_numbers(collected):
    paper = {
        (r["category"] or "overall"): r["mean"]
        for r in published.accuracy().filter(
            (pl.col("condition") == "baby") & (pl.col("size") == "10M")
            & pl.col("level").is_in(["category", "overall"])
        ).iter_rows(named=True)
    }  # fmt: skip
    only = pl.col("condition") == "baby"
    made = replace(collected, accuracy=collected.accuracy.filter(only & (pl.col("size") == "10M")))
    for category, change in (("island", 0.03), ("wanna", -0.07), ("binding", 0.0)):
        here = (pl.col("level") == "category") & (pl.col("category") == category)
        made = frame_with(made, here, mean=paper[category] + change)
    table = section.published(made, lay_out(made), "posh")
    shown = {row[2]: row[-1] for row in table.shown()}
    assert (shown["Islands"], shown["Wanna"], shown["Binding"]) == ("+3.0", "−7.0", "0.0")
    assert "Of 5 cells, " in table.caption
    signs = [row[-1] for row in table.rows]
    higher, lower = sum(s > 0 for s in signs), sum(s < 0 for s in signs)
    assert f"higher than the paper’s: {higher}; lower: {lower}; by" in table.caption


def test_tests_agree_where_both_say_above_below_or_neither():
    def agreement(mean, stars, paper_mean, paper_stars):
        made = cell(mean=mean, stars_pooled=stars, p_pooled=0.5)
        said = section._compared([(made, {"mean": paper_mean, "stars": paper_stars})])
        return "in 1 of 1" in said

    assert agreement(0.6, "*", 0.7, "***")
    assert agreement(0.6, "", 0.45, "")
    assert not agreement(0.6, "", 0.7, "***")
    assert not agreement(0.6, "*", 0.55, "")
    assert not agreement(0.6, "*", 0.3, "***")  # sure on opposite sides


def test_other_conditions_sizes_and_suites_are_not_compared(results, collected, tmp_path):
    layout = lay_out(collected)
    made = replace(layout, phenomena={"posh": [("island", "adjunct_island")]})
    assert section.published(collected, made, "posh") is None  # items of another suite
    spec = report_results.build(
        tmp_path, conditions=("baby",), sizes=("10K",), seeds=(1,), models=()
    )  # fmt: skip
    small = gather(spec, tmp_path)
    assert section.published(small, lay_out(small), "posh") is None
    with report_results.undrawn():
        write(spec, tmp_path, tmp_path / "page")
    text = (tmp_path / "page/index.html").read_text(encoding="utf-8")
    assert "Not compared: no cell that was run has a condition and a size of the paper’s" in text


# ---- numbers in words ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.012, "−1.2"), (0.0004, "0.0"), (-0.0004, "0.0"), (0.1, "+10.0")],
)
def test_points(value, text):
    assert words.points(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0004, "< .001"), (0.9996, "> .999"), (0.5, ".500"), (0.0234, ".023")]
)
def test_probabilities(value, text):
    assert words.probability(value) == text


@pytest.mark.parametrize(
    ("parts", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a"] * 3, "a, a and a")]
)
def test_lists(parts, text):
    assert words.listed(parts) == text


def test_null_cells_need_a_value():
    assert cells.null_cell("unigram", [words.NOT_RUN, cell()]) == words.NOT_RUN
    assert cells.null_cell("unigram", [cell(unigram=0.4), cell(unigram=0.6)]).mean == 0.5


# ---- levels and rivals ---------------------------------------------------------------------------

RIVAL = {
    "rival": "nearest-noun", "rival_mean": 0.55, "above_rival": 0.2, "above_rival_low": 0.1,
    "above_rival_high": 0.3, "learned": True, "p_apart": 0.01,
}  # fmt: skip


@pytest.fixture
def rivalled(collected):
    """One cell of c-command has a rival, is learned, and has templates that are apart."""
    here = (pl.col("phenomenon") == "principle-a-command") & (pl.col("condition") == "baby")
    here &= (pl.col("size") == "10M") & (pl.col("regimen") == "packed")
    made = frame_with(collected, here & (pl.col("level") == "phenomenon"), mean=0.75, **RIVAL)
    row = made.accuracy.filter(here & (pl.col("level") == "phenomenon"))
    parts = pl.concat([
        row.with_columns(level=pl.lit(level), part=pl.lit(part), mean=pl.lit(mean))
        for level, part, mean in (
            ("template", "relative", 0.3), ("template", "possessor", 0.9), ("cell", "a", 0.1))
    ])  # fmt: skip
    return replace(made, accuracy=pl.concat([made.accuracy, parts]))


def test_a_cell_names_its_rival_is_marked_and_says_more_when_pointed_at(rivalled):
    table = tables.table8(rivalled, lay_out(rivalled), "posh")
    row = next(row for row in table.rows if row[1] == "principle-a-command")
    assert row[2].marks == "≠✓"
    assert "best rival nearest-noun 55.0, +20.0 points above it [+10.0, +30.0]" in row[2].detail
    assert [each.marks for each in row[3:] if isinstance(each, Cell)].count("≠✓") == 0
    assert "≠ Its templates differ" in table.caption and "✓ Learned: above" in table.caption
    told = table.frame().filter(row="principle-a-command", column="baby", column_group="10M")
    assert told.select(list(RIVAL)).row(0, named=True) == RIVAL
    line = next(x for x in formats.latex(table).splitlines() if "principle-a-command" in x)
    assert r"75.0$^{" in line and r"\neq\surd}$" in line
    # The mean over templates is the phenomenon's own row, not the last template's
    assert row[2].mean == 0.75


def test_every_phenomenon_stands_beside_its_best_rival(rivalled):
    table = tables.rivals(rivalled, lay_out(rivalled), "posh")
    assert table.shown() == [[
        "principle-a-command", "baby", "10M", "75.0", "nearest-noun", "55.0", "+20.0", "+10.0",
        "+30.0", "yes", ".010",
    ]]  # fmt: skip
    assert table.classes == {0: "total"}


def test_templates_and_cells_of_designs_have_tables_of_their_own(rivalled, collected):
    layout = lay_out(rivalled)
    table = tables.parts(rivalled, layout, "posh", "template")
    assert [row[:2] for row in table.rows] == [
        ["principle-a-command", "possessor"], ["principle-a-command", "relative"],
    ]  # fmt: skip
    assert [row[2].mean for row in table.rows] == [0.9, 0.3]
    assert table.rows[0][3] == words.NOT_RUN  # wiki at 10M has no such row
    assert [row[:2] for row in tables.parts(rivalled, layout, "posh", "cell").rows] == [
        ["principle-a-command", "a"],
    ]  # fmt: skip
    assert tables.parts(collected, layout, "posh", "template").rows == []
    assert tables.rivals(collected, layout, "posh").rows == []


def test_the_page_shows_rivals_and_levels(rivalled, tmp_path):
    shelf = Shelf(tmp_path)
    found = accuracy.blocks(report_results.page(rivalled, shelf))
    text = report_results.rendered(found)
    assert '<span class="null rival">nearest-noun 55.0</span>' in text
    names = {"rivals-posh", "accuracy-posh-templates", "accuracy-posh-cells"}
    assert names <= set(report_results.tables(found))
    for name in names:
        assert (tmp_path / f"tables/{name}.csv").is_file() and f'id="table-{name}"' in text
