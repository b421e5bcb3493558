"""The distances of a sentence's words, from its tree, its text and its tokens.

The distance of two words is the number of arcs between them in the dependency tree. Both boundaries
count as words that hang off the root, so that a word at depth ``k`` (root: 0) is ``k + 1`` away
from either (Yoshida et al., 2024: "Tree-planted transformers", Findings of ACL).

A parser's words are found in the text by their characters, white space left out; a token belongs to
the word of its first character that is no white space. A word in which no token begins (*na*, where
*gonna* is one token) has no place of its own, but paths lead through it.

Where the tokens of a sentence begin is looked up in the tokens, which must be the condition's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from poshgrid.distances.folder import FARTHEST
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    import polars as pl
    from tokenizers import Tokenizer

    from poshgrid.tokenization.encode import Tokens


@dataclass(frozen=True)
class Cut:
    """The tokens of some sentences, boundaries left out, one after another."""

    ids: np.ndarray
    begins: np.ndarray
    """Character of its sentence that each begins with, or a space before that."""
    counts: np.ndarray
    """Of each sentence."""

    @classmethod
    def of(cls, cutter: Tokenizer, texts: list[str]) -> Self:
        """Cut sentences up."""
        # Offsets are those in the text as given, whatever the normaliser makes of it.
        rows = cutter.encode_batch(texts, add_special_tokens=False)
        return cls(
            np.fromiter(itertools.chain.from_iterable(row.ids for row in rows), np.int64),
            np.fromiter((begin for row in rows for begin, _ in row.offsets), np.int64),
            np.fromiter((len(row) for row in rows), np.int64, len(rows)),
        )


def with_boundaries(values: np.ndarray, counts: np.ndarray, boundary: int) -> np.ndarray:
    """Return the values of tokens with that of a boundary after each sentence."""
    found = np.full(len(values) + len(counts), boundary, values.dtype)
    found[np.arange(len(values)) + np.repeat(np.arange(len(counts)), counts)] = values
    return found


def check_ids(cut: Cut, stream: Tokens, boundary: int, sentences: slice, place: Path) -> None:
    """Hold what the tokenizer makes of the condition's sentences to the tokens.

    Args:
        cut: some sentences, as the tokenizer cuts them.
        stream: the tokens of all.
        boundary: its id.
        sentences: which of the stream they are.
        place: file of the stream, for the message.

    Raises:
        PoshgridError: they differ.
    """
    known = len(stream.offsets) - 1
    if sentences.stop > known:
        raise other_tokens(place, f"it has {known:,} sentences")
    edges = stream.offsets[sentences.start : sentences.stop + 1]
    ids = stream.ids[edges[0] + 1 : edges[-1] + 1]
    if np.array_equal(np.diff(edges), cut.counts + 1) and np.array_equal(
        ids, with_boundaries(cut.ids, cut.counts, boundary)
    ):
        return
    raise other_tokens(place, f"they differ in sentences {sentences.start:,} to {sentences.stop:,}")


def other_tokens(place: Path, why: str) -> PoshgridError:
    """Return the error of tokens that do not belong to a condition."""
    return PoshgridError(
        f"{place}: not the tokens of this condition by this tokenizer ({why}); "
        "run `poshgrid run -R tokens`"
    )


UNUSED = ("no_parse", "unmatched_words", "several_roots", "broken_heads", "too_short")
"""Why a sentence is not used; the first that holds. ``no_parse``: the parser was not given it.
``unmatched_words``: the parser's words are not those of the text. ``several_roots``: two words or
more have no head. ``broken_heads``: heads lead in a circle, or to no word. ``too_short``: fewer
than two words in which a token begins."""
SHORTEST = 2
_CELLS = 1_000_000  # of the matrices that are made at once

# Of each character: is it white space? The last entry, no space, stands for all above it: none is.
_SPACES = np.array([chr(code).isspace() for code in range(0x3002)])


@dataclass(frozen=True)
class Measured:
    """What is written of some sentences."""

    distances: np.ndarray
    words: np.ndarray
    sizes: np.ndarray
    """Distances of each sentence."""
    fault: np.ndarray
    """Of each sentence; 0: none, else 1 + place in :data:`UNUSED`."""


class _Characters:
    """Strings, one after another, without their white space."""

    def __init__(self, strings: list[str]) -> None:
        lengths = np.fromiter(map(len, strings), np.int64, len(strings))
        codes = np.frombuffer("".join(strings).encode("utf-32-le"), "<u4")
        solid = ~_SPACES[np.minimum(codes, len(_SPACES) - 1)]
        # Of each string: its first character, white space counted
        self.first = np.cumsum(lengths) - lengths
        # Of each character, white space counted: how many solid ones lie before it
        self.before = np.concatenate([[0], np.cumsum(solid)])
        self.codes = codes[solid]
        self.counts = self.before[self.first + lengths] - self.before[self.first]


def measure(texts: list[str], cut: Cut, trees: pl.DataFrame) -> Measured:
    """Align tokens, characters and words of some sentences, and measure their trees.

    Args:
        texts: of the sentences.
        cut: their tokens.
        trees: their ``form`` and ``head``, in the same order.
    """
    n_words = trees["form"].list.len().to_numpy().astype(np.int64)
    heads = trees["head"].to_arrow().flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    text = _Characters(texts)
    form = _Characters(trees["form"].to_arrow().flatten().to_pylist())
    sentence_of_word = np.repeat(np.arange(len(texts)), n_words)
    given = np.bincount(sentence_of_word, form.counts, minlength=len(texts)).astype(np.int64)
    matched = _matched(text, form, given)
    fault = np.where(n_words == 0, _fault("no_parse"), 0)
    fault[(fault == 0) & ~matched] = _fault("unmatched_words")

    # The word of each token; those of sentences at fault mean nothing, and are not used.
    sentence = np.repeat(np.arange(len(texts)), cut.counts)
    first = text.first[sentence]
    before = text.before[first + cut.begins] - text.before[first]
    before = np.minimum(before, text.counts[sentence] - 1)  # white space at the end: the last word
    word = np.searchsorted(
        np.cumsum(form.counts), (np.cumsum(given) - given)[sentence] + before, side="right"
    )
    begins = np.ones(len(word), bool)
    begins[1:] = (word[1:] != word[:-1]) | (sentence[1:] != sentence[:-1])
    begins &= fault[sentence] == 0
    seen = np.zeros(len(sentence_of_word), bool)
    seen[word[begins]] = True

    sizes = np.zeros(len(texts), np.int64)
    packed: list[tuple[np.ndarray, np.ndarray]] = []
    first_word = np.cumsum(n_words) - n_words
    for rows in _alike(n_words, fault == 0):
        place = first_word[rows][:, None] + np.arange(n_words[rows[0]])
        square, fault[rows] = _faults(heads[place], seen[place])
        good = fault[rows] == 0
        sizes[rows[good]] = _size(seen[place][good].sum(axis=1))
        packed.append((rows[good], _pack(square[good], seen[place][good])))

    begins &= fault[sentence] == 0
    return Measured(
        distances=_in_order(sizes, packed),
        words=with_boundaries(begins.astype(np.uint8), cut.counts, 1),
        sizes=sizes,
        fault=fault,
    )


def _fault(name: str) -> int:
    return 1 + UNUSED.index(name)


def between(heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Measure trees of the same number of words.

    The distance of two words is the sum of their depths less twice that of their lowest common
    ancestor; depths are counted by ancestors.

    Args:
        heads: 1-based place of each word's governor, 0 for the root, [trees, words].

    Returns:
        Distances between opening boundary, words and closing boundary, uint8, [trees, words + 2,
        words + 2], and which trees are trees: heads lead from every word to 0. Distances of
        others mean nothing.
    """
    trees, words = heads.shape
    known = (heads <= words).all(axis=1)
    up = np.zeros((trees, words + 1), np.int64)  # from each node to its governor; 0 stays
    up[:, 1:] = np.where(known[:, None], heads, 0)
    ancestors = np.zeros((trees, words, words + 1), np.float32)  # of each word, itself included
    node = np.tile(np.arange(1, words + 1), (trees, 1))
    for _ in range(words):
        np.put_along_axis(ancestors, node[:, :, None], 1, axis=2)
        node = np.take_along_axis(up, node, axis=1)
        if not node.any():
            break
    sound = known & ~node.any(axis=1)
    # Boundaries have the artificial root above them, and nothing else.
    nodes = np.zeros((trees, words + 2, words), np.float32)
    nodes[:, 1:-1] = ancestors[:, :, 1:]
    shared = nodes @ nodes.transpose(0, 2, 1)
    depth = np.diagonal(shared, axis1=1, axis2=2).copy()  # arcs to the artificial root
    found = depth[:, :, None] + depth[:, None, :] - 2 * shared
    # The path between a boundary and a word goes through the root word, not the artificial root.
    found[:, [0, -1], :] = depth[:, None, :]
    found[:, :, [0, -1]] = depth[:, :, None]
    found[:, [0, -1], [0, -1]] = 0
    found[:, [0, -1], [-1, 0]] = 2
    return np.minimum(found, FARTHEST).astype(np.uint8), sound


def _matched(text: _Characters, form: _Characters, given: np.ndarray) -> np.ndarray:
    """Say which sentences have the characters of their words; given: how many those have."""
    matched = text.counts == given
    here = np.repeat(matched, text.counts)
    differ = text.codes[here] != form.codes[np.repeat(matched, given)]
    matched[np.repeat(np.arange(len(matched)), text.counts)[here][differ]] = False
    return matched


def _alike(n_words: np.ndarray, wanted: np.ndarray) -> Iterator[np.ndarray]:
    """Yield numbers of the wanted sentences, a few of the same number of words at a time."""
    for length in np.unique(n_words[wanted]):
        rows = np.flatnonzero(wanted & (n_words == length))
        few = max(1, _CELLS // (int(length) + 2) ** 2)
        for start in range(0, len(rows), few):
            yield rows[start : start + few]


def _faults(heads: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of trees of the same number of words, and what is wrong with each."""
    square, sound = between(heads)
    fault = np.where(seen.sum(axis=1) < SHORTEST, _fault("too_short"), 0)
    fault[~sound] = _fault("broken_heads")
    fault[(heads == 0).sum(axis=1) > 1] = _fault("several_roots")
    return square, fault


def _size(seen: np.ndarray) -> np.ndarray:
    """Return how many distances a sentence has: 1 + 2 + ... + the row of the last boundary."""
    return (seen + 1) * (seen + 2) // 2


def _pack(square: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return the lower triangles over the words that are seen, row by row, tree by tree."""
    kept = np.ones((len(square), square.shape[1]), bool)
    kept[:, 1:-1] = seen
    below = np.tri(square.shape[1], k=-1, dtype=bool)
    return square[kept[:, :, None] & kept[:, None, :] & below]


def _in_order(sizes: np.ndarray, packed: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Put the distances of each sentence where it stands; packed: sentences, their distances."""
    start = np.cumsum(sizes) - sizes
    found = np.empty(int(sizes.sum()), np.uint8)
    for rows, values in packed:
        mine = sizes[rows]
        shift = start[rows] - (np.cumsum(mine) - mine)
        found[np.repeat(shift, mine) + np.arange(len(values))] = values
    return found
