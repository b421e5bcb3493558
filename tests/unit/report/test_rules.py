"""The report's section of heuristics: its tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from poshgrid import files
from poshgrid.report.blocks import Fold
from poshgrid.report.sections import rules
from poshgrid.report.sections.rules import learners

QF, BINDING = ("question-formation", "question-formation-or"), ("binding", "principle-a-command")
SINGULAR = ("agreement", "agreement")


def of(condition, size, place, **values):
    return {
        "condition": condition, "size": size,
        "learner": "gpt2-mini" if size == "10M" else "gpt2-small", "regimen": "packed",
        "bias": "none", "suite": "posh", "category": place[0], "phenomenon": place[1],
    } | values  # fmt: skip


def weight(cell, rule, value):
    ends = {"low": value - 0.05, "high": value + 0.05, "least": value - 0.1, "most": value + 0.1}
    return of(*cell, rule=rule, weight=value, **ends)


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
        name: pl.DataFrame(frames[name], schema=schema, orient="row")
        for name, schema in rules.TABLES.items()
    }


def test_verdicts_of_phenomena_in_which_a_hierarchical_heuristic_has_a_say(explained, study):
    judged = learners(explained, study.layout)
    assert [learner.axes[:2] for learner in judged] == [
        ("baby", "10M"), ("baby", "30M"), ("wiki", "30M"),
    ]  # fmt: skip
    rows = rules.verdicts("posh", explained, judged[1:]).rows
    assert [[row[0], row[2], *row[3:]] for row in rows] == [
        [BINDING[1], "30M", "command", "yes", "command", 0.7, "60.0–80.0", 0.25, "10.0–20.0", 3],
        [
            QF[1],
            "30M",
            "main-auxiliary = ngram",
            "no",
            "command",
            0.7,
            "60.0–80.0",
            0.25,
            "10.0–20.0",
            3,
        ],
        [
            QF[1],
            "30M",
            "seeds differ: 2 ngram, 1 front-do",
            None,
            "command",
            0.5,
            "40.0–60.0",
            0.25,
            "10.0–20.0",
            3,
        ],
    ]


def test_tables_behind_the_verdicts(explained, study):
    judged = learners(explained, study.layout)
    rows = rules.mixture("posh", explained, judged).rows
    mine = [row[3:] for row in rows if row[:3] == [QF[1], "baby", "10M"]]
    assert mine == [
        ["guessing", 0.7, "65.0–75.0", pytest.approx(0.6), pytest.approx(0.8)],
        ["main-auxiliary = ngram", 0.2, "15.0–25.0", pytest.approx(0.1), pytest.approx(0.3)],
    ]  # front-do has no more than a tenth
    apart = rules.identifiability("posh", explained)
    assert apart.rows == [
        [BINDING[1], "command", "nearest-noun", 80, 3, 5],
        [QF[1], "front-do", "main-auxiliary", 80, 40, None],
    ]
    assert apart.classes == {0: "flag"}
    assert [row[::2] for row in rules.rules(explained).rows] == [
        ["command", "yes"], ["front-do", None], ["main-auxiliary", "yes"], ["ngram", None],
    ]  # fmt: skip


def test_the_first_block_of_a_suite_is_the_table_of_verdicts(explained, study, tmp_path):
    page = study.page(tmp_path)
    assert rules.blocks(page) is None  # nothing was compared
    folder = Path(page.paths.rule_shares(page.collected.spec.target))
    for name, frame in explained.items():
        files.write_table(frame, folder / f"{name}.parquet", rules.TABLES[name])
    heading, first, *_, last = rules.blocks(page)
    assert (heading.text, first.name) == ("posh", "rules-verdicts-posh")
    assert len(first.rows) == 3  # at the largest size
    assert isinstance(last, Fold)
