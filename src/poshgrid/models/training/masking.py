"""Masked rows: sentences in which some tokens are hidden and predicted (BabyBERTa).

Source: Huebner, Sulem, Fisher and Roth 2021, "BabyBERTa", section 2.1 and appendix A, and its code
(github.com/phueb/BabyBERTa, ``dataset.py``). A row is one sentence with both boundaries, or several
sentences, as in the paper's ablation. A row that is longer than the context is left out.

Each token is selected at random for prediction; if no token of a row is selected, the draw is
repeated. Boundaries are never selected. A selected token is replaced by a random word, or left as
it is, or else replaced by the mask; ``random`` and ``unmask`` are the shares of the first two. With
``unmask_end`` the share of those left as they are changes from step to step in training; in dev and
test it is that of the first step (appendix E.2: an unmasking curriculum).

An epoch has the same number of copies of every sentence. Each copy draws its own mask, and each
epoch draws new masks (dynamic masking). The draws depend only on seed, epoch, sentence, copy and
position. So nothing is carried from step to step, and a row is the same in any batch.
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
UNSEEDED = np.uint64(0)  # key of the masks of dev and test, in every run and epoch


class Masked(Rows):
    """Sentences with some tokens hidden: :class:`poshgrid.models.training.data.Rows`.

    Args:
        options: what is hidden, and how.
        recipe: context, batch size and order. ``shuffled``: a sentence's copies are spread over
            the epoch; ``given``: the corpus's order, copies next to each other (the paper's
            section 3.3 and footnote 8).
        tokens: the split.
        vocabulary: of the tokenizer; the mask's id comes after its types.
        seed: of the order and of the masks of training; those of ``in_order`` never change.

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
        first = np.arange(0, len(tokens.offsets) - 1, options.sentences)  # sentence of each row
        begin, end = tokens.offsets[first], tokens.offsets[np.append(first[1:], -1)]
        own = end - begin - 1  # tokens of a row, without the boundaries at its ends
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
        sentences, copy = np.divmod(self._step_rows(step), self.copies)
        epoch = step // self.steps_per_epoch
        key = seeds.generator(self._mask_seed, seeds.MASKS, epoch).integers(2**64, dtype=np.uint64)
        return self._cut(sentences, copy, key, self._unmask(step))

    def _unmask(self, step: int) -> float:
        """Return the share of selected tokens that are left as they are in a step."""
        first, end = self._options.unmask, self._options.unmask_end
        if end is None:
            return first
        steps = self._steps or (self._passes or 1) * self.steps_per_epoch
        return first + (end - first) * min(1.0, step / max(1, steps - 1))

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield every sentence once, shortest first, ``rows`` at a time; masks are always the same.

        They depend neither on the run's seed nor on ``rows``, so that dev losses of all seeds and
        steps are comparable.
        """
        order = np.argsort(self._own, kind="stable")
        for first in range(0, len(order), rows):
            sentences = order[first : first + rows]
            copy = np.zeros_like(sentences)
            yield self._cut(sentences, copy, UNSEEDED, self._options.unmask)

    def _cut(self, sentences: np.ndarray, copy: np.ndarray, key: np.uint64, unmask: float) -> Batch:
        """Return sentences with both boundaries, with some tokens hidden.

        Args:
            sentences: numbers among the kept ones, [rows].
            copy: number of each row among the copies of its sentence, [rows].
            key: of all draws.
            unmask: share of selected tokens that are left as they are.
        """
        own, number = self._own[sentences], self._kept[sentences]
        column = np.arange(int(own.max()) + 2)
        seen = column < own[:, None] + 2
        position = np.where(seen, self._begin[sentences][:, None] + column, 0)
        ids = np.where(seen, self._ids[position], self._vocabulary.padding_id).astype(np.int64)
        sentence_key = mixed(mixed(number.astype(np.uint64)) ^ key)
        row_key = mixed(sentence_key + copy.astype(np.uint64))
        words = (column > 0) & (column <= own[:, None])
        shown, selected = mask_tokens(ids, words, row_key, self._options, unmask, self._vocabulary)
        return Batch(shown, np.where(selected, ids, IGNORED), sentences=number, seen=seen)


class Hybrid(Rows):
    """Batches of causal rows; in some batches, tokens are hidden instead (GPT-BERT).

    Whether a step is causal depends only on its number, and causal steps are spread evenly: step
    ``k`` is causal if ``floor((k + 1) * causal_share)`` is more than ``floor(k * causal_share)``.
    The other steps have the same rows, with some tokens hidden. A hidden token at position ``j`` is
    predicted at position ``j - 1``, as in causal training.

    Args:
        options: what is hidden, and how; ``causal_share``.
        recipe: input, context, batch size and order.
        tokens: the split.
        vocabulary: of the tokenizer; the mask's id comes after its types.
        seed: of the order and of the masks; ``in_order`` hides nothing.
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
        row_key = mixed(key ^ mixed(np.arange(len(words), dtype=np.uint64)))
        shown, selected = mask_tokens(
            batch.inputs, words, row_key, self._options, self._options.unmask, self._vocabulary
        )
        targets = np.full_like(batch.targets, IGNORED)
        targets[:, :-1] = np.where(selected, batch.inputs, IGNORED)[:, 1:]
        # Rows of one token hide nothing, and a step must predict something.
        return Batch(shown, targets, batch.sentences, seen) if selected.any() else batch

    def in_order(self, rows: int) -> Iterator[Batch]:
        """Yield batches of the whole split, in order; every next token is predicted."""
        return self._causal.in_order(rows)


def mask_tokens(
    ids: np.ndarray,
    words: np.ndarray,
    row_key: np.ndarray,
    options: Hiding,
    unmask: float,
    vocabulary: Vocabulary,
) -> tuple[np.ndarray, np.ndarray]:
    """Select tokens of each row, at least one if possible, and hide them.

    Args:
        ids: token ids, int64, [rows, length].
        words: which tokens may be selected, bool, [rows, length]; boundaries never are.
        row_key: key of each row's draws, [rows].
        options: probability of selection, and share of random words.
        unmask: share of selected tokens that are left as they are.
        vocabulary: of the tokenizer.

    Returns:
        The ids that the model sees, as ``ids``, and which are selected, bool, [rows, length].
    """
    words = words & (ids != vocabulary.boundary_id)
    column = np.arange(words.shape[1])
    selected = np.zeros_like(words)
    empty, attempt = np.flatnonzero(words.any(axis=1)), 0
    while len(empty):
        draw = uniform(mixed(row_key[empty] + np.uint64(attempt))[:, None], column)
        selected[empty] = (draw < options.mask) & words[empty]
        empty, attempt = empty[~selected[empty].any(axis=1)], attempt + 1
    special = sorted({vocabulary.boundary_id, vocabulary.padding_id})
    draw = uniform(row_key[:, None], 2 * column + 1)
    word = (draw * (vocabulary.size - len(special))).astype(np.int64)  # any but special ones
    for token in special:
        word += word >= token
    draw = uniform(row_key[:, None], 2 * column)
    random, left = options.random, options.random + unmask
    shown = np.where(draw < random, word, np.where(draw < left, ids, vocabulary.size))
    return np.where(selected, shown, ids), selected


def check(recipe: Recipe, *, hybrid: bool = False) -> None:
    """Raise if masked or hybrid models cannot be trained in a recipe.

    Raises:
        PoshgridError: it predicts padding, or its rows are not sentences (those of a hybrid model
            may be packed).
    """
    if recipe.padding_in_loss or (recipe.input != "sentence" and not hybrid):
        raise PoshgridError(
            f"recipes: {recipe.name}: a model of masked tokens reads sentences, each in a row "
            "(a hybrid one, packed rows too), and is asked for words only; set input to sentence "
            "and padding_in_loss to false, or give it another recipe"
        )


def add_mask(folder: Path, *, around: bool) -> None:
    """Add the mask, and boundaries around each sentence, to the tokenizer of a model's folder.

    ``<mask>`` gets the first free id. With transformers' ``AutoTokenizer``, a sentence then has the
    same tokens as in training.

    Args:
        folder: its ``tokenizer.json`` and ``tokenizer_config.json`` are rewritten.
        around: add boundaries; a model needs them if it never predicts the next token.

    Raises:
        PoshgridError: a file is missing or broken, or cannot be written.
    """
    from tokenizers import AddedToken, Tokenizer, processors

    from poshgrid.models.tokenization.tokenizer import BOUNDARY

    path, config = folder / "tokenizer.json", folder / "tokenizer_config.json"
    tokenizer = Tokenizer.from_str(json.dumps(read_json(path)))
    # If a text has a space before the mask, it belongs to the hidden word.
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
    """Return for each number a 64-bit number that looks random.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
    generators"). A numpy generator for every row would cost more than the rows.
    """
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def uniform(key: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the draw with each number from the stream of its key: floats in [0, 1)."""
    bits = mixed(key ^ mixed(np.atleast_1d(number).astype(np.uint64)))
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
