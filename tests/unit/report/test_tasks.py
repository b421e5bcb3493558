"""Other tasks than minimal pairs, and published numbers beside ours, from hand-made measures."""

import math

import polars as pl
import pytest

from poshgrid.core.errors import PoshgridError
from poshgrid.report import collect, figures, style
from poshgrid.report.sections import published, tasks
from poshgrid.statistics.measures.schema import CHOICE_MEASURES, NORMS, TAGS
from poshgrid.statistics.schema import ACCURACY
from tests.cases import read_cases
from tests.shipped import posh_table

RUN = {"condition": "wiki", "size": "60K", "model": "gpt2", "recipe": "packed", "bias": "none"}


def frame(schema, *rows):
    return pl.DataFrame([{**RUN, **row} for row in rows], schema=schema)


# ---- tests of language ---------------------------------------------------------------------------


@pytest.fixture
def tested(study):
    """The study with two other tests, and a suite of two phenomena."""
    cases = read_cases(__file__, "language_tests")
    kinds = {"measures": CHOICE_MEASURES, "norms": NORMS, "tags": TAGS}
    tables = {
        field: {suite: frame(kind, *({"suite": suite} | row for row in rows))
                for suite, rows in cases[field].items()}
        for field, kind in kinds.items()
    }  # fmt: skip
    asked = {"gaps": "paradigms", "trog": "choices", "words": "completions"}
    spec = study.spec.model_copy(update={"measured": asked})
    return study.changed(spec=spec, **tables).collected


def test_the_tests_of_language_a_row_a_test_and_model(tested):
    rows = tasks.tests(tested)
    assert rows.select("suite", "series", "baseline", "n", "raw", "chance").rows() == [
        ("trog", "gpt2", False, 80, 34.0, 0.25),  # the mean of both seeds
        ("words", "gpt2", False, 14, 6.0, None),
        ("trog", "gpt2 untrained", True, 80, 20.0, 0.25),
    ]
    assert rows["low"][0] < rows["accuracy"][0] == 34 / 80 < rows["high"][0]
    assert rows.select("right", "passed").row(0) == ("34/80", "6.5/20")
    assert rows["passed"][1] is None
    normed = tasks.normed(tested)
    assert normed["norms"]["typical"].to_list() == ["4;0–5;5", None]
    assert normed["norms-by-age"].select("seed", "typical").rows() == [(42, "yes"), (53, "no")]


def test_a_model_that_gets_nothing_right_keeps_its_colour():
    rows = {"panel": ["a", "b"], "row": ["gpt2"] * 2, "value": [0.0, 50.0], "filled": [True] * 2}
    with style.drawing("test"):
        drawn = figures.rows(pl.DataFrame(rows), style.Palette(), "", percent=True)
    colours = {
        line.get_color() for axes in drawn.axes for line in axes.lines if line.get_marker() == "o"
    }
    assert len(colours) == 1


def test_subsets_add_up_over_tests(tested):
    tags = pl.concat(tested.tags.values())
    (row,) = tasks.tagged(tags).to_dicts()
    # The baseline is left out
    assert [row[n] for n in ("series", "tag", "right", "rest")] == ["gpt2", "neg", "2/8", "12/20"]
    # 14 of 28 are right, and of 8 drawn at random as many as two, or as six: both ends alike.
    end = sum(math.comb(14, k) * math.comb(14, 8 - k) for k in range(3))
    assert row["p"] == pytest.approx(2 * end / math.comb(28, 8))
    (row,) = tasks.tagged(tags, crossed=True).to_dicts()
    assert [row[n] for n in ("tag", "other", "right", "rest")] == ["neg", "pas", "1/1", "0/3"]


# ---- filler x gap --------------------------------------------------------------------------------


def measured():
    rows = [
        {**RUN, "model": model, "recipe": recipe, "seed": seed, "suite": "sets",
         "phenomenon": "subject", "subset": subset, "measure": measure, "n": 8,
         "accuracy": share, "low": share / 2, "high": 1 - share / 2, "t": 1.5, "p_one": 0.1}
        for model, recipe, seed, share in (
            ("unigram", "counted", 0, 0.5), ("gpt2", "packed", 42, 0.25),
            ("gpt2", "untrained", 42, 0.0),
        )
        for subset in ("all", "ambiguous")
        for measure in ("delta_plus_filler", "delta_minus_filler", "did")
    ]  # fmt: skip
    return pl.DataFrame(rows)


def of_sets(study, frame):
    """Return results with these measures of filler x gap."""
    spec = study.spec.model_copy(update={"measured": {"sets": "paradigms"}})
    return study.changed(spec=spec, measures={"sets": frame}).collected


def test_runs_are_counted_whose_interval_is_above_the_best_null(study):
    rows = tasks.shares(of_sets(study, measured()))  # the unigram baseline has half of the sets
    assert tasks.above(rows) == [("sets", 0, 1)]
    sure = pl.when("baseline").then("low").otherwise(pl.lit(0.51))
    assert tasks.above(rows.with_columns(low=sure)) == [("sets", 1, 1)]
    marks = tasks.marks(rows, "criterion", "sets")
    assert marks["panel"].n_unique() == 2
    assert marks.select("row", "series", "value", "low", "high", "filled").rows()[:3] == [
        ("sets", "gpt2", 25, 12.5, 87.5, True), ("sets", "gpt2 untrained", 0, 0, 100, False),
        ("sets", "unigram", 50, 25, 75, False),
    ]  # fmt: skip


def test_a_suite_with_ambiguous_sets_stands_there_without_them_too(study):
    clear = measured().filter(pl.col("subset") == "all").with_columns(subset=pl.lit("unambiguous"))
    alike = tasks.shares(of_sets(study, pl.concat([measured(), clear])))
    assert alike["sets"].unique().to_list() == ["sets"]  # no set is ambiguous
    fewer = pl.concat([measured(), clear.with_columns(n=pl.lit(5, pl.Int64))])
    fewer = tasks.shares(of_sets(study, fewer))
    clear = fewer.filter(sets="sets, unambiguous")
    assert set(clear["n"]) == {5} and clear.height == fewer.height / 2


# ---- published numbers ---------------------------------------------------------------------------


@pytest.fixture
def compare(study):
    """Set a published number beside accuracies of three rows; return the table's row."""

    def row(**changed):
        number = {
            "version": "paper", "source": "Table 1", "what": "LSTM", "value": 70.4, "unit": "%",
            "table": "accuracy", "column": "mean", "where": "model=lstm,level=average",
        }  # fmt: skip
        rows = [{"model": "lstm", "mean": 0.6, "sd": 0.02, "n_seeds": 4},
                {"model": "lstm", "mean": 0.7, "n_seeds": 1},
                {"model": "gpt2", "mean": 0.9, "sd": 0.03, "n_seeds": 9}]  # fmt: skip
        accuracy = frame(ACCURACY, *({"level": "average", **row} for row in rows))
        made = study.changed(accuracy=accuracy).collected
        return published.comparison(made, pl.DataFrame([number | changed]), "fict").row(
            0, named=True
        )

    return row


def test_ours_is_the_mean_of_the_rows_that_are_named(compare):
    row = compare()
    assert (row["value"], row["ours"], row["rows"]) == (70.4, pytest.approx(65.0), 2)
    assert row["margin"] is None  # means of two points share no spread
    single = compare(where="model=gpt2", unit="")
    half = 2.306004 * 0.03 / 3  # t of 8 degrees of freedom, from a printed table
    assert (single["ours"], single["margin"]) == (0.9, pytest.approx(half, abs=1e-6))
    for absent in ({"where": "model=rnn"}, {"table": "", "column": "", "where": ""},
                   {"table": "measures", "column": "accuracy", "where": "subset=all"}):  # fmt: skip
        assert compare(**absent)["ours"] is None


@pytest.mark.parametrize(
    ("changed", "key"),
    [({"table": "accurcy"}, "'accurcy'"), ({"column": "meen"}, "'meen'"),
     ({"where": "lerner=lstm"}, "'lerner'")],
)  # fmt: skip
def test_a_mistake_is_named(compare, changed, key):
    with pytest.raises(PoshgridError, match=f"studies/fict: LSTM: .*{key}"):
        compare(**changed)


def test_a_table_of_children_is_read_from_the_working_folder_and_its_faults_are_named(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "studies/posh-bench/children.csv"
    path.parent.mkdir(parents=True)
    path.write_text("name,age,accuracy,source\na,4,,x\na,5,80,x\n")
    assert collect.children_of("posh-bench").rows() == [("a", "5", 0.8, "x")]
    path.write_text("name,age,accuracy,source\na,3,many,\n")
    with pytest.raises(PoshgridError, match=r"children\.csv: .*many"):
        collect.children_of("posh-bench")


def test_the_published_numbers_of_posh_bench_are_those_of_its_tables():
    ours = published.read_numbers("posh-bench")
    for table, column in (("3", "accuracy"), ("8", "accuracy"), ("12", "median")):
        printed = posh_table(f"table{table}")[column]
        rows = ours.filter(~pl.col("column").is_in(["low", "high"]), source=f"Table {table}")
        assert rows["value"].to_list() == printed.to_list()
