"""How text is cut into tokens."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from poshgrid.config.base import ConditionName, Place, Section
from poshgrid.config.names import once

SMALLEST = 256 + 2
"""Types of the smallest vocabulary: every byte and the two special tokens."""
Vocabulary = Annotated[int, Field(ge=SMALLEST, le=1_000_000)]
OWN = "own"


class Tokenizer(Section):
    """How text is cut into tokens (paper, section 4.1, Table 9), and whose text says so.

    A word that one condition has lost is still a word there if all share a tokenizer. Models of a
    condition and size share it.
    """

    kind: Literal["bpe", "words"] = "bpe"
    """Byte pairs, or the most frequent words (every other one is `<unk>`)."""
    trained_on: Literal["own", "all"] | (Annotated[list[ConditionName], Field(min_length=1)]) = (
        "own"
    )
    """Each condition and size on its own text; `all`: one tokenizer, on every condition of
    the default experiments; or on a list of conditions. Each counts at its largest size.
    """
    file: Place | None = None
    """A `tokenizer.json` below `data`, in place of training."""
    vocabulary_size: Vocabulary = 32_768
    """Types, with special tokens and the 256 bytes; a file has its own."""
    lowercase: bool = False
    """Fold case, in training and in scoring."""
    space_final_mark: bool = False
    """Write a space before a final `.`, `?` or `!`, in training and in scoring, whatever the text
    has: as in Zorro and in BabyBERTa's corpora.
    """
    sweep: list[Vocabulary] = Field([])
    """Vocabulary sizes to count tokens at (Table 9)."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.file and self.trained_on != OWN:
            raise ValueError("a tokenizer of a file is not trained: leave out trained_on")
        if self.file and not self.file.endswith(".json"):
            raise ValueError(f"file: {self.file!r} is no .json of a tokenizer")
        if self.sweep and (self.kind != "bpe" or self.file or self.trained_on != OWN):
            raise ValueError("sweep counts byte pairs of each condition: leave it out")
        if not isinstance(self.trained_on, str):
            once(self.trained_on, "name it once", "trained_on")
        return self

    @property
    def shared(self) -> bool:
        """Whether one tokenizer serves all conditions and sizes."""
        return bool(self.file) or self.trained_on != OWN

    def changed(self, other: Tokenizer | None) -> Tokenizer:
        """Return this one with the keys that another one writes."""
        written = other.model_fields_set if other else set()
        return self.model_copy(update={key: getattr(other, key) for key in written})
