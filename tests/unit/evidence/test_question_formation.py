"""The question-formation filter on hand-labelled, random, toy and gold trees."""

from __future__ import annotations

import itertools
import random

import pytest

from poshgrid.evidence.filters.question_formation import direct, paper
from poshgrid.parsing import treebank
from poshgrid.parsing.tree import Tree
from tests.unit.evidence.trees import mutated, random_tree, read_cases, tree

CASES = read_cases("question_formation")["cases"]


@pytest.mark.parametrize("name", CASES)
def test_hand_labelled(name):
    text, evidence, taken = CASES[name]
    sentence = tree(text)
    found = direct(sentence)
    assert (found.words if found else None) == evidence
    assert (paper(sentence) is not None) == taken


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


def appendix_c(sentence: Tree) -> bool:
    """The rule of appendix C over the flat columns, written apart from the filter's code."""
    relations = list(sentence.deprel)
    if "acl:relcl" not in relations:
        return False
    last = len(relations) - 1 - relations[::-1].index("acl:relcl")
    if not any(r.startswith("nsubj") for r in relations[:last]):
        return False
    words = [form.lower() for form in sentence.form]
    wh = {"what", "which", "who", "whom", "whose", "where", "when", "why", "how"}
    return (
        words[-1] == "?"
        or any(w in wh or (w[:2] in ("wh", "ho") and w.endswith("ever")) for w in words)
        or any(u == "AUX" for u in sentence.upos[:2])
        or any(r[:3] in ("aux", "cop") for r in relations[:2])
    )


@pytest.mark.slow
def test_gold_child_directed_trees(shared):
    total = wide = narrow = 0
    for path in sorted((shared / "treebanks" / "childes").glob("*.conllu")):
        for sentence in treebank.trees(path):
            total += 1
            taken = paper(sentence) is not None
            wide += taken
            narrow += direct(sentence) is not None
            if any(r.startswith("acl") for r in sentence.deprel) and "acl" not in sentence.deprel:
                assert taken == appendix_c(sentence), sentence.form
    assert 0.003 < wide / total < 0.03
    assert 0.0001 < narrow / total < 0.001


def test_toy_grammar_agrees_with_the_construction_it_drew():
    from poshgrid.corpora import toy

    found = 0
    for sentence in itertools.islice(toy.sentences("baby", 5), 1_500):
        parsed = toy_tree(sentence)
        drew = sentence.construction == "question-formation"
        assert (direct(parsed) is not None) == drew, sentence.text
        assert paper(parsed) is not None or not drew, sentence.text
        found += drew
    assert found


def toy_tree(sentence) -> Tree:
    tokens = sentence.tokens
    return Tree(
        form=[t.form for t in tokens],
        upos=[t.upos for t in tokens],
        feats=[t.feats for t in tokens],
        head=[t.head for t in tokens],
        deprel=[t.deprel for t in tokens],
    )
