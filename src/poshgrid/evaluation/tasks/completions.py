"""Beginnings of sentences that a model completes (Capone et al., 2024): beam search, three beams.

A completion is right if an accepted continuation appears in it, case aside, between ends of words:
"were" is not accepted in "weren't".
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from poshgrid.evaluation.engine import Engine
from poshgrid.evaluation.schema import COMPLETION_SCORES as SCHEMA

BEAMS = 3
TOKENS = 3
_INSIDE = frozenset("'’-_")  # beside letters and digits, what a word goes on with


def score(suite: str, items: pl.DataFrame, engine: Engine, *, step: int | None) -> pl.DataFrame:
    """Complete every prompt and judge what was written.

    Args:
        suite: its name; unused, as prompts are named by their text.
        items: ``benchmark.schema.COMPLETIONS``.
        engine: the model.
        step: of the checkpoint; none: the model that training kept.

    Returns:
        ``COMPLETION_SCORES``, in the order of ``items``.

    Raises:
        PoshgridError: the model writes nothing, or a prompt is empty or too long for it.
    """
    del suite
    prompts = list(dict.fromkeys(items["prompt"]))
    written = engine.complete(prompts, beams=BEAMS, tokens=TOKENS)
    known = dict(zip(prompts, written, strict=True))
    completions = [known[prompt] for prompt in items["prompt"]]
    correct = [
        accepts(completion, accepted)
        for completion, accepted in zip(completions, items["accepted"].to_list(), strict=True)
    ]
    return items.select(
        "item_id",
        pl.lit(step, SCHEMA["step"]).alias("step"),
        pl.Series("completion", completions, SCHEMA["completion"]),
        pl.Series("correct", correct, SCHEMA["correct"]),
    )


def accepts(completion: str, accepted: Sequence[str]) -> bool:
    """Say whether an accepted continuation appears in a completion, between ends of words."""
    written = completion.strip().casefold()
    for one in accepted:
        wanted = one.strip().casefold()
        at = written.find(wanted) if wanted else -1
        while at >= 0:
            if not _goes_on(written, at) and not _goes_on(written, at + len(wanted)):
                return True
            at = written.find(wanted, at + 1)
    return False


def _goes_on(written: str, end: int) -> bool:
    """Say whether a word goes on at a place: there is part of it on either side."""
    if end in (0, len(written)) or not _in_word(written[end - 1]):
        return False
    return _in_word(written[end])


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter in _INSIDE
