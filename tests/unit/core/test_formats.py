"""A table in every format: the same numbers, nothing of a name taken for markup."""

import csv
import io

import polars as pl
import pytest

from poshgrid.core import formats
from poshgrid.core.table import Column, Table, of_frame
from poshgrid.core.words import NOT_RUN

NASTY = "<b>a|b</b> *c* _d_ `e` \\ $f$ [g](h) & ~i~ # “j” ‡"


FRAME = pl.DataFrame({"name": ["baby", "wiki"], "share": [0.12345, None], "class": [None, "flag"]})
TITLES = {"name": "Name", "share": "Share | percent", "absent": "Absent"}


def test_an_accuracy_table_in_latex():
    columns = [Column("Group", text=True), Column("Row", text=True)]
    columns += [Column(name, group=group)
                for name, group in (("baby", "10M"), ("wiki", "10M"), ("baby", "30M"))]  # fmt: skip
    rows = [["Islands", "adjunct", "72.1*** (2.1)", "30.0", NOT_RUN],
            ["Islands", "wh", "50.0 (2.1)", "0.0*", "50.0‡ (2.1)"]]  # fmt: skip
    latex = formats.latex(Table("grid", "What was run.", columns, rows, grouped=True))
    lines = [line for line in latex.splitlines() if "&" in line]
    assert lines[0] == r" &  & \multicolumn{2}{c}{10M} & \multicolumn{1}{c}{30M} \\"
    assert r"\cmidrule(lr){3-4} \cmidrule(lr){5-5}" in latex
    assert lines[2] == r"Islands & adjunct & 72.1$^{***}$ (2.1) & 30.0 & not run \\"
    assert lines[3].startswith(" & wh") and lines[3].endswith(r"& 50.0$^{\ddagger}$ (2.1) \\")


def test_names_are_no_markup_and_numbers_are_those_of_the_csv():
    latex = formats.latex(of_frame("t", NASTY, pl.DataFrame({NASTY: [NASTY]})))
    body = latex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert "</b> *c* \\_d\\_" in body and r"\textbackslash{} \$f\$" in body
    assert "\n% " + formats.escape(NASTY) in latex
    table = of_frame("t", "", FRAME, TITLES)
    assert r"baby & 12.3 \\" in formats.latex(table)
    assert formats.csv(table.values) == "name,share\nbaby,0.12345\nwiki,\n"


def test_a_frame_is_a_table_with_the_titles_that_it_has_values_for():
    table = of_frame("t", "", FRAME, TITLES)
    assert [column.title for column in table.columns] == ["Name", "Share"]
    assert table.shown() == [["baby", "12.3"], ["wiki", "–"]] and table.classes == {1: "flag"}
    frame = FRAME.with_columns(gone=pl.lit(None, pl.Float64), more_words=7)
    wide = of_frame("t", "", frame, {"gone?": "Gone", "name": "Name", "*": "{} (n) | count"})
    assert [column.title for column in wide.columns] == ["Name", "share (n)", "more_words (n)"]
    plain = of_frame("t", "", frame.select("name", "more_words"))
    assert [column.title for column in plain.columns] == ["name", "more words"]


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", " =1", "'=1"]


@pytest.mark.parametrize("words", FORMULAS)
def test_no_cell_and_no_title_of_a_csv_is_a_formula(words):
    frame = pl.DataFrame({words: [words, "island"], "Share": [0.5, -0.25]})
    read = list(csv.reader(io.StringIO(formats.csv(frame), newline="")))
    assert read == [[f"'{words}", "Share"], [f"'{words}", "0.5"], ["island", "-0.25"]]
    assert formats.unguarded(read[1][0]) == words


def test_numbers_among_words_are_no_formulas_and_the_parquet_holds_words_as_they_are(tmp_path):
    rows = pl.DataFrame(
        {"name": ["=HYPERLINK(1)", "b"], "mixed": ["-0.25", "-x"], "mean": [-1 / 3] * 2}
    )
    formats.write(rows, tmp_path, "accuracy", dict(rows.schema))
    assert pl.read_parquet(tmp_path / "accuracy.parquet").equals(rows)
    assert (tmp_path / "accuracy.csv").read_text() == (
        "name,mixed,mean\n'=HYPERLINK(1),-0.25,-0.333333\nb,'-x,-0.333333\n"
    )
