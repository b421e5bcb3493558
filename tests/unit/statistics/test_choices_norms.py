"""Ages, z, standard scores, percentiles, age equivalents. All norms here are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.errors import PoshgridError
from poshgrid.statistics.measures import norms

HEADER = "category,score,age_from,age_to,mean,sd,raw_score,standard_score,percentile,items"


@pytest.fixture
def read(tmp_path):
    def found(*lines, header=HEADER):
        path = tmp_path / "norms.csv"
        path.write_text("\n".join((header, *lines)), encoding="utf-8")
        return norms.read(path)

    return found


def norm(*means, width=12, first=48):
    """Return a norm of bands of equal width that follow each other."""
    bands = tuple(
        norms.Band(first + i * width, first + (i + 1) * width - 1, mean, 2.0)
        for i, mean in enumerate(means)
    )
    return norms.Norm("sc", "raw", None, bands)


# ---- ages ----------------------------------------------------------------------------------------


@given(st.integers(0, 1200))
def test_ages_are_read_as_they_are_written(months):
    assert norms.months(norms.age(months)) == months
    assert norms.age(months + 0.99) == norms.age(months)  # completed months


@pytest.mark.parametrize("text", ["4", "4,7", "4.7", "4;12", "4;-1", ";7", "four", "", "4;7;1"])
def test_what_is_no_age_is_refused(text):
    with pytest.raises(ValueError, match="is no age"):
        norms.months(text)


# ---- where a score stands ------------------------------------------------------------------------


def test_z_standard_score_and_percentile_by_hand():
    band = norms.Band(48, 59, 10.0, 4.0)
    found = norms.standing(band, 14.0)
    assert (found["z"], found["within_1_sd"]) == (1.0, True)
    assert (found["standard_score"], found["percentile_by"]) == (115.0, "normal")
    assert found["percentile"] == pytest.approx(84.134, abs=1e-3)  # one SD above the mean
    assert norms.standing(band, 10.0)["percentile"] == pytest.approx(50)


def test_the_table_comes_before_the_normal_distribution():
    table = [norms.Entry(3, 85, 12), norms.Entry(6, 104, 55), norms.Entry(9, 120, None)]
    band = norms.Band(48, 59, 5.0, 2.0, table)
    assert tuple(norms.standing(band, 6).values()) == (0.5, True, 104, 55, "table")
    # Between two entries the lower one has been reached.
    assert tuple(norms.standing(band, 8.5).values()) == (1.75, False, 104, 55, "table")
    # Three ties of three reach what one item does.
    assert norms.standing(band, 5 + 1 / 3 + 1 / 3 + 1 / 3)["standard_score"] == 104
    # No percentile in the table: that of its own standard score.
    found = norms.standing(band, 9)
    assert (found["standard_score"], found["percentile_by"]) == (120, "normal")
    assert found["percentile"] == pytest.approx(90.879, abs=1e-3)  # z = 4/3
    # Below the table: mean and SD.
    assert norms.standing(band, 1)["standard_score"] == 70


def test_what_the_norms_do_not_tell_is_left_open():
    band = norms.Band(48, 59, table=[norms.Entry(3, None, 12)])
    assert tuple(norms.standing(band, 4).values()) == (None, None, None, 12, "table")
    assert tuple(norms.standing(band, 2).values()) == (None, None, None, None, "")


# ---- age equivalents -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (5.9, "< 4;0"),  # below the youngest mean
        (6, "4;6"),  # the middle of 4;0-4;11
        (7, "4;10"),  # a third of the way from 6 at 4;6 to 9 at 5;6
        (9, "5;6"),
        (9.5, "6;0"),  # half way from 9 at 5;6 to 10 at 6;6
        (10, "6;6"),
        (10.1, "> 6;11"),  # above the oldest mean
    ],
)
def test_age_equivalents_by_hand(score, expected):
    assert norms.age_equivalent(norm(6, 9, 10), score) == expected


def test_where_means_fall_the_youngest_age_counts():
    fallen = norm(6, 10, 8, 12)
    assert norms.age_equivalent(fallen, 9) == "5;3"  # three quarters of the way to the first peak
    assert norms.age_equivalent(fallen, 10) == "5;6"
    assert norms.age_equivalent(fallen, 11) == "7;3"  # three quarters of the way from 8 to 12
    assert norms.age_equivalent(norm(6, 6, 8), 6) == "4;6"
    assert norms.age_equivalent(norm(9, 6, 8), 8.5) == "< 4;0"
    assert norms.age_equivalent(norm(6, 10, 8), 11) == "> 6;11"


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=6),
    st.floats(0, 40, allow_subnormal=False),
    st.floats(0, 40, allow_subnormal=False),
)
def test_a_higher_score_never_has_a_lower_age(means, one, other):
    ranks = []
    for score in sorted((one, other)):
        text = norms.age_equivalent(norm(*map(float, means)), score)
        ranks.append(-1 if text[0] == "<" else 1e9 if text[0] == ">" else norms.months(text))
    assert ranks[0] <= ranks[1]


def test_a_table_of_ages_comes_before_the_means():
    table = norms.Norm("sc", "raw", None, norm(6, 9).bands, ((3, 45), (6, 49), (20, 150)))
    found = [norms.age_equivalent(table, score) for score in (2.9, 3, 5.9, 6, 19, 40)]
    assert found == ["< 3;9", "3;9", "3;9", "4;1", "4;1", "12;6"]


def test_items_left_out_make_a_range():
    # Capone et al., section 4.2: 62 of 165, 10 left out of 175, is 62-72.
    bands = (norms.Band(45, 50, 60.0, 10.0), norms.Band(51, 56, 70.0, 10.0))
    given = norms.Norm("sc", "raw", 175, bands, ((60, 45), (70, 51)), excluded=10)
    found = norms.compared(measured(n=165, raw=62.0), [given], "test", "norms")
    assert found.select("excluded_right", "value", "age_equivalent", "age_from", "z").rows() == [
        (0, 62, "3;9", "3;9", 0.2), (0, 62, "3;9", "4;3", -0.8),
        (10, 72, "4;3", "3;9", 1.2), (10, 72, "4;3", "4;3", 0.2),
    ]  # fmt: skip
    with pytest.raises(PoshgridError, match="on 175 items, the suite has 164 and leaves 10 out"):
        norms.compared(measured(n=164, raw=62.0), [given], "test", "norms")
    only = norms.Norm("sc", "raw", None, (), ((60, 45),))
    found = norms.compared(measured(n=165, raw=62.0), [only], "test", "norms")
    assert found.select("age_equivalent", "age_from", "z").rows() == [("3;9", "", None)]


# ---- the file ------------------------------------------------------------------------------------


def test_the_file_is_read_whole(read):
    found = read(
        "sc,raw,5;0,5;11,12,3,,,,20",
        "sc,raw,4;0,4;11,9,3,,,,20",
        "sc,raw,4;0,4;11,,,6,85,15,",
        "sc,raw,4;0,4;11,,,9,100,50,",
        "",
        "test,blocks,4;0,4;11, 5 ,2,,,,",
    )
    assert [(n.category, n.score, n.items) for n in found] == [
        ("sc", "raw", 20),
        ("test", "blocks", None),
    ]
    young, old = found[0].bands
    assert (young.first, young.last, young.mean, young.sd) == (48, 59, 9, 3)
    assert young.table == [norms.Entry(6, 85, 15), norms.Entry(9, 100, 50)]
    assert (old.first, old.table) == (60, [])
    assert found[1].bands[0].mean == 5


AGES = "category,score,age_from,age_to,raw_score,age,items,excluded,mean,sd"


def test_a_table_of_ages_is_read(read):
    (found,) = read(
        "sc,raw,,,60,3;9,175,10,,", "sc,raw,,,70,4;3,,,,", "sc,raw,3;9,4;2,,,,,60,10", header=AGES
    )
    assert found.ages == [(60, 45), (70, 51)]
    assert (found.items, found.excluded, len(found.bands)) == (175, 10, 1)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("sc,raw,4,4;11,9,3,,,,", "age_from is '4': .* no age"),
        ("sc,raw,5;0,4;11,9,3,,,,", "age_to is before age_from"),
        ("sc,rw,4;0,4;11,9,3,,,,", "score is 'rw'"),
        (",raw,4;0,4;11,9,3,,,,", "category is ''"),
        ("sc,raw,4;0,4;11,9,0,,,,", "sd is '0'"),
        ("sc,raw,4;0,4;11,nan,3,,,,", "mean is 'nan'"),
        ("sc,raw,4;0,4;11,9,,,,,", "give age_from and age_to with"),
        ("sc,raw,4;0,4;11,9,3,4,90,,", "give age_from and age_to with"),
        ("sc,raw,4;0,4;11,,,4,90,101,", "percentile is '101'"),
        ("sc,accuracy,4;0,4;11,90,3,,,,", "90 is no share"),
        ("sc,raw,4;0,4;11,9,3,,,,7.5", "items is '7.5'"),
        ("sc,raw,3;6,4;0,9,3,,,,", "ages 3;6-4;0 overlap 4;0-4;11"),
        ("sc,raw,4;2,4;3,9,3,,,,", "overlap 4;0-4;11"),
        ("sc,raw,5;0,5;11,9,3,,,,21", "items is 21, but 20 in another row"),
        ("sc,raw,4;0,4;11,9,3,,,,", "4;0-4;11 has a mean already"),
    ],
)
def test_planted_faults_name_the_line(read, row, says):
    with pytest.raises(PoshgridError, match=r"norms\.csv: line 3: .*" + says):
        read("sc,raw,4;0,4;11,9,3,,,,20", row)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("sc,raw,,,,4;3,,,,", "give age_from and age_to with"),
        ("sc,raw,4;0,4;11,70,4;3,,,,", "give age_from and age_to with"),
        ("sc,raw,,,60,4;3,,,,", "the table of ages does not rise"),
        ("sc,raw,,,70,3;8,,,,", "the table of ages does not rise"),
        ("sc,blocks,,,70,4;3,,2,,", "excluded is of items"),
    ],
)
def test_faults_of_a_table_of_ages_name_the_line(read, row, says):
    with pytest.raises(PoshgridError, match=r"norms\.csv: line 3: .*" + says):
        read("sc,raw,,,60,3;9,175,10,,", row, header=AGES)


@pytest.mark.parametrize("second", ["6,90,40", "7,84,40", "8,90,14"])
def test_a_table_that_does_not_rise_is_refused(read, second):
    with pytest.raises(PoshgridError, match="line 3: the table of 4;0-4;11 does not rise"):
        read("sc,raw,4;0,4;11,,,6,85,15,", f"sc,raw,4;0,4;11,,,{second},")


# ---- norms and runs ------------------------------------------------------------------------------


def measured(**given):
    import polars as pl

    from poshgrid.statistics.measures.schema import CHOICE_MEASURES

    row = {
        "condition": "baby", "size": "10M", "learner": "gpt2-mini", "regimen": "packed",
        "bias": "none", "seed": 42, "suite": "test", "category": "", "phenomenon": "",
        "n": 20, "raw": 12.0, "accuracy": 0.6,
    }  # fmt: skip
    rows = [
        {**row, "level": "suite", "raw": 13.0, **given},
        {**row, "level": "category", "category": "sc", **given},
    ]
    return pl.DataFrame(rows, schema=CHOICE_MEASURES)


def one(score, category="sc", items=None):
    return norms.Norm(category, score, items, (norms.Band(48, 59, 10.0, 2.0),))


def test_a_norm_meets_its_category_or_the_whole_suite():
    found = norms.compared(measured(), [one("raw"), one("raw", "test")], "test", "norms")
    assert found.select("category", "value", "z").rows() == [("sc", 12, 1), ("test", 13, 1.5)]
    assert found["standard_score"].to_list() == [115, 122.5]


def test_a_norm_of_another_test_is_refused():
    assert norms.compared(measured(), [one("raw", items=20)], "test", "norms").height == 1
    with pytest.raises(PoshgridError, match="normed on 25 items, the suite has 20"):
        norms.compared(measured(), [one("raw", items=25)], "test", "norms")
    with pytest.raises(PoshgridError, match="normed by blocks, but its items have none"):
        norms.compared(measured(), [one("blocks")], "test", "norms")
    with pytest.raises(PoshgridError, match="normed on 6 blocks, the suite has 5"):
        norms.compared(
            measured(blocks=5, blocks_passed=2), [one("blocks", items=6)], "test", "norms"
        )
    with pytest.raises(PoshgridError, match="'sk' is not in suite 'test'; known: sc, test"):
        norms.compared(measured(), [one("raw", "sk")], "test", "norms")
