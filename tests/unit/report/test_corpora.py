"""The tables of corpora and evidence, worked by hand."""

from pathlib import Path

import polars as pl
import pytest

from poshgrid.config.paths import Paths
from poshgrid.core import files
from poshgrid.core.table import of_frame
from poshgrid.evidence.schema import RECALL
from poshgrid.report.sections import corpora, parsing
from poshgrid.report.texts import titles
from tests.unit.report import report_results
from tests.unit.statistics.scored import only


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two sizes of three conditions; baby at 10M has two sources."""
    folder = tmp_path_factory.mktemp("corpora")
    spec = report_results.build(folder, sizes=("10M", "100M"), seeds=(1,), regressions=())
    paths = Paths(str(folder))
    path = Path(paths.condition("baby", "10M")) / "statistics.json"
    single = {"sentences": 4, "words": 20}
    split = {"sentences": 1_398_765, "words": 9_999_877, "sources": {"a": single, "b": single}}
    files.write_json(path, files.read_json(path) | {"splits": {"train": split}})
    report_results.sweep(Path(paths.sweep("baby", "10M")).parent, 10_000_000, reached=20_000)
    return report_results.study(folder, spec)


def test_sentences_and_tokens(results):
    frame = corpora.exposure(results.collected, results.layout)
    columns = of_frame("exposure", "", frame, titles()["exposure"]).columns
    assert "Rewritten" not in {column.title for column in columns}  # no condition is
    exposed = frame.to_dicts()
    first = exposed[0]
    assert (first["sentences"], first["words"]) == (1_398_765, 9_999_877)
    assert first["ratio"] == pytest.approx(9_999_877 / 1_398_765)
    assert [row["source"] for row in exposed[:4]] == ["all", "a", "b", "all"]
    tokens = corpora.vocabularies(results.collected)
    assert tokens.height == 2 * 2 * 3
    cell = only(tokens, vocabulary_size=32_768, size="10M", condition="baby")
    assert (cell["reached"], cell["tokens_without_boundaries"]) == (20_000, 12_500_000)


# ---- parsing and evidence ------------------------------------------------------------------------


def recalled(parser, backstop, evidence, right):
    """Return a row of ``RECALL``."""
    known = {
        "parser": parser, "filter": "binding", "reading": "paper", "backstop": backstop,
        "gold": "talk", "evidence": evidence, "right": right,
        "recall": right / evidence, "sentences": 1000, "skipped": 7,
    }  # fmt: skip
    of_trees = {"removed": 50, "precision": right / 50, "words": 8000, "words_removed": 500}
    return dict.fromkeys(RECALL) | known | of_trees


def test_the_recall_of_parsers(study):
    rows = [
        recalled(parser, backstop, 40, right + backstop)
        for parser, right in (("stanza", 30), ("spacy", 20))
        for backstop in (False, True)
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
