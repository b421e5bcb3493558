"""The share of a suite's items that filters remove: counted by hand on a few parsed pairs."""

import polars as pl
import pytest

from poshgrid.benchmark.coverage import COVERAGE, coverage
from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Filter
from poshgrid.core.files import write_table
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
    # Nothing in the tree is a clause: its words alone look like a question with one
    "Is/X/0/root the/X/1/dep boy/X/1/dep who/X/1/dep is/X/1/dep here/X/1/dep ill/X/1/dep ?/X/1/dep",
]
PARSED = {" ".join(t.form): t for t in map(tree, TREES)}
TEXTS = list(PARSED)
CASES = [(ADJECTIVE, 0, 1), (ADJECTIVE, 2, 3), (NOUN, 4, 3), (NOUN, 5, 3)]


def table(pairs=CASES):
    rows = [
        {"item_id": f"{name}-{i}", "phenomenon": name, "good": TEXTS[good], "bad": TEXTS[bad]}
        for i, (name, good, bad) in enumerate(pairs)
    ]
    return pl.DataFrame(rows, schema=PAIRS)


def shares(items, filters, *, backstop=False):
    """Return the table of coverage."""

    def parse(sentences):
        return {words: PARSED[" ".join(words)] for words in sentences}

    words = [Filter.model_validate(word) for word in filters]
    return coverage(items, words, parse, language="en", backstop=backstop)


def test_shares_are_those_counted_by_hand():
    words = ["det-adj-noun", "det-adj-noun.published", "det-noun"]
    covered = shares(table(), words)
    assert covered.schema == COVERAGE
    assert covered.rows() == [
        (ADJECTIVE, "det-adj-noun.paper", True, 2, 0.5, 0.5),
        (NOUN, "det-adj-noun.paper", False, 2, 0.0, 0.0),
        (ADJECTIVE, "det-adj-noun.published", True, 2, 1.0, 0.5),
        (NOUN, "det-adj-noun.published", False, 2, 0.0, 0.0),
        (ADJECTIVE, "det-noun.paper", False, 2, 0.0, 0.5),
        (NOUN, "det-noun.paper", True, 2, 0.5, 1.0),
    ]


@pytest.mark.parametrize("backstop", [False, True])
def test_the_backstop_removes_too_where_conditions_use_it(backstop):
    covered = shares(table([("x", 6, 0)]), ["question-formation.direct"], backstop=backstop)
    assert covered.select("good", "bad").row(0) == (float(backstop), 0.0)


# --- the command --------------------------------------------------------------


def test_the_command_prints_a_table_and_marks_targets(shown, tmp_path):
    rows = table(CASES[:2]).with_columns(
        pl.lit("x").alias(name) for name in ("category", "template", "lexical_set", "contrast")
    ).with_columns(
        good=pl.Series(["Only Ida ever sings .", "Only Ida sings ."]),
        bad=pl.lit("Ida ever sings ."),
        phenomenon=pl.Series(["only_npi_scope", "passive_1"]),
    )  # fmt: skip
    write_table(rows, tmp_path / "results/benchmark/blimp/items.parquet", PAIRS)
    blimp = ("--suite", "blimp")
    output = shown(*blimp, "--filter", "npi-only", "--filter", "passive.published")
    rows = {line.split()[0]: line.split()[1:] for line in output.splitlines() if "_" in line}
    assert rows == {"only_npi_scope": ["1", "100.0*", "0.0"], "passive_1": ["1", "0.0", "0.0*"]}
    # no filters: those that conditions use
    assert "question-formation.paper" in shown(*blimp)
