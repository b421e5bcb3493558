"""Sets of filler x gap: the log-probability of the critical region, in the context before it.

The surprisal of a region of several tokens is the sum over them (Pistotti et al., 2025; the earlier
study, Lan et al., 2024, takes the mean).
"""

from __future__ import annotations

import polars as pl

from poshgrid.errors import PoshgridError
from poshgrid.evaluation.engine import Engine, Request
from poshgrid.evaluation.schema import PARADIGM_SCORES as SCHEMA


def score(suite: str, items: pl.DataFrame, engine: Engine, *, step: int | None) -> pl.DataFrame:
    """Score the critical region of each sentence.

    Args:
        suite: its name, for error messages.
        items: ``benchmark.schema.PARADIGMS``.
        engine: the model.
        step: of the checkpoint; none: the model that training kept.

    Returns:
        ``PARADIGM_SCORES``, in the order of ``items``.

    Raises:
        PoshgridError: a region is empty or does not begin and end where tokens do, or a sentence
            cannot be scored.
    """
    requests = []
    for item, filler, gap, text, start, end in items.select(
        "item_id", "filler", "gap", "text", "start", "end"
    ).iter_rows():
        name = f"{suite}: item {item} ({'+' if filler else '-'}filler {'+' if gap else '-'}gap)"
        if not text[start:end].strip():
            raise PoshgridError(f"{name}: the critical region of {text!r} is empty; mend the suite")
        requests.append(Request(text, name, (start, end)))
    found = engine.score(requests)
    return items.select(
        "item_id",
        pl.lit(step, SCHEMA["step"]).alias("step"),
        "filler",
        "gap",
        pl.Series("logprob", [one.region_logprob for one in found], SCHEMA["logprob"]),
        pl.Series("tokens", [one.region_tokens for one in found], SCHEMA["tokens"]),
    )
