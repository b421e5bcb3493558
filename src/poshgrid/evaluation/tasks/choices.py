"""Stimuli with options: the log-probability of the whole text with each option."""

from __future__ import annotations

import polars as pl

from poshgrid.evaluation.engine import Engine, Request
from poshgrid.evaluation.schema import CHOICE_SCORES as SCHEMA


def score(suite: str, items: pl.DataFrame, engine: Engine, *, step: int | None) -> pl.DataFrame:
    """Score every option.

    Args:
        suite: its name, for error messages.
        items: ``benchmark.schema.CHOICES``.
        engine: the model.
        step: of the checkpoint; none: the model that training kept.

    Returns:
        ``CHOICE_SCORES``, in the order of ``items``.

    Raises:
        PoshgridError: a text cannot be scored.
    """
    requests = [
        Request(text, f"{suite}: item {item} (option {option})")
        for item, option, text in items.select("item_id", "option", "text").iter_rows()
    ]
    found = engine.score(requests)
    return items.select(
        "item_id",
        pl.lit(step, SCHEMA["step"]).alias("step"),
        "option",
        pl.Series("logprob", [one.logprob for one in found], SCHEMA["logprob"]),
        pl.Series("tokens", [one.tokens for one in found], SCHEMA["tokens"]),
    )
