"""A table as it is shown and as CSV: the same numbers, nothing that a spreadsheet computes."""

import csv
import io

import polars as pl
import pytest

from poshgrid.core import formats
from poshgrid.core.table import of_frame

FRAME = pl.DataFrame({"name": ["baby", "wiki"], "share": [0.12345, None], "class": [None, "flag"]})
TITLES = {"name": "Name", "share": "Share | percent", "absent": "Absent"}


def test_a_frame_is_a_table_with_the_titles_that_it_has_values_for():
    table = of_frame("t", "", FRAME, TITLES)
    assert [column.title for column in table.columns] == ["Name", "Share"]
    assert table.shown() == [["baby", "12.3"], ["wiki", "–"]] and table.classes == {1: "flag"}
    assert formats.csv(table.values) == "name,share\nbaby,0.12345\nwiki,\n"
    frame = FRAME.with_columns(gone=pl.lit(None, pl.Float64), more_words=7)
    wide = of_frame("t", "", frame, {"gone?": "Gone", "name": "Name", "*": "{} (n) | count"})
    assert [column.title for column in wide.columns] == ["Name", "share (n)", "more_words (n)"]
    plain = of_frame("t", "", frame.select("name", "more_words"))
    assert [column.title for column in plain.columns] == ["name", "more words"]


FORMULAS = [
    "=1+1", "+cmd|' /C calc'!A0", "-cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1",
    " =1", "'=1", "+4.0 [A1, 7.0]", "+4.0 [1.0, 7.0]+A1", "+A1 [1.0, 7.0]",
]  # fmt: skip


@pytest.mark.parametrize("words", FORMULAS)
def test_no_cell_and_no_title_of_a_csv_is_a_formula(words):
    frame = pl.DataFrame({words: [words, "island"], "Share": [0.5, -0.25]})
    read = list(csv.reader(io.StringIO(formats.csv(frame), newline="")))
    assert read == [[f"'{words}", "Share"], [f"'{words}", "0.5"], ["island", "-0.25"]]
    assert formats.unguarded(read[1][0]) == words


@pytest.mark.parametrize("text", ["+4.0 [+1.0, +7.0]", "-4.0 [−7.5, +0.2]", "+4e-05 [0.0, 7.0]"])
def test_a_number_with_its_interval_is_no_formula(text):
    written = formats.csv(pl.DataFrame({"difference": [text]}))
    assert list(csv.reader(io.StringIO(written))) == [["difference"], [text]]
    assert formats.unguarded(text) == text


def test_numbers_among_words_are_no_formulas_and_the_parquet_holds_words_as_they_are(tmp_path):
    rows = pl.DataFrame(
        {"name": ["=HYPERLINK(1)", "b"], "mixed": ["-0.25", "-x"], "mean": [-1 / 3] * 2}
    )
    formats.write(rows, tmp_path, "accuracy", dict(rows.schema))
    assert pl.read_parquet(tmp_path / "accuracy.parquet").equals(rows)
    assert (tmp_path / "accuracy.csv").read_text() == (
        "name,mixed,mean\n'=HYPERLINK(1),-0.25,-0.333333\nb,'-x,-0.333333\n"
    )
