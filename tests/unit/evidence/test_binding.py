"""The binding filter by the way to the antecedent, and on random trees."""

from __future__ import annotations

import random

import pytest

from poshgrid.evidence.filters.binding import direct, paper
from poshgrid.parsing.tree import Tree
from tests.unit.evidence.trees import random_tree, read_cases, tree

BOUND = read_cases("binding")["bound"]


@pytest.mark.parametrize("antecedent", BOUND)
def test_person_number_and_gender(antecedent):
    """*The cook said that A likes R* is evidence if A may bind R: *cook* is of another clause."""
    more = antecedent.count(" ")
    text = f"cook/NOUN/2/nsubj said/VERB/0/root {antecedent} likes/VERB/2/ccomp R/PRON/4/obj"
    text = text.replace("/4/", f"/{4 + more}/")
    evidence = {"antecedent": 3, "ruled out": 1, "reflexive": 5 + more}
    for reflexive in ("thyself", *set().union(*BOUND.values())):  # of the first nothing is known
        found = direct(tree(text.replace("R/", f"{reflexive}/")))
        bound = reflexive in (*BOUND[antecedent], "thyself")
        assert (found.roles if found else None) == (evidence if bound else None), reflexive


def roles(text):
    """Return the places of antecedent and ruled-out word of direct evidence."""
    found = direct(tree(text))
    return found and (found.roles["antecedent"], found.roles["ruled out"])


# The ways to an antecedent: what is climbed through, and where the way ends
CLIMBS = read_cases("binding")["climbs"]


@pytest.mark.parametrize("name", CLIMBS)
def test_the_way_to_the_antecedent(name):
    text, expected = CLIMBS[name]
    assert roles(text) == expected


def test_a_local_word_before_the_antecedent_is_not_ruled_out():
    """*The bag I gave to myself*: order alone tells, the subject is the nearest."""
    text = "bags/NOUN/3/obj/Number=Plur I/PRON/3/nsubj gave/VERB/0/root myself/PRON/3/iobj"
    assert roles(text) is None


def test_the_papers_reading_names_the_first_two_nouns_and_its_reflexive():
    text = (
        "Now/ADV/4/advmod Kim/PROPN/4/nsubj and/CCONJ/4/cc met/VERB/0/root himself/PRON/4/obj "
        "dogs/NOUN/4/obj it/PRON/4/obj elves/NOUN/4/obj itself/PRON/4/obj"
    )
    found = paper(tree(text))
    assert found.roles == {"first": 2, "second": 5, "reflexive": 9}
    assert paper(tree(text.replace("elves/NOUN", "ourself/NOUN"))).roles["reflexive"] == 8
    assert paper(tree(text.replace("elves/NOUN", "bookself/NOUN"))).roles["reflexive"] == 9


def test_heads_in_a_circle_have_no_antecedent():
    words = ["Kim", "Sandy", "likes", "himself"]
    circle = Tree(words, ["PROPN"] * 4, ["_"] * 4, [3, 3, 4, 3], ["obj"] * 4)
    assert direct(circle) is None


def test_direct_evidence_is_the_papers_in_any_tree():
    generator = random.Random(2)
    found = 0
    for _ in range(4_000):
        sentence = random_tree(generator)
        match = direct(sentence)
        if match:
            found += 1
            assert paper(sentence)
            assert all(1 <= word <= len(sentence) for word in match.words)
            assert len(match.roles) == 3
    assert found > 20
