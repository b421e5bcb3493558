"""Counts from anybody's CSV: what is filled in, what is refused, and that a fit takes them."""

from __future__ import annotations

import polars as pl
import pytest
from typer.testing import CliRunner

from poshgrid.cli import app
from poshgrid.errors import PoshgridError
from poshgrid.statistics import countfile
from poshgrid.statistics.schema import COUNTS

HEADER = "condition,size,seed,category,phenomenon,correct,n\n"
ROWS = "".join(
    f"{condition},10M,{seed},island,{phenomenon},{right + seed},100\n"
    for condition, right in (("a", 50), ("b", 80))
    for seed in (1, 2)
    for phenomenon in ("wh", "adjunct")
)


def csv(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_left_out_is_filled_in(tmp_path):
    found = countfile.read(csv(tmp_path, HEADER + ROWS))
    assert dict(found.schema) == COUNTS
    row = found.row(0, named=True)
    assert (row["words"], row["source"], row["filtered"]) == (10_000_000, "a", False)
    assert (row["regimen"], row["bias"], row["template"], row["ties"]) == (
        "released", "none", "wh", 0,
    )  # fmt: skip
    assert found["correct"].to_list() == [51, 51, 52, 52, 81, 81, 82, 82]


def test_further_columns_are_taken(tmp_path):
    text = "condition,size,seed,category,phenomenon,correct,n,filtered,words\n"
    found = countfile.read(csv(tmp_path, text + "a,10M,1,island,wh,3.5,9,Yes,77\n"))
    row = found.row(0, named=True)
    assert (row["filtered"], row["words"], row["correct"]) == (True, 77, 3.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEADER.replace("seed,", "") + "", "no column seed"),
        (HEADER.replace(",n", ",n,leaner") + "", "unknown column 'leaner'; did you mean 'learner'"),
        (HEADER + "a,10M,1,island,wh,many,9\n", "line 2: correct is 'many'"),
        (HEADER + "a,10M,1,island,wh,3,\n", "line 2: n is ''"),
        (HEADER + "a,large,1,island,wh,3,9\n", "impossible size 'large'"),
        (HEADER + "a,10M,1,island,wh,60,50\n", "line 2: correct is 60 of 50 pairs"),
        (HEADER + "a,10M,1,island,wh,3.7,50\n", "correct is 3.7 of 50 pairs; write how many were"),
        (HEADER + "a,10M,1,island,wh,0,0\n", "no counts below the header"),
        (HEADER + "a,10M,1,island,wh,1,9000000000\n", "line 2: n is '9000000000'"),
        (HEADER + 2 * "a,10M,1,island,wh,3,9\n", "line 3: of the same run and phenom"),
        (HEADER, "no rows"),
        ("", "empty file"),
        (HEADER.replace(",", ";") + ROWS.replace(",", ";"), "line 1: columns are divided by ';'"),
        (HEADER + ROWS + "A,10M,1,island,wh,3,9\n", "line 10: condition is 'A', but 'a' before"),
        (HEADER + "a  b,10M,1,i,wh,3,9\na b,10M,2,i,wh,3,9\n", "line 3: condition is 'a b'"),
        (HEADER + ROWS + "a,10M,3,npi,wh,3,9\n", "line 10: phenomenon 'wh' is in category 'npi'"),
    ],
)
def test_mistakes_name_file_and_place(tmp_path, text, said):
    with pytest.raises(PoshgridError, match=said) as error:
        countfile.read(csv(tmp_path, text))
    assert "mine.csv" in str(error.value)


def test_a_number_sign_begins_a_name_and_outer_spaces_are_no_part_of_one(tmp_path):
    rows = ROWS.replace("a,10M", "#a,10M").replace("b,10M,1", "b ,10M,1")
    found = countfile.read(csv(tmp_path, HEADER + rows))
    assert found["condition"].to_list() == ["#a"] * 4 + ["b"] * 4


@pytest.mark.slow
def test_a_fit_takes_them(tmp_path):
    path = csv(tmp_path, HEADER + ROWS)
    formula = "p(correct, n) ~ S(condition) + (1|phenomenon)"
    output = tmp_path / "fit"
    result = CliRunner().invoke(
        app, ["fit", str(path), "--formula", formula, "--output", str(output)]
    )
    assert result.exit_code == 0, result.output
    summary = pl.read_csv(output / "summary.csv")
    low = summary.filter(pl.col("term").str.starts_with("S(condition)"))["median"][0]
    assert low == pytest.approx(-0.70, abs=0.15)  # half of logit(.515) - logit(.815)
