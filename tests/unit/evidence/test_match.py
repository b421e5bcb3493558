"""What filters ask of a word, on trees written by hand."""

from __future__ import annotations

import pytest

from poshgrid.evidence.match import has_wh, is_relative
from tests.unit.evidence.trees import tree


@pytest.mark.parametrize(
    ("clause", "relative"),
    [
        ("now/ADV/3/advmod see/VERB/1/acl:relcl", True),
        ("now/ADV/3/advmod see/VERB/1/relcl", True),
        ("to/PART/3/mark see/VERB/1/acl:relcl", True),
        ("he/PRON/3/nsubj see/VERB/1/ccomp", False),
        ("he/PRON/3/nsubj see/VERB/1/acl:adv", False),
        # A bare clause on a noun is relative if it is finite
        ("he/PRON/3/nsubj see/VERB/1/acl", True),
        ("he/PRON/3/nsubj:pass see/VERB/1/acl", True),
        ("that/SCONJ/3/mark see/VERB/1/acl", True),
        ("to/PART/3/mark see/VERB/1/acl", False),
        ("to/PART/3/aux see/VERB/1/acl", False),
        ("which/PRON/3/obj see/VERB/1/acl", True),
        ("Why/ADV/3/advmod see/VERB/1/acl", True),
        ("it/PRON/3/obj see/VERB/1/acl", False),
        ("now/ADV/3/advmod see/VERB/1/acl", False),
        ("for/SCONJ/5/mark him/PRON/5/nsubj to/PART/5/mark see/VERB/1/acl", False),
        ("he/PRON/5/nsubj went/VERB/2/x to/ADP/5/obl see/VERB/1/acl", True),
        ("seen/VERB/1/acl who/PRON/2/obj x/X/2/x y/X/2/x", False),  # the pronoun is behind it
    ],
)
def test_relative_clauses(clause, relative):
    sentence = tree(f"thing/NOUN/0/root {clause}")
    (head,) = (i for i in range(2, len(sentence) + 1) if sentence.head[i - 1] == 1)
    assert is_relative(sentence, head) is relative


def test_a_wh_phrase_ends_before_a_place():
    sentence = tree("which/DET/2/det book/NOUN/3/obj saw/VERB/0/root who/PRON/3/nsubj")
    assert [has_wh(sentence, 2, place) for place in (1, 2, 3)] == [False, True, True]
    assert [has_wh(sentence, 3, place) for place in (4, 5)] == [False, True]
    assert [has_wh(sentence, 4, place) for place in (3, 4, 5)] == [False, False, True]
    assert not has_wh(tree("a/DET/2/det book/NOUN/0/root"), 2, 9)
