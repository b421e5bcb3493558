"""Whether two conditions of a base differ: models of the same sentences tell nothing of either."""

from __future__ import annotations

import hashlib

import polars as pl

from poshgrid.errors import PoshgridError
from poshgrid.evidence.reinsertion import reinsert
from poshgrid.evidence.removal import Chosen, choose
from poshgrid.evidence.schema import Labels
from poshgrid.grid import specs


def bare(spec: specs.ConditionSpec) -> specs.ConditionSpec:
    """Return a condition without all that sets it apart from its base, at the sizes named so."""
    if spec.size not in spec.condition.unfiltered_sizes:
        return spec
    update = {"filters": [], "reinsert": [], "control": None, "match": [], "refill": False}
    condition = spec.condition.model_copy(update=update)
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
