"""How often the contrasts of a model are found: effect by seeds by items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from poshgrid.config import BayesianModel, Contrast
from poshgrid.errors import PoshgridError
from poshgrid.processes import mapped
from poshgrid.statistics import contrasts
from poshgrid.statistics.intervals import wilson
from poshgrid.statistics.power.approximation import Approximation, Found
from poshgrid.statistics.power.components import Components
from poshgrid.statistics.power.layout import Layout
from poshgrid.statistics.power.simulation import Simulation, Size, stream

_Job = tuple[Size, int, float]
"""Size, number of the contrast, and effect."""
_Told = tuple[list[dict[str, Any]], list[str]]
"""Rows of ``POWER``, and notes."""
ENOUGH = 0.8
"""Power that is aimed at."""
POWER = {
    "contrast": pl.String,
    "first": pl.String,
    "less": pl.String,
    "by": pl.String,  # factor at one level of which the difference is taken; "": all
    "level": pl.String,
    "effect": pl.Float64,  # true difference in accuracy, share
    "seeds": pl.UInt32,  # of each point of the grid
    "items": pl.UInt32,  # how many times those of the configuration
    "replications": pl.UInt32,
    # share whose joint interval leaves 0 out on the right side; at 0: on either
    "power": pl.Float64,
    "low": pl.Float64,  # its 95% Monte Carlo interval (Wilson)
    "high": pl.Float64,
    "wrong": pl.Float64,  # share whose interval leaves 0 out on the wrong side; null at 0
    "wrong_low": pl.Float64,
    "wrong_high": pl.Float64,
    "error": pl.Float64,  # SD of the posterior means about the truth, share
}


def power(
    found: Layout,
    model: BayesianModel,
    components: Components,
    *,
    effects: Sequence[float],
    sizes: Sequence[Size],
    replications: int,
    seed: int,
    threads: int = 1,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> tuple[pl.DataFrame, list[str]]:
    """Return how often each contrast of a model is found.

    Contrasts are simulated one at a time: the others have no effect meanwhile. Replications have
    their own streams, so that more of them, or another order, leave the first ones as they are.

    Args:
        found: what is judged, by whom.
        model: its formula is fitted, its contrasts are decided on.
        components: what judgements are simulated from.
        effects: true differences (shares).
        sizes: of the grid.
        replications: simulated data sets for each contrast, effect and size.
        seed: of the simulation.
        threads: processes; the numbers are the same for any number.
        progress: told how many of how many parts are done.

    Returns:
        Columns of ``POWER``, in the order of contrasts, places, sizes and effects; and notes.

    Raises:
        PoshgridError: the model has no contrast that this grid can bear.
    """
    jobs = list(product(sizes, range(len(model.contrasts)), effects))
    simulated = partial(_simulated, found, model, components, replications, seed)
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for i, (made, said) in enumerate(mapped(simulated, jobs, threads), 1):
        rows += made
        notes += said
        progress(i, len(jobs))
    if not rows:
        reason = notes[-1] if notes else "it has no contrasts"
        raise PoshgridError(f"models: {model.name}: nothing to find on this grid: {reason}")
    names = list(dict.fromkeys((r["contrast"], r["first"], r["by"], r["level"]) for r in rows))
    rows.sort(key=lambda r: names.index((r["contrast"], r["first"], r["by"], r["level"])))
    return pl.DataFrame(rows, schema=POWER), list(dict.fromkeys(notes))


def _simulated(
    found: Layout,
    model: BayesianModel,
    components: Components,
    replications: int,
    seed: int,
    job: _Job,
) -> _Told:
    """Simulate and decide on one contrast, effect and size."""
    size, number, effect = job
    contrast = model.contrasts[number]
    simulation = Simulation(found, model, components, size)
    decide = Approximation(simulation.made, model, [contrast])
    notes = [*simulation.made.notes, *decide.notes]
    if not decide.places:
        return [], notes
    n = simulation.made.frame["n"].to_numpy(dtype=float)
    expected = simulation.expected(contrast, effect)
    drawn = [
        decide(simulation.draw(expected, stream(seed, number, i)), n) for i in range(replications)
    ]
    return list(_rows(decide.places, drawn, effect, size)), notes


def _rows(
    places: Sequence[tuple[Contrast, contrasts.Place]],
    drawn: Sequence[Found],
    effect: float,
    size: Size,
) -> Iterator[dict[str, Any]]:
    above = np.array([one.above for one in drawn])
    means = np.array([one.mean for one in drawn])
    total = len(drawn)
    tails = contrasts.tails(place for _, place in places)
    for i, ((contrast, place), tail) in enumerate(zip(places, tails, strict=True)):
        up, down = int((above[:, i] > 1 - tail).sum()), int((above[:, i] < tail).sum())
        right = up + down if effect == 0 else up if effect > 0 else down
        wrong = None if effect == 0 else up + down - right
        low, high = wilson(right, total)
        beside = (None, None) if wrong is None else wilson(wrong, total)
        yield {
            "contrast": contrasts.called(contrast, place.first),
            "first": place.first,
            "less": contrast.less,
            "by": place.by,
            "level": place.level,
            "effect": effect,
            "seeds": size.seeds,
            "items": size.items,
            "replications": total,
            "power": right / total,
            "low": low,
            "high": high,
            "wrong": None if wrong is None else wrong / total,
            "wrong_low": beside[0],
            "wrong_high": beside[1],
            "error": float(np.sqrt(((means[:, i] - effect) ** 2).mean())),
        }


def least(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the smallest effect that is found often enough, for each place and size.

    Between two effects that were simulated the probit of power is taken as straight.

    Args:
        rows: columns of ``POWER`` (or of learned phenomena, with the same names).

    Returns:
        The columns that name a place and size, and least (share): null if no effect reaches it.
    """
    from scipy.special import ndtri

    key = [
        name
        for name in rows.columns
        if name in ("contrast", "first", "less", "by", "level", "category", "seeds", "items")
    ]
    found = []
    for place, mine in rows.filter(pl.col("effect") > 0).group_by(key, maintain_order=True):
        effects = mine["effect"].to_numpy()
        powers = np.maximum.accumulate(mine["power"].to_numpy())
        after = int(np.searchsorted(powers, ENOUGH))
        at = None
        if after < len(powers):
            total = float(mine["replications"][0])
            probit = ndtri(np.clip(powers, 0.5 / total, 1 - 0.5 / total))
            before = after - 1
            at = float(effects[after])
            if before >= 0 and probit[after] > probit[before]:
                part = (ndtri(ENOUGH) - probit[before]) / (probit[after] - probit[before])
                at = float(effects[before] + part * (effects[after] - effects[before]))
        found.append({**dict(zip(key, place, strict=True)), "least": at})
    kinds = pl.Schema([*((name, rows.schema[name]) for name in key), ("least", pl.Float64())])
    return pl.DataFrame(found, schema=kinds)
