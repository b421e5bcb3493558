"""The report's tables of recall."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from poshgrid.config import specs
from poshgrid.config.paths import Paths
from poshgrid.evidence.schema import RECALL
from poshgrid.files import write_json, write_table
from poshgrid.report.collect import gather
from poshgrid.report.sections import parsing

GOLD = ["talk.conllu", "web.conllu"]
COUNTS = {  # evidence, right with the first parser, right with the second
    "talk.conllu": (40, 30, 20),
    "web.conllu": (10, 9, 8),
    "": (50, 39, 28),
}


def row(parser, gold, evidence, right, **more):
    low, high = right / evidence - 0.1, right / evidence + 0.1
    found = {
        "parser": parser, "filter": "binding", "reading": "paper", "backstop": False,
        "gold": gold, "construction": "", "sentences": 1000, "skipped": 7, "evidence": evidence,
        "right": right, "recall": right / evidence, "recall_low": low, "recall_high": high,
        "removed": 50, "precision": right / 50, "precision_low": 0.1, "precision_high": 0.9,
        "words": 8000, "words_evidence": 400, "words_removed": 500,
    }  # fmt: skip
    return found | more


def table(parser, place, gold=tuple(COUNTS), backstops=(False, True)):
    rows = []
    for name in gold:
        evidence, *right = COUNTS[name]
        for backstop in backstops:
            found = right[place] + backstop
            rows.append(row(parser, name, evidence, found, backstop=backstop))
            rare = row(parser, name, 4, 1 + backstop, backstop=backstop, construction="a rule")
            rows.append(rare | dict.fromkeys(list(RECALL)[13:], None))
    return pl.DataFrame(rows, schema=RECALL)


@pytest.fixture
def spec():
    return specs.ReportSpec(
        target="all", runs=[], cells={}, bases=[], conditions=[], sizes=[],
        parsers=["stanza", "spacy"], evidence_parser="stanza", models=[], suites=[], gold=GOLD,
    )  # fmt: skip


@pytest.fixture
def results(tmp_path):
    paths = Paths(str(tmp_path / "results"))
    for place, parser in enumerate(("stanza", "spacy")):
        path = Path(paths.recall(parser))
        write_table(table(parser, place), path, RECALL)
        write_json(path.with_name(f"{parser}.manifest.json"), {"wall_seconds": 1.0, "spec": {}})
    return tmp_path / "results"


def shown(found):
    titles = [column.title for column in found.columns]
    return [dict(zip(titles, row, strict=True)) for row in found.shown()]


def test_every_parser_beside_the_others(spec, results):
    found = parsing.recall(gather(spec, results))
    rows = shown(found)
    assert [(r["Gold trees"], r["Parser"], r["Backstop"]) for r in rows] == [
        (gold, parser, backstop)
        for gold in (*GOLD, "all")
        for parser in ("stanza", "spacy")
        for backstop in ("without", "with")
    ]
    first = rows[0]
    assert (first["Evidence"], first["Found"], first["Recall (%)"]) == ("40", "30", "75.0")
    assert (first["Recall, from"], first["Recall, to"]) == ("65.0", "85.0")
    assert (first["Precision (%)"], first["Left out"]) == ("60.0", "7")
    assert (first["Sentences removed (%)"], first["Words removed (%)"]) == ("5.0", "6.2")
    assert rows[3]["Recall (%)"] == "52.5"  # spaCy with the backstop: 21 of 40


def test_constructions_over_all_gold_trees(spec, results):
    found = parsing.constructions(gather(spec, results))
    rows = shown(found)
    assert [(r["Construction"], r["Parser"], r["Backstop"], r["Found"]) for r in rows] == [
        ("a rule", "stanza", "without", "1"), ("a rule", "stanza", "with", "2"),
        ("a rule", "spacy", "without", "1"), ("a rule", "spacy", "with", "2"),
    ]  # fmt: skip
    assert rows[0]["Recall (%)"] == "25.0" and len(found.classes) == 4
