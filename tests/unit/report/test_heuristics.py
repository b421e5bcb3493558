"""The report's section of heuristics: its tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from poshgrid import files
from poshgrid.heuristics import schema
from poshgrid.report.sections import heuristics

from . import report_results

QF, BINDING = ("question-formation", "question-formation-or"), ("binding", "principle-a-command")
SINGULAR = ("agreement", "agreement")


def of(condition, size, place, **values):
    return {
        "condition": condition, "size": size,
        "model": "gpt2-mini" if size == "10M" else "gpt2-small", "recipe": "packed",
        "bias": "none", "suite": "posh", "category": place[0], "phenomenon": place[1],
    } | values  # fmt: skip


def weight(cell, heuristic, value):
    ends = {"low": value - 0.05, "high": value + 0.05, "least": value - 0.1, "most": value + 0.1}
    return of(*cell, heuristic=heuristic, weight=value, **ends)


def verdict(cell, name, explained, *, hierarchical=None, seeds="3 no listed heuristic"):
    return of(
        *cell, verdict=name, hierarchical=hierarchical, best="command",
        explained=explained, low=explained - 0.1, high=explained + 0.1, unexplained=0.25,
        shared_low=0.1, shared_high=0.2,
        coin=0.001, right=0.6, seeds=3, sets=90, seed_verdicts=seeds,
    )  # fmt: skip


@pytest.fixture(scope="module")
def explained():
    """Verdicts of two conditions at two sizes."""
    small, large, wiki = (("baby", "10M"), ("baby", "30M"), ("wiki", "30M"))
    mixture = [
        weight((*small, QF), "guessing", 0.7),
        weight((*small, QF), "front-do", 0.1),
        weight((*small, QF), "main-auxiliary = ngram", 0.2),
        weight((*large, BINDING), "command", 0.7),
        weight((*large, SINGULAR), "ngram", 0.9),
    ]
    verdicts = [
        verdict((*small, QF), "no listed heuristic", 0.2),
        verdict((*large, QF), "main-auxiliary = ngram", 0.7, hierarchical=False),
        verdict((*wiki, QF), "seeds differ", 0.5, seeds="2 ngram, 1 front-do"),
        verdict((*large, BINDING), "command", 0.7, hierarchical=True),
        verdict((*large, SINGULAR), "ngram", 0.9, hierarchical=False),
    ]
    apart = [
        ("posh", *QF, "front-do", "main-auxiliary", 80, 40, 40),
        ("posh", *BINDING, "command", "nearest-noun", 80, 3, 5),
    ]
    frames = {"mixture": mixture, "verdicts": verdicts, "identifiability": apart}
    return {
        name: pl.DataFrame(rows, schema=getattr(schema, name.upper()), orient="row")
        for name, rows in frames.items()
    }


def test_the_tables_of_a_suite(explained, study, tmp_path):
    assert study.written(heuristics, tmp_path)[0] is None  # nothing was compared
    folder = Path(study.collected.paths.heuristic_shares("all"))
    for name, frame in explained.items():
        files.write_table(frame, folder / f"{name}.parquet", getattr(schema, name.upper()))
    try:
        _, page = study.written(heuristics, tmp_path)
    finally:
        shutil.rmtree(folder)
    # Phenomena in which a hierarchical heuristic has a say, at the largest size of the models
    rest = ["70.0", "60.0–80.0", "25.0", "10.0–20.0", "3"]
    verdicts = [list(row.values()) for row in report_results.shown(page, "verdicts-posh")]
    assert verdicts == [
        [BINDING[1], "baby", "30M", "command", "yes", "command", *rest],
        [QF[1], "baby", "30M", "main-auxiliary = ngram", "no", "command", *rest],
        [QF[1], "wiki", "30M", "seeds differ: 2 ngram, 1 front-do", "–", "command", "50.0",
         "40.0–60.0", *rest[2:]],
    ]  # fmt: skip
    rows = [list(row.values()) for row in report_results.shown(page, "mixture-posh")]
    assert [row[3:] for row in rows if row[:3] == [QF[1], "baby", "10M"]] == [
        ["guessing", "70.0", "65.0–75.0", "60.0", "80.0"],
        ["main-auxiliary = ngram", "20.0", "15.0–25.0", "10.0", "30.0"],
    ]  # front-do has no more than a tenth
    apart = page.shown["identifiability-posh"]
    assert apart.rows == [
        [BINDING[1], "command", "nearest-noun", 80, 3, 5],
        [QF[1], "front-do", "main-auxiliary", 80, 40, None],
    ]
    assert apart.classes == {0: "flag"}
    assert [row[::2] for row in page.shown["heuristics"].rows] == [
        ["command", "yes"], ["front-do", None], ["main-auxiliary", "yes"], ["ngram", None],
    ]  # fmt: skip
