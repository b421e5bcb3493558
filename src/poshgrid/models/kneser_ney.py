"""From words to counts and probabilities: interpolated modified Kneser-Ney, and maximum likelihood.

Chen & Goodman (1999), "An empirical study of smoothing techniques for language modeling", Computer
Speech and Language 13; with the counts of n-grams that begin a sentence as in Heafield,
Pouzyrevsky, Clark & Koehn (2013), "Scalable modified Kneser-Ney language model estimation", ACL.

Each n-gram has a number: its position among all n-grams of its order, sorted by *key*. The key is
the number of its first n-1 words times the size of the vocabulary, plus its last word. So counting
an order means to sort integers once, and looking up an n-gram takes one binary search for each of
its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

from poshgrid.core.errors import PoshgridError
from poshgrid.corpora.words import WORD, fold

UNKNOWN, START, END = range(3)
SPECIALS = ("<unk>", "<s>", "</s>")
"""The first three types of a vocabulary. No word of a text equals one: marks are single words."""
SKIPS = ("who", "whom", "what", "which", "when", "where", "why", "how")
SPAN = 6
"""Number of words after one of SKIPS that are counted with it."""
FALLBACK = (0.5, 1.0, 1.5)
"""Discounts of an order whose counts of counts give none, as in a toy corpus.

They are those of KenLM's ``--discount_fallback``."""


class Encoded(NamedTuple):
    """Sentences in one array, each as ``<s>``, words, ``</s>``."""

    vocabulary: list[str]  # SPECIALS, then all types in the order of their characters
    ids: np.ndarray  # uint32, indices in the vocabulary
    sentences: int


def encode(texts: Iterable[Iterable[str]]) -> Encoded:
    """Number the words of sentences; a type's number does not depend on the sentences' order.

    Args:
        texts: sentences, in batches. Those without a word are skipped.
    """
    types: dict[str, int] = {}  # folded -> number, in the order of the text

    @cache
    def number(written: str) -> int:
        return types.setdefault(fold(written), len(SPECIALS) + len(types))

    parts = [np.empty(0, np.uint32)]
    for batch in texts:
        row: list[int] = []
        for text in batch:
            if words := WORD.findall(text):
                row.append(START)
                row.extend(map(number, words))
                row.append(END)
        parts.append(np.array(row, np.uint32))
    ids = np.concatenate(parts)
    vocabulary = [*SPECIALS, *sorted(types)]
    order = np.arange(len(vocabulary), dtype=np.uint32)
    for place in range(len(SPECIALS), len(vocabulary)):
        order[types[vocabulary[place]]] = place
    return Encoded(vocabulary, order[ids], int((ids == START).sum()))


@dataclass
class Tables:
    """The tables of an n-gram model, in which words are looked up to score a sentence."""

    order: int
    vocabulary: list[str]
    keys: dict[int, np.ndarray] = field(default_factory=dict)  # 2 ... order: uint64, ascending
    logprobs: dict[int, np.ndarray] = field(default_factory=dict)  # 1 ... order: float64, nats
    backoffs: dict[int, np.ndarray] = field(default_factory=dict)  # 1 ... order - 1: log gamma
    discounts: dict[int, tuple[float, ...]] = field(default_factory=dict)  # 1 ... order
    fallbacks: list[int] = field(default_factory=list)  # orders whose discounts are FALLBACK
    # only in order 1: "next": neighbours, "skip": a word of SKIPS and a later one -> keys, counts
    pairs: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    classes: bool = False  # whether the vocabulary has classes of words: see `classes.py`


class _Counted(NamedTuple):
    """The distinct n-grams of an order, sorted by key."""

    keys: np.ndarray  # uint64
    counts: np.ndarray  # uint32: times seen
    suffixes: np.ndarray  # uint32: the number of the last n-1 words, among those of order n-1
    initial: np.ndarray  # bool: the first word is <s>


def estimate(text: Encoded, order: int) -> Tables:
    """Estimate a model of one order.

    Args:
        text: the training sentences.
        order: 1: maximum likelihood; above: modified Kneser-Ney.

    Raises:
        PoshgridError: there are too many words.
    """
    if len(text.ids) >= 2**32 - 1:
        raise PoshgridError(f"{len(text.ids):,} words are too many n-grams; count a smaller size")
    return _likelihood(text) if order == 1 else _kneser_ney(text, order)


def _likelihood(text: Encoded) -> Tables:
    """Return the unigram model: relative frequencies.

    An unknown word counts as seen once (method A of Witten & Bell 1991, "The zero-frequency
    problem", IEEE Transactions on Information Theory 37). So the ratios between known words stay,
    and no unknown word is more probable than a known one.
    """
    counts = np.bincount(text.ids, minlength=len(text.vocabulary))
    counts[START] = 0
    counts[UNKNOWN] = 1
    tables = Tables(1, text.vocabulary, logprobs={1: _log(counts / counts.sum())})
    bigrams = next(_count(text.ids, len(text.vocabulary), 2))
    tables.pairs = {"next": (bigrams.keys, bigrams.counts), "skip": _skips(text)}
    return tables


def _skips(text: Encoded) -> tuple[np.ndarray, np.ndarray]:
    """Count each word that follows a word of ``SKIPS`` by at most ``SPAN`` positions.

    Returns:
        Keys (the first word's number times the types, plus the second's), ascending, and counts.
    """
    types = len(text.vocabulary)
    first = np.isin(np.array(text.vocabulary), SKIPS)
    starts = np.flatnonzero(first[text.ids])
    pairs = []
    for distance in range(1, SPAN + 1):
        starts = starts[text.ids[starts + distance - 1] != END]
        pairs.append(text.ids[starts].astype(np.uint64) * np.uint64(types))
        pairs[-1] += text.ids[starts + distance]
    keys, counts = np.unique(np.concatenate(pairs), return_counts=True)
    return keys, counts.astype(np.uint32)


def _kneser_ney(text: Encoded, order: int) -> Tables:
    types = len(text.vocabulary)
    model = Tables(order, text.vocabulary)
    counted = dict(enumerate(_count(text.ids, types, order), start=2))
    probabilities: np.ndarray | None = None  # of the order below
    for n in range(1, order + 1):
        below = types if n == 2 else len(model.keys.get(n - 1, ()))
        # Below the highest order, count the different words before an n-gram, not how often it
        # occurs; but no word comes before an n-gram that begins with <s>.
        if n == order:
            counts = counted[n].counts
        else:
            counts = np.bincount(
                counted[n + 1].suffixes, minlength=types if n == 1 else len(counted[n].keys)
            )
            if n > 1:
                counts = np.where(counted[n].initial, counted[n].counts, counts)
        estimated = discounts(counts)
        model.discounts[n] = estimated or FALLBACK
        if estimated is None:
            model.fallbacks.append(n)
        amounts = np.array([0.0, *model.discounts[n]])
        # In place, because there may be as many n-grams as words.
        shares = counts.astype(np.float64)
        shares -= amounts[np.minimum(counts, 3).astype(np.uint8)]
        if probabilities is None:
            # The only context is empty. <s> is never predicted; <unk> is, though it was never seen.
            total = counts.sum()
            probabilities = shares / total + (total - shares.sum()) / total / (types - 1)
            probabilities[START] = 0.0
        else:
            keys, _, suffixes, _ = counted.pop(n)
            model.keys[n] = keys
            contexts = (keys // types).astype(np.uint32)
            totals = np.bincount(contexts, weights=counts, minlength=below)
            kept = _discounted(contexts, counts, model.discounts[n], below)
            # A context that no word follows has the probabilities of the order below.
            weights = np.divide(kept, totals, out=np.ones(below), where=totals > 0)
            model.backoffs[n - 1] = _log(weights)
            shares /= totals[contexts]
            lower = probabilities[suffixes]
            lower *= weights[contexts]
            shares += lower
            probabilities = shares
            del keys, suffixes, contexts, lower
        model.logprobs[n] = _log(probabilities)
    return model


def _count(ids: np.ndarray, types: int, order: int) -> Iterator[_Counted]:
    """Yield the n-grams of orders 2 ... order."""
    numbers = ids  # number of the (n-1)-gram that starts at each position
    starts = np.arange(len(ids), dtype=np.uint32)  # positions where an n-gram may start
    for n in range(2, order + 1):
        starts = starts[ids[starts + np.uint32(n - 2)] != END]  # </s> can only be last
        keys = numbers[starts].astype(np.uint64)
        keys *= np.uint64(types)
        keys += ids[starts + np.uint32(n - 1)]
        sorting = np.argsort(keys)
        keys = keys[sorting]
        places = starts[sorting]
        del sorting
        new = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=new[1:])
        firsts = np.flatnonzero(new)
        where = places[firsts]
        yield _Counted(
            keys[firsts],
            np.diff(firsts, append=len(keys)).astype(np.uint32),
            numbers[where + np.uint32(1)],
            ids[where] == START,
        )
        del keys, firsts
        if n < order:
            ranks = np.cumsum(new, dtype=np.uint32)
            ranks -= np.uint32(1)
            numbers = np.zeros(len(ids), np.uint32)
            numbers[places] = ranks


def discounts(counts: np.ndarray) -> tuple[float, ...] | None:
    """Return D1, D2 and D3+ from counts of counts, as in Chen & Goodman (1999).

    Args:
        counts: of all n-grams of an order; zeros do not count.

    Returns:
        None if a count of counts is zero, or a discount is not in its range.
    """
    t1, t2, t3, t4 = (int((counts == k).sum()) for k in (1, 2, 3, 4))
    if not (t1 and t2 and t3):
        return None
    y = t1 / (t1 + 2 * t2)
    estimates = (1 - 2 * y * t2 / t1, 2 - 3 * y * t3 / t2, 3 - 4 * y * t4 / t3)
    return estimates if all(0 < d <= k for k, d in enumerate(estimates, start=1)) else None


def _discounted(
    contexts: np.ndarray, counts: np.ndarray, amounts: tuple[float, ...], size: int
) -> np.ndarray:
    """Return the sum of all discounts in each context: the sum of D(k) times N(k)."""
    total = np.zeros(size)
    for k, amount in enumerate(amounts, start=1):
        chosen = contexts[counts == k if k < 3 else counts >= k]
        total += amount * np.bincount(chosen, minlength=size)
    return total


def _log(values: np.ndarray) -> np.ndarray:
    """Return natural logarithms; that of zero is minus infinity."""
    with np.errstate(divide="ignore"):
        return np.log(values)
