"""The report's section of rules: words, tables, figure."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from poshgrid import files
from poshgrid.config.paths import Paths
from poshgrid.report import style
from poshgrid.report.collect import gather
from poshgrid.report.layout import groups, lay_out
from poshgrid.report.sections import rules
from poshgrid.report.sections.rules import figures, tables
from poshgrid.report.sections.rules.explained import learners, read
from poshgrid.report.shelf import Shelf
from poshgrid.rules.schema import IDENTIFIABILITY, MIXTURE, SHARES
from tests.unit.report import report_results

SIZES = ("10M", "30M")
QF, BINDING = ("question-formation", "question-formation-or"), ("binding", "principle-a-command")


def weight(cell, place, rule, value, *, named=False, off=0.0, interval=0.05):
    condition, size = cell
    return {
        "condition": condition, "size": size,
        "learner": "gpt2-mini" if size == "10M" else "gpt2-small", "regimen": "packed",
        "bias": "none", "suite": "posh", "category": place[0], "phenomenon": place[1],
        "rule": rule, "weight": value, "low": value - interval, "high": value + interval,
        "largest": 0.99 if named else 0.005, "named": named, "seeds": 3, "sets": 90, "off": off,
    }  # fmt: skip


def build(folder, **options):
    """Return the spec of a report whose rules are known."""
    spec = report_results.build(folder, conditions=("baby", "wiki"), sizes=SIZES, **options)
    mixture = []
    for size, front, main in (("10M", 0.1, 0.2), ("30M", 0.5, 0.3)):
        large = size == "30M"
        mixture += [
            weight(("baby", size), QF, "front-do", front, named=large),
            weight(("baby", size), QF, "main-auxiliary = ngram", main, named=not large),
            weight(("baby", size), QF, "guessing", 1 - front - main),
            weight(("wiki", size), QF, "front-do", 0.0),
            weight(("wiki", size), QF, "main-auxiliary = ngram", 0.0),
            weight(("wiki", size), QF, "guessing", 1.0, named=True, off=0.3 if large else 0),
            weight(("baby", size), BINDING, "command", 0.4, named=True),
            weight(("baby", size), BINDING, "nearest-noun", 0.39, named=True),
            weight(("baby", size), BINDING, "guessing", 0.21),
        ]
    share = {"scope": "all", "pairs": 90, "right": 0.6, "share": 0.8, "sd": 0.01}
    kept = [name for name in SHARES if name in mixture[0]]
    shares = [
        {name: row[name] for name in kept} | share for row in mixture if row["rule"] == "front-do"
    ]
    shares.append(shares[0] | {"scope": "disputed", "pairs": 40, "share": 0.75})
    apart = [
        {"suite": "posh", "category": QF[0], "phenomenon": QF[1], "rule": "front-do",
         "other": "main-auxiliary", "both": 80, "apart": 40, "apart_most": 40},
        {"suite": "posh", "category": BINDING[0], "phenomenon": BINDING[1], "rule": "command",
         "other": "nearest-noun", "both": 80, "apart": 3, "apart_most": 5},
    ]  # fmt: skip
    there = Path(Paths(str(folder)).rule_shares("all"))
    for name, rows, schema in (
        ("mixture", mixture, MIXTURE),
        ("shares", shares, SHARES),
        ("identifiability", apart, IDENTIFIABILITY),
    ):
        files.write_table(pl.DataFrame(rows, schema=schema), there / f"{name}.parquet", schema)
    report_results.manifest(there, {}, 1.0)
    return spec


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    spec = build(folder)
    collected = gather(spec, folder)
    return folder, collected, lay_out(collected)


def explained(folder):
    return read(Paths(str(folder)).rule_shares("all")).of("posh")


def test_each_phenomenon_has_a_sentence_about_the_largest_size(results):
    folder, _, layout = results
    found = explained(folder)
    binding, questions = rules.sentences(found, learners(found, layout))
    assert "principle-a-command: baby at 30M" in binding
    assert "command or nearest-noun" in binding  # the choices do not tell which
    baby, wiki = questions.split("; ")
    assert "baby at 30M follows front-do in 50.0%" in baby and "45.0–55.0" in baby
    assert "wiki at 30M" in wiki and "none" in wiki and "bad member" in wiki


def test_tables_name_rules_and_mark_what_is_hardly_told_apart(results):
    folder, _, layout = results
    found = explained(folder)
    there = learners(found, layout)
    assert [(each.label, each.size) for each in there] == [
        ("baby", "10M"), ("baby", "30M"), ("wiki", "10M"), ("wiki", "30M"),
    ]  # fmt: skip
    rows = tables.mixture("posh", found, there).rows
    mine = [row[3:] for row in rows if row[:3] == ["question-formation-or", "baby", "10M"]]
    assert mine == [
        ["main-auxiliary = ngram", 0.2, "15.0–25.0", 0.99, "named", 90],
        ["guessing", pytest.approx(0.7), "65.0–75.0", 0.005, None, 90],
    ]  # front-do has no more than a tenth
    apart = tables.identifiability("posh", found)
    assert apart.rows == [
        ["principle-a-command", "command", "nearest-noun", 80, 3, 5],
        ["question-formation-or", "front-do", "main-auxiliary", 80, 40, None],
    ]
    assert apart.classes == {0: "flag"}
    first, *others = tables.shares("posh", found, there).rows
    assert first[:4] == ["question-formation-or", "baby", "10M", "front-do"]
    assert first[4:] == [0.6, 0.8, "5.0–15.0", 90, 0.75, "5.0–15.0", 40]
    assert others[0][4:] == [0.6, 0.8, "45.0–55.0", 90, None, None, None]
    assert [row[::2] for row in tables.rules(found).rows] == [["front-do", None]]


def test_a_line_is_the_hierarchical_one_of_equal_rules(results):
    folder, _, layout = results
    (group,) = groups(layout)
    frame = figures.marks(explained(folder), layout, group)
    mine = frame.filter(phenomenon=QF[1], arm="baby", series="main-auxiliary")
    assert mine["weight"].to_list() == [0.2, 0.3]
    assert set(mine["same"]) == {"main-auxiliary = ngram"}
    assert mine["words"].to_list() == [w - report_results.LESS for w in (10**7, 3 * 10**7)]
    with style.drawing("test"):
        drawn = figures.draw(frame)
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in drawn.axes]
    assert titles[:2] == ["principle-a-command\nbaby", "question-formation-or\nbaby"]
    lines = {tuple(round(y, 6) for y in line.get_ydata()) for line in drawn.axes[1].get_lines()}
    assert {(10, 50), (20, 30), (70, 20)} <= lines


def test_models_of_one_size_are_rows(results):
    folder, _, layout = results
    (group,) = groups(layout)
    frame = figures.marks(explained(folder), layout, group).filter(size="30M")
    with style.drawing("test"):
        first, axes = figures.draw(frame).axes
    rows = [label.get_text() for label in first.get_yticklabels()]
    points = {
        (round(x, 6), rows[int(y)])
        for line in axes.get_lines()
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }
    assert points == {(20, "baby, 30M"), (30, "baby, 30M"), (50, "baby, 30M"), (100, "wiki, 30M")}


def test_a_target_without_rules_has_no_section(tmp_path):
    spec = report_results.build(tmp_path, conditions=("baby",), sizes=("10M",))
    collected = gather(spec, tmp_path)
    page = report_results.page(collected, Shelf(tmp_path / "page"), tmp_path)
    assert rules.blocks(page) is None
