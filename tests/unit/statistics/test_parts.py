"""What several statistics share: Wilson's interval, a run's name as columns, LaTeX's parts."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from poshgrid.errors import PoshgridError
from poshgrid.files import read_table
from poshgrid.statistics import intervals, levels
from poshgrid.tables import formats
from poshgrid.tables.table import Column, Table, text, varying

SCHEMA = {"a": pl.String, "b": pl.Float64}


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@example((452, 8064))
def test_wilson_agrees_with_scipy(counts):
    expected = stats.binomtest(*counts).proportion_ci(0.95, method="wilson")
    assert intervals.wilson(*counts) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_by_hand():
    # 3 of 4: middle (.75 + 3.8415 / 8) / (1 + 3.8415 / 4) = 1.23018 / 1.96036
    low, high = intervals.wilson(3, 4)
    assert (low + high) / 2 == pytest.approx(0.62752, abs=1e-4)
    assert intervals.wilson(2.5, 4)[0] < low


def test_a_runs_name_gives_its_columns_in_order():
    assert list(levels.axes("baby/10M/gpt2-mini/packed/none/seed42").items()) == [
        ("condition", "baby"), ("size", "10M"), ("learner", "gpt2-mini"), ("regimen", "packed"),
        ("bias", "none"), ("seed", 42),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "run",
    [
        "baby/10M", "baby/10M/gpt2-mini/packed/seed42", "a/baby/10M/gpt2-mini/packed/none/seed42",
        "baby/10M/gpt2-mini/packed/none/42", "baby/10M/gpt2-mini/packed/none/seed",
        "baby/10M/gpt2-mini/packed/none/seed-1", "",
    ],
)  # fmt: skip
def test_a_misnamed_run_is_refused(run):
    with pytest.raises(PoshgridError, match=f"{run!r} is not condition/size"):
        levels.axes(run)


def test_axes_with_one_value_are_left_out_unless_they_always_stand():
    rows = pl.DataFrame({"a": [1, 1], "b": [1, 2], "c": [3, 3]})
    assert varying(rows, ("c", "b", "a")) == ["b"]
    assert varying(rows, ("c", "b", "a"), always=("a",)) == ["b", "a"]


def test_a_latex_table_line_by_line():
    columns = [text("x"), Column("y", group="up"), Column("z", group="up")]
    made = Table("t", "What.", columns, [["1", 2, 3], ["4", 5, 6]], {1: "total"})
    assert formats.latex(made, floats=True).split("\n") == [
        r"\begin{table}", r"\centering", r"\begin{tabular}{lrr}", r"\toprule",
        r" & \multicolumn{2}{c}{up} \\", r"\cmidrule(lr){2-3}",
        r"x & y & z \\", r"\midrule", r"1 & 2 & 3 \\", r"\emph{4} & 5 & 6 \\", r"\bottomrule",
        r"\end{tabular}", r"\caption{What.}", r"\end{table}", "",
    ]  # fmt: skip
    bare = formats.latex(Table("t", "", [Column("x", tex="$x$")], [["72.1*‡ (2.0)"]])).split("\n")
    assert bare[2:7] == [
        r"\begin{tabular}{r}", r"\toprule", r"$x$ \\", r"\midrule",
        r"72.1$^{*\ddagger}$ (2.0) \\",
    ]  # fmt: skip


def test_a_table_is_written_in_its_formats(tmp_path):
    rows = pl.DataFrame({"a": ["x"], "b": [1 / 3]}, schema=SCHEMA)
    shown = Table("t", "What.", [text("a")], [["x"]])
    formats.write(rows, tmp_path, "both", SCHEMA, [shown, shown])
    assert read_table(tmp_path / "both.parquet", SCHEMA).equals(rows)  # to the last bit
    assert (tmp_path / "both.csv").read_text() == "a,b\nx,0.333333\n"
    tex = formats.latex(shown, floats=True)
    assert (tmp_path / "both.tex").read_text() == f"{tex}\n{tex}"
    formats.write(rows, tmp_path / "plain", "one", SCHEMA)
    assert sorted(p.name for p in (tmp_path / "plain").iterdir()) == ["one.csv", "one.parquet"]


def test_a_table_that_breaks_its_contract_leaves_no_file(tmp_path):
    with pytest.raises(PoshgridError, match="column 'b' is missing"):
        formats.write(pl.DataFrame({"a": ["x"]}), tmp_path, "bad", SCHEMA, [Table("t", "", [], [])])
    assert list(tmp_path.iterdir()) == []
