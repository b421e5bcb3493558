"""Selection: equal cells, baselines at chance as near as can be, words used evenly."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.benchmark.generation.pairs import Filled
from poshgrid.benchmark.generation.selection import choose
from poshgrid.benchmark.generation.templates import Pair
from poshgrid.benchmark.schema import Baseline
from poshgrid.core.errors import PoshgridError


def _pair(number: int, template: str = "t", cell: str = "c", words: str = "") -> Filled:
    pair = Pair("", f"good {number}", f"bad {number}")
    return Filled(template, words.replace(" ", "+"), cell, (pair,))


def _baseline(margins: Sequence[float]) -> Baseline:
    """A baseline that prefers good by so many nats, pair by pair."""

    def score(sentences: Sequence[str]) -> list[float]:
        scores = []
        for sentence in sentences:
            member, number = sentence.split()
            scores.append(-50 + (margins[int(number)] if member == "good" else 0))
        return scores

    return score


def _choose(
    candidates: list[Filled],
    pairs: int,
    baselines: dict[str, Baseline] | None = None,
    **changes: object,
) -> tuple[list[int], dict]:
    options = {"joint": False, "tolerance": 0.0, "seed": 1, "where": "phenomenon wanna", **changes}
    return choose(candidates, pairs, baselines or {}, **options)


def test_a_tie_is_half_right():
    # 0 is a tie within a millionth; of two pairs, two ties or one right and one wrong are even
    chosen, facts = _choose([_pair(n) for n in range(3)], 2, {"a": _baseline([5e-7, -9, -9])})
    assert 0 in chosen
    assert facts["baselines"]["a"]["before"] == pytest.approx(1 / 6, abs=1e-4)
    assert facts["baselines"]["a"]["after"] == 0.25
    _, facts = _choose([_pair(n) for n in range(3)], 2, {"a": _baseline([2e-6, -9, -9])})
    assert facts["baselines"]["a"]["after"] == 0.5


def test_members_of_unequal_length_are_compared_by_their_mean():
    # -12 over 3 + 1 is -3 a word, -10 over 1 + 1 is -5: good is better, though its sum is lower
    sums = {"a b c": -12.0, "d": -10.0}
    pair = Filled("t", "", "c", (Pair("", "a b c", "d"),))
    _, facts = _choose([pair], 1, {"a": lambda texts: [sums[text] for text in texts]})
    assert facts["baselines"]["a"]["before"] == 1


def test_margins_are_brought_near_zero():
    # every choice of one right and one wrong is at one half; 1 and 2 also cancel each other
    chosen, facts = _choose([_pair(n) for n in range(4)], 2, {"a": _baseline([9, 1, -1, -20])})
    assert chosen == [1, 2]
    assert facts["baselines"]["a"]["margin"] == 0


def test_the_most_used_word_is_used_as_little_as_possible():
    # Four of a cell hold "man" or "boy": 3 + 1 lie as far beyond the mean of 8 / 12 as 2 + 2 do.
    words = ["man"] * 4 + ["boy"] * 4 + list("abcdefghij")
    candidates = [_pair(n, cell="pq"[n > 7], words=word) for n, word in enumerate(words)]
    for seed in range(5):
        chosen, _ = _choose(candidates, 8, seed=seed)
        assert [sum(words[i] == w for i in chosen) for w in ("man", "boy")] == [2, 2]


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
    right = np.array([[0.5 if m == 0 else m > 0 for m in of_baselines] for of_baselines in margins])

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
    baselines = {str(n): _baseline(of_baselines) for n, of_baselines in enumerate(margins)}
    if not possible:
        with pytest.raises(PoshgridError):
            _choose(candidates, pairs, baselines, tolerance=tolerance)
        return
    chosen, facts = _choose(candidates, pairs, baselines, tolerance=tolerance)
    assert tuple(chosen) in possible
    assert missed(chosen) == pytest.approx(min(map(missed, possible)), abs=1e-4)
    for number, baseline in facts["baselines"].items():
        share = right[int(number), chosen].mean()
        assert baseline["after"] == pytest.approx(share, abs=1e-4)
        assert baseline["reached"] == (abs(share - 0.5) <= tolerance + 1e-6)


def test_function_words_are_even_beyond_their_cells():
    """A hundred pairs of thirty cells: three or four of each, yet 16 or 17 of every word."""
    words = ("will", "can", "may", "must", "did", "does")
    cells = ["+".join(pair) for pair in itertools.permutations(words, 2)]
    candidates = [_pair(n, cell=cells[n % 30]) for n in range(180)]
    chosen, _ = _choose(candidates, 100)
    assert set(Counter(candidates[i].combination for i in chosen).values()) == {3, 4}
    for position in (0, 1):
        used = Counter(candidates[i].combination.split("+")[position] for i in chosen)
        assert set(used.values()) == {16, 17}
