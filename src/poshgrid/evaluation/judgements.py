"""From score files to judged pairs: is the grammatical member the more probable one?

A pair is judged right (1), wrong (0), or a tie (one half).
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import polars as pl

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Scoring
from poshgrid.core import files
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation.schema import SCORES

TIE = 1e-6
"""Two scores are equal if they differ by at most this (nats per token), because scores are not
reproducible more exactly."""


def judge(scores: pl.DataFrame, scoring: Scoring) -> pl.DataFrame:
    """Judge every pair.

    Args:
        scores: table with the columns of ``SCORES``.
        scoring: ``reduction: mean`` compares perplexity, exp(mean negative log-probability), where
            the lower wins (paper, section 4.2); ``sum`` compares log-probability, where the higher
            wins.

    Returns:
        ``scores`` with one more column: ``correct`` (1, 0, or 0.5 for a tie).
    """
    means = scoring.reduction == "mean"
    good, bad = (
        pl.col(f"{member}_logprob") / (pl.col(f"{member}_tokens") if means else 1)
        for member in ("good", "bad")
    )
    margin = good - bad  # nats (per token, if means are compared); positive is right
    tokens = pl.lit(1) if means else pl.max_horizontal("good_tokens", "bad_tokens")
    return scores.with_columns(
        correct=pl.when(margin.abs() <= TIE * tokens)
        .then(0.5)
        .when(margin > 0)
        .then(1.0)
        .otherwise(0.0),
    )


REDUCTIONS = {f"by_{name}": name for name in get_args(Scoring.model_fields["reduction"].annotation)}
"""Column of a judgement -> how the log-probabilities of its tokens are reduced."""

_NAMES = ("item_id", "category", "phenomenon", "template", "lexical_set")
_DESIGN = ("cell", "joint")
AGAIN = "score the run again: `poshgrid run -R score`"
JOINED = ["category", "phenomenon", "template", "lexical_set"]
"""Joint pairs with the same values in these columns are judged together."""


def read_items(path: str | Path) -> pl.DataFrame:
    """Return a suite's pairs (columns of ``PAIRS``).

    Raises:
        PoshgridError: the file is missing or has other columns.
    """
    return files.read_table(path, PAIRS)


def steps(path: str | Path) -> list[int]:
    """Return the steps of the checkpoints in a score file, ascending.

    Raises:
        PoshgridError: the file is missing or has other columns.
    """
    return files.read_table(path, SCORES, ["step"])["step"].drop_nulls().unique().sort().to_list()


def judged(
    path: str | Path, items: pl.DataFrame, scoring: Scoring, step: int | None = None
) -> pl.DataFrame:
    """Return the judgements of one run on one suite.

    Joint pairs of a lexical set and template are judged together: they are one row, with the
    item_id of the first, no cell, and the sums of their log-probabilities and tokens.

    Args:
        path: score file of the run.
        items: the suite's pairs, from :func:`read_items`: at least item_id, category, phenomenon,
            template, lexical_set, cell and joint.
        scoring: how two scores become a judgement.
        step: of a checkpoint; default: the weights that training kept.

    Returns:
        Sorted by item: ``item_id, category, phenomenon, template, lexical_set, cell, correct`` (1
        right, 0 wrong, .5 tie); ``by_mean`` and ``by_sum``: the judgement if scores are means or
        sums over tokens; ``good_tokens, bad_tokens``; ``margin``: log P(good) - log P(bad) in nats,
        always of sums over tokens.

    Raises:
        PoshgridError: the file is missing or lacks the step; it has a pair twice, lacks a pair, or
            has one that is not in the suite; or a score is not a number.
    """
    where = f"{path}" if step is None else f"{path}: step {step:,}"
    # The scorer writes a row group for each step, so that only this step is read
    scores = files.read_table(path, SCORES, only=("step", step))
    if step is not None and scores.is_empty():
        known = ", ".join(f"{number:,}" for number in steps(path)) or "none"
        raise PoshgridError(f"{where}: no such step (steps: {known}); {AGAIN}")
    pairs = _joined(matched(scores, items.select(*_NAMES, *_DESIGN), where)).sort("item_id")
    either = {
        column: judge(pairs, scoring.model_copy(update={"reduction": reduction}))["correct"]
        for column, reduction in REDUCTIONS.items()
    }
    configured = either[f"by_{scoring.reduction}"]
    margin = pl.col("good_logprob") - pl.col("bad_logprob")
    return pairs.select(*_NAMES, "cell", "good_tokens", "bad_tokens", margin=margin).with_columns(
        correct=configured, **either
    )


def matched(scores: pl.DataFrame, items: pl.DataFrame, where: str | Path) -> pl.DataFrame:
    """Join items with the scores of one step, one to one.

    Args:
        scores: of the kept model, or of a checkpoint.
        items: of the suite; the columns in both tables are the key.
        where: name of the scores in messages.

    Raises:
        PoshgridError: an item has no score or two scores, or a score has no item; a log-probability
            is not a number, or has no tokens.
    """
    scores = scores.drop("step")
    key = [name for name in scores.columns if name in items.columns]
    duplicates = scores.filter(pl.struct(key).is_duplicated())
    alone = [a.join(b, on=key, how="anti") for a, b in ((items, scores), (scores, items))]
    unmatched = pl.concat([frame.select("item_id") for frame in (duplicates, *alone)])
    if unmatched.height:
        raise PoshgridError(
            f"{where}: {unmatched.height} scores and items have no match, or two, first "
            f"{unmatched['item_id'].min()!r}: the items may have changed since; {AGAIN}"
        )
    both = items.join(scores, on=key)
    known = pl.all_horizontal(pl.col(r"^(.*_)?logprob$").is_finite(), pl.col(r"^(.*_)?tokens$") > 0)
    bad = both.filter(~known.fill_null(value=False)) if "completion" not in both.columns else None
    if bad is not None and bad.height:
        raise PoshgridError(
            f"{where}: {bad.height} scores are not numbers or count no token, first of "
            f"{bad['item_id'].min()!r}; check that the run's training loss is finite, then {AGAIN}"
        )
    return both


def _joined(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with one row for joint pairs: log-probabilities and tokens are added."""
    joint = scores.filter("joint")
    if joint.is_empty():
        return scores
    members = ["good_logprob", "bad_logprob", "good_tokens", "bad_tokens"]
    sums = (
        joint.sort("item_id")
        .group_by(JOINED)
        .agg(pl.col("item_id").first(), pl.col(members).sum(), cell=pl.lit(""))
    )
    return pl.concat([scores.filter(~pl.col("joint")), sums], how="diagonal_relaxed")
