"""What filters ask of a word, on trees written by hand."""

from __future__ import annotations

import pytest

from poshgrid.evidence.match import Match, has_wh, is_auxiliary, is_relative, is_subject
from tests.unit.evidence.trees import tree


@pytest.mark.parametrize(
    ("relation", "subject", "auxiliary"),
    [
        ("nsubj", True, False), ("nsubj:pass", True, False), ("nsubjpass", True, False),
        ("csubj", False, False), ("aux", False, True), ("aux:pass", False, True),
        ("auxpass", False, True), ("cop", False, True), ("obj", False, False),
    ],
)  # fmt: skip
def test_subjects_and_auxiliaries(relation, subject, auxiliary):
    sentence = tree(f"x/X/2/{relation} y/X/0/root")
    assert is_subject(sentence, 1) is subject
    assert is_auxiliary(sentence, 1) is auxiliary


@pytest.mark.parametrize(
    ("label", "children", "relative"),
    [
        ("acl:relcl", "now/ADV/3/advmod", True), ("relcl", "now/ADV/3/advmod", True),
        ("acl:relcl", "to/PART/3/mark", True),
        ("ccomp", "he/PRON/3/nsubj", False), ("acl:adv", "he/PRON/3/nsubj", False),
        ("acl", "he/PRON/3/nsubj", True), ("acl", "he/PRON/3/nsubj:pass", True),
        ("acl", "that/SCONJ/3/mark", True),
        ("acl", "to/PART/3/mark", False), ("acl", "to/PART/3/aux", False),
        ("acl", "which/PRON/3/obj", True), ("acl", "Why/ADV/3/advmod", True),
        ("acl", "it/PRON/3/obj", False), ("acl", "now/ADV/3/advmod", False),
    ],
)  # fmt: skip
def test_a_bare_clause_on_a_noun_is_relative_if_finite(label, children, relative):
    sentence = tree(f"thing/NOUN/0/root {children} see/VERB/1/{label}")
    assert is_relative(sentence, 3) is relative


@pytest.mark.parametrize(
    ("words", "relative"),
    [
        ("for/SCONJ/5/mark him/PRON/5/nsubj to/PART/5/mark see/VERB/1/acl", False),
        ("he/PRON/5/nsubj went/VERB/2/x to/ADP/5/obl see/VERB/1/acl", True),
        ("seen/VERB/1/acl who/PRON/2/obj x/X/2/x y/X/2/x", False),  # the pronoun is behind it
    ],
)
def test_what_else_stands_in_the_clause(words, relative):
    sentence = tree(f"thing/NOUN/0/root {words}")
    clause = sentence.deprel.index("acl") + 1
    assert is_relative(sentence, clause) is relative


def test_a_wh_phrase_ends_before_a_place():
    sentence = tree("which/DET/2/det book/NOUN/3/obj saw/VERB/0/root who/PRON/3/nsubj")
    assert [has_wh(sentence, 2, place) for place in (1, 2, 3)] == [False, True, True]
    assert [has_wh(sentence, 3, place) for place in (4, 5)] == [False, True]
    assert [has_wh(sentence, 4, place) for place in (4, 5)] == [False, True]
    assert not has_wh(tree("a/DET/2/det book/NOUN/0/root"), 2, 9)


def test_the_words_of_a_match_are_each_told_once_in_their_order():
    assert Match("x", {"a": 5, "b": 2, "c": 5}).words == (2, 5)
