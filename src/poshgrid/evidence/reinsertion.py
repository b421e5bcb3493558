"""Putting evidence back into a condition, at its natural rate or in doses (paper, section 3.1)."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from poshgrid.config import Filter, specs
from poshgrid.errors import PoshgridError
from poshgrid.evidence.matching import match, number
from poshgrid.evidence.patterns import pool
from poshgrid.evidence.removal import Chosen, direct
from poshgrid.evidence.schema import column
from poshgrid.evidence.sentences import Base


def reinsert(
    base: Base, spec: specs.ConditionSpec, chosen: Chosen, *, allow: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """Choose the evidence that is put back into a condition: table ``swaps``.

    It comes from what the condition goes without, that of its own size first: a sentence that it
    holds already is not put back a second time. What is evidence for another of its filters, too,
    stays out: it would raise the rate of both.

    Args:
        base: all sentences; gets the table, see :func:`poshgrid.evidence.matching.match`.
        spec: the condition.
        chosen: its sentences.
        allow: what is no mistake; `void`: to put nothing back.

    Returns:
        Facts for each filter.

    Raises:
        PoshgridError: there is none or too little of it, or no exchange keeps the sources' words.
    """
    condition = spec.condition
    facts: dict[str, dict[str, Any]] = {}
    base.database.run(
        "create table swaps (place uinteger, sent_id uinteger, source varchar, n_words uinteger)"
    )
    if not condition.reinsert:
        return facts
    kept = base.by_source(f"train where {chosen.kept}")
    total, words = sum(n for n, _ in kept.values()), {s: each for s, (_, each) in kept.items()}
    whole = base.count(chosen.whole)
    for item in sorted(condition.reinsert, key=lambda item: item.filter):
        reading = pool(condition, item)
        others = [each for each in condition.filters if each.name != item.filter]
        mine = f'{chosen.gone} and "{column(item.filter, reading)}"'
        mine += f" and not {base.out(others, backstop=spec.backstop)}"
        first = base.count(f"{mine} and {chosen.whole}")
        rest = base.count(f"{mine} and not {chosen.whole}")
        available = first + rest
        natural = item.rate == "natural"
        rate = first / whole if natural else float(item.rate)
        needed = round(rate * total)
        where = (
            f"condition {condition.name!r} at {spec.size}: re-insertion of {item.filter!r} at "
            f"{'the natural rate' if natural else 'rate'} {rate:g}"
        )
        if not needed and (rate or natural) and "void" not in allow:
            raise PoshgridError(
                f"{where} puts nothing back into {total:,} sentences; raise the rate, leave it "
                "out, or set allow: [void]"
            )
        if available < needed and not (item.repeat and available):
            raise PoshgridError(
                f"{where} needs {needed:,} sentences with evidence, and the base has "
                f"{available:,}; lower the rate to {available / total:.8f}, give the "
                f"base more words{'' if item.repeat else ', or set repeat: true'}"
            )
        # By name, so that one filter's choice does not depend on which others there are
        generator = np.random.default_rng([condition.seed, zlib.crc32(item.filter.encode())])
        lots = np.concatenate([generator.permutation(first), first + generator.permutation(rest)])
        own_first = f"not {chosen.whole}, sent_id"
        number(base.database, "shuffled", f"from train where {mine}", own_first, np.argsort(lots))
        times = max(1, -(-needed // max(1, available)))
        best = (
            f"select * replace (nth + {available} * again as nth) "
            f"from shuffled, range({times}) times(again)"
        )
        free = f"select sent_id, source, n_words from train where {_stays(chosen)}"
        try:
            gained = match(base.database, best, needed, free, words, item.tolerance, generator)
        except PoshgridError as error:
            raise PoshgridError(
                f"{where}: {error}; lower reinsert.rate, raise reinsert.tolerance, or give the "
                "base more words"
            ) from error
        base.database.run("insert into swaps from places")
        evidence = direct(base, item.filter)
        ((different, larger, own),) = base.database.rows(
            f"select count(distinct sent_id), count(*) filter (not {chosen.whole}), "
            f"count(*) filter ({evidence or 'false'}) from places join train using (sent_id)"
        )
        facts[item.filter] = {
            "sentences": needed,
            "rate": round(rate, 8),
            "pool": reading,
            "available": available,
            "different": different,
            **({"direct": own} if evidence else {}),
            "from_larger_sizes": larger,
            "words_difference": gained,
        }
    return facts


def bare(spec: specs.ConditionSpec) -> specs.ConditionSpec:
    """Return a condition without all that sets it apart from its base, at the sizes named so."""
    if spec.size not in spec.condition.unfiltered_sizes:
        return spec
    condition = spec.condition.model_copy(
        update={"filters": [], "reinsert": [], "control": None, "match": [], "refill": False}
    )
    return spec.model_copy(update={"condition": condition, "control": []})


def trained(chosen: Chosen) -> str:
    """Return the query of what is trained on: as of the exchanges, see :func:`reinsert`."""
    return (
        "select sent_id as place, sent_id, source, n_words "
        f"from train where {_stays(chosen)} union all from swaps"
    )


def _stays(chosen: Chosen) -> str:
    """Return the test of what is trained on and has not given way."""
    return f"{chosen.kept} and sent_id not in (select place from swaps)"


def digest(base: Base, chosen: Chosen) -> str:
    """Return what two conditions of a base share only if they train on the same sentences."""
    found = hashlib.blake2b(digest_size=16)
    for piece in base.database.pieces(f"select sent_id from ({trained(chosen)}) order by sent_id"):
        found.update(piece["sent_id"].to_numpy().tobytes())
    return found.hexdigest()


def pools(spec: specs.ConditionSpec) -> list[Filter]:
    """Return the readings whose sentences a condition puts back."""
    condition = spec.condition
    return [Filter(name=each.filter, reading=pool(condition, each)) for each in condition.reinsert]
