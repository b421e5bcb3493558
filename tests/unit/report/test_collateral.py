"""What was removed, in the report: shares of the counts, no unknown as zero, bars and the line."""

from __future__ import annotations

from poshgrid.evidence.schema import COLLATERAL
from poshgrid.files import read_table
from poshgrid.report.sections import collateral
from poshgrid.report.sections.collateral import KINDS, Removal, alike, largest
from tests.unit.report import report_results

GONE = {"before": 200, "after": 150, "removed": 50, "removed_by_rule": 50, "removed_by_backstop": 0}
UNKNOWN = dict.fromkeys(GONE)


def one(tmp_path, condition="baby-f", size="10K", control=None, **settings):
    folder = tmp_path / "collateral" / condition / size
    report_results.collateral(folder, control=control, **settings)
    table = read_table(folder / "collateral.parquet", COLLATERAL)
    return Removal(condition, size, control, table)


def test_the_table_has_the_sources_of_the_largest_size(study, tmp_path):
    table = report_results.tables(collateral.blocks(study.page(tmp_path)))["collateral"]
    rows = report_results.shown(table)
    sources = [("50M", source) for source in ("childes", "gutenberg", "all sources")]
    # Of wiki nothing was removed
    assert [(row["Condition"], row["Size"], row["Source"]) for row in rows] == [
        (condition, *place)
        for condition in ("baby", "baby-f")
        for place in [("10M", "all sources"), ("30M", "all sources"), *sources]
    ]
    assert [i for i, name in table.classes.items() if name == "total"] == [4, 9]
    assert list(rows[2].values())[3:10] == [
        "1,000", "9,000", "7,200", "10.00", "9.90", "0.10", "20.00",
    ]  # fmt: skip
    assert rows[4]["Words before"] == "18,000"
    assert collateral.blocks(study._replace(folder=tmp_path).page(tmp_path)) is None


def test_an_unknown_share_is_a_dash(tmp_path):
    removal = one(
        tmp_path, parsed=0.25, passive=UNKNOWN, relative={**GONE, "removed": None},
        reflexive=dict.fromkeys(GONE, 0),
    )  # fmt: skip
    row = report_results.shown(collateral.table([removal]))[-1]
    for kind in ("Passives", "Relative clauses", "Reflexives"):
        assert row[f"{kind} (%)"] == "–"
    assert row["Embedded questions (%)"] == "10.00" and row["Parsed (%)"] == "25.0"
    bars = {r["row"]: r for r in collateral.bars([removal]).iter_rows(named=True)}
    assert bars["passives"]["note"] == "not parsed" and bars["passives"]["share"] is None
    assert bars["reflexives"]["note"] == "none found"
    assert bars["embedded questions"]["note"] == collateral.OF_PARSED


def test_conditions_that_lose_the_same_are_told_of_once(tmp_path):
    removals = [one(tmp_path, name) for name in ("baby", "baby-f")]
    removals += [one(tmp_path, "other", relative=GONE), one(tmp_path, "c", control="baby")]
    groups = alike(removals)
    assert [[r.condition for r in group] for group in groups] == [["baby", "baby-f"], ["other"],
                                                                  ["c"]]  # fmt: skip
    assert collateral.bars(removals)["panel"].n_unique() == 3
    sizes = [one(tmp_path, c, s) for c, s in (("a", "20K"), ("a", "100K"), ("b", "20K"))]
    assert [(r.condition, r.size) for r in largest(sizes)] == [("a", "100K"), ("b", "20K")]


def test_the_figure_draws_every_share_and_the_line(tmp_path):
    removals = [
        one(tmp_path, relative=GONE, passive=UNKNOWN),
        one(tmp_path, "c", control="baby-f"),
        one(tmp_path, "small", **{name: {**GONE, "removed": 1} for name in ("words", *KINDS)}),
    ]
    marks = report_results.drawn(collateral.draw, collateral.bars(removals))
    for removal in removals:
        shares = [removal.share("all", name) for name in ("words", *KINDS)]
        assert report_results.percents(shares) <= marks
