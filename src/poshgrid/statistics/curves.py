"""Accuracy by step and epoch of training (POSH-BENCH, Figure 4), for minimal pairs only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import logs
from poshgrid.config.runs import UNTRAINED
from poshgrid.config.specs import JudgementSpec
from poshgrid.evaluation import judgements
from poshgrid.statistics import levels, training
from poshgrid.statistics.schema import CURVES, CURVES_MEAN, RUN_AXES
from poshgrid.tables import formats

_PLACE = ["suite", "level", "category", "phenomenon"]
_COUNTED = {
    **{name: CURVES[name] for name in (*RUN_AXES, "seed", "suite")},
    **dict.fromkeys(("category", "phenomenon"), pl.String),
    **{name: CURVES[name] for name in ("step", "epoch", "kept", "dev_loss")},
    "correct": pl.Float64,
    "n": pl.UInt32,
}


def curves(
    spec: JudgementSpec, scores: Path, models: Path, items: dict[str, Path], output: Path
) -> dict[str, Any]:
    """Judge all checkpoints of a target's trained runs, and summarise their training.

    Step 0 of a run is its untrained baseline, if the target has one of the same model, bias and
    seed. The bias must be the same because a bias may change the initial weights.

    Only counts stay in memory: each step of a suite is read, judged and counted by itself.

    Args:
        spec: the runs, baselines among them (condition/size/model/recipe/bias/seedN).
        scores: folder of score files: ``{run}/{suite}.parquet`` below it.
        models: folder of the models: ``{run}/statistics.json``, ``training.jsonl`` below it.
        items: suite -> its table of pairs.
        output: folder for curves, curves_mean and training, each .parquet and .csv.

    Returns:
        Numbers of checkpoints that were judged (without baselines), and of judgements.

    Raises:
        PoshgridError: see :func:`judgements.judged`, :func:`training.statistics` and
            :func:`training.evaluations`.
    """
    scores, models, output = Path(scores), Path(models), Path(output)
    pairs = {suite: judgements.read_items(items[suite]) for suite in sorted(items)}
    trained = training.trained(spec.runs)
    counted = [
        point
        for run in logs.progress(trained, "judging checkpoints")
        for point in _of_run(run, spec, scores, models, pairs)
    ]
    counts = pl.concat([pl.DataFrame(schema=_COUNTED), *counted])
    every = by_step(counts)
    training.training(trained, models, output)
    formats.write(every, output, "curves", CURVES)
    formats.write(over_seeds(every), output, "curves_mean", CURVES_MEAN)
    checkpoints = counts.filter(~pl.col("kept") & (pl.col("step") > 0))
    return {
        "checkpoints": checkpoints.select(*RUN_AXES, "seed", "step").n_unique(),
        "judgements": int(counts["n"].sum()),
    }


def by_step(counts: pl.DataFrame) -> pl.DataFrame:
    """Return the accuracies of counts by run, suite, phenomenon and step (``CURVES``)."""
    at = [*RUN_AXES, "seed", "suite", "step", "epoch", "kept", "dev_loss"]
    return _sorted(
        levels.by_level(counts, at)
        .with_columns(pairs=pl.col("n").cast(pl.UInt32))
        .select(list(CURVES)),
        "seed",
    )


def over_seeds(curves: pl.DataFrame) -> pl.DataFrame:
    """Return mean and SD over seeds at every step, and of the kept weights (``CURVES_MEAN``).

    Args:
        curves: columns of ``CURVES``.
    """
    kept = pl.col("kept")
    every_loss = pl.col("dev_loss").null_count() == 0
    return _sorted(
        # The step whose weights are kept differs between seeds.
        curves.with_columns(step=pl.when(~kept).then("step"))
        .sort("seed")  # sums of floats depend on the order of rows
        .group_by(*RUN_AXES, *_PLACE, "kept", "step", maintain_order=True)
        .agg(
            epoch=pl.col("epoch").mean(),
            mean=pl.col("accuracy").mean(),
            sd=pl.col("accuracy").std(ddof=1),
            n_seeds=pl.len().cast(pl.UInt32),
            pairs=pl.col("pairs").max(),
            dev_loss=pl.when(every_loss).then(pl.col("dev_loss").mean()),
        )
        .select(list(CURVES_MEAN))
    )


def _of_run(
    run: str, spec: JudgementSpec, scores: Path, models: Path, pairs: dict[str, pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    """Yield counts by phenomenon at every step of a run, suite by suite (``_COUNTED``)."""
    axes = levels.axes(run)
    facts = training.statistics(models / run)
    lines = training.evaluations(models / run / "training.jsonl")
    losses = {line["step"]: line.get("dev_loss") for line in lines}
    baseline = "/".join((*run.split("/")[:3], UNTRAINED, *run.split("/")[4:]))
    for suite, table in pairs.items():
        path = scores / run / f"{suite}.parquet"
        # (file, step in the file or None, step of the run, whether training kept its weights)
        points: list[tuple[Path, int | None, int, bool]] = [
            (path, step, step, False) for step in judgements.steps(path)
        ]
        if baseline in spec.runs:
            points.insert(0, (scores / baseline / f"{suite}.parquet", None, 0, False))
        points.append((path, None, facts["best_step"], True))
        for file, asked, step, kept in points:
            judged = judgements.judged(file, table, spec.scoring, asked)
            correct = pl.col("correct").sum()
            counted = judged.group_by("category", "phenomenon").agg(correct, n=pl.len())
            at = {
                "suite": suite,
                "step": step,
                "epoch": step / facts["steps_per_epoch"],
                "kept": kept,
                "dev_loss": facts["dev_loss"] if kept else losses.get(step),
            }
            columns = [pl.lit(value).alias(name) for name, value in {**axes, **at}.items()]
            yield counted.with_columns(columns).select(list(_COUNTED)).cast(pl.Schema(_COUNTED))


def _sorted(rows: pl.DataFrame, *seed: str) -> pl.DataFrame:
    """Sort by condition, words, the other axes, suite, level and step; kept weights come last."""
    return levels.ordered(
        rows, *seed, "suite", levels.rank(), "category", "phenomenon", "kept", "step"
    )
