"""From two scores to a judgement: right (1), wrong (0), or a tie (one half)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from poshgrid.config import Scoring

TIE = 1e-6
"""Nats a token within which two scores are equal: they are reproducible to that order only."""


def judge(scores: pl.DataFrame, scoring: Scoring) -> pl.DataFrame:
    """Judge every pair.

    Args:
        scores: table with the columns of ``SCORES``.
        scoring: ``reduction: mean`` compares perplexity, exp(mean negative log-probability), where
            the lower wins (paper, section 4.2); ``sum`` compares log-probability, where the higher
            wins.

    Returns:
        ``scores`` with three more columns: ``good_score`` and ``bad_score`` (perplexity per token,
        or the log-probability in nats) and ``correct`` (1, 0, or 0.5 for a tie).
    """
    good, bad = (_compared(member, scoring.reduction) for member in ("good", "bad"))
    margin = good - bad  # nats (per token, if means are compared); positive is right
    perplexity = scoring.reduction == "mean"
    tokens = pl.lit(1) if perplexity else pl.max_horizontal("good_tokens", "bad_tokens")
    return scores.with_columns(
        good_score=(-good).exp() if perplexity else good,
        bad_score=(-bad).exp() if perplexity else bad,
        correct=pl.when(margin.abs() <= TIE * tokens)
        .then(0.5)
        .when(margin > 0)
        .then(1.0)
        .otherwise(0.0),
    )


def ties(judged: pl.DataFrame) -> int:
    """Return the number of ties among judged pairs."""
    return judged.filter(pl.col("correct") == 0.5).height


def _compared(member: str, reduction: str) -> pl.Expr:
    logprob = pl.col(f"{member}_logprob")
    return logprob / pl.col(f"{member}_tokens") if reduction == "mean" else logprob
