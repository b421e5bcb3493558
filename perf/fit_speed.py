"""Cost of the paper's Bayesian fit by engine, by target acceptance, by items and by runs.

    python perf/fit_speed.py [--engines fast nutpie pymc numpyro --accept .8 .95 .99]
                             [--parts engines seeds items runs bernoulli]

The data are the paper's: 33 cells of Table 8 x 9 phenomena, three seeds given 500 pairs each at the
published mean: 148,500 judgements, 297 counts. `fast` is our engine, the others are bambi's
samplers. Each fit is a fresh process with one thread; its seconds are those of the processor (user
and system, compilers included) from the start of Python to the summary: imports, compilation,
sampling, diagnostics. Sampling apart is on the clock, so it counts only on a quiet machine. The
parts: `engines` beside each other; `seeds`, the fast engine with eight; `items`, with 1, 10 and 100
times the pairs a cell; `runs`, with 1, 2 and 4 times the seeds; `bernoulli`, one judgement in 20 as
rows of 0 and 1, beside the counts of the same judgements, both short fits by bambi and nutpie.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "studies" / "posh-bench" / "published" / "v1" / "table8.csv"
ENGINES = ("fast", "nutpie", "pymc", "numpyro")
PARTS = ("engines", "seeds", "items", "runs", "bernoulli")
PAIRS, SEEDS = 500, 3
SHORT = {"chains": 2, "warmup": 200, "draws": 200}  # of the part bernoulli


def main() -> None:
    """Measure the parts asked for, one fit after the other, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--accept", nargs="+", type=float, default=[0.8, 0.95, 0.99])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)  # in the fresh process
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(_fit(**given.one)))
        return
    for engine in set(given.engines) - _installed():
        print(f"{engine} is not installed: left out\n")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print("| fit | accept | CPU s | sampling s | steps/draw | divergences | min ESS | max R-hat |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    engines = [engine for engine in given.engines if engine in _installed()]
    for part in given.parts:
        for name, how in _fits(part, engines, given.accept):
            _row(name, how)


def _installed() -> set[str]:
    return {name for name in ENGINES if name == "fast" or importlib.util.find_spec(name)}


def _fits(part: str, engines: list[str], accepts: list[float]) -> list[tuple[str, dict[str, Any]]]:
    """Return the name and the arguments of each fit of a part."""
    highest = {"accept": max(accepts)}
    if part == "engines":
        return [(e, {"engine": e, "accept": accept}) for e in engines for accept in accepts]
    if part == "seeds":
        return [(f"fast, seed {seed}", highest | {"seed": seed}) for seed in range(1, 9)]
    if part == "items":
        cells = [PAIRS * times for times in (1, 10, 100)]
        return [(f"fast, {pairs:,} pairs a cell", highest | {"pairs": pairs}) for pairs in cells]
    if part == "runs":
        runs = [SEEDS * times for times in (1, 2, 4)]
        return [(f"fast, {seeds} seeds", highest | {"seeds": seeds}) for seeds in runs]
    short = {"engine": "nutpie", "accept": 0.8, "part": 20, **SHORT}
    return [
        (f"nutpie, 1/20 of the judgements as {kind}, short", short | {"rows": kind == "rows"})
        for kind in ("counts", "rows")
    ]


def _row(name: str, how: dict[str, Any]) -> None:
    """Fit in a fresh process and print a row of the table."""
    command = [sys.executable, __file__, "--one", json.dumps(how)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment = os.environ | threads
    done = subprocess.run(command, capture_output=True, check=False, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    found = json.loads(done.stdout.splitlines()[-1])
    print(
        f"| {name} | {how['accept']} | {found['cpu']:.1f} | {found['sampling']:.1f} "
        f"| {found['steps']:.0f} | {found['divergences']} | {found['ess']:.0f} "
        f"| {found['r_hat']:.3f} |",
        flush=True,
    )


def _fit(
    accept: float,
    engine: str = "fast",
    seed: int = 42,
    pairs: int = PAIRS,
    seeds: int = SEEDS,
    part: int = 1,
    rows: bool = False,
    **sampler: int,
) -> dict[str, float]:
    """Fit in this process, and return its seconds so far with the diagnostics."""
    warnings.simplefilter("ignore")
    from poshgrid.config import Regression
    from poshgrid.statistics import design, fast, fit, summary

    model = Regression(name="paper", target_accept=accept, seed=seed, **sampler)
    made = design.design(_paper(pairs, seeds, part), model.formula)
    if engine == "fast":
        inference = fast.sample(made, model)
    else:
        built = _bernoulli(made, model) if rows else fit.build(made, model)
        inference = built.fit(
            inference_method=engine,
            draws=model.draws,
            tune=model.warmup,
            chains=model.chains,
            cores=1,
            random_seed=seed,
            target_accept=accept,
            progressbar=False,
            compute_convergence_checks=False,
        )
    table = summary.summarise(inference.posterior, made.frame)
    stats = inference.sample_stats
    steps = stats["n_steps" if "n_steps" in stats else "num_steps"]
    return {
        "cpu": time.process_time() + sum(os.times()[2:4]),  # and that of compilers
        "sampling": float(inference.posterior.attrs["sampling_time"]),
        "steps": float(steps.mean()),
        "divergences": int(stats["diverging"].sum()),
        "ess": float(table.select("ess_bulk", "ess_tail").to_numpy().min()),
        "r_hat": float(table["r_hat"].max()),
    }


def _paper(pairs: int, seeds: int, part: int):  # noqa: ANN202 - polars, imported late
    """Return the counts of Table 8; ``part`` 20 gives each 1/20 of the pairs."""
    import polars as pl

    from poshgrid.statistics.schema import COUNTS

    wiki = pl.col("condition") == "wiki"
    cells = pl.read_csv(TABLE, comment_prefix="#").filter(pl.col("phenomenon") != "average")
    n = pairs // part
    return (
        cells.join(pl.DataFrame({"seed": range(seeds)}), how="cross")
        .with_columns(
            pl.lit("mini").alias("model"),
            pl.lit("packed").alias("recipe"),
            pl.lit("none").alias("bias"),
            pl.lit("posh").alias("suite"),
            pl.col("phenomenon").alias("template"),
            pl.lit("").alias("lexical_set"),
            (pl.col("accuracy") / 100 * n).round().alias("correct"),
            pl.lit(0).alias("ties"),
            pl.lit(n).alias("n"),
            (pl.col("size").str.strip_suffix("M").cast(pl.UInt64) * 1_000_000).alias("words"),
            pl.when(wiki).then(pl.lit("wiki")).otherwise(pl.lit("baby")).alias("source"),
            (pl.col("condition") == "baby-f").alias("filtered"),
        )
        .select(pl.col(name).cast(kind) for name, kind in COUNTS.items())
    )


def _bernoulli(made, model):  # noqa: ANN001, ANN202 - bambi, imported late
    """Return bambi's model of single judgements."""
    import bambi

    frame = made.frame.loc[made.frame.index.repeat(made.frame["n"])].reset_index(names="count")
    nth = frame.groupby("count").cumcount()
    frame["right"] = (nth < frame["correct"]).astype(int)

    def normal(sd):  # noqa: ANN001, ANN202
        return bambi.Prior("Normal", mu=0, sigma=sd)

    spread = bambi.Prior("Exponential", lam=model.group_rate)
    priors = {
        "Intercept": normal(model.intercept_sd),
        "common": normal(model.slope_sd),
        "group_specific": normal(spread),
    }
    formula = made.formula.replace("p(correct, n)", "right")
    return bambi.Model(formula, frame, family="bernoulli", priors=priors, auto_scale=False)


if __name__ == "__main__":
    main()
