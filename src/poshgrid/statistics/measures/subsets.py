"""Subsets of items by their tags (*negation*, *passive*), crossed with each other, and tested.

Capone, Suozzi, Lebani and Lenci (2024), section 5: of the negative clauses, which cut across tests
and structures, how many are right, and how many of them are passives.
"""

from __future__ import annotations

import itertools
import math

import polars as pl
from scipy import stats

from poshgrid.files import Schema
from poshgrid.statistics import intervals
from poshgrid.statistics.measures.schema import RUN, TAGS

_COUNTS = ("n", "raw", "n_rest", "raw_rest")
_RESULT: Schema = {name: kind for name, kind in TAGS.items() if name not in RUN}


def crossed(answers: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return what one run achieved on the items of each tag, and of each two of them.

    Args:
        answers: item_id and credit of every item.
        items: columns of ``CHOICES`` or ``COMPLETIONS``.

    Returns:
        The columns of ``TAGS`` without ``RUN``; no row without tags.
    """
    tags = items.group_by("item_id").agg(pl.first("tags"))
    tagged = answers.select("item_id", "credit").join(tags, on="item_id").sort("item_id")
    names = tagged["tags"].explode().drop_nulls().unique().sort().to_list()
    rows = []
    for tag, other in itertools.product(names, ["", *names]):
        has = pl.col("tags").list.contains(tag)
        # What a tag is compared with: the items without it; two tags: those of the first alone.
        mine, among = (has, pl.lit(value=True)) if not other else (
            has & pl.col("tags").list.contains(other), has
        )  # fmt: skip
        members, rest = tagged.filter(mine), tagged.filter(among & ~mine)
        if tag != other and members.height:
            sums = [
                len(members),
                math.fsum(members["credit"]),
                len(rest),
                math.fsum(rest["credit"]),
            ]
            rows.append({"tag": tag, "other": other, **dict(zip(_COUNTS, sums, strict=True))})
    return tested(
        pl.DataFrame(
            rows, schema={n: k for n, k in _RESULT.items() if n in ("tag", "other", *_COUNTS)}
        )
    )


def tested(counts: pl.DataFrame) -> pl.DataFrame:
    """Add accuracy, its interval and the test to counts.

    Args:
        counts: tag, other, n, raw, n_rest, raw_rest, and columns that name what they are of.
    """
    rows = []
    for row in counts.iter_rows(named=True):
        low, high = intervals.wilson(row["raw"], row["n"])
        p = between(*(row[name] for name in ("raw", "n", "raw_rest", "n_rest")))
        rows.append({"accuracy": row["raw"] / row["n"], "low": low, "high": high, "p": p})
    kinds = {name: _RESULT[name] for name in ("accuracy", "low", "high", "p")}
    both = pl.concat([counts, pl.DataFrame(rows, schema=kinds)], how="horizontal")
    return both.select(*(n for n in counts.columns if n not in _RESULT), *_RESULT)


def pooled(found: pl.DataFrame) -> pl.DataFrame:
    """Return the subsets of runs over all their suites.

    Args:
        found: columns of ``TAGS``, of any number of suites.
    """
    key = [*(name for name in RUN if name != "suite"), "tag", "other"]
    counts = found.group_by(key, maintain_order=True).agg(pl.col(_COUNTS).sum())
    return tested(counts.sort(key))


def between(raw: float, n: int, raw_rest: float, n_rest: int) -> float | None:
    """Return the two-sided p of Fisher's exact test of two shares; null where one has no items.

    Ties make fractional numbers right: each is tested as both its neighbours, and the largest p is
    given.
    """
    if not n or not n_rest:
        return None
    whole = [{math.floor(v + 1e-9), math.ceil(v - 1e-9)} for v in (raw, raw_rest)]
    return max(
        float(stats.fisher_exact([[a, n - a], [b, n_rest - b]]).pvalue)
        for a, b in itertools.product(*whole)
    )
