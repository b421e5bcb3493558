"""The section of the tokenizer."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from poshgrid.config.base import ConditionName, Place, Section

SMALLEST = 256 + 2
"""Size of the smallest vocabulary: every byte and two special tokens."""
Vocabulary = Annotated[int, Field(ge=SMALLEST, le=1_000_000)]
OWN = "own"


class Tokenizer(Section):
    """How text is split into tokens, and on which text that is learned (paper, 4.1, Table 9).

    With a shared tokenizer, a word that one condition has lost still has its token there. Models of
    the same condition and size share a tokenizer.
    """

    kind: Literal["bpe", "words"] = "bpe"
    """Byte pairs, or the most frequent words (all others are `<unk>`)."""
    trained_on: Literal["own", "all"] | (Annotated[list[ConditionName], Field(min_length=1)]) = (
        "own"
    )
    """`own`: each condition and size on its own text; `all`: one tokenizer, on every condition of
    the default experiments; or one on a list of conditions, each at its largest size.
    """
    file: Place | None = None
    """A `tokenizer.json` below `data`, instead of training one."""
    vocabulary_size: Vocabulary = 32_768
    """Number of types, including special tokens and the 256 bytes; a file has its own."""
    lowercase: bool = False
    """Fold case, in training and in scoring."""
    space_final_mark: bool = False
    """Write a space before a final `.`, `?` or `!`, in training and in scoring, even if the text
    has none: as in Zorro and in BabyBERTa's corpora.
    """
    sweep: list[Vocabulary] = Field([])
    """Vocabulary sizes to count tokens at (Table 9)."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.file and self.trained_on != OWN:
            raise ValueError("a tokenizer from a file is not trained: leave out trained_on")
        if self.file and not self.file.endswith(".json"):
            raise ValueError(f"file: {self.file!r} is not the .json of a tokenizer")
        if self.sweep and (self.kind != "bpe" or self.file or self.trained_on != OWN):
            raise ValueError("sweep counts byte pairs of each condition: leave it out")
        return self

    @property
    def shared(self) -> bool:
        """Whether one tokenizer serves all conditions and sizes."""
        return bool(self.file) or self.trained_on != OWN

    def changed(self, other: Tokenizer | None) -> Tokenizer:
        """Return this tokenizer with the keys that are written in another one."""
        written = other.model_fields_set if other else set()
        return self.model_copy(update={key: getattr(other, key) for key in written})
