"""Putting evidence back into a condition, at its natural rate or in doses (paper, section 3.1).

Two conditions of a base must differ: models of the same sentences tell nothing of either.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import numpy as np
import polars as pl

from poshgrid.config import specs
from poshgrid.errors import PoshgridError
from poshgrid.evidence.matching import match
from poshgrid.evidence.removal import Chosen, choose, out, words_by_source
from poshgrid.evidence.schema import Labels, column


def reinsert(
    spec: specs.ConditionSpec, labels: Labels, chosen: Chosen, *, allow_void: bool = False
) -> tuple[dict[int, int], dict[str, dict[str, Any]]]:
    """Choose the evidence that is put back into a condition.

    It comes from what the condition goes without, that of its own size first: a sentence that it
    holds already is not put back beside itself. What is evidence for another of its filters, too,
    stays out: it would raise the rate of both.

    Args:
        spec: the condition.
        labels: what the evidence table says.
        chosen: its sentences.
        allow_void: whether putting nothing back is no mistake.

    Returns:
        sent_id that gives way -> sent_id of the evidence, and facts for each filter.

    Raises:
        PoshgridError: there is none or too little of it, or no exchange keeps the sources' words.
    """
    condition = spec.condition
    swaps: dict[int, int] = {}
    facts: dict[str, dict[str, Any]] = {}
    light = ("sent_id", "source", "n_words")
    own = pl.col("sent_id").is_in(chosen.whole["sent_id"].implode())
    total, words = chosen.kept.height, words_by_source(chosen.kept)
    for item in sorted(condition.reinsert, key=lambda item: item.filter):
        reading = condition.pool(item)
        others = [each for each in condition.filters if each.name != item.filter]
        mine = pl.col("gone") & pl.col(column(item.filter, reading))
        pool = chosen.train.filter(mine & ~out(labels, others, backstop=spec.backstop))
        first, rest = (pool.filter(where).select(light) for where in (own, ~own))
        natural = item.rate == "natural"
        rate = first.height / chosen.whole.height if natural else float(item.rate)
        needed = round(rate * total)
        where = (
            f"condition {condition.name!r} at {spec.size}: re-insertion of {item.filter!r} at "
            f"{'the natural rate' if natural else 'rate'} {rate:g}"
        )
        if not needed and (rate or natural) and not allow_void:
            raise PoshgridError(
                f"{where} puts nothing back into {total:,} sentences; raise the rate, leave it "
                "out, or set allow_void: true"
            )
        if pool.height < needed and not (item.repeat and pool.height):
            raise PoshgridError(
                f"{where} needs {needed:,} sentences with evidence, and the base has "
                f"{pool.height:,}; lower the rate to {_feasible(pool.height, total):g}, give the "
                f"base more words{'' if item.repeat else ', or set repeat: true'}"
            )
        # By name, so that one filter's choice does not depend on which others there are
        generator = np.random.default_rng([condition.seed, zlib.crc32(item.filter.encode())])
        best = pl.concat([_shuffled(first, generator), _shuffled(rest, generator)])
        best = pl.concat([best] * max(1, -(-needed // max(1, pool.height))))
        inside = set(first["sent_id"])
        free = chosen.kept.select(light).filter(~pl.col("sent_id").is_in(list(swaps)))
        try:
            found = match(best, needed, free, words, item.tolerance, generator)
        except PoshgridError as error:
            raise PoshgridError(f"{where}: {error}") from error
        swaps |= found.places
        facts[item.filter] = {
            "sentences": needed,
            "rate": round(rate, 8),
            "pool": reading,
            "available": pool.height,
            "different": len(set(found.places.values())),
            "from_larger_sizes": sum(e not in inside for e in found.places.values()),
            "words_difference": found.words_difference,
        }
    return swaps, facts


def _feasible(available: int, total: int) -> float:
    """Return the largest rate, to six decimals, that needs no more than is available."""
    rate = int(min(1.0, (available + 0.5) / total) * 1e6) / 1e6 if total else 0.0
    while rate > 0 and round(rate * total) > available:
        rate = max(0.0, round(rate - 1e-6, 6))
    return rate


def _shuffled(frame: pl.DataFrame, generator: np.random.Generator) -> pl.DataFrame:
    order: list[int] = generator.permutation(frame.height).tolist()
    return frame[order]


def bare(spec: specs.ConditionSpec) -> specs.ConditionSpec:
    """Return a condition without all that sets it apart from its base, at the sizes named so."""
    if spec.size not in spec.condition.unfiltered_sizes:
        return spec
    condition = spec.condition.model_copy(
        update={"filters": [], "reinsert": [], "control": None, "match": [], "refill": False}
    )
    return spec.model_copy(update={"condition": condition, "control": []})


def digest(chosen: Chosen, swaps: dict[int, int]) -> str:
    """Return what two conditions of a base share only if they train on the same sentences."""
    return hashlib.blake2b(_ids(chosen, swaps).to_numpy().tobytes(), digest_size=16).hexdigest()


def hold_apart(
    spec: specs.ConditionSpec,
    beside: specs.BesideSpec,
    labels: Labels,
    chosen: Chosen,
    swaps: dict[int, int],
) -> None:
    """Refuse a condition that holds the same training sentences as another.

    The others are planned here, from the same base and labels: what their jobs wrote may be of an
    earlier configuration, or not be there yet.

    Args:
        spec: the condition.
        beside: the others.
        labels: what the evidence table says.
        chosen: the condition's sentences.
        swaps: what was put back in whose place.

    Raises:
        PoshgridError: another one holds the same.
    """
    mine = _ids(chosen, swaps)
    for other in () if beside.allow_void else map(bare, beside.others):
        try:
            its = choose(other, labels, chosen.train)
            # Exchanges are worked out only for what is the same without
            same = its.kept["sent_id"].equals(chosen.kept["sent_id"])
            same = same and _ids(its, reinsert(other, labels, its)[0]).equals(mine)
        except (PoshgridError, pl.exceptions.ColumnNotFoundError):
            continue  # its own job says so
        if same:
            one, two = sorted((spec.condition.name, other.condition.name))
            raise PoshgridError(
                f"conditions {one!r} and {two!r} at {spec.size} hold the same {len(mine):,} "
                f"sentences of base {spec.condition.base!r}: {_difference(spec, other)}; change "
                "one's filters or reading, leave one out, or set allow_void: true"
            )


def _ids(chosen: Chosen, swaps: dict[int, int]) -> pl.Series:
    """Return the sentences that are trained on, ascending."""
    kept = chosen.kept["sent_id"]
    stays = kept.filter(~kept.is_in(pl.Series(list(swaps), dtype=pl.UInt32).implode()))
    return pl.concat([stays, pl.Series("sent_id", swaps.values(), dtype=pl.UInt32)]).sort()


def _difference(spec: specs.ConditionSpec, other: specs.ConditionSpec) -> str:
    """Say what two conditions are meant to differ in."""

    def told(each: specs.ConditionSpec) -> str:
        condition, removed = each.condition, ", ".join(map(str, each.filters)) or "nothing"
        what = f"is a control of {condition.control}" if condition.control else f"removes {removed}"
        return f"{condition.name} {what}"

    return " and ".join(sorted(map(told, (spec, other))))
