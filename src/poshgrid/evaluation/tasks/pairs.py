"""Minimal pairs: the log-probability of both members."""

from __future__ import annotations

import polars as pl

from poshgrid.evaluation.engine import Engine, Request, Score
from poshgrid.evaluation.schema import SCORES, TOKENS

MEMBERS = ("good", "bad")


def score(suite: str, items: pl.DataFrame, engine: Engine, *, step: int | None) -> pl.DataFrame:
    """Score both members of every pair.

    Args:
        suite: its name, for error messages.
        items: ``benchmark.schema.ITEMS``.
        engine: the model.
        step: of the checkpoint; none: the model that training kept.

    Returns:
        ``SCORES``, in the order of ``items``.

    Raises:
        PoshgridError: a sentence cannot be scored.
    """
    return _table(items, engine.score(requests(suite, items)), step)


def score_tokens(
    suite: str, items: pl.DataFrame, engine: Engine, *, step: int | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score both members of every pair, and say what each token is worth; see :func:`score`.

    Returns:
        ``SCORES`` and ``TOKENS``.
    """
    found = engine.score(requests(suite, items), per_token=True)
    columns: dict[str, list[object]] = {name: [] for name in TOKENS if name != "step"}
    for item, both in zip(items["item_id"], _both(found), strict=True):
        for member, scored in zip(MEMBERS, both, strict=True):
            for position, token in enumerate(scored.each):
                row = (item, member, position, token.text, token.logprob)
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
    types = {name: TOKENS[name] for name in columns}
    tokens = pl.DataFrame(columns, schema=types).with_columns(_step(step)).select(list(TOKENS))
    return _table(items, found, step), tokens


def requests(suite: str, items: pl.DataFrame) -> list[Request]:
    """Return the sentences of a suite: good, bad, good, bad ..."""
    return [
        Request(text, f"{suite}: item {item} ({member})")
        for item, *texts in items.select("item_id", *MEMBERS).iter_rows()
        for member, text in zip(MEMBERS, texts, strict=True)
    ]


def _table(items: pl.DataFrame, found: list[Score], step: int | None) -> pl.DataFrame:
    both = _both(found)
    return pl.DataFrame(
        {
            "item_id": items["item_id"],
            "good_logprob": [good.logprob for good, _ in both],
            "bad_logprob": [bad.logprob for _, bad in both],
            "good_tokens": [good.tokens for good, _ in both],
            "bad_tokens": [bad.tokens for _, bad in both],
        },
        schema_overrides={name: SCORES[name] for name in SCORES if name != "step"},
    ).select(pl.col("item_id"), _step(step), pl.exclude("item_id"))


def _both(found: list[Score]) -> list[tuple[Score, Score]]:
    return list(zip(found[::2], found[1::2], strict=True))


def _step(step: int | None) -> pl.Expr:
    return pl.lit(step, SCORES["step"]).alias("step")
