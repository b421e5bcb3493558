"""The Bayesian mixed model of the counts (paper, section 6 and appendix H), fitted by bambi."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid import files, logs
from poshgrid.config import BayesianModel
from poshgrid.specs import ModelSpec
from poshgrid.statistics import design, summary, tables, writing
from poshgrid.statistics.schema import COUNTS, SUMMARY

if TYPE_CHECKING:
    import arviz
    import bambi

log = logs.get(__name__)


def fit(spec: ModelSpec, counts: Path, output: Path, threads: int = 1) -> dict[str, Any]:
    """Fit one model and write posterior.nc, summary.parquet, .csv, .tex and diagnostics.json.

    A Bernoulli model of pairs without terms for items has the binomial model of counts as its
    likelihood, up to a constant: the counts are fitted, which is a thousand times cheaper.

    A fit that fails the gate (R-hat, effective sample size, divergences) is written all the same,
    with ``converged: false``: the report says so.

    Args:
        spec: formula, priors and sampler.
        counts: ``counts.parquet``.
        output: folder of the results.
        threads: chains that run at once; the draws are the same for any number.

    Returns:
        What diagnostics.json holds.

    Raises:
        PoshgridError: no row to fit, or a formula that cannot be read.
    """
    model = spec.model
    rows = files.read_table(counts, COUNTS)
    prepare_compiler()
    with _quiet():
        made = design.design(rows, model.formula, only=model.only)
        log.info("%s: %d rows: %s", model.name, len(made.frame), made.formula)
        started = time.monotonic()
        inference = sample(made, model, threads)
        seconds = time.monotonic() - started
        found = summary.summarise(inference.posterior, made.frame)
    diagnosis = summary.diagnose(found, int(inference.sample_stats["diverging"].sum()))
    facts = {
        "model": model.name,
        "formula": made.formula,
        "notes": made.notes,
        "rows": len(made.frame),
        "pairs": int(made.frame["n"].sum()),
        "rounded_counts": made.rounded,
        "sampler": model.sampler,
        "seconds": round(seconds, 1),
        **diagnosis,
    }
    output = Path(output)
    _write_posterior(inference, output / "posterior.nc")
    tex = tables.summary_tex(found, f"{model.name}: {made.formula}")
    writing.write(found, output, "summary", SUMMARY, tex)
    files.write_json(output / "diagnostics.json", facts)
    log.log(
        logging.INFO if diagnosis["converged"] else logging.WARNING,
        "%s: %.0f s, R-hat %s, ESS %s, divergences %d: %s",
        model.name, seconds, diagnosis["max_r_hat"], diagnosis["min_ess"],
        diagnosis["divergences"], "converged" if diagnosis["converged"] else
        "not converged (" + "; ".join(diagnosis["reasons"]) + "); raise target_accept or draws",
    )  # fmt: skip
    return facts


def build(made: design.Design, model: BayesianModel) -> bambi.Model:
    """Return the bambi model: binomial, logit link, weakly informative priors, nothing rescaled."""
    import bambi

    def normal(sd: float | bambi.Prior) -> bambi.Prior:
        return bambi.Prior("Normal", mu=0, sigma=sd)

    priors = {
        "common": normal(model.slope_sd),
        "group_specific": normal(bambi.Prior("Exponential", lam=model.group_rate)),
    }
    if "~ 1" in made.formula:
        priors["Intercept"] = normal(model.intercept_sd)
    return bambi.Model(made.formula, made.frame, family="binomial", priors=priors, auto_scale=False)


def sample(made: design.Design, model: BayesianModel, threads: int = 1) -> arviz.InferenceData:
    """Draw from the posterior."""
    if model.sampler == "pymc" and shutil.which("g++") is None:
        log.warning("no g++ on the PATH: sampler pymc is about 170 times slower; use nutpie")
    return build(made, model).fit(
        inference_method=model.sampler,
        draws=model.draws,
        tune=model.warmup,
        chains=model.chains,
        cores=min(threads, model.chains),
        random_seed=model.seed,
        target_accept=model.target_accept,
        progressbar=False,
        compute_convergence_checks=False,
    )


def prepare_compiler() -> None:
    """Give pytensor a folder for compiled code if the home folder cannot hold it.

    Takes effect only before pytensor is first imported.
    """
    flags = os.environ.get("PYTENSOR_FLAGS", "")
    if "compiledir" in flags or _writable_home():
        return
    folder = Path(tempfile.gettempdir()) / f"poshgrid-pytensor-{os.getuid()}"
    os.environ["PYTENSOR_FLAGS"] = ",".join(filter(None, [flags, f"base_compiledir={folder}"]))


def _writable_home() -> bool:
    try:
        cache = Path.home() / ".pytensor"
        cache.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=cache):
            return True
    except (OSError, RuntimeError):  # RuntimeError: a user without a home, as in containers
        return False


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the samplers' chatter: what of it matters is in diagnostics.json."""
    loggers = [logging.getLogger(name) for name in ("pymc", "pytensor", "arviz", "bambi", "numba")]
    levels = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)


def _write_posterior(inference: arviz.InferenceData, path: Path) -> None:
    import arviz

    kept = arviz.InferenceData(
        posterior=inference.posterior,
        sample_stats=inference.sample_stats,
        observed_data=inference.observed_data,
    )
    with files.atomic(path) as temporary:
        kept.to_netcdf(str(temporary), engine="h5netcdf")


__all__ = ["build", "fit", "prepare_compiler", "sample"]
