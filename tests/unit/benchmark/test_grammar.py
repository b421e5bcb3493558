"""What the templates make is grammatical, and what it is said not to be is not."""

import polars as pl
import pytest

from poshgrid.benchmark.generation import templates
from poshgrid.benchmark.schema import PAIRS
from tests.cases import read_cases
from tests.unit.benchmark.generated import generate
from tests.unit.benchmark.grammar import accepts, fault

CASES = read_cases(__file__, "grammar")


@pytest.mark.parametrize("label", ["grammatical", "ungrammatical"])
def test_sentences_are_accepted_as_labelled(label):
    for sentence in CASES[label]:
        assert accepts(sentence) == (label == "grammatical"), sentence


def test_nonsense_obeys_the_other_rules():
    for sentence in ("The girl read the dog.", "The wet girl left.", "The girl liked."):
        assert not accepts(sentence)
        assert accepts(sentence, nonsense=True)
    for sentence in ("The girl liked himself.", "The girl like the boy.", "The girl liking him."):
        assert not accepts(sentence, nonsense=True)


@pytest.mark.parametrize("row", CASES["faults"])
def test_a_planted_fault_is_found(row):
    reason, phenomenon, cell, good, bad = row
    joint = {"phenomenon": phenomenon, "cell": cell, "joint": bool(cell)}
    assert fault({**joint, "good": good, "bad": bad}) == (reason or "")


@pytest.mark.parametrize("name", templates.names(templates.TEMPLATES))
def test_generated_pairs_have_no_fault_and_exchanged_all_have_one(name):
    phenomenon = templates.read(name, templates.TEMPLATES)
    rows = pl.DataFrame(generate(phenomenon, 60, 7), schema=PAIRS)
    assert [row["good"] for row in rows.iter_rows(named=True) if fault(row)] == []
    exchanged = rows.rename({"good": "bad", "bad": "good"})
    assert all(map(fault, exchanged.iter_rows(named=True)))
