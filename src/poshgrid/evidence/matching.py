"""Choose evidence to put back and the sentences that it replaces, with an integer program.

The program does not distinguish sentences of the same source and length, so its variables are
counts: how many sentences of evidence of length *l* are put back in source *s*, and how many
sentences of length *m* they replace. Within a source the two are paired in the order of their
lengths, which is the pairing with the smallest sum of differences. That sum is the area between the
two cumulative counts, so that the program can minimise it without a variable for each pair of
lengths.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pulp

from poshgrid.core import solver
from poshgrid.core.database import Database
from poshgrid.core.errors import PoshgridError

_FAITHFUL = 20  # cost, in words, of one sentence fewer than wanted of a source and length
_GAP = 0.05  # accepted relative gap: proving the last percents takes minutes

Cell = tuple[str, int]
"""A source and a length in words."""


def match(
    database: Database,
    pool: str,
    needed: int,
    sentences: str,
    words: dict[str, int],
    tolerance: float,
    generator: np.random.Generator,
) -> dict[str, float]:
    """Choose the evidence that is put back and the sentences that it replaces: table ``places``.

    Every sentence of evidence replaces one of its own source. The program keeps the words of each
    source within the tolerance. Among the solutions it prefers the first ``needed`` of the pool, or
    others of the same source and length, and then replaced sentences of the same length.

    Args:
        database: gets the table ``places``: ``place``, the sent_id of the replaced sentence, and
            the ``sent_id``, ``source`` and ``n_words`` of the evidence.
        pool: query for ``sent_id``, ``source``, ``n_words`` and ``nth`` of the evidence; ``nth``
            counts from 0, the best first.
        needed: how many to put back.
        sentences: query for ``sent_id``, ``source`` and ``n_words`` of those that may be replaced.
        words: source -> its words before the exchange.
        tolerance: largest change of a source's words, as a share of them.
        generator: chooses among sentences of the same source and length.

    Returns:
        Source -> words gained, as a share of the source's words.

    Raises:
        PoshgridError: no choice is within the tolerance; the message names the source that lacks
            sentences.
    """
    words = Counter(words)  # a source of evidence may have no sentence left
    supply, demand = _counts(database, pool), _counts(database, sentences)
    wanted = Counter(_counts(database, f"from ({pool}) where nth < {needed}"))
    chosen = _solve(supply, demand, wanted, words, tolerance)
    if chosen is None:
        raise PoshgridError(_shortage(demand, wanted, words, tolerance))
    taken, leaving = chosen
    number_rows(database, "free", sentences, "sent_id", generator.random(sum(demand.values())))
    evidence = _first(database, "taken", f"from ({pool})", taken)
    free = _first(database, "given", "from free", leaving)
    database.run(
        "create or replace table places as "
        "select free.sent_id as place, evidence.sent_id, evidence.source, evidence.n_words "
        f"from ({evidence}) evidence join ({free}) free using (number)"
    )
    gained: Counter[str] = Counter()
    for sign, cells in ((1, taken), (-1, leaving)):
        for (source, length), count in cells.items():
            gained[source] += sign * length * count
    return {s: round(gained[s] / words[s], 8) for s in sorted(words) if words[s]}


def _counts(database: Database, query: str) -> dict[Cell, int]:
    counted = f"select source, n_words, count(*) from ({query}) group by all order by all"
    return {(source, length): count for source, length, count in database.rows(counted)}


def number_rows(
    database: Database, table: str, query: str, order: str, numbers: np.ndarray
) -> None:
    """Make a table of rows with a number for each, ``nth``.

    Args:
        database: gets the table.
        table: name of the table; an existing one is replaced.
        query: the rows.
        order: SQL order of the rows.
        numbers: the numbers, in this order.
    """
    database.load("numbers", [pl.DataFrame({"nth": numbers}).with_row_index("row")])
    database.run(
        f"create or replace table {table} as "
        "select sent_id, source, n_words, numbers.nth from numbers "
        f"join (select *, row_number() over (order by {order}) - 1 as row from ({query})) "
        "using (row)"
    )


def _first(database: Database, table: str, query: str, counts: dict[Cell, int]) -> str:
    """Return a query for the first ``counts[cell]`` rows of each cell, with their ``number``.

    Args:
        database: gets a table of the counts.
        table: name of this table.
        query: rows with their order, ``nth``.
        counts: cell -> number of rows.
    """
    schema: dict[str, Any] = {"source": pl.String, "n_words": pl.UInt32, "count": pl.UInt32}
    rows = [(*cell, count) for cell, count in counts.items()]
    database.load(table, [pl.DataFrame(rows, schema=schema, orient="row")])
    return (
        "select *, row_number() over (order by source, n_words, nth, sent_id) as number from "
        f"(from ({query}) join {table} using (source, n_words) qualify "
        "row_number() over (partition by source, n_words order by nth, sent_id) <= count)"
    )


def _solve(
    supply: dict[Cell, int],
    demand: dict[Cell, int],
    wanted: Counter[Cell],
    words: dict[str, int],
    tolerance: float,
) -> tuple[dict[Cell, int], dict[Cell, int]] | None:
    """Return how many of each cell are put back and are replaced; ``None`` if impossible."""
    program = pulp.LpProblem("reinsertion", pulp.LpMinimize)
    taken, leaving = _variables("t", supply), _variables("g", demand)
    cost: list[pulp.LpAffineExpression] = []
    for number, (cell, variable) in enumerate(taken.items()):
        fewer = pulp.LpVariable(f"f{number}", 0)
        program += variable + fewer >= wanted[cell]
        cost.append(_FAITHFUL * fewer)
    for source in sorted({source for source, _ in supply}):
        lengths = sorted({length for s, length in (*taken, *leaving) if s == source})
        ahead = pulp.LpAffineExpression()  # number put back minus number replaced, up to a length
        gained = pulp.LpAffineExpression()
        for number, length in enumerate(lengths):
            come, go = taken.get((source, length), 0), leaving.get((source, length), 0)
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
    program += pulp.lpSum(leaving.values()) == sum(wanted.values())
    program.setObjective(pulp.lpSum(cost))
    status = solver.solve(program, gapRel=_GAP)
    if pulp.LpStatus[status] != "Optimal":
        return None
    return _values(taken), _values(leaving)


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
    """Return a message that says which sources lack sentences, if any does."""
    lacking = Counter[str]()
    for sign, cells in ((1, wanted), (-1, demand)):
        for (source, _), number in cells.items():
            lacking[source] += sign * number
    short = ", ".join(repr(source) for source in sorted(lacking) if lacking[source] > 0)
    why = f"too few sentences of {short}" if short else "evidence is longer than the sentences"
    return (
        f"no exchange of {sum(wanted.values()):,} sentences keeps the words of each source within "
        f"{tolerance:.2%}: {why}"
    )
