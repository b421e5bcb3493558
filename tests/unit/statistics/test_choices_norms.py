"""Ages, z, age equivalents. All norms here are made up."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.core.errors import PoshgridError
from poshgrid.statistics.measures import norms
from poshgrid.statistics.measures.schema import CHOICE_MEASURES
from tests.cases import read_cases

HEADER = "category,score,age_from,age_to,mean,sd,raw_score,age,items,excluded"


@pytest.fixture
def read(tmp_path):
    def rows(*lines):
        path = tmp_path / "norms.csv"
        path.write_text("\n".join((HEADER, *lines)), encoding="utf-8")
        return norms.read(path)

    return rows


@given(st.integers(0, 1200))
def test_ages_are_read_as_they_are_written(months):
    assert norms.months(norms.age(months)) == months
    with pytest.raises(ValueError, match="is not an age"):
        norms.months(f"{months};12")


def test_ages_are_those_of_the_table():
    table = norms.Norm("sc", "raw", ages=[(3, 45), (6, 49), (20, 150)])
    ages = [norms.age_equivalent(table, score) for score in (2.9, 3, 5 + 3 * (1 / 3), 19, 40)]
    assert ages == ["< 3;9", "3;9", "4;1", "4;1", "12;6"]
    assert norms.age_equivalent(one("raw"), 9) == ""


def test_the_file_is_read_whole(read):
    one, other = read(
        "sc,raw,5;0,5;11,12,3,,,175,10",
        "sc,raw,4;0,4;11,9,3,,,,",
        "sc,raw,,,,,60,3;9,,",
        "sc,raw,,,,,70,4;3,,",
        "",
        "test,blocks,4;0,4;11, 5 ,2,,,,",
    )
    assert (one.category, one.score, one.items, one.excluded) == ("sc", "raw", 175, 10)
    assert one.bands == [(48, 59, 9, 3), (60, 71, 12, 3)]
    assert one.ages == [(60, 45), (70, 51)]
    assert (other.category, other.items, other.bands) == ("test", None, [(48, 59, 5, 2)])


@pytest.mark.parametrize(("row", "where"), read_cases(__file__, "norms"))
def test_planted_faults_are_named_with_their_line(read, row, where):
    with pytest.raises(PoshgridError, match=rf"norms\.csv: {where}"):
        read("sc,raw,4;0,4;11,9,3,,,20,", row)


def measured(**values):
    row = {
        "condition": "baby", "size": "10M", "model": "gpt2-mini", "recipe": "packed",
        "bias": "none", "seed": 42, "suite": "test", "category": "", "phenomenon": "",
        "n": 20, "raw": 12.0, "accuracy": 0.6,
    }  # fmt: skip
    rows = [
        {**row, "level": "suite", "raw": 13.0, **values},
        {**row, "level": "category", "category": "sc", **values},
    ]
    return pl.DataFrame(rows, schema=CHOICE_MEASURES)


def one(score, category="sc", **lengths):
    return norms.Norm(category, score, bands=[(48, 59, 10.0, 2.0)], **lengths)


def test_a_norm_meets_its_category_or_the_whole_suite():
    compared = norms.compared(measured(), [one("raw"), one("raw", "test")], "test", "norms")
    assert compared.select("category", "value", "z", "standard", "typical_from").rows() == [
        ("sc", 12, 1, 115, 48), ("test", 13, 1.5, 122.5, None),
    ]  # fmt: skip
    assert compared["percentile"].to_list() == pytest.approx(
        [84.1345, 93.3193], abs=1e-4
    )  # printed
    blocks = norms.compared(measured(blocks=5, blocks_passed=8), [one("blocks")], "test", "norms")
    assert blocks.select("value", "z").rows() == [(8, -1)]


def test_items_left_out_make_a_range():
    # Capone et al., section 4.2: 62 of 165, 10 left out of 175, is 62-72.
    bands = [(45, 50, 60.0, 10.0), (51, 56, 70.0, 10.0)]
    table = norms.Norm("sc", "raw", 175, bands, [(60, 45), (70, 51)], excluded=10)
    compared = norms.compared(measured(n=165, raw=62.0), [table], "test", "norms")
    assert compared.select("excluded_right", "value", "age_equivalent", "age_from", "z").rows() == [
        (0, 62, "3;9", "3;9", 0.2), (0, 62, "3;9", "4;3", -0.8),
        (10, 72, "4;3", "3;9", 1.2), (10, 72, "4;3", "4;3", 0.2),
    ]  # fmt: skip
    ages = compared.select("age_months", "typical_from", "typical_to", "own_age").rows()
    assert ages == [
        (45, 45, 56, True),
        (45, 45, 56, False),
        (51, 51, 56, False),
        (51, 51, 56, True),
    ]
    with pytest.raises(PoshgridError, match="on 175 items, the suite has 164 and leaves 10 out"):
        norms.compared(measured(n=164, raw=62.0), [table], "test", "norms")
    only = norms.Norm("sc", "raw", ages=[(60, 45)])
    compared = norms.compared(measured(n=165, raw=62.0), [only], "test", "norms")
    assert compared.select("age_equivalent", "age_from", "z").rows() == [("3;9", "", None)]


@pytest.mark.parametrize(
    ("rows", "table"),
    [
        (measured(), one("raw", items=25)),
        (measured(), one("blocks")),
        (measured(blocks=5, blocks_passed=2), one("blocks", items=6)),
        (measured(), one("raw", "sk")),
    ],
)
def test_a_norm_of_another_test_is_refused(rows, table):
    with pytest.raises(PoshgridError, match=r"^norms: "):
        norms.compared(rows, [table], "test", "norms")
