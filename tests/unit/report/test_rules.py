"""The report's section of rules: words, tables, figure."""

from __future__ import annotations

import polars as pl
import pytest

from poshgrid.report.layout import groups
from poshgrid.report.sections import rules
from poshgrid.report.sections.rules import Explained, learners
from poshgrid.rules.schema import IDENTIFIABILITY, MIXTURE, SHARES
from tests.unit.report import report_results

QF, BINDING = ("question-formation", "question-formation-or"), ("binding", "principle-a-command")


def weight(condition, size, place, rule, value, *, named=False, off=0.0):
    return {
        "condition": condition, "size": size,
        "learner": "gpt2-mini" if size == "10M" else "gpt2-small", "regimen": "packed",
        "bias": "none", "suite": "posh", "category": place[0], "phenomenon": place[1],
        "rule": rule, "weight": value, "low": value - 0.05, "high": value + 0.05,
        "largest": 0.99 if named else 0.005, "named": named, "seeds": 3, "sets": 90, "off": off,
    }  # fmt: skip


@pytest.fixture(scope="module")
def explained():
    """Rules of two conditions at two sizes."""
    mixture = []
    for size, front, main, large in (("10M", 0.1, 0.2, False), ("30M", 0.5, 0.3, True)):
        mixture += [
            weight("baby", size, QF, "front-do", front, named=large),
            weight("baby", size, QF, "main-auxiliary = ngram", main, named=not large),
            weight("baby", size, QF, "guessing", 1 - front - main),
            weight("wiki", size, QF, "front-do", 0.0),
            weight("wiki", size, QF, "main-auxiliary = ngram", 0.0),
            weight("wiki", size, QF, "guessing", 1.0, named=True, off=0.3 * large),
            weight("baby", size, BINDING, "command", 0.4, named=True),
            weight("baby", size, BINDING, "nearest-noun", 0.39, named=True),
            weight("baby", size, BINDING, "guessing", 0.21),
        ]
    share = {"scope": "all", "pairs": 90, "right": 0.6, "share": 0.8, "sd": 0.01}
    kept = [name for name in SHARES if name in mixture[0]]
    shares = [
        {name: row[name] for name in kept} | share for row in mixture if row["rule"] == "front-do"
    ]
    shares.append(shares[0] | {"scope": "disputed", "pairs": 40, "share": 0.75})
    apart = [
        ("posh", *QF, "front-do", "main-auxiliary", 80, 40, 40),
        ("posh", *BINDING, "command", "nearest-noun", 80, 3, 5),
    ]
    return Explained(
        pl.DataFrame(shares, schema=SHARES), pl.DataFrame(mixture, schema=MIXTURE),
        pl.DataFrame(apart, schema=IDENTIFIABILITY, orient="row"),
    )  # fmt: skip


def test_tables_name_rules_and_mark_what_is_hardly_told_apart(explained, study, tmp_path):
    judged = learners(explained, study.layout)
    rows = rules.mixture("posh", explained, judged).rows
    mine = [row[3:] for row in rows if row[:3] == ["question-formation-or", "baby", "10M"]]
    assert mine == [
        ["main-auxiliary = ngram", 0.2, "15.0–25.0", 0.99, "named", 90],
        ["guessing", pytest.approx(0.7), "65.0–75.0", 0.005, None, 90],
    ]  # front-do has no more than a tenth
    apart = rules.identifiability("posh", explained)
    assert apart.rows == [
        ["principle-a-command", "command", "nearest-noun", 80, 3, 5],
        ["question-formation-or", "front-do", "main-auxiliary", 80, 40, None],
    ]
    assert apart.classes == {0: "flag"}
    first, second, *_ = rules.shares("posh", explained, judged).rows
    assert first[:4] == ["question-formation-or", "baby", "10M", "front-do"]
    assert first[4:] == [0.6, 0.8, "5.0–15.0", 90, 0.75, "5.0–15.0", 40]
    assert second[4:] == [0.6, 0.8, "45.0–55.0", 90, None, None, None]
    assert [row[::2] for row in rules.rules(explained).rows] == [["front-do", None]]
    assert rules.blocks(study.page(tmp_path)) is None  # no rule was compared


def test_marks_are_weights_and_a_series_is_the_hierarchical_one_of_equal_rules(explained, study):
    (group,) = groups(study.layout)
    frame = rules.marks(explained, study.layout, group)
    mine = frame.filter(phenomenon=QF[1], arm="baby", series="main-auxiliary")
    assert mine["weight"].to_list() == [0.2, 0.3]
    assert set(mine["same"]) == {"main-auxiliary = ngram"}
    assert mine["words"].to_list() == [w - report_results.LESS for w in (10**7, 3 * 10**7)]
    drawn = report_results.drawn(rules.draw, frame)
    assert {10, 20, 30, 50, 70, 100} <= drawn
