"""Results on items with a tag (*negation*, *passive*) or two tags, and tests of them.

As in Capone, Suozzi, Lebani and Lenci (2024), section 5: how many negative clauses of all tests and
structures are right, and how many negative passives.
"""

from __future__ import annotations

import itertools
import math

import polars as pl
from scipy import stats

from poshgrid.statistics import intervals
from poshgrid.statistics.measures.schema import RUN, TAGS

_COUNTS = ("n", "raw", "n_rest", "raw_rest")


def crossed(answers: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return the results of one run on the items of each tag, and of each pair of tags.

    Args:
        answers: item_id and credit of every item.
        items: columns of ``CHOICES`` or ``COMPLETIONS``.

    Returns:
        The columns of ``TAGS`` without ``RUN``; empty if items have no tags.
    """
    tags = items.group_by("item_id").agg(pl.first("tags"))
    tagged = answers.select("item_id", "credit").join(tags, on="item_id").sort("item_id")
    names = tagged["tags"].explode().drop_nulls().unique().sort().to_list()
    rows = []
    for tag, other in itertools.product(names, ["", *names]):
        has = pl.col("tags").list.contains(tag)
        # Items with a tag are compared with those without it, and items with both tags with those
        # that have the first tag only.
        mine, among = (has, pl.lit(value=True)) if not other else (
            has & pl.col("tags").list.contains(other), has
        )  # fmt: skip
        members, rest = (tagged.filter(among & side)["credit"] for side in (mine, ~mine))
        if tag != other and len(members):
            sums = (len(members), math.fsum(members), len(rest), math.fsum(rest))
            rows.append((tag, other, *sums))
    schema = {name: TAGS[name] for name in ("tag", "other", *_COUNTS)}
    return tested(pl.DataFrame(rows, schema=schema, orient="row"))


def tested(counts: pl.DataFrame) -> pl.DataFrame:
    """Add accuracy, its interval and the test to counts.

    Args:
        counts: tag, other, n, raw, n_rest, raw_rest; further columns are kept.
    """
    results = []
    for n, raw, n_rest, raw_rest in counts.select(_COUNTS).iter_rows():
        results.append((raw / n, *intervals.wilson(raw, n), between(raw, n, raw_rest, n_rest)))
    kinds = dict.fromkeys(("accuracy", "low", "high", "p"), pl.Float64)
    both = counts.hstack(pl.DataFrame(results, schema=kinds, orient="row"))
    return both.select(name for name in TAGS if name in both.columns)


def pooled(tags: pl.DataFrame) -> pl.DataFrame:
    """Return the subsets of runs over all their suites.

    Args:
        tags: columns of ``TAGS``, of any number of suites.
    """
    key = [*(name for name in RUN if name != "suite"), "tag", "other"]
    counts = tags.group_by(key, maintain_order=True).agg(pl.col(_COUNTS).sum())
    return tested(counts.sort(key))


def between(raw: float, n: int, raw_rest: float, n_rest: int) -> float | None:
    """Return the two-sided p of Fisher's exact test of two shares; None if one has no items.

    Fractional numbers (ties) are rounded down and up, and the largest p value is returned.
    """
    if not n or not n_rest:
        return None
    whole = [{math.floor(v + 1e-9), math.ceil(v - 1e-9)} for v in (raw, raw_rest)]
    return max(
        float(stats.fisher_exact([[a, n - a], [b, n_rest - b]]).pvalue)
        for a, b in itertools.product(*whole)
    )
