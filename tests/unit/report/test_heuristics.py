"""The report's section of heuristics: its tables."""

import shutil
from pathlib import Path

import polars as pl

from poshgrid.core import files
from poshgrid.evaluation.heuristics import schema
from poshgrid.report.sections import heuristics
from tests.cases import read_cases

from . import report_results

QF, BINDING = "question-formation-or", "principle-a-command"


def test_the_tables_of_a_suite(study, tmp_path):
    assert study.written(heuristics, tmp_path)[0] is None  # nothing was compared
    folder = Path(study.collected.paths.heuristic_shares("all"))
    cases = read_cases(__file__, "explained")
    for name in ("mixture", "verdicts"):
        known = getattr(schema, name.upper())
        frame = pl.DataFrame(cases[name], schema=known, orient="row")
        files.write_table(frame, folder / f"{name}.parquet", known)
    try:
        _, page = study.written(heuristics, tmp_path)
    finally:
        shutil.rmtree(folder)
    # Phenomena in which a hierarchical heuristic has a say, at the largest size of the models
    rest = ["70.0", "60.0–80.0", "25.0", "10.0–20.0", "3"]
    verdicts = [list(row.values()) for row in report_results.shown(page, "verdicts-posh")]
    assert verdicts == [
        [BINDING, "baby", "30M", "command", "yes", "command", *rest],
        [QF, "baby", "30M", "main-auxiliary = ngram", "no", "command", *rest],
        [QF, "wiki", "30M", "seeds differ: 2 ngram, 1 front-do", "–", "command", "50.0",
         "40.0–60.0", *rest[2:]],
    ]  # fmt: skip
    rows = [list(row.values()) for row in report_results.shown(page, "mixture-posh")]
    assert [row[3:] for row in rows if row[:3] == [QF, "baby", "10M"]] == [
        ["guessing", "70.0", "65.0–75.0", "60.0", "80.0"],
        ["main-auxiliary = ngram", "20.0", "15.0–25.0", "10.0", "30.0"],
    ]  # front-do has no more than a tenth
