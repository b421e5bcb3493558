"""Which tokens of a sentence are asked for: draws that are a function of their keys alone.

Of n tokens, m are chosen in one of C(n, m) ways. Each way has a number, so that distinct numbers
are distinct choices; where there are too many ways to number them, each row draws for itself. All
is done for the rows of a batch at once.
"""

from __future__ import annotations

import math

import numpy as np

COUNTED = 2**53
"""Ways that are numbered at most: exact as a float64.

Where there are more, two of ten copies are alike less often than once in 10^14 sentences.
"""


class Choices:
    """How many tokens are asked for, in how many ways, and which.

    Args:
        share: of a sentence's tokens.
        longest: tokens of a sentence at most.
    """

    def __init__(self, share: float, longest: int) -> None:
        lengths = np.arange(longest + 1)
        numbers = np.minimum(lengths, np.maximum(1, np.rint(share * lengths)))
        self.numbers = numbers.astype(np.int64)
        """Tokens asked for, by length from 0: at least one, and half to even as round() does."""
        self.ways = np.array(
            [_binomial(n, int(m)) for n, m in enumerate(self.numbers)], dtype=np.int64
        )
        """In how many ways they can be chosen, by length; ``COUNTED + 1`` stands for any more."""
        most = int(self.numbers[self.ways <= COUNTED].max())
        self._below = np.array(
            [[_binomial(n, k) for n in range(longest + 1)] for k in range(most + 1)], np.int64
        )

    def choose(
        self,
        lengths: np.ndarray,
        copy: np.ndarray,
        copies: int,
        of_sentence: np.ndarray,
        of_row: np.ndarray,
    ) -> np.ndarray:
        """Return which tokens are asked for: bool, of shape [rows, the longest's tokens].

        Args:
            lengths: tokens of each row's sentence, [rows].
            copy: which of its sentence's copies each row is, from 0, [rows].
            copies: of every sentence; where there are fewer ways, they come round again.
            of_sentence: a key that all copies of a sentence have, [rows].
            of_row: a key of each copy's own, [rows].
        """
        found = np.zeros((len(lengths), int(lengths.max())), bool)
        few = np.flatnonzero(self.ways[lengths] <= COUNTED)
        if len(few):
            ways, asked = self.ways[lengths[few]], self.numbers[lengths[few]]
            lap, within = np.divmod(copy[few], ways)  # a lap has all ways; the last, a sample
            keys = of_sentence[few] + lap.astype(np.uint64)
            number = distinct(keys, ways, np.minimum(ways, copies - lap * ways), within)
            # The places p1 < ... < pm have the number C(p1, 1) + ... + C(pm, m): the combinatorial
            # number system (Knuth, The Art of Computer Programming, 7.2.1.3, theorem L).
            for k in range(int(asked.max()), 0, -1):
                still = np.flatnonzero(asked >= k)
                place = np.searchsorted(self._below[k], number[still], side="right") - 1
                number[still] -= self._below[k][place]
                found[few[still], place] = True
        many = np.flatnonzero(self.ways[lengths] > COUNTED)
        if len(many):
            column, ends = np.arange(found.shape[1]), lengths[many][:, None]
            value = np.where(column < ends, uniform(mixed(of_row[many])[:, None], column), 2.0)
            rank = np.argsort(np.argsort(value, axis=1), axis=1)
            found[many] = rank < self.numbers[lengths[many]][:, None]
        return found


def distinct(key: np.ndarray, ways: np.ndarray, copies: np.ndarray, copy: np.ndarray) -> np.ndarray:
    """Return a number below ``ways`` for each row; the copies of a sentence have distinct ones.

    Together they are a uniform sample without replacement, in as many draws as there are copies
    (Floyd's algorithm: Bentley and Floyd 1987, "A sample of brilliance").

    Args:
        key: of each row's sentence, [rows].
        ways: numbers to draw from, at most :data:`COUNTED`, [rows].
        copies: numbers that a sentence draws, at most ``ways``, [rows].
        copy: which of them is asked for, [rows].
    """
    draws = int(copy.max()) + 1
    found = np.empty((len(key), draws), np.int64)
    for j in range(draws):
        top = np.maximum(ways - copies + j, 0)
        number = (uniform(key, np.array(j)) * (top + 1)).astype(np.int64)
        number = np.minimum(number, top)  # the product may round up
        taken = (found[:, :j] == number[:, None]).any(axis=1)
        found[:, j] = np.where(taken, top, number)
    return found[np.arange(len(key)), copy]


def mixed(value: np.ndarray) -> np.ndarray:
    """Return 64-bit numbers that look random, another one for each number.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
    generators"). A generator of numpy's for every row would cost more than the rows do.
    """
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def uniform(key: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the draws of these numbers from the streams of these keys: floats in [0, 1)."""
    found = mixed(key ^ mixed(np.atleast_1d(number).astype(np.uint64)))
    return (found >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _binomial(n: int, k: int) -> int:
    return min(math.comb(n, k), COUNTED + 1)
