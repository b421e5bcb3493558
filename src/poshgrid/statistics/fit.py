"""The Bayesian mixed model of the counts (paper, section 6 and appendix H)."""

from __future__ import annotations

import logging
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.config import Regression, formula
from poshgrid.config.specs import RegressionSpec
from poshgrid.core import files, formats, logs
from poshgrid.core.errors import PoshgridError
from poshgrid.statistics import contrasts, design, gate, predictor
from poshgrid.statistics.schema import CONTRASTS, COUNTS, PREDICTIVE, SUMMARY

if TYPE_CHECKING:
    import arviz
    import bambi

log = logs.get(__name__)

Engine = Callable[..., "arviz.InferenceData"]
"""A function that draws from a posterior: takes a design, a model and a number of threads."""


def fit(spec: RegressionSpec, counts: Path, output: Path, threads: int = 1) -> dict[str, Any]:
    """Fit one model; write its posterior, tables and diagnostics.

    Counts are fitted, not single pairs: a Bernoulli model of pairs without terms for items has the
    same likelihood as the binomial model of counts, up to a constant, and is a thousand times
    slower.

    If a fit fails the gate (:func:`gate.converge`), it is repeated once with stricter settings. If
    it still fails, nothing is written.

    Args:
        spec: formula, priors, contrasts and settings of the sampler.
        counts: ``counts.parquet``.
        output: folder for posterior.nc, diagnostics.json, and summary, contrasts and predictive
            (.parquet, .csv).
        threads: chains that run at once; the draws are the same for any number.

    Returns:
        The content of diagnostics.json.

    Raises:
        PoshgridError: there is no row to fit, the formula or a prior cannot be read, the engine
            cannot fit the formula, or the fit does not converge.
    """
    model = spec.model
    rows = files.read_table(counts, COUNTS)
    for name in ("pymc", "pytensor", "arviz", "bambi", "numba"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with warnings.catch_warnings():
        # Samplers warn often; the important warnings are in diagnostics.json
        warnings.simplefilter("ignore")
        made = design.design(rows, model.formula, model.suite, model.only, model.phenomena)
        model, notes = _with_fitted_priors(model, made)
        for note in (*made.notes, *notes):
            log.warning("%s: %s", model.name, note)
        engine, draw = choose(made, model)
        log.info("%s: %d rows, engine %s: %s", model.name, len(made.frame), engine, made.formula)
        inference, table, attempts = gate.converge(
            lambda attempt: _draw(draw, made, attempt, threads), made.frame, model
        )
        posterior, last = inference["posterior"], attempts[-1]
        if not last["converged"]:
            raise PoshgridError(f"regressions: {model.name}: {gate.complaint(attempts)}")
        differences, left_out = contrasts.contrasts(posterior, made, model.contrasts)
        cells, check = predictor.check(posterior, made, model.seed)
        for note in left_out:
            log.warning("%s: %s", model.name, note)
        facts = {
            "model": model.name,
            "formula": made.formula,
            "notes": [*made.notes, *notes, *left_out],
            "rows": len(made.frame),
            "pairs": int(made.frame["n"].sum()),
            "rounded_counts": made.rounded,
            "engine": engine,
            "sampler": "nutpie",
            "seconds": round(sum(attempt["seconds"] for attempt in attempts), 1),
            **{k: last[k] for k in last if k not in ("seconds", *gate.SETTINGS)},
            "attempts": attempts,
            "predictive": check,
        }
        output = Path(output)
        _write_posterior(inference, output / "posterior.nc")
    formats.write(table, output, "summary", SUMMARY)
    formats.write(differences, output, "contrasts", CONTRASTS)
    formats.write(cells, output, "predictive", PREDICTIVE)
    files.write_json(output / "diagnostics.json", facts)
    return facts


def choose(made: design.Design, model: Regression) -> tuple[str, Engine]:
    """Return the name of the engine that fits a model, and the engine.

    Raises:
        PoshgridError: the model's engine cannot fit the formula.
    """
    from poshgrid.statistics import fast
    from poshgrid.statistics.fast import formula as fast_formula

    refusal = fast_formula.refuses(made) if model.engine != "bambi" else ""
    if refusal is None:
        return "fast", fast.sample
    if model.engine == "fast":
        raise PoshgridError(
            f"regressions: {model.name}: engine fast cannot fit this: {refusal}; set engine: bambi"
        )
    return "bambi", sample


def build(made: design.Design, model: Regression) -> bambi.Model:
    """Return the bambi model: binomial, logit link, weakly informative priors without rescaling."""
    import bambi

    def normal(sd: float | bambi.Prior) -> bambi.Prior:
        return bambi.Prior("Normal", mu=0, sigma=sd)

    priors = {
        "common": normal(model.slope_sd),
        "group_specific": normal(bambi.Prior("Exponential", lam=model.group_rate)),
    }
    if "~ 1" in made.formula:
        priors["Intercept"] = normal(model.intercept_sd)
    for own in model.priors:
        group = None if own.rate is None else bambi.Prior("Exponential", lam=own.rate)
        priors[own.term] = normal(group or own.sd)
    return bambi.Model(made.formula, made.frame, family="binomial", priors=priors, auto_scale=False)


def sample(made: design.Design, model: Regression, threads: int = 1) -> arviz.InferenceData:
    """Draw from the posterior with bambi."""
    return build(made, model).fit(
        inference_method="nutpie",
        draws=model.draws,
        tune=model.warmup,
        chains=model.chains,
        cores=min(threads, model.chains),
        random_seed=model.seed,
        target_accept=model.target_accept,
        progressbar=False,
        compute_convergence_checks=False,
    )


def _draw(
    draw: Engine, made: design.Design, model: Regression, threads: int
) -> arviz.InferenceData:
    try:
        return draw(made, model, threads)
    except (RuntimeError, ValueError, ArithmeticError, LookupError) as error:  # of samplers
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise PoshgridError(
            f"regressions: {model.name}: sampling failed ({reason[0]}); "
            "check the priors, or set another engine"
        ) from error


def _with_fitted_priors(model: Regression, made: design.Design) -> tuple[Regression, list[str]]:
    """Return the model with the priors of terms that are fitted, and notes on the others.

    Raises:
        PoshgridError: a prior is for a term that the formula lacks.
    """
    design.check_priors(model)
    fitted = {formula.parts(name): name for name in design.terms(made.formula)}
    kept, notes = {}, []
    for prior in model.priors:
        parts = formula.parts(prior.term)
        if parts in fitted:
            kept[parts] = prior.model_copy(update={"term": fitted[parts]})
        else:
            notes.append(f"prior of {prior.term} left out: the term is left out")
    return model.model_copy(update={"priors": list(kept.values())}), notes


def _write_posterior(inference: arviz.InferenceData, path: Path) -> None:
    import arviz

    kept = arviz.InferenceData(
        posterior=inference["posterior"],
        sample_stats=inference["sample_stats"],
        observed_data=inference["observed_data"],
    )
    # HDF5 crashes the process if the disk is full; a copy raises an error that we can report.
    with tempfile.TemporaryDirectory() as folder, files.atomic(path) as temporary:
        made = Path(folder, path.name)
        kept.to_netcdf(str(made), engine="h5netcdf")
        shutil.copyfile(made, temporary)
