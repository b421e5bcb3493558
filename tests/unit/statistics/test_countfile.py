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
    found = countfile.read(csv(tmp_path, HEADER + ROWS.replace("b,10M,1", " b ,10M,1")))
    assert dict(found.schema) == COUNTS
    assert found.row(4, named=True) == {
        "condition": "b", "size": "10M", "model": "model", "recipe": "released",
        "bias": "none", "seed": 1, "suite": "suite", "category": "island", "phenomenon": "wh",
        "template": "wh", "correct": 81, "ties": 0, "n": 100,
        "words": 10_000_000, "source": "b", "filtered": False,
    }  # fmt: skip
    text = "condition,size,seed,category,phenomenon,correct,n,filtered,words\n"
    row = countfile.read(csv(tmp_path, text + "a,10M,1,island,wh,3.5,9,Yes,77\n")).to_dicts()[0]
    assert (row["filtered"], row["words"], row["correct"]) == (True, 77, 3.5)


ROW = "a,10M,1,island,wh,3,9\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (HEADER.replace("seed,", ""), "line 1: .*seed"),
        (HEADER + ROW.replace(",3,", ",many,"), "line 2: correct"),
        (HEADER + ROW.replace(",3,", ",10,"), "line 2: correct"),
        (HEADER + ROW.replace(",3,", ",3.7,"), "line 2: correct"),
        (HEADER + ROW.replace(",3,9", ",0,0"), "no counts"),
        (HEADER + 2 * ROW, "line 3: .* line 2"),
        (HEADER + ROW + ROW.replace("1,island", "2,npi"), "line 3: 'wh' .*'island'"),
    ],
)
def test_mistakes_name_file_and_place(tmp_path, text, place):
    with pytest.raises(PoshgridError, match=rf"mine\.csv: {place}"):
        countfile.read(csv(tmp_path, text))


@pytest.mark.slow
def test_a_fit_takes_them(tmp_path):
    path, output = csv(tmp_path, HEADER + ROWS), tmp_path / "fit"
    formula = "p(correct, n) ~ S(condition) + (1|phenomenon)"
    words = ["fit", str(path), "--formula", formula, "--output", str(output)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    summary = pl.read_csv(output / "summary.csv")
    low = summary.filter(pl.col("term").str.starts_with("S(condition)"))["median"][0]
    assert low == pytest.approx(-0.70, abs=0.15)  # half of logit(.515) - logit(.815)
