"""Masked rows: sentences some of whose tokens are hidden and asked for (BabyBERTa).

Source: Huebner, Sulem, Fisher and Roth 2021, "BabyBERTa", section 2.1 and appendix A, and its code
(github.com/phueb/BabyBERTa, ``dataset.py``). One sentence is one row, with both its boundaries, or
several are, as in the paper's ablation; a row that the context cannot hold is left out whole.

Chance decides on each token of a sentence whether it is asked for, and decides again if that asks
for none; boundaries are never asked for. A token that is asked for is replaced by a random word or
left as it is, with the probabilities given, and else by the mask. With ``unmask_end`` the
probability of being left changes from step to step in training, and is that of the first step in
dev and test (appendix E.2: an unmasking curriculum).

An epoch has the same number of copies of every sentence, each with a mask of its own, which may be
that of another copy. Every epoch draws new ones: dynamic masking. All is a function of the seed and
of epoch, sentence, copy and position: nothing is carried from step to step, and a row is the same
in whatever batch it stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import atomic, read_json, write_json
from poshgrid.models.architectures.babyberta import Hiding, Masking
from poshgrid.models.training import data, seeds
from poshgrid.models.training.data import IGNORED, Batch, Rows, order_seed

if TYPE_CHECKING:
    from poshgrid.config import Recipe
    from poshgrid.models.architectures import hybrid
    from poshgrid.models.tokenization.encode import Tokens
    from poshgrid.models.tokenization.tokenizer import Vocabulary

MASK = "<mask>"
UNSEEDED = np.uint64(0)  # key of what is hidden in dev and test, for every run and epoch


class Masked(Rows):
    """Sentences with some tokens hidden: :class:`poshgrid.models.training.data.Rows`.

    Args:
        options: what is hidden, and how.
        recipe: context, batch size and order. ``shuffled``: a sentence's copies are spread over
            the epoch; ``given``: the corpus's order, copies next to each other (the paper's
            section 3.3 and footnote 8).
        tokens: the split.
        vocabulary: of the tokenizer; the mask's id comes after its types.
        seed: of the order and of what is hidden in training; ``in_order`` hides the same always.

    Raises:
        PoshgridError: the recipe's rows are not sentences, or no sentence fits into its context.
    """

    def __init__(
        self,
        options: Masking,
        recipe: Recipe,
        tokens: Tokens,
        vocabulary: Vocabulary,
        seed: int,
    ) -> None:
        check(recipe)
        self._passes, self._steps = recipe.epochs, recipe.steps
        self._options, self._ids, self._vocabulary = options, tokens.ids, vocabulary
        first = np.arange(0, len(tokens.offsets) - 1, options.sentences)  # of each row
        begin, end = tokens.offsets[first], tokens.offsets[np.append(first[1:], -1)]
        own = end - begin - 1  # a row's tokens, those at its ends left out
        inner = np.diff(first, append=len(tokens.offsets) - 1) - 1  # boundaries between sentences
        self._kept = np.flatnonzero((own > inner) & (own <= recipe.context_length - 2))
        self.truncated = len(own) - len(self._kept)
        if not len(self._kept):
            raise PoshgridError(
                f"recipes: {recipe.name}: context_length {recipe.context_length}: none of "
                f"{len(own):,} rows of sentences fits with both its boundaries; raise it"
            )
        self._begin, self._own = begin[self._kept], own[self._kept].astype(np.int32)
        self.copies = options.duplicates
        number = len(self._own) * self.copies
        super().__init__(number, recipe.batch_size, order_seed(recipe, seed))
        self._mask_seed = seed

    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""
        sentences, copy = np.divmod(self._taken(step), self.copies)
        epoch = step // self.steps_per_epoch
        key = seeds.generator(self._mask_seed, seeds.MASKS, epoch).integers(2**64, dtype=np.uint64)
        return self._cut(sentences, copy, key, self._unmask(step))

    def _unmask(self, step: int) -> float:
        """Return the share of tokens asked for that are left as they are in a step."""
        first, end = self._options.unmask, self._options.unmask_end
        if end is None:
            return first
        steps = self._steps or (self._passes or 1) * self.steps_per_epoch
        return first + (end - first) * min(1.0, step / max(1, steps - 1))

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield every sentence once, shortest first, so many at a time, with the same masks always.

        They depend neither on the run's seed nor on ``rows``, so that dev losses of seeds and of
        steps compare.
        """
        order = np.argsort(self._own, kind="stable")
        for first in range(0, len(order), rows):
            sentences = order[first : first + rows]
            copy = np.zeros_like(sentences)
            yield self._cut(sentences, copy, UNSEEDED, self._options.unmask)

    def _cut(self, sentences: np.ndarray, copy: np.ndarray, key: np.uint64, unmask: float) -> Batch:
        """Return sentences with both boundaries, and what is hidden of them.

        Args:
            sentences: numbers among the kept ones, [rows].
            copy: which of its sentence's copies each row is, [rows].
            key: of all draws.
            unmask: share of the tokens asked for that are left as they are.
        """
        own, number = self._own[sentences], self._kept[sentences]
        column = np.arange(int(own.max()) + 2)
        seen = column < own[:, None] + 2
        position = np.where(seen, self._begin[sentences][:, None] + column, 0)
        whole = np.where(seen, self._ids[position], self._vocabulary.padding_id).astype(np.int64)
        of_sentence = mixed(mixed(number.astype(np.uint64)) ^ key)
        of_row = mixed(of_sentence + copy.astype(np.uint64))
        words = (column > 0) & (column <= own[:, None])
        shown, asked = hidden(whole, words, of_row, self._options, unmask, self._vocabulary)
        return Batch(shown, np.where(asked, whole, IGNORED), sentences=number, seen=seen)


class Hybrid(Rows):
    """Batches of causal rows; some batches hide tokens instead (GPT-BERT).

    Whether a step is causal depends on its number alone, and causal steps are spread evenly: step
    ``k`` is one where ``floor((k + 1) * causal_share)`` is more than ``floor(k * causal_share)``.
    The other steps hide tokens of the rows that the causal step would have. A hidden token at
    position ``j`` is predicted at position ``j - 1``, as in causal training.

    Args:
        options: what is hidden, and how; ``causal_share``.
        recipe: input, context, batch size and order.
        tokens: the split.
        vocabulary: of the tokenizer; the mask's id comes after its types.
        seed: of the order and of what is hidden; ``in_order`` hides nothing.
    """

    def __init__(
        self,
        options: hybrid.Options,
        recipe: Recipe,
        tokens: Tokens,
        vocabulary: Vocabulary,
        seed: int,
    ) -> None:
        self._causal = data.rows(recipe, tokens, vocabulary.padding_id, seed)
        self.truncated, self.steps_per_epoch = self._causal.truncated, self._causal.steps_per_epoch
        self._options, self._vocabulary, self._mask_seed = options, vocabulary, seed

    def batch(self, step: int) -> Batch:
        """Return the batch of a training step, counted from 0."""
        batch, share = self._causal.batch(step), self._options.causal_share
        if int((step + 1) * share) > int(step * share):
            return batch
        seen = batch.targets != IGNORED
        words = seen & (np.arange(seen.shape[1]) > 0)  # no position predicts the first token
        key = seeds.generator(self._mask_seed, seeds.MASKS, step).integers(2**64, dtype=np.uint64)
        of_row = mixed(key ^ mixed(np.arange(len(words), dtype=np.uint64)))
        shown, asked = hidden(
            batch.inputs, words, of_row, self._options, self._options.unmask, self._vocabulary
        )
        targets = np.full_like(batch.targets, IGNORED)
        targets[:, :-1] = np.where(asked, batch.inputs, IGNORED)[:, 1:]
        # Rows of one token each hide nothing, and a step must ask for something.
        return Batch(shown, targets, batch.sentences, seen) if asked.any() else batch

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield batches of the whole split, in order; every next token is predicted."""
        return self._causal.in_order(rows)


def hidden(
    whole: np.ndarray,
    words: np.ndarray,
    of_row: np.ndarray,
    options: Hiding,
    unmask: float,
    vocabulary: Vocabulary,
) -> tuple[np.ndarray, np.ndarray]:
    """Hide some tokens of each row, at least one if any may be hidden.

    Args:
        whole: token ids, int64, [rows, length].
        words: which may be hidden, bool, [rows, length]; boundaries are not in any case.
        of_row: a key of each row's draws, [rows].
        options: shares of what is asked for and of random words.
        unmask: share of the tokens asked for that are left as they are.
        vocabulary: of the tokenizer.

    Returns:
        What is shown, as ``whole``, and which tokens are asked for, bool, [rows, length].
    """
    words = words & (whole != vocabulary.boundary_id)
    column = np.arange(words.shape[1])
    asked = np.zeros_like(words)
    empty, attempt = np.flatnonzero(words.any(axis=1)), 0
    while len(empty):
        draws = uniform(mixed(of_row[empty] + np.uint64(attempt))[:, None], column)
        asked[empty] = (draws < options.mask) & words[empty]
        empty, attempt = empty[~asked[empty].any(axis=1)], attempt + 1
    special = sorted({vocabulary.boundary_id, vocabulary.padding_id})
    share = uniform(of_row[:, None], 2 * column + 1)
    word = (share * (vocabulary.size - len(special))).astype(np.int64)  # any but special ones
    for token in special:
        word += word >= token
    fate = uniform(of_row[:, None], 2 * column)
    random, left = options.random, options.random + unmask
    shown = np.where(fate < random, word, np.where(fate < left, whole, vocabulary.size))
    return np.where(asked, shown, whole), asked


def check(recipe: Recipe, *, hybrid: bool = False) -> None:
    """Raise if models that are asked for hidden tokens cannot be trained in a recipe.

    Raises:
        PoshgridError: it asks for padding, or its rows are not sentences (a hybrid model's may be
            packed).
    """
    if recipe.padding_in_loss or (recipe.input != "sentence" and not hybrid):
        raise PoshgridError(
            f"recipes: {recipe.name}: a model of masked tokens reads sentences, each in a row "
            "(a hybrid one, packed rows too), and is asked for words only; set input to sentence "
            "and padding_in_loss to false, or give it another recipe"
        )


def add_mask(folder: Path, *, around: bool) -> None:
    """Add the mask to the tokenizer of a model's folder, and the boundaries around a sentence.

    ``<mask>`` gets the first id that is free. transformers' ``AutoTokenizer`` then makes of a
    sentence what the model saw in training.

    Args:
        folder: its ``tokenizer.json`` and ``tokenizer_config.json`` are written anew.
        around: whether boundaries are added, as a model needs them that never predicts the next
            token.

    Raises:
        PoshgridError: a file is missing or broken, or cannot be written.
    """
    from tokenizers import AddedToken, Tokenizer, processors

    from poshgrid.models.tokenization.tokenizer import BOUNDARY

    path, config = folder / "tokenizer.json", folder / "tokenizer_config.json"
    tokenizer = Tokenizer.from_str(json.dumps(read_json(path)))
    # The space before a mask that people write belongs to the word that it stands for.
    tokenizer.add_special_tokens([AddedToken(MASK, lstrip=True, normalized=False, special=True)])
    roles = {"mask_token": MASK}
    if around:
        roles |= {"cls_token": BOUNDARY, "sep_token": BOUNDARY}
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{BOUNDARY} $A {BOUNDARY}",
            pair=f"{BOUNDARY} $A {BOUNDARY} $B:1 {BOUNDARY}:1",
            special_tokens=[(BOUNDARY, tokenizer.token_to_id(BOUNDARY))],
        )
    with atomic(path) as temporary:
        tokenizer.save(str(temporary), pretty=True)
    write_json(config, read_json(config) | roles)


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
    bits = mixed(key ^ mixed(np.atleast_1d(number).astype(np.uint64)))
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
