"""How often a phenomenon counts as learned: accuracy above its rival by seeds by items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from poshgrid.statistics import rivals
from poshgrid.statistics.intervals import SetSums, wilson
from poshgrid.statistics.power.components import Components, middle_of
from poshgrid.statistics.power.layout import Layout
from poshgrid.statistics.power.simulation import Size
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.statistics.tests import CHANCE

LEARNED = {
    "category": pl.String,
    "effect": pl.Float64,  # true accuracy less the rival's, share
    "seeds": pl.UInt32,
    "items": pl.UInt32,
    "replications": pl.UInt32,
    "power": pl.Float64,  # share of a category's phenomena that count as learned
    "low": pl.Float64,  # 95% Monte Carlo interval: Wilson, of replications
    "high": pl.Float64,
}


def power(
    found: Layout,
    components: Components,
    *,
    effects: Sequence[float],
    sizes: Sequence[Size],
    replications: int,
    seed: int,
    rival: float = CHANCE,
) -> pl.DataFrame:
    """Return how often a phenomenon is learned, by :func:`rivals.against`, at a point of the grid.

    All phenomena lie ``effect`` above their rival, for Holm's correction looks at all of them. The
    rival judges the same sets, always alike and without regard to what the model finds hard.

    Args:
        found: what is judged.
        components: SDs of cells (a seed's accuracy of a phenomenon) and of lexical sets.
        effects: true accuracy less the rival's (shares).
        sizes: of the grid.
        replications: simulated models for each effect and size.
        seed: of the simulation.
        rival: share of the sets that the rival has right; below 50% the rival is a coin.

    Returns:
        Columns of ``LEARNED``, in the order of categories, sizes and effects; nothing where there
        is one seed, of which the report says nothing, and accuracies of more than 100% left out.
    """
    units = found.units.group_by("category", "phenomenon").agg(
        pl.col("sets").sum(), pl.col("each").max()
    )
    units = units.sort("category", "phenomenon")
    rows: list[dict[str, Any]] = []
    for size in sizes:
        if size.seeds < 2:
            continue
        for effect in effects:
            if max(rival, CHANCE) + effect >= 1:
                continue
            rng = np.random.default_rng([seed, size.seeds, size.items])
            rows += _simulated(units, components, effect, size, replications, rng, rival)
    rows.sort(key=lambda row: row["category"])
    return pl.DataFrame(rows, schema=LEARNED)


def _simulated(
    units: pl.DataFrame,
    components: Components,
    effect: float,
    size: Size,
    replications: int,
    rng: np.random.Generator,
    rival: float,
) -> Iterator[dict[str, Any]]:
    models = pl.DataFrame(
        {
            **{axis: ["-"] * replications for axis in RUN_AXES},
            "condition": [str(i) for i in range(replications)],
            "seeds": [size.seeds] * replications,
        }
    )
    sets, right, seeds, wrong = [], [], [], []
    for row in units.iter_rows(named=True):
        count, each = row["sets"] * size.items, row["each"]
        cell, of_set = components.sd("cell", row["category"]), components.sd("set")
        middle = middle_of(max(rival, CHANCE) + effect, float(np.hypot(cell, of_set)))
        eta = (
            middle
            + cell * rng.standard_normal((replications, size.seeds, 1))
            + of_set * rng.standard_normal((replications, 1, count))
        )
        correct = rng.binomial(each, 1 / (1 + np.exp(-eta)))
        accuracy = correct.mean(axis=2) / each
        right.append(correct.sum(axis=1).T.astype(float))
        names = {name: row[name] for name in ("category", "phenomenon")}
        sets.append(
            pl.DataFrame(
                {"lexical_set": [str(i) for i in range(count)], "n": [each] * count}
            ).with_columns(pl.lit(value).alias(name) for name, value in names.items())
        )
        seeds.append(
            models.drop("seeds").with_columns(
                *(pl.lit(value).alias(name) for name, value in names.items()),
                mean=pl.Series(accuracy.mean(axis=1)),
                sd=pl.Series(accuracy.std(axis=1, ddof=1)),
                n_seeds=pl.lit(size.seeds),
            )
        )
        wrong.append(each * (np.arange(count) < round(rival * count)).astype(float))
    sums = SetSums("", pl.concat(sets), models, np.vstack(right))
    rules = {"rival": np.concatenate(wrong)} if rival > CHANCE else {}
    decided = rivals.against(sums, rules, pl.concat(seeds))
    for (category,), mine in decided.group_by("category", maintain_order=True):
        power = float(mine.select(pl.col("learned").mean()).item())
        # Phenomena of a replication are independent, but for Holm's correction.
        low, high = wilson(power * mine.height, mine.height)
        yield {
            "category": category,
            "effect": effect,
            "seeds": size.seeds,
            "items": size.items,
            "replications": replications,
            "power": power,
            "low": low,
            "high": high,
        }
