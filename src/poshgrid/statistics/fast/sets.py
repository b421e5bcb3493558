"""The likelihood of counts whose lexical sets have effects, which are integrated out.

A set ``s`` adds ``u ~ Normal(0, sigma)`` to the log odds ``eta`` of all its pairs, in every run. As
in a Rasch model, what it got right over all runs, ``Y``, is all that the data say of ``u``:

    p(counts) = exp(sum of correct * eta) * prod over s of I(Y, pattern)
    I = integral of exp(u Y - A(u)) Normal(u; 0, sigma) du,  A(u) = sum of n log(1 + exp(eta + u))

where ``n`` is the number of its pairs in each row. Sets with the same numbers of pairs in the same
rows (a *pattern*) share ``A``, and those with the same ``Y`` the integral: thousands of sets cost
as much as there are different ``Y``. The integral is a sum over equidistant nodes, which for a
smooth integrand that vanishes at both ends converges faster than any power of their distance
(Trefethen & Weideman 2014, SIAM Review 56).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_REACH = 8.0  # SDs that the nodes go out to
_SD = 2.0  # of sets, log odds: up to it the nodes' distance is no more than
_APART = 1.15  # posterior SDs of a set's effect
_MOST_NODES = 601


@dataclass(frozen=True)
class Sets:
    """Sets by pattern and by what was right in them.

    Attributes:
        count: how many there are.
        patterns: first and last member and first and last total of each pattern (ends excluded).
        members: rows of the design that a pattern's sets have pairs in.
        each: pairs of one set in each.
        totals: pairs of a set judged right, over all rows; ascending within a pattern.
        times: sets with so many.
    """

    count: int
    patterns: np.ndarray
    members: np.ndarray
    each: np.ndarray
    totals: np.ndarray
    times: np.ndarray

    @classmethod
    def of(cls, row: np.ndarray, name: np.ndarray, n: np.ndarray, correct: np.ndarray) -> Sets:
        """Group sets by pattern.

        Args:
            row: of the design; one entry for each row that a set has pairs in.
            name: code of the set, 0 to their number less one.
            n: its pairs there.
            correct: those judged right; a tie counts as half.
        """
        count = int(name.max()) + 1
        right = np.bincount(name, correct, minlength=count)
        order = np.lexsort((row, name))
        ends = np.cumsum(np.bincount(name, minlength=count))[:-1]
        of_pattern: dict[bytes, list[int]] = {}
        pairs = np.column_stack([row, n])[order].astype(np.int64)
        for code, pattern in enumerate(np.split(pairs, ends)):
            of_pattern.setdefault(pattern.tobytes(), []).append(code)
        patterns, members, totals, times = [], [], [], []
        at = of = 0
        for key, codes in of_pattern.items():
            found = np.frombuffer(key, dtype=np.int64).reshape(-1, 2)
            values, counts = np.unique(right[codes], return_counts=True)
            patterns.append((at, at + len(found), of, of + len(values)))
            at, of = at + len(found), of + len(values)
            members.append(found)
            totals.append(values)
            times.append(counts)
        joined = np.concatenate(members)
        return cls(
            count,
            np.array(patterns, dtype=np.int64),
            np.ascontiguousarray(joined[:, 0]),
            np.ascontiguousarray(joined[:, 1]),
            np.concatenate(totals).astype(float),
            np.concatenate(times).astype(float),
        )

    @classmethod
    def none(cls) -> Sets:
        """Return no sets, for the likelihood of plain counts."""
        whole, real = np.zeros(0, dtype=np.int64), np.zeros(0)
        return cls(0, np.zeros((0, 4), dtype=np.int64), whole, whole, real, real)

    def nodes(self) -> np.ndarray:
        """Return the nodes, in SDs of the sets."""
        if not self.count:
            return np.zeros(2)
        pairs = max(int(self.each[a:b].sum()) for a, b, *_ in self.patterns)
        apart = _APART / np.sqrt(1 + _SD**2 * pairs / 4)  # a pair's information is at most 1/4
        count = min(_MOST_NODES, 2 * int(np.ceil(_REACH / apart)) + 1)
        return np.linspace(-_REACH, _REACH, count)

    def slope_and_curvature(
        self, eta: np.ndarray, sigma: float
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the log likelihood (but for ``correct * eta``) and its derivatives by ``eta``.

        Numpy's own, for the quadratic approximation and to hold the compiled one to.

        Returns:
            The value; its slope; minus its matrix of second derivatives (rows x rows).
        """
        from scipy.special import expit, logsumexp

        nodes = self.nodes()
        step = np.log(nodes[1] - nodes[0]) - 0.5 * np.log(2 * np.pi)
        value, slope = 0.0, np.zeros(len(eta))
        curvature = np.zeros((len(eta), len(eta)))
        for first, end, left, right in self.patterns:
            rows, each = self.members[first:end], self.each[first:end]
            at = eta[rows][:, None] + sigma * nodes
            mass = each @ np.logaddexp(0, at) + nodes**2 / 2
            logs = np.outer(self.totals[left:right], sigma * nodes) - mass
            each_log = logsumexp(logs, axis=1)
            times = self.times[left:right]
            value += times @ (each_log + step)
            weights = np.exp(logs - each_log[:, None])  # totals x nodes
            share = expit(at)
            expected = each[:, None] * share  # rows x nodes
            slope[rows] -= expected @ (times @ weights)
            means = expected @ weights.T  # rows x totals
            inner = np.diag((expected * (1 - share)) @ (times @ weights))
            inner -= (expected * (times @ weights)) @ expected.T - (means * times) @ means.T
            curvature[np.ix_(rows, rows)] += inner
        return float(value), slope, curvature
