"""Masked rows: sentences some of whose tokens are hidden and asked for (BabyBERTa).

Source: Huebner, Sulem, Fisher and Roth 2021, "BabyBERTa", section 2.1 and appendix A. One sentence
is one row, with both its boundaries; one that the context cannot hold is left out whole.

Of the n tokens of a sentence, ``max(1, round(mask * n))`` are asked for, without replacement, so
that the shortest sentence asks for one; its boundaries are never among them. Each is replaced by a
random word or left as it is, with the probabilities given, and else by the mask. With
``unmask_end`` the probability of being left changes from step to step in training, and is that of
the first step in dev and test (appendix E.2: an unmasking curriculum). (RoBERTa fixes the
number, too, and rounds at random. The published code of BabyBERTa lets chance decide on each token,
again if that asks for none, so that copies may have the same mask.)

In every epoch a sentence stands in several copies whose masks differ, as far as there are so many
different ones, and every epoch draws new ones: dynamic masking. All is a function of the seed and
of epoch, sentence, copy and position: nothing is carried from step to step, and a row is the same
in whatever batch it stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poshgrid import logs
from poshgrid.errors import PoshgridError
from poshgrid.files import atomic, read_json, write_json
from poshgrid.models.masked import Masking, check
from poshgrid.training import masks, seeds

if TYPE_CHECKING:  # the configuration imports this for the options of a learner: it must stay light
    from poshgrid.config import Regimen
    from poshgrid.tokenization.encode import Tokens
    from poshgrid.training import data

log = logs.get(__name__)

MASK = "<mask>"
UNSEEDED = np.uint64(0)  # key of what is hidden in dev and test, for every run and epoch


def rows(
    options: Masking,
    regimen: Regimen,
    tokens: Tokens,
    *,
    vocabulary_size: int,
    boundary_id: int,
    padding_id: int,
    seed: int,
) -> data.Rows:
    """Cut a split into masked sentences.

    Args:
        options: what is hidden, and how.
        regimen: context, batch size and order. ``shuffled``: a sentence's copies are spread over
            the epoch; ``given``: the corpus's order, copies next to each other (the paper's
            section 3.3 and footnote 8).
        tokens: the split.
        vocabulary_size: number of token types; the mask's id comes after them.
        boundary_id: id of the token that opens and closes a sentence.
        padding_id: id of the padding token.
        seed: of the order and of what is hidden in training; ``in_order`` hides the same always.

    Returns:
        Rows whose ``truncated`` counts the sentences that are dropped.

    Raises:
        PoshgridError: the regimen's rows are not sentences, or no sentence fits into its context.
    """
    check(regimen)
    cut = Masked(
        options,
        regimen,
        tokens,
        vocabulary_size=vocabulary_size,
        special_ids=(boundary_id, padding_id),
        padding_id=padding_id,
        seed=seed,
    )
    whole = len(tokens.offsets) - 1
    if cut.truncated == whole:
        raise PoshgridError(
            f"regimens: {regimen.name}: context_length {regimen.context_length}: none of "
            f"{whole:,} sentences fits with both its boundaries; raise it"
        )
    if cut.truncated:
        log.info(
            "%s of %s sentences dropped: longer than %s tokens with their boundaries",
            f"{cut.truncated:,}",
            f"{whole:,}",
            f"{regimen.context_length:,}",
        )
    return cut


class Masked:
    """Sentences with some tokens hidden: :class:`poshgrid.training.data.Rows`; see :func:`rows`."""

    truncated: int
    """Sentences that are dropped because the context does not hold them."""

    def __init__(
        self,
        options: Masking,
        regimen: Regimen,
        tokens: Tokens,
        *,
        vocabulary_size: int,
        special_ids: tuple[int, ...],
        padding_id: int,
        seed: int,
    ) -> None:
        self._given, self._size = regimen.order == "given", regimen.batch_size
        self._passes, self._steps = regimen.epochs, regimen.steps
        self._options, self._seed, self._ids = options, seed, tokens.ids
        self._mask_id, self._padding = vocabulary_size, padding_id
        self._special = sorted(set(special_ids))
        own = np.diff(tokens.offsets) - 1  # a sentence's tokens, boundaries left out
        room = regimen.context_length - 2
        self._kept = np.flatnonzero((own > 0) & (own <= room))
        self.truncated = len(own) - len(self._kept)
        self._begin, self._own = tokens.offsets[self._kept], own[self._kept].astype(np.int32)
        self._choices = masks.Choices(options.mask, int(self._own.max(initial=1)))
        self._copies = np.minimum(options.duplicates, self._choices.ways)  # by length
        self._first = np.append(0, np.cumsum(self._copies[self._own]))  # row of a sentence's copy 0
        self._epoch: tuple[int, np.ndarray, np.ndarray] | None = None

    @property
    def steps_per_epoch(self) -> int:
        """Batches in one pass over all copies of all sentences."""
        return -(-int(self._first[-1]) // self._size)

    def batch(self, step: int) -> data.Batch:
        """Return the batch of a training step, counted from 0."""
        epoch, place = divmod(step, self.steps_per_epoch)
        first = place * self._size
        if self._given:
            chosen = np.arange(first, min(first + self._size, int(self._first[-1])))
        else:
            if self._epoch is None or self._epoch[0] != epoch:
                self._epoch = epoch, *self._order(epoch)
            _, order, batches = self._epoch
            first = int(batches[place]) * self._size
            chosen = order[first : first + self._size].astype(np.int64)
        sentences = np.searchsorted(self._first, chosen, side="right") - 1
        key = seeds.generator(self._seed, seeds.MASKS, epoch).integers(2**64, dtype=np.uint64)
        copies = self._copies[self._own[sentences]]
        return self._cut(
            sentences, chosen - self._first[sentences], copies, key, self._unmask(step)
        )

    def _unmask(self, step: int) -> float:
        """Return the share of tokens asked for that are left as they are in a step."""
        first, end = self._options.unmask, self._options.unmask_end
        if end is None:
            return first
        steps = self._steps or (self._passes or 1) * self.steps_per_epoch
        return first + (end - first) * min(1.0, step / max(1, steps - 1))

    def in_order(self, rows: int) -> Iterator[data.Batch]:
        """Yield every sentence once, shortest first, so many at a time, with the same masks always.

        They depend neither on the run's seed nor on ``rows``, so that dev losses of seeds and of
        steps compare.
        """
        order = np.argsort(self._own, kind="stable")
        for first in range(0, len(order), rows):
            sentences = order[first : first + rows]
            copies = np.ones(len(sentences), np.int64)
            yield self._cut(sentences, copies - 1, copies, UNSEEDED, self._options.unmask)

    def _order(self, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        """Return an epoch's rows, batch by batch, and the order of the batches."""
        from poshgrid.training.data import sort_chunks

        random, total = seeds.generator(self._seed, seeds.ORDER, epoch), int(self._first[-1])
        kind = np.uint32 if total < 2**32 else np.uint64
        order = random.permutation(np.arange(total, dtype=kind))
        lengths = np.repeat(self._own, np.diff(self._first))  # by row
        sort_chunks(order, lengths, self._size)
        return order, random.permutation(self.steps_per_epoch)

    def _cut(
        self,
        sentences: np.ndarray,
        copy: np.ndarray,
        copies: np.ndarray,
        key: np.uint64,
        unmask: float,
    ) -> data.Batch:
        """Return sentences with both boundaries, and what is hidden of them.

        Args:
            sentences: numbers among the kept ones, [rows].
            copy: which of its sentence's copies each row is, [rows].
            copies: of each row's sentence, [rows].
            key: of all draws.
            unmask: share of the tokens asked for that are left as they are.
        """
        from poshgrid.training.data import IGNORED, Batch

        own, number = self._own[sentences], self._kept[sentences]
        column = np.arange(int(own.max()) + 2)
        seen = column < own[:, None] + 2
        place = np.where(seen, self._begin[sentences][:, None] + column, 0)
        whole = np.where(seen, self._ids[place], self._padding).astype(np.int64)
        of_sentence = masks.mixed(masks.mixed(number.astype(np.uint64)) ^ key)
        of_row = masks.mixed(of_sentence + copy.astype(np.uint64))
        asked = np.zeros(seen.shape, bool)
        asked[:, 1:-1] = self._choices.choose(own, copy, copies, of_sentence, of_row)
        fate = masks.uniform(of_row[:, None], 2 * column)
        word = self._words(masks.uniform(of_row[:, None], 2 * column + 1))
        random, left = self._options.random, self._options.random + unmask
        shown = np.where(fate < random, word, np.where(fate < left, whole, self._mask_id))
        return Batch(
            np.where(asked, shown, whole),
            np.where(asked, whole, IGNORED),
            sentences=number,
            seen=seen,
        )

    def _words(self, share: np.ndarray) -> np.ndarray:
        """Return token ids for numbers in [0, 1): any type but the special ones."""
        found = (share * (self._mask_id - len(self._special))).astype(np.int64)
        for special in self._special:
            found += found >= special
        return found


def add_mask(folder: Path) -> None:
    """Add the mask to the tokenizer of a model's folder, and the boundaries around a sentence.

    ``<mask>`` gets the first id that is free. transformers' ``AutoTokenizer`` then makes of a
    sentence what the model saw in training.

    Args:
        folder: its ``tokenizer.json`` and ``tokenizer_config.json`` are written anew.

    Raises:
        PoshgridError: a file is missing or broken, or cannot be written.
    """
    from tokenizers import AddedToken, Tokenizer, processors

    from poshgrid.tokenization.tokenizer import BOUNDARY

    path, config = folder / "tokenizer.json", folder / "tokenizer_config.json"
    tokenizer = Tokenizer.from_str(json.dumps(read_json(path)))
    # The space before a mask that people write belongs to the word that it stands for.
    tokenizer.add_special_tokens([AddedToken(MASK, lstrip=True, normalized=False, special=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOUNDARY} $A {BOUNDARY}",
        pair=f"{BOUNDARY} $A {BOUNDARY} $B:1 {BOUNDARY}:1",
        special_tokens=[(BOUNDARY, tokenizer.token_to_id(BOUNDARY))],
    )
    with atomic(path) as temporary:
        tokenizer.save(str(temporary), pretty=True)
    roles = {"cls_token": BOUNDARY, "sep_token": BOUNDARY, "mask_token": MASK}
    write_json(config, read_json(config) | roles)
