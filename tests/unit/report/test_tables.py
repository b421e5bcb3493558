"""The accuracy tables with their nulls and marks, and the comparison with the published ones."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from poshgrid.report import tables
from poshgrid.report.cells import Cell
from poshgrid.report.collect import gather
from poshgrid.report.layout import lay_out
from poshgrid.report.sections import accuracy as section
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
    assert "30.0–40.0" in table.rows[-2][2].detail and "‡" in table.caption


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


# ---- marks ---------------------------------------------------------------------------------------


def cell(**changes):
    bare = Cell(0.6, None, 1, 100, None, None, None, "", None, "")
    return replace(bare, **changes)


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


# ---- beside the published ------------------------------------------------------------------------


def test_categories_and_phenomena_stand_beside_the_papers(collected):
    layout = lay_out(collected)
    ours = collected.accuracy.filter(regimen="packed")
    for number, levels, each in (
        (3, ["category", "overall"], 5), (8, ["phenomenon", "average"], 10),
    ):  # fmt: skip
        table = section.published(collected, layout, "posh", number)
        key = ["condition", "size", "level", "category", "phenomenon"]
        both = ours.filter(pl.col("level").is_in(levels)).join(
            published.accuracy(), on=key, suffix="_paper"
        )
        assert both.height == len(table.rows) == 3 * each  # three cells were run
        expected = [
            (r["mean"], r["stars_pooled"] or None, r["mean_paper"], r["stars"] or None,
             r["mean"] - r["mean_paper"])
            for r in both.iter_rows(named=True)
        ]  # fmt: skip
        assert sorted(map(str, (tuple(row[-5:]) for row in table.rows))) == sorted(
            map(str, expected)
        )
        tested = both.filter(pl.col("p_pooled").is_not_null())
        sure, paper = pl.col("stars_pooled") != "", pl.col("stars") != ""
        same_side = (pl.col("mean") > 0.5) == (pl.col("mean_paper") > 0.5)
        agree = tested.filter((sure == paper) & (~paper | same_side)).height
        higher = sum(row[-1] > 0 for row in table.rows)
        assert re.findall(r"[:n] (\d+)(?: of (\d+))?[;.]", table.caption)[0] == (str(higher), "")
        assert f"in {agree} of {tested.height}" in table.caption
        assert "wiki 30M" in table.caption  # not run


def test_other_conditions_sizes_and_suites_are_not_compared(results, collected, tmp_path):
    layout = lay_out(collected)
    made = replace(layout, phenomena={"posh": [("island", "adjunct_island")]})
    assert section.published(collected, made, "posh") is None  # items of another suite
    spec = report_results.build(
        tmp_path, conditions=("baby",), sizes=("10K",), seeds=(1,), models=()
    )  # fmt: skip
    small = gather(spec, tmp_path)
    assert section.published(small, lay_out(small), "posh") is None


# ---- numbers in words ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (words.points, -0.012, "−1.2"), (words.points, -0.0004, "0.0"),
        (words.probability, 0.0004, "< .001"), (words.probability, 0.9996, "> .999"),
        (words.probability, 0.0234, ".023"), (words.listed, ["a"] * 3, "a, a and a"),
        (words.listed, [], ""), (words.duration, 0.42, "0.4 s"), (words.duration, 60, "1 min 00 s"),
        (words.duration, 7500, "2 h 05 min"),
    ],
)  # fmt: skip
def test_numbers_in_words(write, value, text):
    assert write(value) == text


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
    numbers = re.findall(r"[+−]?\d+\.\d", row[2].detail.partition("nearest-noun")[2])
    assert numbers == ["55.0", "+20.0", "+10.0", "+30.0"]
    assert "≠" in table.caption and "✓" in table.caption
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
