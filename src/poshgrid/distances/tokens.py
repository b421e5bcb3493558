"""Where in a sentence its tokens begin; a check that they are the condition's."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
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
        "run `poshgrid encode` again"
    )
