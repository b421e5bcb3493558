"""Choosing evidence to put back and the sentences whose places it takes: an integer program.

Sentences of one source and one length are alike to it, so that its variables are counts: how many
sentences of evidence of length *l* come in from source *s*, and how many of length *m* give way.
Within a source the two are then paired in the order of their lengths, which is the pairing with
the smallest sum of differences; that sum is the area between the two cumulative counts, so that
the program can minimise it without a variable for each pair of lengths.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import polars as pl
import pulp

from poshgrid import solver
from poshgrid.errors import PoshgridError

_FAITHFUL = 20  # one sentence more or less of a source and length weighs as so many words
_GAP = 0.05  # a solution so near to the best is taken: the proof of the last percents takes minutes

Cell = tuple[str, int]
"""A source and a length in words."""


@dataclass(frozen=True)
class Matching:
    """Which evidence takes whose place.

    Attributes:
        places: sent_id of the sentence that gives way -> sent_id of the evidence.
        words_difference: source -> words gained, as a share of the source's words.
    """

    places: dict[int, int]
    words_difference: dict[str, float]


def match(
    pool: pl.DataFrame,
    number: int,
    sentences: pl.DataFrame,
    words: dict[str, int],
    tolerance: float,
    generator: np.random.Generator,
) -> Matching:
    """Return the evidence that is put back and the sentences that it replaces.

    Every sentence of evidence takes the place of one of its own source. The program keeps the
    words of each source within the tolerance; among the solutions it prefers the first ``number``
    of the pool, or others of their source and length, and then places of their own length.

    Args:
        pool: ``sent_id``, ``source``, ``n_words`` of the evidence, best first.
        number: how many to put back.
        sentences: the same of the sentences that may give way, in any order.
        words: source -> its words before the exchange.
        tolerance: largest change of a source's words, as a share of them.
        generator: chooses among sentences of one source and length.

    Raises:
        PoshgridError: no choice keeps to the tolerance; the message names the source that is short.
    """
    if pool.height < number:
        raise PoshgridError(
            f"{number:,} sentences of evidence are asked for, {pool.height:,} there are; "
            "lower reinsert.rate"
        )
    wanted = Counter(cell for cell in pool.head(number).select("source", "n_words").iter_rows())
    supply, demand = _counts(pool), _counts(sentences)
    chosen = _solve(supply, demand, wanted, words, tolerance)
    if chosen is None:
        raise PoshgridError(_shortage(demand, wanted, words, tolerance))
    taken, given = chosen
    shuffled = sentences.with_columns(key=generator.random(sentences.height)).sort("key")
    evidence, free = _first(pool, taken), _first(shuffled, given)
    places = dict(zip(free["sent_id"], evidence["sent_id"], strict=True))
    gained: Counter[str] = Counter()
    for sign, cells in ((1, taken), (-1, given)):
        for (source, length), count in cells.items():
            gained[source] += sign * length * count
    return Matching(places, {s: round(gained[s] / words[s], 8) for s in sorted(words) if words[s]})


def _counts(frame: pl.DataFrame) -> dict[Cell, int]:
    counted = frame.group_by("source", "n_words").len().sort("source", "n_words")
    return {(source, length): count for source, length, count in counted.iter_rows()}


def _first(frame: pl.DataFrame, counts: dict[Cell, int]) -> pl.DataFrame:
    """Return the first ``counts[cell]`` rows of each cell, by source and length."""
    wanted = pl.DataFrame(
        [(*cell, count) for cell, count in sorted(counts.items())],
        schema={"source": pl.String, "n_words": pl.UInt32, "count": pl.UInt32},
        orient="row",
    )
    return (
        frame.with_columns(pl.col("source").cast(pl.String))
        .join(wanted, on=["source", "n_words"], maintain_order="left")
        .filter(pl.int_range(pl.len()).over("source", "n_words") < pl.col("count"))
        .sort("source", "n_words", maintain_order=True)
    )


def _solve(
    supply: dict[Cell, int],
    demand: dict[Cell, int],
    wanted: Counter[Cell],
    words: dict[str, int],
    tolerance: float,
) -> tuple[dict[Cell, int], dict[Cell, int]] | None:
    """Return how many of each cell are put back and how many give way; ``None``: infeasible."""
    program = pulp.LpProblem("reinsertion", pulp.LpMinimize)
    taken, given = _variables("t", supply), _variables("g", demand)
    cost: list[pulp.LpAffineExpression] = []
    for number, (cell, variable) in enumerate(taken.items()):
        fewer = pulp.LpVariable(f"f{number}", 0)
        program += variable + fewer >= wanted[cell]
        cost.append(_FAITHFUL * fewer)
    for source in sorted({source for source, _ in supply}):
        lengths = sorted({length for s, length in (*taken, *given) if s == source})
        ahead = pulp.LpAffineExpression()  # put back, less given way, up to a length
        gained = pulp.LpAffineExpression()
        for number, length in enumerate(lengths):
            come, go = taken.get((source, length), 0), given.get((source, length), 0)
            ahead += come - go
            gained += length * come - length * go
            if number + 1 < len(lengths):
                apart = pulp.LpVariable(f"a_{source}_{length}", 0)
                program += apart >= ahead.copy()
                program += apart >= -ahead
                cost.append((lengths[number + 1] - length) * apart)
        program += ahead == 0
        program += gained <= tolerance * words[source]
        program += gained >= -tolerance * words[source]
    program += pulp.lpSum(taken.values()) == sum(wanted.values())
    program += pulp.lpSum(given.values()) == sum(wanted.values())
    program.setObjective(pulp.lpSum(cost))
    status = solver.solve(program, gapRel=_GAP)
    if pulp.LpStatus[status] != "Optimal":
        return None
    return _values(taken), _values(given)


def _variables(kind: str, counts: dict[Cell, int]) -> dict[Cell, pulp.LpVariable]:
    return {
        cell: pulp.LpVariable(f"{kind}{number}", 0, count, pulp.LpInteger)
        for number, (cell, count) in enumerate(counts.items())
    }


def _values(variables: dict[Cell, pulp.LpVariable]) -> dict[Cell, int]:
    return {cell: n for cell, v in variables.items() if (n := round(v.value() or 0))}


def _shortage(
    demand: dict[Cell, int], wanted: Counter[Cell], words: dict[str, int], tolerance: float
) -> str:
    """Say which source is short of what."""
    found = []
    for source in sorted({source for source, _ in wanted}):
        evidence = sorted(
            length for (s, length), n in wanted.items() if s == source for _ in range(n)
        )
        longest = sorted(
            (length for (s, length), n in demand.items() if s == source for _ in range(n)),
            reverse=True,
        )
        if len(longest) < len(evidence):
            found.append(
                f"source {source!r} has {len(longest):,} sentences that can give way to "
                f"{len(evidence):,}"
            )
            continue
        surplus = sum(evidence) - sum(longest[: len(evidence)])
        limit = int(tolerance * words[source])
        if surplus > limit:
            found.append(
                f"source {source!r} would gain at least {surplus:,} words of {words[source]:,}, "
                f"{limit:,} are allowed: its evidence is longer than its sentences"
            )
    return (
        f"no exchange of {sum(wanted.values()):,} sentences keeps the words of each source within "
        f"{tolerance:.2%}: {'; '.join(found) or 'all sources together are short'}; "
        "lower reinsert.rate, raise reinsert.tolerance, or give the base more words"
    )
