"""A detector: how likely the words of a sentence are to be evidence, learned from gold trees.

For each filter, a logistic regression over windows of words. A sentence's log odds are::

    z = log(sum_i exp(w . x_i)) + w . s

``x_i`` is what stands around word i, ``s`` what is asked of the whole sentence
(:mod:`poshgrid.evidence.screening.windows`). The sum lets the window that looks most like evidence
decide, wherever it stands, without our saying which word of the evidence to look for
(multiple-instance learning with a soft maximum; Ray & Craven 2005). The weights are those of
highest likelihood with an L2 penalty, found by L-BFGS from zero.

Positive are the sentences that any reading of the filter takes by their gold trees; only sentences
that pass the filter's screen are learned from and scored, the others have no evidence: 0. A score
is a chance among sentences like those of the treebanks; in other text, it tells which are likelier.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poshgrid.errors import PoshgridError
from poshgrid.evidence.match import Rule
from poshgrid.evidence.screening.screen import screen_of
from poshgrid.evidence.screening.windows import SIZE, Bags, Places
from poshgrid.files import read_json, write_json
from poshgrid.parsing.tree import Tree

FORMAT = 1
"""Changes with the features: weights of another format are of no use."""
_FILE, _FACTS = "detector.safetensors", "detector.json"
_PENALTY = 5.0
_SEEN = 3  # windows that have a feature, at least
_STEPS = 80
_BATCH = 2_000  # sentences scored at once
Floats = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Detector:
    """Weights of the features, the last one for all sentences, by filter.

    Attributes:
        weights: filter -> weights.
        facts: what it was learned from: filter -> ``sentences`` that passed its screen,
            ``positive`` ones.
    """

    weights: Mapping[str, Weights]
    facts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def scores(self, word: str, sentences: Sequence[Sequence[str]]) -> Floats:
        """Return the chance, from 0 to 1, that each sentence is evidence of a filter.

        Args:
            word: the filter's config word.
            sentences: words as parsers see them (``poshgrid.parsing.words``).

        Raises:
            PoshgridError: the detector does not know the filter.
        """
        if word not in self.weights:
            raise PoshgridError(
                f"detector: no weights for the filter {word!r}; it knows "
                f"{', '.join(sorted(self.weights))}; learn it again with this filter"
            )
        out = np.zeros(len(sentences))
        passed = np.flatnonzero([_passes(word)(sentence) for sentence in sentences])
        for start in range(0, len(passed), _BATCH):
            part = passed[start : start + _BATCH]
            out[part] = _chance(Bags([sentences[i] for i in part]), self.weights[word])
        return out

    def save(self, folder: Path) -> None:
        """Write ``detector.safetensors`` and ``detector.json`` to a folder."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        save_file(dict(self.weights), folder / _FILE)
        facts = {word: dict(counts) for word, counts in self.facts.items()}
        write_json(folder / _FACTS, {"format": FORMAT, "filters": facts})

    @classmethod
    def load(cls, folder: Path) -> Detector:
        """Read what :meth:`save` wrote.

        Raises:
            PoshgridError: a file is missing or damaged, or of another format.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        facts = read_json(folder / _FACTS)
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise PoshgridError(
                f"{folder / _FACTS}: not of format {FORMAT}: another version wrote it; "
                "delete the folder and run poshgrid detector again"
            )
        try:
            weights = load_file(folder / _FILE)
        except (OSError, SafetensorError) as error:
            raise PoshgridError(
                f"{folder / _FILE}: cannot be read ({error}); delete the folder and run poshgrid "
                "detector again"
            ) from error
        if any(each.shape != (SIZE + 1,) or each.dtype != np.float32 for each in weights.values()):
            raise PoshgridError(
                f"{folder / _FILE}: not {SIZE + 1} numbers a filter; delete the folder and run "
                "poshgrid detector again"
            )
        return cls(weights, facts["filters"])


def train(trees: Iterable[Tree], rules: Mapping[str, Collection[Rule]]) -> Detector:
    """Learn the words of evidence from gold trees.

    Args:
        trees: gold trees; those that pass no screen are not learned from.
        rules: filter's config word -> its readings: what any of them takes is positive.

    Raises:
        PoshgridError: the trees hold no evidence of a filter, or nothing else.
    """
    trees = list(trees)
    weights, facts = {}, {}
    for word, readings in rules.items():
        seen = [tree for tree in trees if _passes(word)(tree.form)]
        labels = np.array([any(rule(tree) for rule in readings) for tree in seen], bool)
        if labels.all() or not labels.any():
            raise PoshgridError(
                f"detector: {int(labels.sum())} of {len(seen)} gold sentences that may be evidence "
                f"for {word!r} are; give it more gold trees"
            )
        weights[word] = _fit(Bags([tree.form for tree in seen]), labels)
        facts[word] = {"sentences": len(seen), "positive": int(labels.sum())}
    return Detector(weights, facts)


def _passes(word: str) -> Callable[[Sequence[str]], bool]:
    """Return a filter's screen; a filter without one may take any sentence that has words."""
    test = screen_of(word) or bool
    return lambda words: bool(words) and test(words)


def _pooled(windows: npt.NDArray[Any], starts: npt.NDArray[np.int64]) -> tuple[Any, Any]:
    """Return the soft maximum of each sentence's windows, and each window's part in it."""
    lengths = np.diff(np.append(starts, len(windows)))
    highest = np.maximum.reduceat(windows, starts)
    parts = np.exp(windows - np.repeat(highest, lengths))
    total = np.add.reduceat(parts, starts)
    return highest + np.log(total), parts / np.repeat(total, lengths)


def _chance(bags: Bags, weights: Weights) -> Floats:
    pooled, _ = _pooled(weights[bags.windows].sum(axis=1, dtype=np.float64), bags.starts)
    odds = pooled + weights[bags.whole].sum(axis=1, dtype=np.float64) + weights[-1]
    return 1 / (1 + np.exp(-np.clip(odds, -500, 500)))


def _fit(bags: Bags, labels: npt.NDArray[np.bool_]) -> Weights:
    """Return the weights of highest penalised likelihood, by L-BFGS from zero."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    # Only features that stand in a few windows or sentences get a weight
    seen = np.bincount(bags.windows.ravel(), minlength=SIZE)
    seen += np.bincount(bags.whole.ravel(), minlength=SIZE)
    kept = np.flatnonzero(seen >= _SEEN)
    new = np.full(SIZE, len(kept), np.int32)  # the others share a column that is cut off
    new[kept] = np.arange(len(kept))

    def matrix(places: Places) -> Any:  # noqa: ANN401 - scipy has no types
        ends = np.arange(len(places) + 1) * places.shape[1]
        ones = np.ones(places.size, np.float32)
        shape = (len(places), len(kept) + 1)
        return csr_array((ones, new[places].ravel(), ends), shape=shape)[:, :-1]

    windows, whole = matrix(bags.windows), matrix(bags.whole)
    owner = np.repeat(np.arange(len(labels)), np.diff(np.append(bags.starts, len(bags.windows))))

    def loss(weights: Floats) -> tuple[float, Floats]:
        small = weights[:-1].astype(np.float32)
        pooled, parts = _pooled(windows @ small, bags.starts)
        odds = (pooled + whole @ small).astype(np.float64) + weights[-1]
        value = (np.logaddexp(0, odds) - labels * odds).sum()
        value += 0.5 * _PENALTY * (weights[:-1] @ weights[:-1])
        slope = 1 / (1 + np.exp(-odds)) - labels
        each = slope.astype(np.float32)
        down = windows.T @ (each[owner] * parts) + whole.T @ each + _PENALTY * small
        return float(value), np.append(down.astype(np.float64), slope.sum())

    options = {"maxiter": _STEPS, "ftol": 1e-6}
    found = minimize(loss, np.zeros(len(kept) + 1), jac=True, method="L-BFGS-B", options=options).x
    weights = np.zeros(SIZE + 1, np.float32)
    weights[kept], weights[-1] = found[:-1], found[-1]
    return weights
