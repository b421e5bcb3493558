"""What filters ask of a word, on trees written by hand."""

from __future__ import annotations

import pytest

from poshgrid.evidence.match import has_wh, is_relative
from tests.unit.evidence.trees import read_cases, tree


@pytest.mark.parametrize(("clause", "relative"), read_cases("relative").items())
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
