"""Counterbalancing: the largest balanced part of a list, checked by hand and by brute force."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.benchmark.generation.balance import counterbalance
from poshgrid.benchmark.lexicon import Word
from poshgrid.core.errors import PoshgridError


def _word(lemma: str, gender: str = "n", **forms: str) -> Word:
    return Word("noun", lemma, {"singular": lemma, **forms}, {"gender": frozenset({gender})})


def _vocabulary(totals: dict[str, int] | None = None, **counts: dict[str, int]) -> SimpleNamespace:
    return SimpleNamespace(counts=counts, totals=totals or dict.fromkeys(counts, 1_000))


def _balance(words: list[Word], vocabulary: SimpleNamespace, **changes: object) -> list[str]:
    settings = {"relative": 0.0, "occurrences": 0, "least": 0, "where": "slot 'subject'"}
    forms = changes.pop("forms", ["singular"])
    kept = counterbalance(words, forms, vocabulary, **{**settings, **changes})
    return [word.lemma for word in kept]


def _from_rows(*rows: tuple[int, ...]) -> tuple[list[Word], SimpleNamespace]:
    """Words a, b, c ... with a row of counts each."""
    words = [_word(chr(ord("a") + number)) for number in range(len(rows))]
    columns = zip(*rows, strict=True)
    return words, _vocabulary(
        **{
            f"corpus{number}": {w.lemma: n for w, n in zip(words, column, strict=True)}
            for number, column in enumerate(columns)
        }
    )


def test_frequencies_are_scaled_to_the_smallest_base():
    words = [_word("boy"), _word("girl")]
    counts = {"small": {"boy": 10, "girl": 20}, "large": {"boy": 100, "girl": 200}}
    totals = {"small": 1_000, "large": 10_000}
    assert _balance(words, _vocabulary(totals, **counts)) == ["boy", "girl"]
    # the same counts in corpora of one size: neither word is as frequent in both
    assert _balance(words, _vocabulary(**counts)) == []
    # 12 differ by 2 per 1,000 words, not by 20 per 10,000
    counts["large"]["boy"] = 120
    vocabulary = _vocabulary(totals, **counts)
    assert _balance(words, vocabulary, occurrences=2) == ["boy", "girl"]
    assert _balance(words, vocabulary, occurrences=1) == ["girl"]


def test_spellings_are_lower_cased_and_counted_once():
    mary = _word("Mary", past="said", participle="said")
    vocabulary = _vocabulary(a={"mary": 3, "said": 7}, b={"mary": 10})
    # 3 + 7 in one corpus, 10 in the other; said counted twice would make 17
    assert _balance([mary], vocabulary, forms=["singular", "past", "participle"]) == ["Mary"]
    assert _balance([mary], vocabulary, forms=["singular"]) == []
    assert _balance([mary], vocabulary, forms=["past"]) == []


def test_each_group_is_balanced_by_itself():
    words = [_word("boy", "m"), _word("girl", "f"), _word("king", "m"), _word("queen", "f")]
    vocabulary = _vocabulary(
        a={"boy": 30, "girl": 10, "king": 10, "queen": 10},
        b={"boy": 10, "girl": 30, "king": 10, "queen": 10},
    )
    assert _balance(words, vocabulary) == ["boy", "girl", "king", "queen"]

    def gender(word: Word) -> str:
        return min(word.features["gender"])

    # all men together are more frequent in a, all women in b
    assert _balance(words, vocabulary, groups=gender) == ["king", "queen"]
    with pytest.raises(PoshgridError, match=r"group 'f': 1 of 2 words .* 2 needed; .*girl"):
        _balance(words, vocabulary, groups=gender, least=2)
    # as many of one gender as of the other, also with a single corpus
    one = _vocabulary(a={"boy": 3, "girl": 3, "king": 3})
    assert _balance(words[:3], one) == ["boy", "girl", "king"]
    assert _balance(words[:3], one, groups=gender, equal=True) == ["boy", "girl"]


@st.composite
def _rows(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """Counts of words in two or three corpora: small ones, so that parts tie, or large ones."""
    count = st.integers(0, draw(st.sampled_from([3, 12, 200])))
    return draw(st.lists(st.tuples(*[count] * draw(st.integers(2, 3))), min_size=1, max_size=9))


@settings(max_examples=100, deadline=None)
@given(
    _rows(),
    st.integers(0, 10),
    st.sampled_from([0, 0, 1, 5, 40]),
)
def test_no_part_is_larger_or_as_large_and_more_even(rows, twentieths, occurrences):
    """Brute force over all parts, in whole numbers."""
    words, vocabulary = _from_rows(*rows)
    best: tuple[int, int, int] | None = None
    for size in range(len(rows), -1, -1):
        for part in itertools.combinations(range(len(rows)), size):
            totals = [sum(rows[i][corpus] for i in part) for corpus in range(len(rows[0]))]
            pairs = list(itertools.combinations(totals, 2))
            if all(
                40 * abs(a - b) <= max(twentieths * (a + b), 40 * occurrences) for a, b in pairs
            ):
                rank = (-size, sum(abs(a - b) for a, b in pairs), sum(part))
                best = min(best or rank, rank)
        if best:
            break
    kept = _balance(words, vocabulary, relative=twentieths / 20, occurrences=occurrences)
    positions = [ord(lemma) - ord("a") for lemma in kept]
    assert positions == sorted(positions)
    totals = [sum(rows[i][corpus] for i in positions) for corpus in range(len(rows[0]))]
    apart = sum(abs(a - b) for a, b in itertools.combinations(totals, 2))
    assert (-len(kept), apart, sum(positions)) == best
