"""What was removed, in the report: shares of the counts, no unknown as zero, rows and the line."""

from poshgrid.config.paths import Paths
from poshgrid.report.sections import side_effects
from tests.unit.report import report_results

GONE = {"before": 200, "after": 150, "removed": 50}
UNKNOWN = dict.fromkeys(GONE)


def test_the_table_has_the_sources_of_the_largest_size(study, tmp_path):
    _, page = study.written(side_effects, tmp_path)
    rows = report_results.shown(page, "side_effects")
    sources = [("50M", source) for source in ("childes", "gutenberg", "all sources")]
    # Of wiki nothing was removed
    assert [(row["Condition"], row["Size"], row["Source"]) for row in rows] == [
        (condition, *source_row)
        for condition in ("baby", "baby-f")
        for source_row in [("10M", "all sources"), ("30M", "all sources"), *sources]
    ]
    classes = page.shown["side_effects"].classes
    assert [i for i, name in classes.items() if name == "total"] == [4, 9]
    assert list(rows[2].values())[3:8] == [
        "1,000", "9,000", "7,200", "10.00", "20.00",
    ]  # fmt: skip
    assert rows[4]["Words before"] == "18,000"


def test_an_unknown_share_is_a_dash(study, tmp_path):
    report_results.side_effects(
        tmp_path / "side_effects/baby-f/10K", passive=UNKNOWN, relative=GONE | {"removed": None},
        reflexive=dict.fromkeys(GONE, 0),
    )  # fmt: skip
    own = {"conditions": {("baby-f", "10K"): {}}, "paths": Paths(str(tmp_path))}
    counts = side_effects.read(study.changed(**own).collected)
    row = side_effects.table(counts).row(-1, named=True)
    assert [row[kind] for kind in ("Passives", "Relative clauses", "Reflexives")] == [None] * 3
    assert row["Embedded questions"] == 0.1
    bars = {r["row"]: r for r in side_effects.bars(counts).iter_rows(named=True)}
    assert bars["passives"]["note"] == "not known" and bars["passives"]["value"] is None
    assert bars["reflexives"]["note"] == "none found"
