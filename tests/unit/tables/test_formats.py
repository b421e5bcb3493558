"""A table in every format: the same numbers, nothing of a name taken for markup."""

import csv
import io
from html.parser import HTMLParser

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.report import style
from poshgrid.report.cells import Cell
from poshgrid.report.sections.downloads import beside
from poshgrid.report.shelf import Shelf
from poshgrid.report.tables import STARS, _captioned, _column
from poshgrid.tables import formats
from poshgrid.tables.table import Column, Table, text
from poshgrid.tables.words import NOT_RUN, percent

NASTY = "<b>a|b</b> *c* _d_ `e` \\ $f$ [g](h) & ~i~ # “j” ‡"


def cell(mean, sd=0.021, stars="", far=""):
    return Cell(mean, sd, 3, 500, mean - 0.04, mean + 0.04, 0.5, stars, 0.5, "", far=far)


def accuracies(**change):
    given = {
        "name": "accuracy-posh",
        "caption": "Accuracy in percent.",
        "header": [("10M", "baby"), ("10M", "wiki"), ("30M", "baby"), ("10M", "late")],
        "rows": [
            ("Islands", "adjunct", [cell(0.721, stars="***"), cell(0.3, None), NOT_RUN, "–"]),
            ("Islands", "wh", [cell(0.5), cell(0.0, stars="*"), cell(1.0), cell(0.5, far="ngram")]),
            ("", "Average", [cell(0.61), cell(0.15), cell(1.0), cell(0.5)]),
        ],
    }
    made = given | change
    columns = [
        text("Group"),
        text("Row"),
        *(_column(name, group) for group, name in made["header"]),
    ]
    rows = [[group, label, *cells] for group, label, cells in made["rows"]]
    return _captioned(made["name"], made["caption"], columns, rows)


def table(**change):
    given = {
        "name": "grid",
        "caption": "What was run.",
        "columns": [Column("Name", text=True), Column("Share", percent)],
        "rows": [["baby", 0.12345], ["wiki", None]],
        "classes": {1: "flag"},
    }
    return Table(**(given | change))


class Parsed(HTMLParser):
    """An HTML table as another program reads it: cells of each row, with spans and styles."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.styles, self.tags, self.caption, self._in = [], {}, [], "", None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        found = dict(attributes)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1] += [""] * int(found.get("colspan", 1))
            self._in, self._style, self._span = tag, found, int(found.get("colspan", 1))
        elif tag == "caption":
            self._in = tag

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.styles[len(self.rows) - 1, len(self.rows[-1]) - 1] = self._style
        if tag == self._in:
            self._in = None

    def handle_data(self, data):
        if self._in == "caption":
            self.caption += data
        elif self._in:
            self.rows[-1][-self._span] += data


def read_markdown(text):
    """Return the cells of each row of a Markdown table, and what stands below."""
    from markdown_it import MarkdownIt

    rows, below, inside, tokens = [], "", False, MarkdownIt().enable("table").parse(text)
    for token in tokens:
        if token.type in ("table_open", "table_close"):
            inside = token.type == "table_open"
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            kinds = {child.type for child in token.children}
            assert kinds <= {"text", "text_special"}, kinds  # nothing was taken for markup
            words = "".join(child.content for child in token.children)
            if inside:
                rows[-1].append(words)
            else:
                below += words
    return rows, below


# ---- accuracies ----------------------------------------------------------------------------------


def test_an_accuracy_table_holds_the_same_cells_in_every_format():
    shown = [
        ["Islands", "adjunct", "72.1*** (2.1)", "30.0", "not run", "–"],
        ["", "wh", "50.0 (2.1)", "0.0* (2.1)", "100.0 (2.1)", "50.0‡ (2.1)"],
        ["", "Average", "61.0 (2.1)", "15.0 (2.1)", "100.0 (2.1)", "50.0 (2.1)"],
    ]
    found = formats.texts(accuracies())
    assert tuple(found) == formats.ENDINGS
    rows, below = read_markdown(found["md"])
    assert rows == [["Group", "Row", "10M baby", "10M wiki", "30M baby", "10M late"], *shown]
    assert below.startswith("Accuracy in percent. ‡") and below.endswith(STARS)

    page = Parsed(found["html"])
    assert page.rows[:2] == [
        ["", "", "10M", "", "30M", "10M"], ["Group", "Row", "baby", "wiki", "baby", "late"],
    ]  # fmt: skip
    assert page.rows[2] == shown[0]
    assert page.rows[3] == shown[1][1:]  # the group's name spans both rows
    assert page.rows[4] == shown[2]
    assert page.caption == below
    assert f"% {formats.escape(below)}" in found["tex"].splitlines()

    lines = [line for line in found["tex"].splitlines() if "&" in line]
    assert lines[0] == (
        r" &  & \multicolumn{2}{c}{10M} & \multicolumn{1}{c}{30M} & \multicolumn{1}{c}{10M} \\"
    )
    assert r"\cmidrule(lr){3-4} \cmidrule(lr){5-5} \cmidrule(lr){6-6}" in found["tex"]
    assert lines[2] == r"Islands & adjunct & 72.1$^{***}$ (2.1) & 30.0 & not run & -- \\"
    assert lines[3].endswith(r"& 50.0$^{\ddagger}$ (2.1) \\") and lines[3].startswith(" & wh")
    assert all(line.count(" & ") == 5 for line in lines[1:])

    read = pl.read_csv(found["csv"].encode())
    assert read.height == 12
    assert read["mean"].to_list()[:4] == [0.721, 0.3, None, None]
    assert read["status"].to_list()[:4] == ["run", "run", "not run", "–"]


def test_cells_are_tinted_by_their_distance_from_one_half():
    page = Parsed(formats.texts(accuracies())["html"])

    def colour(row, column):
        background = page.styles[row, column]["style"].partition("background:rgba(")[2]
        *rgb, alpha = background.rstrip(")").split(",")
        return "#" + "".join(f"{int(part):02x}" for part in rgb), float(alpha)

    above, below = style.ABOVE.light, style.BELOW.light
    assert colour(2, 2) == (above, pytest.approx(0.04 + 0.62 * 0.442, abs=1e-3))  # 72.1
    assert colour(2, 3) == (below, pytest.approx(0.04 + 0.62 * 0.4, abs=1e-3))  # 30.0
    assert colour(3, 1) == (above, 0.04)  # 50.0
    assert colour(3, 2) == (below, 0.66)  # 0.0
    assert colour(3, 3) == (above, 0.66)  # 100.0
    assert "background" not in page.styles[2, 4]["style"]  # not run
    assert "95% interval 68.1–76.1" in page.styles[2, 2]["title"]


def test_a_table_without_stars_and_groups_says_and_shows_none():
    plain = accuracies(header=[("", "Islands")], rows=[("10M", "baby", [cell(0.6)])])
    found = formats.texts(plain)
    assert not any("Stars" in text for text in found.values())
    assert "$" not in found["tex"].split("tabular}{llr}")[1]
    assert "multicolumn" not in found["tex"] and "cmidrule" not in found["tex"]
    assert Parsed(found["html"]).rows == [
        ["Group", "Row", "Islands"],
        ["10M", "baby", "60.0 (2.1)"],
    ]


# ---- plain tables --------------------------------------------------------------------------------


def test_a_plain_table_holds_the_same_cells_in_every_format():
    shown = [["Name", "Share"], ["baby", "12.3"], ["wiki", "–"]]
    found = formats.texts(table())
    assert read_markdown(found["md"]) == (shown, "What was run.")
    assert "| --- | ---: |" in found["md"]
    page = Parsed(found["html"])
    assert (page.rows, page.caption) == (shown, "What was run.")
    assert "text-align:right" in page.styles[1, 1]["style"]
    assert style.WARNING.light in page.styles[2, 0]["style"]
    assert style.WARNING.light not in page.styles[1, 0]["style"]
    assert r"baby & 12.3 \\" in found["tex"] and "% What was run." in found["tex"]
    assert found["csv"] == "Name,Share\nbaby,0.12345\nwiki,\n"


@pytest.mark.parametrize("make", [
    lambda n: formats.texts(table(columns=[Column(n, text=True)], rows=[[n]], caption=n)),
    lambda n: formats.texts(
        accuracies(header=[(n, n)], rows=[(n, n, [n])], caption=n)),
])  # fmt: skip
def test_names_are_no_markup(make):
    found = make(NASTY)
    page = Parsed(found["html"])
    assert {"b", "script"}.isdisjoint(page.tags)
    assert {words for row in page.rows for words in row} - {"Group", "Row", ""} == {NASTY}
    assert page.caption == NASTY
    assert found["html"].isascii()  # so that it needs no encoding
    rows, below = read_markdown(found["md"])
    assert rows[-1][-1] == NASTY and below == NASTY
    assert len({len(row) for row in rows}) == 1
    body = found["tex"].split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert "</b> *c* \\_d\\_" in body and r"\textbackslash{} \$f\$" in body
    assert "\n% " + formats.escape(NASTY) in found["tex"]


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", " =1"]


@pytest.mark.parametrize("words", [*FORMULAS, "'=1"])
def test_no_cell_and_no_title_of_a_csv_is_a_formula(words):
    made = table(columns=[text(words), Column("Share")], rows=[[words, 0.5], ["island", -0.25]])
    read = list(csv.reader(io.StringIO(formats.texts(made)["csv"], newline="")))
    assert read == [[f"'{words}", "Share"], [f"'{words}", "0.5"], ["island", "-0.25"]]
    assert formats.unguarded(read[1][0]) == words


def test_numbers_that_stand_among_words_are_no_formulas():
    made = table(rows=[["=HYPERLINK(1)", -0.25], ["b", "not run"], ["c", 1e-7], ["d", "-x"]])
    found = list(csv.reader(io.StringIO(formats.texts(made)["csv"])))
    assert [row[1] for row in found[1:]] == ["-0.25", "not run", "1e-07", "'-x"]


def test_words_of_results_are_guarded_and_the_parquet_holds_them_as_they_are(tmp_path):
    rows = pl.DataFrame({"phenomenon": ["=HYPERLINK(1)", "wanna"], "mean": [0.25, -1 / 3]})
    formats.write(rows, tmp_path, "accuracy", dict(rows.schema))
    assert pl.read_parquet(tmp_path / "accuracy.parquet").equals(rows)
    assert (tmp_path / "accuracy.csv").read_text() == (
        "phenomenon,mean\n'=HYPERLINK(1),0.250000\nwanna,-0.333333\n"
    )


WORDS = st.text(st.sampled_from("a|\\`*_[]()<>&~$#!\"'\n\r-+1.:"), min_size=1, max_size=12)


@given(WORDS)
def test_markdown_is_read_back_as_it_was(words):
    rows, _ = read_markdown(formats.texts(table(rows=[[f"x{words}x", 0.5]]))["md"])
    spaced = f"x{words}x".replace("\n", " ").replace("\r", " ")
    assert rows[1:] == [[spaced, "50.0"]]


# ---- the shelf -----------------------------------------------------------------------------------


def test_the_shelf_writes_every_format_and_clears_all_of_an_older_report(tmp_path):
    old = tmp_path / "tables"
    old.mkdir()
    for ending in (*formats.ENDINGS, "txt"):
        (old / f"gone.{ending}").write_text("old")
    shelf = Shelf(tmp_path)
    assert shelf.table(None) is None
    shelf.table(table())
    shelf.table(accuracies())
    shelf.numbers("numbers", pl.DataFrame({"a": [1]}))
    shelf.clear_stale()
    names = {f"{stem}.{e}" for stem in ("grid", "accuracy-posh") for e in formats.ENDINGS}
    assert {p.name for p in old.iterdir()} == names | {"numbers.csv", "gone.txt"}
    assert sorted(shelf.written["tables"]) == sorted(names | {"numbers.csv"})
    assert (old / "grid.md").read_text(encoding="utf-8") == formats.texts(table())["md"]


def test_the_downloads_list_every_format(tmp_path):
    shelf = Shelf(tmp_path / "page")
    shelf.table(table())
    assert dict(dict(beside(shelf))["grid"]) == {
        "CSV": "tables/grid.csv", "HTML": "tables/grid.html", "MD": "tables/grid.md",
        "TEX": "tables/grid.tex",
    }  # fmt: skip
