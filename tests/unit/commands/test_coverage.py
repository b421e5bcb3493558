"""The share of a suite's items that filters remove: counted by hand on a few parsed pairs."""

import csv
import io

import polars as pl
import pytest
import yaml
from typer.testing import CliRunner

from poshgrid.benchmark.coverage import COVERAGE, coverage, read, targets
from poshgrid.benchmark.schema import CHOICES, ITEMS
from poshgrid.cli import app
from poshgrid.config import Filter
from poshgrid.errors import PoshgridError
from poshgrid.files import write_table
from tests.unit.evidence.trees import tree

ADJECTIVE = "determiner_noun_agreement_with_adjective_1"
NOUN = "determiner_noun_agreement_1"
# Invented: the second pair's good member has no adjective, the last pair no demonstrative
TREES = [
    "Ida/PROPN/2/nsubj wants/VERB/0/root these/DET/5/det old/ADJ/5/amod geese/NOUN/2/obj",
    "Ida/PROPN/2/nsubj wants/VERB/0/root these/DET/5/det old/ADJ/5/amod goose/NOUN/2/obj",
    "Ida/PROPN/2/nsubj wants/VERB/0/root those/DET/5/det two/NUM/5/nummod geese/NOUN/2/obj",
    "Ida/PROPN/2/nsubj wants/VERB/0/root those/DET/4/det goose/NOUN/2/obj",
    "Ida/PROPN/2/nsubj wants/VERB/0/root that/DET/4/det goose/NOUN/2/obj",
    "Ida/PROPN/2/nsubj wants/VERB/0/root the/DET/4/det geese/NOUN/2/obj",
]
PARSED = {" ".join(t.form): t for t in map(tree, TREES)}
TEXTS = list(PARSED)
PAIRS = [(ADJECTIVE, 0, 1), (ADJECTIVE, 2, 3), (NOUN, 4, 3), (NOUN, 5, 3)]


def table(pairs=PAIRS):
    rows = [
        {
            "item_id": f"{name}-{place}", "category": "x", "phenomenon": name, "template": name,
            "lexical_set": "x", "contrast": "x", "good": TEXTS[good], "bad": TEXTS[bad],
            "good_start": 0, "good_end": 1, "bad_start": 0, "bad_end": 1,
        }
        for place, (name, good, bad) in enumerate(pairs)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=ITEMS)


class Parser:
    """Knows the trees of a few sentences, and remembers what it was given."""

    def __init__(self):
        self.seen = []

    def parse(self, sentences):
        found = {words: PARSED[" ".join(words)] for words in sentences}
        self.seen += map(" ".join, found)
        return found


def filters(*words):
    return [Filter.model_validate(word) for word in words]


def test_shares_are_those_counted_by_hand():
    words = filters("det-adj-noun", "det-adj-noun.published", "det-noun")
    found = coverage(table(), words, Parser().parse, backstop=False)
    assert found.schema == COVERAGE
    assert found.rows() == [
        (ADJECTIVE, "det-adj-noun.paper", True, 2, 0.5, 0.5),
        (NOUN, "det-adj-noun.paper", False, 2, 0.0, 0.0),
        (ADJECTIVE, "det-adj-noun.published", True, 2, 1.0, 0.5),
        (NOUN, "det-adj-noun.published", False, 2, 0.0, 0.0),
        (ADJECTIVE, "det-noun.paper", False, 2, 0.0, 0.5),
        (NOUN, "det-noun.paper", True, 2, 0.5, 1.0),
    ]


def test_texts_are_parsed_only_if_they_have_the_words():
    parser = Parser()
    coverage(table(), filters("det-noun"), parser.parse, backstop=False)
    assert sorted(parser.seen) == sorted(TEXTS[:5])
    parser = Parser()  # agr-pp-mod may remove any sentence
    coverage(table(), filters("det-noun", "agr-pp-mod"), parser.parse, backstop=False)
    assert sorted(parser.seen) == sorted(TEXTS)


def test_the_backstop_removes_too_where_conditions_use_it():
    # Nothing in the tree is a clause: its words alone look like a question with one
    text = "Is the boy who is here ill ?"
    words = tuple(text.split())
    row = table(PAIRS[:1]).with_columns(good=pl.lit(text), bad=pl.lit(TEXTS[0]))

    def parse(sentences):
        flat = " ".join(f"{w}/X/{place and 1}/dep" for place, w in enumerate(words))
        known = {**PARSED, text: tree(flat)}
        return {given: known[" ".join(given)] for given in sentences}

    for backstop, share in ((True, 1.0), (False, 0.0)):
        found = coverage(row, filters("question-formation.direct"), parse, backstop=backstop)
        assert found.select("good", "bad").row(0) == (share, 0.0)


def test_targets_are_those_of_the_filters():
    assert targets(filters("passive", "agr-pp-mod.published")) == {
        "passive_1", "passive_2", "distractor_agreement_relational_noun",
    }  # fmt: skip


def test_no_items_and_items_of_another_task_are_told(tmp_path):
    with pytest.raises(PoshgridError, match=r"items\.parquet: no items yet; run this first"):
        read(tmp_path / "items.parquet", "run this first")
    path = tmp_path / "choices.parquet"
    pl.DataFrame(schema=CHOICES).write_parquet(path)
    with pytest.raises(PoshgridError, match=r"see docs/data\.md"):
        read(path, "")


# --- the command --------------------------------------------------------------


@pytest.fixture
def configured(root, tmp_path):
    """The tiny configuration with a suite's items and a parser that needs no model."""
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(yaml.safe_dump({
        "results": str(tmp_path / "results"),
        "suites": [
            {"name": "blimp", "reader": "blimp", "path": "blimp"},
            {"name": "other", "reader": "blimp", "path": "other"},
        ],
        "parsers": [
            {"name": "words", "engine": "words", "model": str(root / "config")},
            {"name": "spacy", "engine": "spacy", "model": str(tmp_path / "nowhere")},
        ],
        "evidence": {"parser": "words", "compare": []},
    }))  # fmt: skip
    folder = tmp_path / "results" / "benchmark" / "blimp"
    folder.mkdir(parents=True)
    rows = table(PAIRS[:2]).with_columns(
        good=pl.Series(["Only Ida ever sings .", "Only Ida sings ."]),
        bad=pl.lit("Ida ever sings ."),
        phenomenon=pl.Series(["only_npi_scope", "passive_1"]),
    )  # fmt: skip
    write_table(rows, folder / "items.parquet", ITEMS)
    return [str(root / "config/tiny.yaml"), str(overlay)]


def said(*arguments):
    found = CliRunner().invoke(app, ["coverage", *arguments], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


def test_command_prints_a_table_and_marks_targets(configured):
    output = said(*configured, "--filters", "npi-only,passive.published")
    rows = {line.split()[0]: line.split()[1:] for line in output.splitlines() if "_" in line}
    assert rows == {"only_npi_scope": ["1", "100.0*", "0.0"], "passive_1": ["1", "0.0", "0.0*"]}
    output = said(*configured, "--filters", "npi-only", "--targets")
    assert "only_npi_scope" in output
    assert "passive_1" not in output


def test_command_writes_csv(configured):
    output = said(*configured, "--filters", "npi-only, passive.published,npi-only.paper", "--csv")
    rows = list(csv.DictReader(io.StringIO(output)))
    assert list(rows[0]) == list(COVERAGE)
    assert [(r["phenomenon"], r["filter"], r["good"], r["bad"]) for r in rows] == [
        ("only_npi_scope", "npi-only.paper", "1.0", "0.0"),
        ("passive_1", "npi-only.paper", "0.0", "0.0"),
        ("only_npi_scope", "passive.published", "0.0", "0.0"),
        ("passive_1", "passive.published", "0.0", "0.0"),
    ]


def test_wide_tables_are_cut_so_that_each_has_its_phenomena(configured, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    words = "npi-only,npi-sent-neg,npi-sim-ques,binding-c-command,binding-reconstruction,det-noun"
    output = said(*configured, "--filters", words)
    assert max(map(len, output.splitlines())) <= 75
    shown = [line.split()[2:] for line in output.splitlines() if "passive_1" in line]
    assert len(shown) > 1
    assert sum(map(len, shown)) == 6


def test_no_filters_stands_for_those_that_conditions_use(configured):
    assert "question-formation.paper" in said(*configured, "--csv")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--suite", "other"], "no items yet; run `poshgrid run"),
        (["--suite", "blimpp"], "--suite: unknown suite 'blimpp'; did you mean 'blimp'?"),
        (["--filters", "pasive"], "--filters: unknown filter 'pasive'; did you mean 'passive'?"),
        (["--filters", "passive.publishd"], "no reading 'publishd'; did you mean 'published'?"),
        (["--filters", "passive", "--parser", "wrds"], "unknown parser 'wrds'; did you mean"),
        (["--filters", "passive", "--parser", "spacy"], "no model of parser 'spacy'"),
        (["--filters", "det-noun", "--targets"], "none of these filters is meant for"),
    ],
)
def test_what_cannot_be_done_is_one_line(configured, arguments, told):
    found = CliRunner().invoke(app, ["coverage", *configured, *arguments])
    assert isinstance(found.exception, PoshgridError)
    assert told in str(found.exception)
    assert "\n" not in str(found.exception)


def test_the_remedy_names_the_configuration_and_the_items(configured, tmp_path):
    found = CliRunner().invoke(app, ["coverage", *configured, "--suite", "other"])
    items = tmp_path / "results/benchmark/other/items.parquet"
    assert f"poshgrid run {items} --configfile {' '.join(configured)}" in str(found.exception)
