"""The features of a detector: what stands around each word of a sentence, and of the whole.

A window is a word and its four neighbours on each side, each at its distance: as a word, as a form
(of a closed class itself, else its suffix) and as a class; pairs and triples of forms and classes.
Of the sentence: how it begins and ends, how long it is, how many auxiliaries it has. All is hashed
into one vector (Weinberger et al. 2009).
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from poshgrid.evidence.screening import closed_classes as classes

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
