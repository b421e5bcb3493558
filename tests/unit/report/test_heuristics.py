"""The report's section of heuristics: its table."""

from pathlib import Path

import polars as pl

from poshgrid.core import files
from poshgrid.report.sections import heuristics
from poshgrid.statistics.schema import HEURISTIC_AGREEMENT
from tests.cases import read_cases

from . import report_results

QF = "question-formation-or"


def test_the_table_of_a_suite(study, tmp_path):
    """Phenomena on which a hierarchical heuristic decides, at the largest size of the models."""
    assert study.written(heuristics, tmp_path)[0] is None  # nothing was compared
    path = Path(study.collected.paths.statistics("all"), "heuristic_agreement.parquet")
    rows = read_cases(__file__, "agreement")["agreement"]
    frame = pl.DataFrame(rows, schema=HEURISTIC_AGREEMENT, orient="row")
    files.write_table(frame, path, HEURISTIC_AGREEMENT)
    try:
        facts, page = study.written(heuristics, tmp_path)
    finally:
        path.unlink()
    assert facts == {"suites": ["posh"]}
    table = report_results.shown(page, "heuristic_agreement-posh")
    assert [list(row.values()) for row in table] == [
        [QF, "baby", "30M", "front-do", "200", "50.0", "65.0", "50.0–80.0", "55.0"],
        [QF, "baby", "30M", "main-auxiliary", "500", "100.0", "70.0", "60.0–80.0", "–"],
        [QF, "wiki", "30M", "front-do", "200", "50.0", "100.0", "–", "100.0"],
    ]
