"""The critical region of a pair: worked by hand, and as a property of any two members."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.benchmark import items
from tests.cases import read_cases


@pytest.mark.parametrize(
    ("good", "bad", "in_good", "in_bad"), read_cases(__file__, "pairs")["regions"]
)
def test_worked_by_hand(good, bad, in_good, in_bad):
    (a, b), (c, d) = items.region(good, bad)
    assert (good[a:b], bad[c:d]) == (in_good, in_bad)


words = st.lists(st.sampled_from(["the", "cat", "saw", "a", "dog", "it's"]), max_size=7)


@given(words, words, st.sampled_from([".", "?", ""]))
def test_outside_the_region_the_members_are_the_same(good, bad, mark):
    first, second = " ".join(good) + mark, " ".join(bad) + mark
    (a, b), (c, d) = items.region(first, second)
    assert first[:a].strip() == second[:c].strip()
    assert first[b:].strip() == second[d:].strip()
    assert 0 <= a <= b <= len(first)
    assert 0 <= c <= d <= len(second)
    if first == second:
        assert first[a:b] == second[c:d] == ""
