"""What was removed, in the report: shares of the counts, no unknown as zero, bars and the line."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from poshgrid import files
from poshgrid.errors import PoshgridError
from poshgrid.report import style
from poshgrid.report.collect import gather
from poshgrid.report.sections import collateral
from poshgrid.report.sections.collateral import figures
from poshgrid.report.sections.collateral.removal import KINDS, alike, largest, read
from poshgrid.report.shelf import Shelf
from tests.unit.report import report_results

GONE = {"before": 200, "after": 150, "removed": 50, "removed_by_rule": 50, "removed_by_backstop": 0}
UNKNOWN = dict.fromkeys(GONE)


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    spec = report_results.build(
        folder, conditions=("baby", "baby-f", "wiki"), sizes=("10K", "20K"), seeds=(1,),
        swept=False, models=(),
    )  # fmt: skip
    return folder, spec


def section(results, tmp_path):
    folder, spec = results
    shelf = Shelf(tmp_path / "report")
    collected = gather(spec, folder)
    return collateral.blocks(report_results.page(collected, shelf, folder)), shelf


def one(tmp_path, condition="baby-f", size="10K", **settings):
    folder = tmp_path / "collateral" / condition / size
    report_results.collateral(folder, condition, size, **settings)
    return read(condition, size, folder)


def test_the_section_has_the_sources_of_the_largest_size(results, tmp_path):
    found, shelf = section(results, tmp_path)
    table = report_results.tables(found)["collateral"]
    laid = report_results.shown(table)
    largest_size = [("20K", source) for source in ("childes", "gutenberg", "all sources")]
    assert [(row["Condition"], row["Size"], row["Source"]) for row in laid] == [
        (condition, *place)
        for condition in ("baby", "baby-f")  # of wiki nothing was removed
        for place in [("10K", "all sources"), *largest_size]
    ]
    assert [i for i, name in table.classes.items() if name == "total"] == [3, 7]
    assert list(laid[1].values())[3:10] == [
        "1,000", "9,000", "7,200", "10.00", "9.90", "0.10", "20.00",
    ]  # fmt: skip
    assert {laid[1][f"{kind[0].upper()}{kind[1:]} (%)"] for kind in KINDS.values()} == {"10.00"}
    assert laid[3]["Divergence (bits)"] == "0.01235" and laid[3]["Words before"] == "18,000"
    for name in ("figures/collateral.pdf", "tables/collateral.tex", "tables/collateral-data.csv"):
        assert (shelf.output / name).is_file(), name
    saved = pl.read_csv(shelf.output / "tables/collateral.csv")
    assert saved["By rule (%)"].to_list() == pytest.approx([0.099] * 8)


def test_a_target_without_removals_has_no_section(results, tmp_path):
    folder, spec = results
    for path in folder.glob("collateral/*/*/collateral.parquet"):
        path.unlink()
    found, shelf = section((folder, spec), tmp_path)
    assert found is None and not shelf.written["tables"]


def test_an_unknown_share_is_a_dash(tmp_path):
    removal = one(
        tmp_path, parsed=0.25, passive=UNKNOWN, relative={**GONE, "removed": None},
        reflexive=dict.fromkeys(GONE, 0),
    )  # fmt: skip
    row = report_results.shown(collateral.table([removal]))[-1]
    for kind in ("Passives", "Relative clauses", "Reflexives"):
        assert row[f"{kind} (%)"] == "–"
    assert row["Embedded questions (%)"] == "10.00" and row["Parsed (%)"] == "25.0"
    assert "parsed sentences only, 25.0% of" in collateral.table([removal]).caption
    assert "parsed sentences" not in collateral.table([one(tmp_path, "whole")]).caption
    shown = figures.bars([removal])
    notes = dict(shown.select("row", "note").iter_rows())
    assert notes["passives"] == "not parsed" and notes["reflexives"] == "none found"
    assert notes["embedded questions"] == figures.PARSED and notes["questions"] == ""
    assert shown.filter(row="passives")["share"].to_list() == [None]


def test_sentences_name_what_was_hit_most(tmp_path):
    """Words: 20%; relative clauses 25%, questions 50%."""
    hit = {"relative": GONE, "question": {**GONE, "removed": 100}}

    def numbers(*removals):
        return [re.findall(r"\d+\.\d+", text) for text in collateral.sentences(removals)]

    assert numbers(one(tmp_path, **hit)) == [["20.00", "50.00", "2.5"]]
    partly = one(tmp_path, "partly", parsed=0.5, **hit)
    assert numbers(partly) == [["20.00", "50.00", "2.5", "25.00", "1.2"]]
    lost = {name: {**GONE, "removed": None} for name in ("sentences", "words", *KINDS)}
    unknown = one(tmp_path, "c", control="baby-f", **lost)
    assert numbers(unknown) == [] and figures.bars([unknown]).is_empty()
    many = [one(tmp_path, f"f{n}", words={**GONE, "removed": n}, **hit) for n in (10, 20, 30, 40)]
    assert numbers(*many) == [["5.00", "20.00"], ["5.00", "50.00", "10.0"]]


def test_conditions_that_lose_the_same_are_told_of_once(tmp_path):
    found = [one(tmp_path, name) for name in ("baby", "baby-f", "dose")]
    other = one(tmp_path, "other", relative=GONE)
    control = one(tmp_path, "c", control="baby")
    groups = alike([*found, other, control])
    assert [[each.condition for each in group] for group in groups] == [
        ["baby", "baby-f", "dose"], ["other"], ["c"]
    ]  # fmt: skip
    shown = figures.bars([*found, other, control])
    scales = shown.select("panel", "scale").unique(maintain_order=True)["scale"].to_list()
    assert scales == ["baby", "other", "baby"]
    sizes = [one(tmp_path, c, s) for c, s in (("a", "20K"), ("a", "100K"), ("b", "20K"))]
    assert [(each.condition, each.size) for each in largest(sizes)] == [("a", "100K"), ("b", "20K")]


def test_the_figure_draws_every_share_and_the_line(tmp_path):
    found = [
        one(tmp_path, relative=GONE, passive=UNKNOWN),
        one(tmp_path, "c", control="baby-f"),
        one(tmp_path, "small", **{name: {**GONE, "removed": 1} for name in ("words", *KINDS)}),
    ]
    with style.drawing("test"):
        figure = figures.draw(figures.bars(found))
    panels = [axes for axes in figure.axes if axes.axison]
    for axes, removal in zip(panels, found, strict=True):
        shares = [removal.share("all", name) for name in KINDS]
        widths = [patch.get_width() for patch in axes.patches]
        assert widths == pytest.approx([100 * (share or 0) for share in shares])
        line = 100 * removal.share("all", "words")
        assert axes.lines[0].get_xdata()[0] == pytest.approx(line)
        above = {patch.get_facecolor() for patch in axes.patches if patch.get_width() > line}
        assert len(above) <= 1
        assert all(p.get_facecolor() not in above for p in axes.patches if p.get_width() <= line)
        texts = [text.get_text() for text in axes.texts]
        assert texts == ["not parsed" if s is None else f"{100 * s:.2f}" for s in shares]
    limits = [axes.get_xlim() for axes in panels]
    assert limits[0] == limits[1] != limits[2]  # a control has its condition's scale


def test_broken_counts_are_one_line(tmp_path):
    one(tmp_path)
    folder = tmp_path / "collateral/baby-f/10K"
    files.write_json(folder / "statistics.json", {"control": None})
    with pytest.raises(PoshgridError, match=r"not what the rule collateral writes; delete it"):
        read("baby-f", "10K", folder)
    assert read("baby-f", "20K", Path("nowhere")) is None
