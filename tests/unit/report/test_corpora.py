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
from poshgrid.report.texts import say
from tests.unit.report import report_results

PAPER = {"conditions": ("baby", "baby-f", "wiki"), "sizes": ("10M", "100M"), "seeds": (1,)}
BABY = {  # words of each source in a corpus like the paper's; 100M holds its 10M
    "simple-wikipedia": (500_010, 14_000_000), "gutenberg": (1_000_000, 26_000_000),
    "tinystories": (1_000_000, 22_000_000), "switchboard": (500_000, 1_000_000),
    "bnc": (1_000_000, 8_000_000), "opensubtitles": (2_000_000, 20_000_000),
    "childes": (3_999_990, 9_000_010),
}  # fmt: skip


@pytest.fixture
def results(tmp_path):
    return report_results.build(tmp_path, **PAPER, regressions=()), Paths(str(tmp_path))


def rows(results, make):
    spec, paths = results
    study = report_results.study(Path(paths.results), spec)
    arguments = (study.collected, study.layout)[: 1 if make is corpora.vocabularies else 2]
    return make(*arguments).to_dicts()


def sources(paths: Paths, corpus: str, known: dict[str, tuple[int, ...]]) -> None:
    """Give a corpus these words, and a tenth of the first size to dev and test."""

    def counts(i: int, part: int = 1) -> dict:
        by_source = {s: {"words": words[i] // part} for s, words in known.items()}
        return {"words": sum(f["words"] for f in by_source.values()), "sources": by_source}

    train = {size: counts(i) for i, size in enumerate(PAPER["sizes"])}
    path = Path(paths.sentences(corpus)).parent / "statistics.json"
    files.write_json(path, {"train": train, "dev": counts(0, 10), "test": counts(0, 10)})


def one(rows, **wanted):
    (only,) = [r for r in rows if all(r[name] == value for name, value in wanted.items())]
    return only


def test_words_stand_beside_table_2(results):
    sources(results[1], "baby", BABY)
    words = rows(results, corpora.words_by_source)
    assert [row["source"] for row in words[:8]] == [*sorted(BABY), "all sources"]
    childes = one(words, corpus="baby", source="childes")
    assert (childes["10M"], childes["10M, paper"]) == (3_999_990, 4_000_000)
    assert (childes["100M"], childes["100M, paper"]) == (9_000_010, 9_000_000)
    assert childes["dev"] == 399_999 and "dev, paper" not in childes
    total = one(words, corpus="baby", source="all sources")
    assert (total["100M"], total["class"]) == (100_000_010, "total")
    # Wiki is not in Table 2
    assert {row["10M, paper"] for row in words if row["corpus"] == "wiki"} == {None}


def test_another_base_and_another_grid_are_not_set_beside_the_paper(results, biased):
    sources(results[1], "baby", {"diary": (1, 2)})
    sources(results[1], "wiki", BABY)
    for words in (rows(results, corpora.words_by_source),
                  corpora.words_by_source(biased.collected, biased.layout).to_dicts()):  # fmt: skip
        assert not [name for name in words[0] if "paper" in name]


def test_sentences_stand_beside_table_4_and_sources_where_there_are_several(results):
    path = Path(results[1].condition("baby", "10M")) / "statistics.json"
    single = {"sentences": 4, "words": 20}
    split = {"sentences": 1_398_765, "words": 9_999_877, "sources": {"a": single, "b": single}}
    files.write_json(path, files.read_json(path) | {"splits": {"train": split}})
    exposed = rows(results, corpora.exposure)
    first = exposed[0]
    assert (first["sentences"], first["sentences_paper"]) == (1_398_765, 1_400_000)
    assert (first["words"], first["ratio_paper"]) == (9_999_877, 7.13)
    assert first["ratio"] == pytest.approx(9_999_877 / 1_398_765)
    assert [row["source"] for row in exposed[:4]] == ["all", "a", "b", "all"]
    assert one(exposed, size="10M", condition="wiki")["sentences_paper"] == 430_000
    assert one(exposed, size="100M", condition="baby")["ratio_paper"] == 8.55
    # the paper has no baby-f at 100M
    assert one(exposed, size="100M", condition="baby-f")["sentences_paper"] is None


def test_tokens_by_vocabulary_stand_beside_table_9(results):
    report_results.sweep(Path(results[1].tokenizer("baby", "10M")), 10_000_000, reached=20_000)
    tokens = rows(results, corpora.vocabularies)
    assert len(tokens) == 2 * 2 * 3
    cell = one(tokens, vocabulary_size=32_768, size="10M", condition="baby")
    assert [cell[name] for name in ("reached", "tokens_without_boundaries", "paper")] == [
        20_000, 12_500_000, 15_318_669
    ]  # fmt: skip
    assert (
        one(tokens, vocabulary_size=32_768, size="100M", condition="wiki")["paper"] == 153_006_220
    )
    assert {row["paper"] for row in tokens if row["vocabulary_size"] == 16_384} == {None}


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
    assert numbers.findall(say("treatment", made)) == known
    del taken["direct"], taken["direct_whole"], made["reinserted"]["question-formation"]["direct"]
    assert numbers.findall(say("treatment", made)) == ["0.969", "0.2"]
    control = {"reinserted": {}, "control": "x", "refilled": {"sentences": 1_270}}
    assert numbers.findall(say("treatment", made | control)) == ["0.969", "1,270"]
    assert say("treatment", made | {"removed_sentences": 0}) == say("treatment", {}) == ""


def test_what_filters_took_and_what_was_put_back(study):
    removed = parsing.removed(study.collected, study.layout)
    assert removed.rows()[:4] == [
        ("10M", "baby", "binding.paper", 11_111, 31, 900, 77, 70, 90, 0),
        ("10M", "baby", "question-formation.paper", 11_111, 0, 800, *[None] * 4),
        ("10M", "baby-f", "binding.paper", 11_111, 31, 900, *[None] * 4),
        ("10M", "baby-f", "question-formation.paper", 11_111, 0, 800, *[None] * 4),
    ]
    assert "wiki" not in set(removed["condition"])


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
    shown = parsing.recall(made).select("parser", "backstop", "recall", "precision", "share",
                                        "share_of_words").rows()  # fmt: skip
    assert shown == [
        ("stanza", "without", 0.75, 0.6, 0.05, 0.0625),
        ("stanza", "with", 0.775, 0.62, 0.05, 0.0625),
        ("spacy", "without", 0.5, 0.4, 0.05, 0.0625),
        ("spacy", "with", 0.525, 0.42, 0.05, 0.0625),
    ]
    by_rule = parsing.constructions(made)
    assert by_rule["right"].to_list() == [1, 2, 1, 2]
    assert set(by_rule["class"]) == {"flag"}  # of fewer than 20 sentences
