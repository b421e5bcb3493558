"""Selection: equal cells, nulls at chance as near as can be, words used evenly."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.benchmark.context import Null
from poshgrid.benchmark.generation.selection import Candidate, choose
from poshgrid.errors import PoshgridError


def _pair(number: int, template: str = "t", cell: str = "c", words: str = "") -> Candidate:
    return Candidate(((f"good {number}", f"bad {number}"),), template, cell, tuple(words.split()))


def _null(margins: Sequence[float]) -> Null:
    """A null that prefers good by so many nats, pair by pair."""

    def score(sentences: Sequence[str]) -> list[float]:
        found = []
        for sentence in sentences:
            member, number = sentence.split()
            found.append(-50 + (margins[int(number)] if member == "good" else 0))
        return found

    return score


def _choose(
    candidates: list[Candidate], pairs: int, nulls: dict[str, Null] | None = None, **changes: object
) -> tuple[list[int], dict]:
    given = {"tolerance": 0.0, "seed": 1, "place": "phenomenon wanna", **changes}
    return choose(candidates, pairs, nulls or {}, **given)


def test_a_null_is_brought_to_one_half():
    # right on 1 of 5: that one must be chosen, with one of the others
    chosen, facts = _choose(
        [_pair(n) for n in range(5)], 2, {"baby/10M": _null([-1, -1, 3, -1, -1])}
    )
    assert 2 in chosen
    assert len(chosen) == 2
    null = facts["nulls"]["baby/10M"]
    assert (null["before"], null["after"], null["reached"]) == (0.2, 0.5, True)
    assert facts["candidates"] == 5


def test_nulls_that_pull_apart_are_both_brought_to_one_half():
    # right: both on 0 and 1; a alone on 2; b alone on 3; neither on 4
    a, b = _null([1, 1, 1, -1, -1]), _null([1, 1, -1, 1, -1])
    for seed in range(5):
        chosen, facts = _choose([_pair(n) for n in range(5)], 2, {"a": a, "b": b}, seed=seed)
        assert chosen in ([2, 3], [0, 4], [1, 4])
        assert all(null["reached"] for null in facts["nulls"].values())


def test_the_tolerance_is_enough_and_no_more_than_is_needed_is_missed():
    # 4 of 10 can be wrong at most: .6 is the nearest to one half
    null = {"a": _null([-1] * 4 + [1] * 16)}
    candidates = [_pair(n) for n in range(20)]
    for tolerance, reached in ((0.0, False), (0.09, False), (0.1, True)):
        chosen, facts = _choose(candidates, 10, null, tolerance=tolerance)
        assert chosen[:4] == [0, 1, 2, 3]
        assert facts["nulls"]["a"]["after"] == 0.6
        assert facts["nulls"]["a"]["reached"] is reached


def test_a_null_that_sees_one_side_only_stays():
    sided, other = _null([3] * 8), _null([1] * 6 + [-1] * 2)
    chosen, facts = _choose([_pair(n) for n in range(8)], 4, {"sided": sided, "other": other})
    assert facts["nulls"]["sided"] == {"before": 1, "after": 1, "margin": 1, "reached": False}
    assert facts["nulls"]["other"]["after"] == 0.5
    assert chosen[-2:] == [6, 7]


def test_a_tie_is_half_right():
    # 0 is a tie within a millionth; of two pairs, two ties or one right and one wrong are even
    chosen, facts = _choose([_pair(n) for n in range(3)], 2, {"a": _null([5e-7, -9, -9])})
    assert 0 in chosen
    assert facts["nulls"]["a"]["before"] == pytest.approx(1 / 6, abs=1e-4)
    assert facts["nulls"]["a"]["after"] == 0.25
    _, facts = _choose([_pair(n) for n in range(3)], 2, {"a": _null([2e-6, -9, -9])})
    assert facts["nulls"]["a"]["after"] == 0.5


def test_members_of_unequal_length_are_compared_by_their_mean():
    # -12 over 3 + 1 is -3 a word, -10 over 1 + 1 is -5: good is better, though its sum is lower
    sums = {"a b c": -12.0, "d": -10.0}
    pair = Candidate((("a b c", "d"),), "t", "c", ())
    _, facts = _choose([pair], 1, {"a": lambda texts: [sums[text] for text in texts]})
    assert facts["nulls"]["a"]["before"] == 1


def test_margins_are_brought_near_zero():
    # every choice of one right and one wrong is at one half; 1 and 2 also cancel each other
    chosen, facts = _choose([_pair(n) for n in range(4)], 2, {"a": _null([9, 1, -1, -20])})
    assert chosen == [1, 2]
    assert facts["nulls"]["a"]["margin"] == 0


def test_templates_get_equal_shares_and_the_first_ones_the_rest():
    # the first to appear, not the first of the alphabet
    candidates = [_pair(n, template="zyx"[n % 3]) for n in range(30)]
    for pairs, shares in ((9, (3, 3, 3)), (10, (4, 3, 3)), (11, (4, 4, 3))):
        chosen, _ = _choose(candidates, pairs)
        count = Counter(candidates[i].template for i in chosen)
        assert (count["z"], count["y"], count["x"]) == shares


def test_cells_are_equal_within_one_in_each_template():
    # a lopsided pool: cell 0 holds most of the candidates
    cells = ["0"] * 30 + ["1"] * 4 + ["2"] * 3
    candidates = [
        _pair(2 * n + k, template, cell)
        for k, template in enumerate("ab")
        for n, cell in enumerate(cells)
    ]
    chosen, _ = _choose(candidates, 20, {"a": _null([(-1) ** (n % 5) for n in range(80)])})
    for template in "ab":
        count = Counter(candidates[i].cell for i in chosen if candidates[i].template == template)
        assert sorted(count.values()) == [3, 3, 4]


def test_more_cells_than_pairs_are_used_once_at_most():
    candidates = [_pair(n, cell=str(n % 7)) for n in range(28)]
    chosen, _ = _choose(candidates, 5)
    assert len({candidates[i].cell for i in chosen}) == 5


def test_words_are_used_evenly():
    # "man" is in half of the candidates; six pairs can use every word twice
    words = ["man"] * 10 + ["boy"] * 5 + ["king"] * 5
    candidates = [_pair(n, words=word) for n, word in enumerate(words)]
    chosen, facts = _choose(candidates, 6)
    assert Counter(words[i] for i in chosen) == {"man": 2, "boy": 2, "king": 2}
    assert facts["words"] == 3
    assert facts["most_used"] == {"boy": 2, "king": 2, "man": 2}


def test_a_word_that_must_be_used_does_not_excuse_the_others():
    # "say" is in every pair, which settles the largest use; the mean of 13 words is 48 / 13 = 3.7
    nouns = ["man"] * 60 + list("abcdefghijk") * 4
    candidates = [_pair(n, words=f"say {noun}") for n, noun in enumerate(nouns)]
    chosen, facts = _choose(candidates, 24)
    assert facts["most_used"]["say"] == 24
    assert max(Counter(nouns[i] for i in chosen).values()) <= 4


def test_the_most_used_word_is_used_as_little_as_possible():
    # Four of a cell hold "man" or "boy": 3 + 1 lie as far beyond the mean of 8 / 12 as 2 + 2 do.
    words = ["man"] * 4 + ["boy"] * 4 + list("abcdefghij")
    candidates = [_pair(n, cell="pq"[n > 7], words=word) for n, word in enumerate(words)]
    for seed in range(5):
        chosen, _ = _choose(candidates, 8, seed=seed)
        assert [sum(words[i] == w for i in chosen) for w in ("man", "boy")] == [2, 2]


def test_the_null_comes_before_even_words():
    # the null is at one half only if "man" is in all four
    words = ["man"] * 4 + ["boy", "king", "queen"]
    candidates = [_pair(n, words=word) for n, word in enumerate(words)]
    chosen, _ = _choose(candidates, 4, {"a": _null([1, 1, -1, -1, 1, 1, 1])})
    assert {2, 3} <= set(chosen)


def test_a_seed_decides_and_decides_alike():
    candidates = [_pair(n) for n in range(200)]
    nulls = {"a": _null([(-1) ** n for n in range(200)])}
    first, facts = _choose(candidates, 20, nulls, seed=1)
    assert _choose(candidates, 20, nulls, seed=1) == (first, facts)
    assert _choose(candidates, 20, nulls, seed=2)[0] != first


@pytest.mark.parametrize(
    ("candidates", "pairs", "message"),
    [
        (
            [_pair(n) for n in range(3)],
            4,
            "phenomenon wanna: 3 candidates, 4 needed; ask for fewer",
        ),
        (
            [_pair(n, template="short" if n > 6 else "long") for n in range(9)],
            6,
            "phenomenon wanna, template short: 2 candidates, 3 needed",
        ),
        (
            [_pair(n, cell="did" if n else "can") for n in range(9)],
            4,
            "phenomenon wanna, template t, cell 'can': 1 candidates, 2 needed",
        ),
        (
            [_pair(n, cell="ab"[n % 2], template="t" if n < 4 else "u") for n in range(10)],
            9,
            "template t: 4 candidates, 5 needed",
        ),
        (
            [_pair(n, cell="aabbbb"[n]) for n in range(6)],
            6,
            "template t, cell 'a': 2 candidates, 3 needed",
        ),
    ],
)
def test_what_is_short_is_named(candidates, pairs, message):
    with pytest.raises(PoshgridError, match=message) as error:
        _choose(candidates, pairs)
    assert "resources/lexicon" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_pool_that_is_just_large_enough_is_taken_whole():
    candidates = [_pair(n, cell="aabb"[n]) for n in range(4)]
    assert _choose(candidates, 4, {"a": _null([1, -1, 2, 1])})[0] == [0, 1, 2, 3]


_margins = st.lists(st.sampled_from([-3.0, -1.0, 0.0, 1.0, 2.0]), min_size=9, max_size=9)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(["a0", "a1", "b0", "b1"]), min_size=9, max_size=9),
    st.integers(1, 7),
    st.lists(_margins, max_size=3),
    st.sampled_from([0.0, 0.05, 0.2]),
)
def test_no_other_choice_has_nulls_nearer_to_one_half(kinds, pairs, margins, tolerance):
    """Brute force over all choices that have equal templates and cells."""
    candidates = [_pair(n, template=k[0], cell=k[1]) for n, k in enumerate(kinds)]
    right = np.array([[0.5 if m == 0 else m > 0 for m in of_null] for of_null in margins])

    def equal(part: tuple[int, ...]) -> bool:
        names = list(dict.fromkeys(k[0] for k in kinds))
        for number, name in enumerate(names):
            of_template = [kinds[i] for i in part if kinds[i][0] == name]
            share = pairs // len(names) + (number < pairs % len(names))
            cells = {k for k in kinds if k[0] == name}
            uses = [of_template.count(cell) for cell in cells]
            if len(of_template) != share or max(uses) - min(uses) > 1:
                return False
        return True

    def missed(part: Sequence[int]) -> float:
        if not margins:
            return 0.0
        far = np.abs(right[:, list(part)].sum(axis=1) - pairs / 2) - tolerance * pairs
        return float(np.maximum(far, 0).sum())

    possible = [part for part in itertools.combinations(range(9), pairs) if equal(part)]
    nulls = {str(n): _null(of_null) for n, of_null in enumerate(margins)}
    if not possible:
        with pytest.raises(PoshgridError):
            _choose(candidates, pairs, nulls, tolerance=tolerance)
        return
    chosen, facts = _choose(candidates, pairs, nulls, tolerance=tolerance)
    assert tuple(chosen) in possible
    assert missed(chosen) == pytest.approx(min(map(missed, possible)), abs=1e-4)
    for number, null in facts["nulls"].items():
        share = right[int(number), chosen].mean()
        assert null["after"] == pytest.approx(share, abs=1e-4)
        assert null["reached"] == (abs(share - 0.5) <= tolerance + 1e-6)


@pytest.mark.slow
def test_a_null_of_another_size_is_nearer_to_one_half_too():
    """Two nulls that see the same thing, and noise: the choice by one carries over to the other."""
    generator = np.random.default_rng(3)
    seen = generator.normal(1.0, 1.0, 800)  # prefers good in 84% of the pairs
    small, large = (seen + generator.normal(0, 0.4, 800) for _ in range(2))
    chosen, facts = _choose(
        [_pair(n) for n in range(800)], 200, {"small": _null(small)}, tolerance=0.02
    )
    assert facts["nulls"]["small"]["reached"]
    assert abs(facts["nulls"]["small"]["margin"]) < 0.01
    before, after = np.mean(large > 0), np.mean(large[chosen] > 0)
    assert abs(after - 0.5) < 0.5 * abs(before - 0.5)


def test_function_words_are_even_beyond_their_cells():
    """A hundred pairs of thirty cells: three or four of each, yet 16 or 17 of every word."""
    words = ("will", "can", "may", "must", "did", "does")
    cells = ["+".join(pair) for pair in itertools.permutations(words, 2)]
    candidates = [_pair(n, cell=cells[n % 30]) for n in range(180)]
    chosen, _ = _choose(candidates, 100)
    assert set(Counter(candidates[i].cell for i in chosen).values()) == {3, 4}
    for place in (0, 1):
        used = Counter(candidates[i].cell.split("+")[place] for i in chosen)
        assert set(used.values()) == {16, 17}
