"""Accuracy by step and epoch of training (POSH-BENCH, Figure 4), and how the training went."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config.runs import UNTRAINED
from poshgrid.config.specs import JudgementSpec
from poshgrid.core import files, formats, logs, verification
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation import judgements
from poshgrid.statistics import levels
from poshgrid.statistics.schema import CURVES, RUN_AXES, TRAINED

_PLACE = ["suite", "level", "category", "phenomenon"]
_MEASURED = [name for name in TRAINED if name not in (*RUN_AXES, "seed")]
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
        output: folder for curves and training, each .parquet and .csv.

    Returns:
        Numbers of checkpoints that were judged (without baselines), and of judgements.

    Raises:
        PoshgridError: see :func:`judgements.judged` and :func:`statistics`; or a
            ``training.jsonl`` is damaged.
    """
    scores, models, output = Path(scores), Path(models), Path(output)
    pairs = {suite: judgements.read_items(items[suite]) for suite in sorted(items)}
    trained = levels.trained(spec.runs)
    counted = [
        point
        for run in logs.progress(trained, "judging checkpoints")
        for point in _of_run(run, spec, scores, models, pairs)
    ]
    counts = pl.concat([pl.DataFrame(schema=_COUNTED), *counted])
    formats.write(training(trained, models), output, "training", TRAINED)
    at = [*RUN_AXES, "seed", "suite", "step", "epoch", "kept", "dev_loss"]
    rows = levels.by_level(counts, at).with_columns(pairs=pl.col("n").cast(pl.UInt32))
    formats.write(_sorted(rows.select(list(CURVES)), "seed"), output, "curves", CURVES)
    checkpoints = counts.filter(~pl.col("kept") & (pl.col("step") > 0))
    return {
        "checkpoints": checkpoints.select(*RUN_AXES, "seed", "step").n_unique(),
        "judgements": int(counts["n"].sum()),
    }


def over_seeds(curves: pl.DataFrame) -> pl.DataFrame:
    """Average over seeds at every step, and over the kept weights.

    Args:
        curves: columns of ``CURVES``.

    Returns:
        ``RUN_AXES``, suite, level, category, phenomenon, kept, step (null for kept weights: each
        seed has its own best step), epoch (mean), mean (of the seeds' accuracies), sd (sample SD;
        null with one seed), n_seeds (a run that stopped early lacks later steps), pairs (that each
        seed judged), dev_loss (mean; null unless all were evaluated here).
    """
    kept = pl.col("kept")
    every_loss = pl.col("dev_loss").null_count() == 0
    # The step whose weights are kept differs between seeds
    steps = curves.with_columns(step=pl.when(~kept).then("step"))
    return _sorted(levels.over_seeds(
        steps, [*RUN_AXES, *_PLACE, "kept", "step"], epoch=pl.mean("epoch"), pairs=pl.max("pairs"),
        dev_loss=pl.when(every_loss).then(pl.mean("dev_loss")),
    ))  # fmt: skip


def training(runs: Sequence[str], models: Path) -> pl.DataFrame:
    """Return how the training of runs went (``TRAINED``), in the order of the runs.

    Args:
        runs: trained runs, without baselines and given models.
        models: folder of the models: ``{run}/statistics.json`` below it.

    Raises:
        PoshgridError: see :func:`statistics`.
    """
    rows = []
    for run in runs:
        facts = statistics(models / run)
        rows.append({**levels.axes(run), **{key: facts[key] for key in _MEASURED}})
    # strict=False: JSON reads a loss such as 3.0 as an integer.
    return pl.DataFrame(rows, schema=TRAINED, strict=False)


def statistics(folder: Path) -> dict[str, Any]:
    """Return the content of ``statistics.json`` in a model's folder.

    Raises:
        PoshgridError: the file is missing or broken, or lacks a key.
    """
    path = folder / "statistics.json"
    facts = files.read_json(path)
    lacking = [key for key in _MEASURED if not isinstance(facts, dict) or facts.get(key) is None]
    if lacking:
        raise PoshgridError(
            f"{path}: no {', '.join(map(repr, lacking))}: an earlier version wrote it, or it is "
            "not a model's; train the run again: `poshgrid run -R train`"
        )
    return facts


def _of_run(
    run: str, spec: JudgementSpec, scores: Path, models: Path, pairs: dict[str, pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    """Yield counts by phenomenon at every step of a run, suite by suite (``_COUNTED``)."""
    axes = levels.axes(run)
    facts = statistics(models / run)
    log = models / run / "training.jsonl"
    verification.check([log])
    with files.written_by_stage(log):
        lines = [json.loads(line) for line in log.read_text("utf-8").splitlines() if line]
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
