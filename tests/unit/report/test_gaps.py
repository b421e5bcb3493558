"""The figure and table of filler x gap, from a hand-made table of measures."""

from __future__ import annotations

import polars as pl

from poshgrid.report.sections import gaps


def measured():
    rows = [
        {"condition": "wiki", "size": "60K", "learner": learner, "regimen": regimen,
         "bias": "none", "seed": seed, "suite": "sets", "phenomenon": "subject",
         "subset": subset, "measure": measure, "n": 8,
         "accuracy": share, "low": share / 2, "high": 1 - share / 2, "t": 1.5, "p_one": 0.1}
        for learner, regimen, seed, share in (
            ("unigram", "counted", 0, 0.5), ("gpt2", "packed", 42, 0.25),
            ("gpt2", "untrained", 42, 0.0),
        )
        for subset in ("all", "ambiguous")
        for measure in ("delta_plus_filler", "delta_minus_filler", "did")
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_runs_are_counted_whose_interval_is_above_the_best_null():
    found = gaps.shares(measured())  # the unigram null has half of the sets
    said = "DiD clearly more often above 0 than in the best null: subject in {} of 1 run."
    assert gaps.summary(found) == said.format(0)
    sure = pl.when("null").then("low").otherwise(pl.lit(0.51))
    assert gaps.summary(found.with_columns(low=sure)) == said.format(1)
    assert gaps.summary(found.filter(~pl.col("null"))) is None


def test_the_table_has_both_criteria_in_a_row():
    table = gaps.table(gaps.shares(measured()))
    assert table.rows[0] == ["sets", "subject", "gpt2", 42, 8, 0.25, 1.5, 0.1, 0.25, 1.5, 0.1]
    assert len(table.rows) == 3


def test_a_suite_with_ambiguous_sets_stands_there_without_them_too():
    clear = measured().filter(pl.col("subset") == "all").with_columns(subset=pl.lit("unambiguous"))
    alike = gaps.shares(pl.concat([measured(), clear]))
    assert alike["phenomenon"].unique().to_list() == ["subject"]  # no set is ambiguous
    fewer = gaps.shares(pl.concat([measured(), clear.with_columns(n=pl.lit(5, pl.Int64))]))
    assert fewer["phenomenon"].unique(maintain_order=True).to_list() == [
        "subject", "subject, unambiguous",
    ]  # fmt: skip
    assert set(fewer.filter(pl.col("phenomenon") != "subject")["n"]) == {5}


def test_marks_and_intervals_are_where_the_numbers_are():
    figure = gaps.draw(gaps.shares(measured()))
    for axes in figure.axes:
        marks = list(axes.containers)
        assert [line.lines[0].get_xdata()[0] for line in marks] == [25, 0, 50]
        assert [line.lines[0].get_ydata()[0] for line in marks] == [0, 1, 2]
        assert [line.lines[0].get_markerfacecolor() == "white" for line in marks] == [
            False, True, True,
        ]  # fmt: skip
        low, high = marks[0].lines[2][0].get_segments()[0][:, 0]
        assert (low, high) == (12.5, 87.5)
