"""The question-formation filter by the places of clauses, and on random trees."""

from __future__ import annotations

import random

import pytest

from poshgrid.evidence.filters.question_formation import direct, paper
from tests.unit.evidence.trees import mutated, random_tree, read_cases, tree

CASES = read_cases("question_formation")["cases"]


def roles(text, rule=direct):
    found = rule(tree(text))
    return found and tuple(found.roles.values())


# Where clauses stand, by hand
PLACES = read_cases("question_formation")["places"]


@pytest.mark.parametrize("name", PLACES)
def test_where_clauses_stand(name):
    text, expected = PLACES[name]
    assert roles(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    read_cases("question_formation")["paper"],
)  # fmt: skip
def test_the_places_of_the_papers_reading(text, expected):
    assert roles(text, paper) == expected


def test_places_are_words_of_the_sentence():
    generator = random.Random(1)
    found = {direct: 0, paper: 0}
    cases = [tree(text) for text, _, _ in CASES.values()]
    nonsense = [random_tree(generator) for _ in range(2_000)]
    near = [mutated(generator.choice(cases), generator) for _ in range(2_000)]
    for sentence in nonsense + near:
        for rule in found:
            match = rule(sentence)
            found[rule] += match is not None
            assert match is None or all(1 <= word <= len(sentence) for word in match.words)
    assert all(100 < times < 2_000 for times in found.values())
