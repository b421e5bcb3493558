"""A detector: how likely the words of a sentence are to be evidence, learned from gold trees.

For each filter, a logistic regression over windows of words. A sentence's log odds are::

    z = log(sum_i exp(w . x_i)) + w . s

``x_i`` is what stands around word i, ``s`` what is asked of the whole sentence. The sum lets the
window that looks most like evidence decide, wherever it stands, without our saying which word of
the evidence to look for (multiple-instance learning with a soft maximum; Ray & Craven 2005). The
weights are those of highest likelihood with an L2 penalty, found by L-BFGS from zero.

A window is a word and its four neighbours on each side, each at its distance: as a word, as a form
(of a closed class itself, else its suffix) and as a class; pairs and triples of forms and classes.
Of the sentence: how it begins and ends, how long it is, how many auxiliaries it has. All is hashed
into one vector (Weinberger et al. 2009).

Positive are the sentences that any reading of the filter takes by their gold trees; only sentences
that pass the filter's screen are learned from and scored, the others have no evidence: 0. A score
is a chance among sentences like those of the treebanks; in other text, it tells which are likelier.
Audits list the likeliest leaks by it (:mod:`poshgrid.audit.draw`).
"""

from __future__ import annotations

import functools
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poshgrid import logs
from poshgrid.config import specs
from poshgrid.config.runs import SPLITS
from poshgrid.errors import PoshgridError
from poshgrid.evidence.label import rules_of
from poshgrid.evidence.match import Rule
from poshgrid.evidence.screening import closed_classes as classes
from poshgrid.evidence.screening.screen import screen_of
from poshgrid.files import atomic_folder, write_json
from poshgrid.parsing import treebank
from poshgrid.parsing.tree import Tree

_FILE, STATISTICS = "detector.safetensors", "statistics.json"
_PENALTY = 5.0
_SEEN = 3  # windows that have a feature, at least
_STEPS = 80
_BATCH = 2_000  # sentences scored at once
Floats = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]


def learn(spec: specs.DetectorSpec, data: Path, output: Path) -> dict[str, Any]:
    """Write a detector's folder, with ``statistics.json`` beside its model.

    Evidence of a filter is what any of its readings in the spec takes among the gold trees.

    Args:
        spec: the gold trees, and the filters in the readings that conditions use.
        data: folder that the treebank's paths are relative to.
        output: folder to write to.

    Returns:
        The content of ``statistics.json``: sentences and words of the gold trees, ``gold``, and for
        each filter ``sentences`` that it was learned from (those that pass the filter's screen) and
        how many of them are evidence, ``positive``; and of the held-out trees, ``heldout``:
        ``evidence``, its ``missed`` part that no score is given, and how much of it is ``first``:
        among as many sentences of the highest scores.

    Raises:
        PoshgridError: there are no filters, or the gold trees are missing, malformed, too few to
            divide or without evidence.
    """
    if not spec.filters:
        raise PoshgridError(
            "detector: no filters to learn; name a condition with filters in audit.conditions"
        )
    rules: dict[str, list[Rule]] = {}
    for each in spec.filters:
        rules.setdefault(each.name, []).append(rules_of(each.name).readings[each.reading])
    with tempfile.TemporaryDirectory() as folder:
        given = specs.TreebankSpec(treebank=spec.treebank)
        gold = treebank.prepare(given, data, Path(folder))
        parts = {each: treebank.trees(Path(folder) / f"{each}.conllu") for each in SPLITS}
    detector = train(parts["train"], rules)
    with atomic_folder(output) as temporary:
        detector.save(temporary)
    facts: dict[str, Any] = {"gold": gold, "filters": {}}
    for word, mine in rules.items():
        seen = _labels(parts["train"], mine)[[_passes(word)(t.form) for t in parts["train"]]]
        heldout = [*parts["dev"], *parts["test"]]
        evidence = _labels(heldout, mine)
        scores = detector.scores(word, [tree.form for tree in heldout])
        highest = np.argsort(-scores, kind="stable")[: int(evidence.sum())]
        facts["filters"][word] = {
            "sentences": len(seen),
            "positive": int(seen.sum()),
            "heldout": {
                "evidence": int(evidence.sum()),
                "missed": int((evidence & (scores == 0)).sum()),
                "first": int(evidence[highest].sum()),
            },
        }
        logs.get(__name__).info("%s: %s", word, facts["filters"][word])
    write_json(output / STATISTICS, facts)
    return facts


@dataclass(frozen=True)
class Detector:
    """Weights of the features, the last one for all sentences, by filter."""

    weights: Mapping[str, Weights]

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
        """Write ``detector.safetensors`` to a folder."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        save_file(dict(self.weights), folder / _FILE)

    @classmethod
    def load(cls, folder: Path) -> Detector:
        """Read what :meth:`save` wrote.

        Raises:
            PoshgridError: the file is missing or damaged, or another version wrote it.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            weights = load_file(folder / _FILE)
            if any(each.shape != (SIZE + 1,) for each in weights.values()):
                raise ValueError(f"not {SIZE + 1} numbers a filter")
        except (OSError, ValueError, SafetensorError) as error:
            raise PoshgridError(
                f"{folder / _FILE}: cannot be read ({error}); delete the folder and run poshgrid "
                "detector again"
            ) from error
        return cls(weights)


def train(trees: Iterable[Tree], rules: Mapping[str, Collection[Rule]]) -> Detector:
    """Learn the words of evidence from gold trees.

    Args:
        trees: gold trees; those that pass no screen are not learned from.
        rules: filter's config word -> its readings: what any of them takes is positive.

    Raises:
        PoshgridError: the trees hold no evidence of a filter, or nothing else.
    """
    trees = list(trees)
    weights = {}
    for word, readings in rules.items():
        seen = [tree for tree in trees if _passes(word)(tree.form)]
        labels = _labels(seen, readings)
        if labels.all() or not labels.any():
            raise PoshgridError(
                f"detector: {int(labels.sum())} of {len(seen)} gold sentences that may be evidence "
                f"for {word!r} are; give it more gold trees"
            )
        weights[word] = _fit(Bags([tree.form for tree in seen]), labels)
    return Detector(weights)


def _labels(trees: Iterable[Tree], rules: Collection[Rule]) -> npt.NDArray[np.bool_]:
    """Return whether any of a filter's rules takes each tree."""
    return np.array([any(rule(tree) for rule in rules) for tree in trees], bool)


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


# ---- features ----------------------------------------------------------------------------------

SIZE = 1 << 16
"""Places of features; 2**18 rank no better."""
_RADIUS = 4
_SUFFIXES = ("self", "selves", "ing", "ed", "ly", "s")
_CLASSES = {
    "determiner": classes.DETERMINERS,
    "preposition": classes.PREPOSITIONS | {"to"},
    "subject": classes.OTHER_SUBJECTS - classes.DETERMINERS,
    "interjection": classes.INTERJECTIONS,
    "pronoun": classes.SUBJECT_PRONOUNS,
    "subordinator": classes.SUBORDINATORS,
    "negation": classes.NEGATIONS,
    "conjunction": classes.CONJUNCTIONS,
    "auxiliary": classes.AUXILIARY_FORMS,
    "wh": classes.WH_WORDS,
}
# Words whose class says too little: main verbs, relative pronouns
_ALONE = frozenset({"that", "'s", "have", "has", "had", "do", "who", "which", "what", "when"})
_CLASS = {word: name for name, words in _CLASSES.items() for word in words}
_CLASS.update(dict.fromkeys(_ALONE, ""))
_WORD, _FORM, _KIND = range(3)
_Spot = tuple[int, int]  # which view of a word, and its distance from the window's middle

_Ids = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int32]


def _windows() -> list[tuple[_Spot, ...]]:
    """Return the features of a window: each the views of some words around its middle."""
    near = range(-_RADIUS, _RADIUS + 1)
    single = [((view, d),) for view in (_WORD, _FORM, _KIND) for d in near]
    pairs = [((view, d), (view, d + 1)) for view in (_FORM, _KIND) for d in near[:-1]]
    triples = [((_FORM, d), (_FORM, d + 1), (_FORM, d + 2)) for d in range(-3, 2)]
    around = [
        ((_KIND, -left), (_KIND, 0), (_KIND, right)) for left in (1, 2, 3) for right in (1, 2, 3)
    ]
    return [*single, *pairs, *triples, *around]


_WINDOWS = _windows()


@functools.lru_cache(maxsize=200_000)
def _views(word: str) -> tuple[int, int, int]:
    """Return the hashes of a word in lower case, its form and its class."""
    if word in _CLASS:
        form, kind = word, _CLASS[word] or word
    elif not classes.spoken(word):
        form = kind = word[:1]
    else:
        form = kind = "-" + next((suffix for suffix in _SUFFIXES if word.endswith(suffix)), "")
    return _hash("w" + word), _hash("f" + form), _hash("k" + kind)


def _hash(text: str) -> int:
    return zlib.crc32(text.encode())


def _mixed(number: int, *parts: _Ids) -> Places:
    """Return the places of a feature's values: multiplicative hashing of its number and parts."""
    found = np.full(len(parts[0]), number, np.uint64)
    for part in parts:
        found = (found ^ part) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return (found >> np.uint64(64 - (SIZE - 1).bit_length())).astype(np.int32)


class Bags:
    """The features of sentences.

    Attributes:
        windows: for each word of all sentences, the places of its window's features.
        starts: where each sentence begins among them.
        whole: for each sentence, the places of its own features.
    """

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        """Look at sentences, each of at least one word."""
        lengths = np.array([len(sentence) for sentence in sentences])
        self.starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        small = [classes.lower(sentence) for sentence in sentences]
        ids = np.array([_views(word) for words in small for word in words], np.uint64).T
        # Zeros between sentences, so that no window reaches into another one
        gap = _RADIUS + 1
        spots = np.arange(lengths.sum()) + gap * (1 + np.repeat(np.arange(len(small)), lengths))
        line = np.zeros((3, spots[-1] + gap + 1), np.uint64)
        line[:, spots] = ids
        self.windows = np.stack(
            [
                _mixed(number, *(line[view, spots + d] for view, d in feature))
                for number, feature in enumerate(_WINDOWS)
            ],
            axis=1,
        )
        asked = np.array([_of_sentence(words) for words in small], np.uint64).T
        self.whole = np.stack([_mixed(1_000 + n, each) for n, each in enumerate(asked)], axis=1)


def _of_sentence(words: Sequence[str]) -> tuple[int, ...]:
    """Return what is asked of a whole sentence, as numbers."""
    first, second = _views(words[0]), _views(words[1]) if len(words) > 1 else (0, 0, 0)
    return (
        first[_WORD],
        second[_FORM],
        first[_KIND] ^ (second[_KIND] << 1),
        int(classes.ends_in_question_mark(words)),
        int(not classes.WH_WORDS.isdisjoint(words)),
        len(words).bit_length(),
        min(4, sum(word in classes.AUXILIARIES for word in words)),
    )
