"""The distances of a sentence's words, from its tree, its text and its tokens.

The distance of two words is the number of arcs between them in the dependency tree. Both boundaries
count as words that hang off the root, so that a word at depth ``k`` (root: 0) is ``k + 1`` away
from either (Yoshida et al., 2024: "Tree-planted transformers", Findings of ACL).

A parser's words are found in the text by their characters, white space left out; a token belongs to
the word of its first character that is no white space. A word in which no token begins (*na*, where
*gonna* is one token) has no place of its own, but paths lead through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poshgrid.distances.folder import FARTHEST

UNUSED = ("no_parse", "unmatched_words", "several_roots", "broken_heads", "too_short")
"""Why a sentence is not used; the first that holds. ``no_parse``: the parser was not given it.
``unmatched_words``: the parser's words are not those of the text. ``several_roots``: two words or
more have no head. ``broken_heads``: heads lead in a circle, or to no word. ``too_short``: fewer
than two words in which a token begins."""
SHORTEST = 2


@dataclass(frozen=True)
class Measured:
    """What is written of a sentence."""

    begins: np.ndarray
    """Of each token: whether a word begins with it."""
    distances: np.ndarray
    """Row by row, each word's distances to the boundary and the words before it, uint8."""
    fault: str | None = None
    """Why it is not used, one of :data:`UNUSED`."""


def measure(
    text: str, begins: Sequence[int], words: Sequence[str], heads: Sequence[int]
) -> Measured:
    """Align the tokens and words of a sentence, and measure its tree.

    Args:
        text: the sentence.
        begins: character that each token begins with, or a space before that.
        words: the parser's.
        heads: 1-based place of each word's governor, 0 for the root.
    """
    solid = ["".join(word.split()) for word in words]
    if not words:
        return _unused(begins, "no_parse")
    if "".join(solid) != "".join(text.split()):
        return _unused(begins, "unmatched_words")
    ends = np.cumsum([len(word) for word in solid])
    before = np.cumsum([0, *(not character.isspace() for character in text)])
    # White space at the end belongs to the last word
    characters = np.minimum(before[np.asarray(begins, np.int64)], ends[-1] - 1)
    word = np.searchsorted(ends, characters, side="right")
    first = np.diff(word, prepend=-1) != 0
    seen = np.unique(word)
    if heads.count(0) > 1:
        return _unused(begins, "several_roots")
    square = between(heads)
    if square is None:
        return _unused(begins, "broken_heads")
    if len(seen) < SHORTEST:
        return _unused(begins, "too_short")
    kept = [0, *(seen + 1), len(words) + 1]
    return Measured(first, square[np.ix_(kept, kept)][np.tril_indices(len(kept), -1)])


def _unused(begins: Sequence[int], fault: str) -> Measured:
    return Measured(np.zeros(len(begins), bool), np.zeros(0, np.uint8), fault)


def between(heads: Sequence[int]) -> np.ndarray | None:
    """Measure a tree.

    Args:
        heads: 1-based place of each word's governor, 0 for the root.

    Returns:
        Distances between opening boundary, words and closing boundary, uint8, [words + 2, words +
        2]; ``None`` if heads do not lead from every word to one root.
    """
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 2)]
    for word, head in enumerate(heads, 1):
        if head > len(heads):
            return None
        dependents[head].append(word)
    roots = dependents[0]
    if len(roots) != 1:
        return None
    dependents[roots[0]] += [0, len(heads) + 1]  # the boundaries hang off the root
    dependents[0] = []
    order, above = roots, [0]  # each node after its governor, and the governor's place
    for place, governor in enumerate(order):
        order += dependents[governor]
        above += [place] * len(dependents[governor])
    if len(order) != len(dependents):
        return None
    distances = np.zeros((len(order), len(order)), np.int64)
    for place in range(1, len(order)):
        distances[place, :place] = distances[:place, place] = distances[above[place], :place] + 1
    places = np.argsort(order)
    return np.minimum(distances, FARTHEST).astype(np.uint8)[np.ix_(places, places)]
