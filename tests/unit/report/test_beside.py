"""Published numbers beside ours: which rows are meant, and what a mistake in a file says."""

from __future__ import annotations

from types import SimpleNamespace

import polars as pl
import pytest

from poshgrid.errors import PoshgridError
from poshgrid.report.sections import beside
from poshgrid.statistics import published
from poshgrid.statistics.measures.schema import TAGS

ACCURACY = pl.DataFrame({
    "learner": ["lstm", "lstm", "gpt2"], "level": ["average", "average", "average"],
    "mean": [0.6, 0.7, 0.9],
})  # fmt: skip


def numbers(**changed):
    row = {
        "version": "paper", "source": "Table 1", "what": "LSTM", "value": 70.4, "unit": "%",
        "table": "accuracy", "column": "mean", "where": "learner=lstm,level=average",
    }  # fmt: skip
    return pl.DataFrame([row | changed])


def collected():
    empty = pl.DataFrame()
    return SimpleNamespace(
        accuracy=ACCURACY, deltas=empty, delta_tests=empty, perplexity=empty, measures={}, tags={}
    )


def row(**changed):
    """The number's row: what, unit, published, ours, ± if there is one, rows, printed in."""
    return beside.beside(collected(), numbers(**changed), "fict").rows[0]


def test_ours_is_the_mean_of_the_rows_that_are_named():
    assert row() == ["LSTM", "%", 70.4, pytest.approx(65.0), 2, "Table 1"]
    assert row(where="learner=gpt2", unit="")[3:5] == [0.9, 1]


def test_what_is_not_there_is_a_dash():
    nothing = [None, None]
    assert row(where="learner=rnn")[3:5] == nothing
    assert row(table="measures", column="accuracy", where="subset=all")[3:5] == nothing
    assert row(table="", column="", where="")[3:5] == nothing


def tagged(suite, other, *counts):
    """Rows of ``TAGS``: of *negation*, items and right ones; and what is without it."""
    row = dict(zip(("n", "raw", "n_rest", "raw_rest"), counts, strict=True))
    row |= {"learner": "minerva", "seed": 0, "suite": suite, "tag": "negation", "other": other}
    return pl.DataFrame([row], schema=TAGS)


def test_negation_of_babies_is_over_all_tests_that_have_it():
    """Section 5 of the paper: 9 of 28 negative clauses, 2 of 8 passives and 1 of 6 double ones."""
    found = collected()
    found.tags = {
        "bvl": pl.concat([
            tagged("bvl", "", 10, 5, 30, 15), tagged("bvl", "passive", 4, 2, 6, 3),
        ]),
        "trog-2": pl.concat([
            tagged("trog-2", "", 18, 4, 62, 30), tagged("trog-2", "passive", 4, 0, 14, 4),
            tagged("trog-2", "double-negation", 6, 1, 12, 3),
        ]),
        "words": pl.DataFrame(schema=TAGS),  # without tags
    }  # fmt: skip
    of_tags = published.numbers("babies").filter(table="tags")
    rows = beside.beside(found, of_tags, "babies").rows
    # Tests have other numbers of items: the mean of 5/10 and 4/18 would be 36.11.
    assert [row[2:] for row in rows] == [
        [32.14, pytest.approx(900 / 28), 1, "section 5"],
        [25, pytest.approx(25), 1, "section 5"],
        [16.67, pytest.approx(100 / 6), 1, "section 5"],
    ]
    found.tags = {"bvl": pl.DataFrame(schema=TAGS)}
    assert [row[3] for row in beside.beside(found, of_tags, "babies").rows] == [None] * 3


def test_a_mean_over_seeds_has_its_margin_of_error(monkeypatch):
    seeds = ACCURACY.with_columns(sd=pl.Series([0.02, None, 0.03]), n_seeds=pl.Series([4, 1, 9]))
    monkeypatch.setitem(globals(), "ACCURACY", seeds)
    half = 2.306004 * 0.03 / 3  # t of 8 degrees of freedom, from a printed table
    assert row(where="learner=gpt2", unit="")[4] == pytest.approx(half, abs=1e-6)
    assert row(where="learner=gpt2")[4] == pytest.approx(100 * half, abs=1e-4)
    two, one = numbers(), numbers(where="learner=lstm,mean=0.7")
    table = beside.beside(collected(), pl.concat([numbers(where="learner=gpt2"), two, one]), "fict")
    # Means of two points share no spread; one seed has none.
    assert [row[4] is None for row in table.rows] == [False, True, True]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"table": "accurcy"}, r"studies/fict: LSTM: no table 'accurcy'; did you mean 'accuracy'"),
        ({"column": "meen"}, r"no column 'meen'; did you mean 'mean'"),
        ({"where": "lerner=lstm"}, r"no column 'lerner'; did you mean 'learner'"),
    ],
)
def test_a_mistake_is_named(changed, said):
    with pytest.raises(PoshgridError, match=said):
        row(**changed)
