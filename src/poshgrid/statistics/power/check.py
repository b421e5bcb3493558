"""The approximation held to the draws of the model's own engine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, product

import numpy as np

from poshgrid.config import BayesianModel
from poshgrid.errors import PoshgridError
from poshgrid.statistics import contrasts, design, fit
from poshgrid.statistics.power.approximation import Approximation
from poshgrid.statistics.power.components import Components
from poshgrid.statistics.power.layout import Layout
from poshgrid.statistics.power.simulation import Simulation, Size, stream
from poshgrid.statistics.predictor import Predictor


def held_to_draws(
    found: Layout,
    model: BayesianModel,
    components: Components,
    *,
    effects: Sequence[float],
    size: Size,
    replications: int,
    seed: int,
    threads: int = 1,
) -> dict[str, float]:
    """Hold the approximation to the model's own engine on the first replications.

    Every contrast is decided on twice, overall and at each level, whichever of them has the effect:
    they take turns, for it is the engine's draws that cost.

    Returns:
        decisions: how many; agree: share that are the same; found, found_engine: share of
        intervals that leave 0 out, by either; mean: largest difference of the posterior means
        (share); width: mean ratio of the SDs, approximation over engine.
    """
    simulation = Simulation(found, model, components, size)
    frame = simulation.made.frame
    n = frame["n"].to_numpy(dtype=float)
    decide = Approximation(simulation.made, model, model.contrasts)
    mine: list[int] = []
    theirs: list[int] = []
    off: list[float] = []
    ratios: list[float] = []
    turns = cycle(
        (number, contrast)
        for number, contrast in enumerate(model.contrasts)
        if any(contrast is other for other, _ in decide.places)
    )
    for effect, i in product(effects if decide.places else (), range(replications)):
        number, contrast = next(turns)
        correct = simulation.draw(simulation.expected(contrast, effect), stream(seed, number, i))
        ours = decide(correct, n)
        made = design.Design(
            frame.assign(correct=correct.astype(np.int64)), simulation.made.formula
        )
        _, draw = fit.choose(made, model)
        with fit.quiet():
            posterior = draw(made, model, threads)["posterior"]
        grid = contrasts.ReferenceGrid(made, Predictor(made, posterior))
        for j, (_, place) in enumerate(decide.places):
            _, share = grid.difference(place.found)
            low, high = np.quantile(share, [contrasts.TAIL, 1 - contrasts.TAIL])
            theirs.append(int(low > 0) - int(high < 0))
            above = ours.above[j]
            mine.append(int(above > 1 - contrasts.TAIL) - int(above < contrasts.TAIL))
            off.append(float(ours.mean[j] - share.mean()))
            ratios.append(float(ours.sd[j] / share.std()))
    if not mine:
        raise PoshgridError(f"models: {model.name}: nothing to check on this grid")
    return {
        "decisions": len(mine),
        "agree": float(np.equal(mine, theirs).mean()),
        "found": float(np.not_equal(mine, 0).mean()),
        "found_engine": float(np.not_equal(theirs, 0).mean()),
        "mean": float(np.abs(off).max()),
        "width": float(np.mean(ratios)),
    }
