"""A table in every format: the same numbers, nothing of a name taken for markup."""

import csv
import io

import polars as pl
import pytest

from poshgrid.report.cells import Cell
from poshgrid.report.shelf import Shelf
from poshgrid.tables import formats
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import NOT_RUN, percent

NASTY = "<b>a|b</b> *c* _d_ `e` \\ $f$ [g](h) & ~i~ # “j” ‡"


def cell(mean, sd=0.021, stars="", far=""):
    return Cell(mean, sd, 3, 500, mean - 0.04, mean + 0.04, 0.5, stars, 0.5, "", far=far)


def table(**change):
    usual = {
        "name": "grid",
        "caption": "What was run.",
        "columns": [Column("Name", text=True), Column("Share", percent)],
        "rows": [["baby", 0.12345], ["wiki", None]],
        "classes": {1: "flag"},
    }
    return Table(**(usual | change))


def test_an_accuracy_table_in_latex():
    columns = [Column(name, lambda cell: cell.shown, group=group)
               for name, group in (("baby", "10M"), ("wiki", "10M"), ("baby", "30M"))]  # fmt: skip
    rows = [
        ["Islands", "adjunct", cell(0.721, stars="***"), cell(0.3, None), NOT_RUN],
        ["Islands", "wh", cell(0.5), cell(0.0, stars="*"), cell(0.5, far="ngram")],
    ]
    columns = [text("Group"), text("Row"), *columns]
    latex = formats.latex(table(columns=columns, rows=rows, classes={}, grouped=True))
    lines = [line for line in latex.splitlines() if "&" in line]
    assert lines[0] == r" &  & \multicolumn{2}{c}{10M} & \multicolumn{1}{c}{30M} \\"
    assert r"\cmidrule(lr){3-4} \cmidrule(lr){5-5}" in latex
    assert lines[2] == r"Islands & adjunct & 72.1$^{***}$ (2.1) & 30.0 & not run \\"
    assert lines[3].startswith(" & wh") and lines[3].endswith(r"& 50.0$^{\ddagger}$ (2.1) \\")


def test_names_are_no_markup_and_numbers_are_those_of_the_csv():
    latex = formats.latex(table(columns=[text(NASTY)], rows=[[NASTY]], caption=NASTY))
    body = latex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert "</b> *c* \\_d\\_" in body and r"\textbackslash{} \$f\$" in body
    assert "\n% " + formats.escape(NASTY) in latex
    assert r"baby & 12.3 \\" in formats.latex(table())
    assert formats.csv(table().frame()) == "Name,Share\nbaby,0.12345\nwiki,\n"


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", " =1", "'=1"]


@pytest.mark.parametrize("words", FORMULAS)
def test_no_cell_and_no_title_of_a_csv_is_a_formula(words):
    made = table(columns=[text(words), Column("Share")], rows=[[words, 0.5], ["island", -0.25]])
    read = list(csv.reader(io.StringIO(formats.csv(made.frame()), newline="")))
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


def test_the_shelf_writes_every_format_and_clears_all_of_an_older_report(tmp_path):
    old = tmp_path / "tables"
    old.mkdir()
    for ending in ("csv", "tex", "txt"):
        (old / f"gone.{ending}").write_text("old")
    shelf = Shelf(tmp_path)
    shelf.table(table())
    shelf.numbers("numbers", pl.DataFrame({"a": [1]}))
    shelf.clear_stale()
    assert {p.name for p in old.iterdir()} == {"grid.csv", "grid.tex", "numbers.csv", "gone.txt"}
