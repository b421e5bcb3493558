"""From score files to judged pairs: is the grammatical member the more probable one?"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from poshgrid import files
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import Scoring
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import judge
from poshgrid.evaluation.schema import SCORES


def read_items(path: str | Path) -> pl.DataFrame:
    """Return a suite's pairs (columns of ``ITEMS``).

    Raises:
        PoshgridError: missing file, no pair, or an item_id that occurs twice.
    """
    items = files.read_table(path, ITEMS)
    if items.is_empty():
        raise PoshgridError(f"{path}: no pairs; check the suite's options and make it again")
    _unique(items, path, "make the suite's items again (poshgrid items)")
    return items


def judged(path: str | Path, items: pl.DataFrame, scoring: Scoring) -> pl.DataFrame:
    """Return the pairs that one run judged on one suite, with the weights that it kept.

    Args:
        path: score file of the run.
        items: the suite's pairs, from :func:`read_items`.
        scoring: how two scores become a judgement.

    Returns:
        ``category, phenomenon, lexical_set, correct`` (1 right, 0 wrong, .5 tie), sorted by item.

    Raises:
        PoshgridError: the file is missing, holds a pair twice, lacks a pair or holds one that the
            suite does not have, or a score is not a number.
    """
    again = "score the run again (poshgrid score)"
    scores = files.read_table(path, SCORES).filter(pl.col("step").is_null())
    _unique(scores, path, again)
    unscored = items.join(scores, on="item_id", how="anti")
    if unscored.height:
        raise PoshgridError(
            f"{path}: {unscored.height} of {items.height} pairs have no score, "
            f"first {_first(unscored)!r}; {again}"
        )
    unknown = scores.join(items, on="item_id", how="anti")
    if unknown.height:
        raise PoshgridError(
            f"{path}: {unknown.height} scored pairs are not in the suite, "
            f"first {_first(unknown)!r}: the items have changed since; {again}"
        )
    bad = scores.filter(
        ~pl.all_horizontal(pl.col("good_logprob", "bad_logprob").is_finite().fill_null(value=False))
        | (pl.min_horizontal("good_tokens", "bad_tokens").fill_null(0) == 0)
    )
    if bad.height:
        raise PoshgridError(
            f"{path}: {bad.height} pairs have a score that is not a number or counts no token, "
            f"first {_first(bad)!r}; check that the run's training loss is finite, then {again}"
        )
    return (
        judge.judge(scores, scoring)
        .join(items.select("item_id", "category", "phenomenon", "lexical_set"), on="item_id")
        .sort("item_id")
        .select("category", "phenomenon", "lexical_set", "correct")
    )


def _unique(frame: pl.DataFrame, path: str | Path, remedy: str) -> None:
    twice = frame.filter(pl.col("item_id").is_duplicated())
    if twice.height:
        raise PoshgridError(f"{path}: item_id {_first(twice)!r} occurs twice; {remedy}")


def _first(frame: pl.DataFrame) -> str:
    return frame["item_id"].sort()[0]
