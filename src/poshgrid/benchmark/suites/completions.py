"""Beginnings of sentences that a model completes, with the continuations that count as right.

The production task of Capone, Suozzi, Lebani and Lenci (2024), BaBIEs, section 3: the model
continues the prompt by three tokens, and is right if an answer occurs in them.

CSV: item_id, category, phenomenon, [block], [tags], prompt, accepted (separated by ``|``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, field_validator

from poshgrid.benchmark.reading import tablefile
from poshgrid.core import plugins

if TYPE_CHECKING:
    from pathlib import Path

    from poshgrid.benchmark.schema import Context, Loaded

TASK = "completions"

_BLANK = re.compile(r"(?:_+|\.{2,}|…|-{2,})\s*[.!?]?$")


class Options(plugins.Options):
    """Options of the reader ``completions``."""

    answers: Literal["words", "anywhere"] = Field(
        "words", description="Whether an answer must be whole words; anywhere: as in BaBIEs"
    )


class Prompt(tablefile.Item):
    """A row of the table."""

    prompt: tablefile.Text
    accepted: Annotated[tablefile.Parts, Field(min_length=1)]

    @field_validator("prompt")
    @classmethod
    def _open(cls, prompt: str) -> str:
        if _BLANK.search(prompt):
            raise ValueError("ends in a blank; end it with its last word")
        return prompt


files = tablefile.watched


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read prompts and their accepted continuations.

    Args:
        path: the CSV file.
        options: where an answer counts.
        context: not used.

    Returns:
        The columns of ``COMPLETIONS``.

    Raises:
        PoshgridError: as ``table``, ``read_as`` and ``check`` of
            :mod:`poshgrid.benchmark.reading.tablefile`; or a prompt ends in a blank.
    """
    import polars as pl

    from poshgrid.benchmark.schema import COMPLETIONS, Loaded

    prompts = [row.read_as(Prompt) for row in tablefile.table(path)]
    items = pl.DataFrame([prompt.model_dump() for prompt in prompts]).with_columns(
        anywhere=pl.lit(options.answers == "anywhere")
    )
    tablefile.check(path, items)
    return Loaded(items.select(pl.col(name).cast(kind) for name, kind in COMPLETIONS.items()))
