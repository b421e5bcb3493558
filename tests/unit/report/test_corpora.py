"""The tables of corpora and evidence: ours beside the paper's where names match, worked by hand."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from poshgrid import files
from poshgrid.config.paths import Paths
from poshgrid.evidence.schema import RECALL
from poshgrid.report.sections import corpora, parsing
from poshgrid.report.treatment import treatment
from tests.unit.report import report_results

PAPER = {"conditions": ("baby", "baby-f", "wiki"), "sizes": ("10M", "100M"), "seeds": (1,)}
BABY = {  # words of each source in a base like the paper's; 100M holds its 10M
    "simple-wikipedia": (500_010, 14_000_000), "gutenberg": (1_000_000, 26_000_000),
    "tinystories": (1_000_000, 22_000_000), "switchboard": (500_000, 1_000_000),
    "bnc": (1_000_000, 8_000_000), "opensubtitles": (2_000_000, 20_000_000),
    "childes": (3_999_990, 9_000_010),
}  # fmt: skip


@pytest.fixture
def results(tmp_path):
    return report_results.build(tmp_path, **PAPER, models=()), Paths(str(tmp_path))


def table(results, make):
    spec, paths = results
    study = report_results.study(Path(paths.results), spec)
    return make(study.collected, study.layout)


def sources(paths: Paths, base: str, known: dict[str, tuple[int, ...]]) -> None:
    """Give a base these words, and a tenth of the first size to dev and test."""

    def counts(i: int, part: int = 1) -> dict:
        by_source = {s: {"words": words[i] // part} for s, words in known.items()}
        return {"words": sum(f["words"] for f in by_source.values()), "sources": by_source}

    train = {size: counts(i) for i, size in enumerate(PAPER["sizes"])}
    path = Path(paths.sentences(base)).parent / "statistics.json"
    files.write_json(path, {"train": train, "dev": counts(0, 10), "test": counts(0, 10)})


def row(table, **wanted: str) -> dict[str, str]:
    rows = report_results.shown(table)
    (only,) = [r for r in rows if all(r[title] == text for title, text in wanted.items())]
    return only


def test_words_stand_beside_table_2_in_its_order_and_with_its_subtotals(results):
    sources(results[1], "baby", BABY)
    words = table(results, corpora.words_by_source)
    assert words.shown()[:10] == [
        ["baby", "speech", "childes", "4.00", "4", "9.00", "9", "0.40", "0.40"],
        ["baby", "speech", "opensubtitles", "2.00", "2", "20.00", "20", "0.20", "0.20"],
        ["baby", "speech", "bnc", "1.00", "1", "8.00", "8", "0.10", "0.10"],
        ["baby", "speech", "switchboard", "0.50", "0.5", "1.00", "1", "0.05", "0.05"],
        ["baby", "speech", "all speech", "7.50", "7.5", "38.00", "38", "0.75", "0.75"],
        ["baby", "written", "tinystories", "1.00", "1", "22.00", "22", "0.10", "0.10"],
        ["baby", "written", "gutenberg", "1.00", "1", "26.00", "26", "0.10", "0.10"],
        ["baby", "written", "simple-wikipedia", "0.50", "0.5", "14.00", "14", "0.05", "0.05"],
        ["baby", "written", "all written", "2.50", "2.5", "62.00", "62", "0.25", "0.25"],
        ["baby", "–", "all sources", "10.00", "–", "100.00", "–", "1.00", "1.00"],
    ]
    assert words.rows[4][3:5] == [7_499_990, 7_500_000]  # the CSV is not rounded
    assert words.classes == {4: "total", 8: "total", 9: "total", 11: "total"}
    # Wiki is not in Table 2
    assert [r["10M, paper"] for r in report_results.shown(words)[10:]] == ["–", "–"]


def test_another_base_and_another_grid_are_not_set_beside_the_paper(results, biased):
    sources(results[1], "baby", {"diary": (1, 2)})
    sources(results[1], "wiki", BABY)
    words = table(results, corpora.words_by_source)
    assert row(words, Base="wiki", Source="all speech")["10M"] == "7.50"
    assert not [c.title for c in words.columns if "paper" in c.title]
    words = corpora.words_by_source(biased.collected, biased.layout)
    assert not [c.title for c in words.columns if "paper" in c.title]
    # words, not millions of them: 10,000 in three sources
    assert row(words, Source="all speech")["10K"] == "6,666"


def test_sentences_stand_beside_table_4_and_sources_where_there_are_several(results):
    path = Path(results[1].condition("baby", "10M")) / "statistics.json"
    one = {"sentences": 4, "words": 20}
    split = {"sentences": 1_398_765, "words": 9_999_877, "sources": {"a": one, "b": one}}
    files.write_json(path, files.read_json(path) | {"splits": {"train": split}})
    exposed = table(results, corpora.exposure)
    assert exposed.shown()[0][:10] == [
        "10M", "baby", "all", "–", "1,398,765", "1.4M", "–", "9,999,877",
        "7.15", "7.13",  # 9999877 / 1398765
    ]  # fmt: skip
    assert [row[2] for row in exposed.rows[:4]] == ["all", "a", "b", "all"]
    assert row(exposed, Size="10M", Condition="wiki")["Sentences, paper"] == "430k"
    assert row(exposed, Size="100M", Condition="baby")["Words/sentence, paper"] == "8.55"
    # the paper has no baby-f at 100M
    assert row(exposed, Size="100M", Condition="baby-f")["Sentences, paper"] == "–"


def test_tokens_by_vocabulary_stand_beside_table_9(results):
    report_results.sweep(Path(results[1].tokenizer("baby", "10M")), 10_000_000, reached=20_000)
    tokens = table(results, corpora.vocabularies)
    assert len(tokens.rows) == 2 * 2 * 3
    assert list(row(tokens, Vocabulary="32,768", Size="10M", Condition="baby").values())[3:] == [
        "20,000", "12,500,000", "13,750,001", "15,318,669", "1.250",
    ]  # fmt: skip
    assert row(tokens, Vocabulary="32,768", Size="100M", Condition="wiki")["Paper"] == "153,006,220"
    papers = {r["Paper"] for r in report_results.shown(tokens) if r["Vocabulary"] == "16,384"}
    assert papers == {"–"}


# ---- parsing and evidence ------------------------------------------------------------------------


def test_a_treatment_is_named_by_what_went_and_came_as_far_as_it_is_known():
    taken = {"rule": 250, "backstop": 13, "direct": 4, "direct_whole": 8}
    made = {
        "whole": {"sentences": 27_146}, "removed_sentences": 263, "control": None,
        "removed": {"question-formation.paper": taken},
        "reinserted": {"question-formation": {"rate": 0.002, "sentences": 54, "direct": 1}},
        "refilled": {"sentences": 0},
    }  # fmt: skip
    numbers = re.compile(r"[\d.,]*\d")
    known = ["0.969", "1.52", "4", "8", "0.2", "1.85"]
    assert numbers.findall(treatment(made)) == known
    del taken["direct"], taken["direct_whole"], made["reinserted"]["question-formation"]["direct"]
    assert numbers.findall(treatment(made)) == ["0.969", "0.2"]
    control = {"reinserted": {}, "control": "x", "refilled": {"sentences": 1_270}}
    assert numbers.findall(treatment(made | control)) == ["0.969", "1,270"]
    assert treatment(made | {"removed_sentences": 0}) == treatment({}) == ""


def test_what_filters_took_and_what_was_put_back(study):
    removed = parsing.removed(study.collected, study.layout)
    assert removed.shown()[:4] == [
        ["10M", "baby", "binding.paper", "11,111", "31", "900", "77", "70", "90", "0"],
        ["10M", "baby", "question-formation.paper", "11,111", "0", "800", *"––––"],
        ["10M", "baby-f", "binding.paper", "11,111", "31", "900", *"––––"],
        ["10M", "baby-f", "question-formation.paper", "11,111", "0", "800", *"––––"],
    ]
    assert "wiki" not in {r["Condition"] for r in report_results.shown(removed)}
    difference = parsing.words_difference(study.collected, study.layout)
    assert difference.shown() == [
        [size, "baby", "binding", "+0.040", "−0.012"] for size in ("10M", "30M", "50M")
    ]


def recalled(parser, backstop, evidence, right, construction=""):
    """Return a row of ``RECALL``; of a construction no precision is known."""
    known = {
        "parser": parser, "filter": "binding", "reading": "paper", "backstop": backstop,
        "gold": "talk", "construction": construction, "evidence": evidence, "right": right,
        "recall": right / evidence, "sentences": 1000, "skipped": 7,
    }  # fmt: skip
    of_trees = {"removed": 50, "precision": right / 50, "words": 8000, "words_removed": 500}
    return dict.fromkeys(RECALL) | known | ({} if construction else of_trees)


def test_the_recall_of_parsers_and_of_constructions(study):
    rows = [
        recalled(parser, backstop, evidence, right + backstop, construction)
        for parser, whole in (("stanza", 30), ("spacy", 20))
        for backstop in (False, True)
        for evidence, right, construction in ((40, whole, ""), (4, 1, "a rule"))
    ]
    made = study.changed(recall=pl.DataFrame(rows, schema=RECALL)).collected
    titles = ("Parser", "Backstop", "Recall (%)", "Precision (%)", "Sentences removed (%)",
              "Words removed (%)")  # fmt: skip
    shown = [[row[t] for t in titles] for row in report_results.shown(parsing.recall(made))]
    assert shown == [
        ["stanza", "without", "75.0", "60.0", "5.0", "6.2"],
        ["stanza", "with", "77.5", "62.0", "5.0", "6.2"],
        ["spacy", "without", "50.0", "40.0", "5.0", "6.2"],
        ["spacy", "with", "52.5", "42.0", "5.0", "6.2"],
    ]
    by_rule = report_results.shown(parsing.constructions(made))
    assert [row["Found"] for row in by_rule] == ["1", "2", "1", "2"]
