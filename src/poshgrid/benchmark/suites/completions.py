"""Beginnings of sentences that a model completes, with the continuations that count as right.

The production task of Capone, Suozzi, Lebani and Lenci (2024), BaBIEs, section 3: the model
continues the prompt by three tokens, and is right if an answer occurs in them.

CSV: item_id, category, phenomenon, [block], [tags], prompt, accepted (separated by ``|``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from poshgrid import plugins
from poshgrid.benchmark.reading import csvfile

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


files = csvfile.watched


def load(path: Path | None, options: Options, context: Context | None = None) -> Loaded:
    """Read prompts and their accepted continuations.

    Args:
        path: the CSV file.
        options: where an answer counts.
        context: not used.

    Returns:
        The columns of ``COMPLETIONS``.

    Raises:
        PoshgridError: as ``rows`` and ``check_blocks`` of
            :mod:`poshgrid.benchmark.reading.csvfile`; or a prompt ends in a blank.
    """
    import polars as pl

    from poshgrid.benchmark.schema import COMPLETIONS, Loaded

    records = []
    for row in csvfile.rows(path, ["prompt", "accepted"], ["block", "tags"]):
        prompt = row.cells["prompt"]
        if _BLANK.search(prompt):
            raise row.fault("the prompt ends in a blank; end it with its last word")
        records.append(
            {
                **{name: row.cells[name] for name in csvfile.ITEM},
                "block": row.cells.get("block", ""),
                "prompt": prompt,
                "accepted": csvfile.listed(row, "accepted"),
                "anywhere": options.answers == "anywhere",
                "tags": csvfile.listed(row, "tags"),
            }
        )
    items = pl.DataFrame(records, schema=COMPLETIONS)
    csvfile.check_blocks(path, items)
    return Loaded(items)
