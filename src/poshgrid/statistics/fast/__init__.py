"""The engine ``fast``: bambi's posterior of the counts, on a scale where a draw needs few steps.

The model is ``eta = X b + Z u``: common coefficients ``b`` with normal priors, and group intercepts
``u ~ Normal(0, sigma)``. A group has one ``sigma``; ``(0 + category|cell)`` has one for each
category. On bambi's scale (``u = sigma * offset``) the data determine sums, such as intercept +
category + phenomenon + seed, far better than their parts. The posterior is then a thin ridge, which
gets thinner with every judged pair, and a draw takes hundreds of steps. Therefore our sampler does
not move the coefficients ``theta = (b, u)`` but the standardised

    z = L^-1 (theta - m),   L L^T = (H + D)^-1,   m = (H + D)^-1 h

``D`` has the prior precisions at the SDs that are proposed together with ``z``. ``H`` and ``h`` are
the quadratic approximation of the log likelihood at its penalised maximum, computed once. If the
likelihood were normal, ``m`` and ``L L^T`` would be the mean and covariance of the coefficients
given the SDs, and ``z`` would be standard normal at any SD. So every coefficient is centred on its
value given the others (a phenomenon on intercept, category and mean seed effect) and scaled by its
conditional posterior SD (a seed by about ``1 / sqrt(1 / sigma^2 + information)``). This removes
the ridge and the funnel. The change of variables is exact, because its Jacobian is part of the
density: the quality of the approximation affects the cost of a draw, never its distribution. The
method is the partial non-centring of Papaspiliopoulos, Roberts & Sköld (2007, A general framework
for the parametrization of hierarchical models, Statistical Science 22), applied to all coefficients
together.

numba compiles the density and its gradient as one function, and nutpie's NUTS draws from it.
Neither bambi nor PyMC is imported. `perf/fit_speed.py` compares its speed with bambi's.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from poshgrid.config import Regression
from poshgrid.config.formula import RESPONSE
from poshgrid.statistics.design import Design
from poshgrid.statistics.fast.density import Density

if TYPE_CHECKING:
    import arviz


def sample(made: Design, model: Regression, threads: int = 1) -> arviz.InferenceData:
    """Draw from bambi's posterior, with bambi's names, dimensions and coordinates.

    There is one difference: if each level of a group has one level of the predictor, as each cell
    in ``(0 + category|cell)`` has one category, it has one effect here. bambi has an effect for
    each combination, though only one of them occurs in the data.

    Args:
        made: the data, and a formula that :func:`formula.refuses` accepts.
        model: priors, and settings of the sampler.
        threads: chains that run at once; the draws are the same for any number.

    Returns:
        posterior, sample_stats (of NUTS, with ``diverging``) and observed_data, without warm-up.
    """
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    density = Density(made, model)
    size = density.size
    density(density.start)  # compiles it
    started = time.perf_counter()
    drawn = nutpie.sample(
        from_pyfunc(
            size,
            make_logp_fn=lambda: density,
            make_expand_fn=lambda *_: lambda point: {"point": point},
            expanded_names=["point"],
            expanded_shapes=[(size,)],
            expanded_dtypes=[np.dtype(np.float64)],
        ),
        draws=model.draws,
        tune=model.warmup,
        chains=model.chains,
        cores=min(threads, model.chains),
        seed=model.seed,
        target_accept=model.target_accept,
        init_mean=density.start,
        save_warmup=False,
        progress_bar=False,
    )
    inference = _inference(drawn, density, made)
    inference["posterior"].attrs |= {
        "inference_library": "nutpie",
        "inference_library_version": nutpie.__version__,
        "modeling_interface": "poshgrid",
        "sampling_time": time.perf_counter() - started,
        "tuning_steps": model.warmup,
    }
    return inference


def _inference(drawn: arviz.InferenceData, density: Density, made: Design) -> arviz.InferenceData:
    """Return the draws as bambi's variables, in bambi's order: SDs before their groups."""
    import arviz

    terms, points = density.terms, drawn["posterior"]["point"].to_numpy()
    ends = np.cumsum([term.size for term in density.arranged])[:-1]
    parts = np.split(density.coefficients(points), ends, axis=-1)
    values = {term.name: part for term, part in zip(density.arranged, parts, strict=True)}
    # bambi reports the intercept for predictors that are not centred.
    values["Intercept"] -= sum(values[term.name] @ term.means for term in terms)[..., None]
    grouped = [term for term in density.arranged if term.group]
    ends = np.cumsum([term.sds for term in grouped])[:-1]
    parts = np.split(np.exp(points[..., density.width :]), ends, axis=-1)
    sds = {term.name: part for term, part in zip(grouped, parts, strict=True)}
    common: dict[str, np.ndarray] = {}
    of_sds: dict[str, np.ndarray] = {}
    groups: dict[str, np.ndarray] = {}
    dims = {term.name: [term.dimension] for term in terms if term.dimension}
    coords = {term.dimension: term.labels for term in terms if term.dimension}
    for term in terms:
        own = values[term.name]
        if not term.group:
            common[term.name] = own if term.dimension else own[..., 0]
            continue
        groups[term.name] = own
        if not term.of:
            of_sds[f"{term.name}_sigma"] = sds[term.name][..., 0]
            continue
        inner = f"{term.name.partition('|')[0]}__expr_dim"
        coords[inner] = list(term.of)
        of_sds[f"{term.name}_sigma"] = sds[term.name]
        dims[f"{term.name}_sigma"] = [inner]
        if not term.nested:
            # As in bambi: levels of the predictor x groups; combinations without data are NaN
            effects = np.full((*own.shape[:2], len(term.labels) * term.sds), np.nan)
            effects[..., term.placed] = own
            crossed = effects.reshape(*own.shape[:2], -1, term.sds)
            groups[term.name] = crossed.swapaxes(2, 3)
            dims[term.name] = [inner, *dims[term.name]]
    inference = arviz.from_dict(
        posterior={**common, **of_sds, **groups},
        observed_data={RESPONSE: made.frame["correct"].to_numpy()},
        coords=coords,
        dims=dims | {RESPONSE: ["__obs__"]},
    )
    inference.add_groups(sample_stats=drawn["sample_stats"])
    return inference
