"""Commands from models to the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid import specs
from poshgrid.commands.base import Code, Data, Output, Pairs, Spec, app, named, run


@app.command(rich_help_panel="Stages")
def train(
    spec: Spec,
    tokens: Annotated[Path, typer.Option(help="Folder of tokens")],
    tokenizer: Annotated[Path, typer.Option(help="Folder of the tokenizer")],
    checkpoints: Annotated[Path, typer.Option(help="Folder of resumable checkpoints")],
    output: Output,
    code: Code = "",
) -> None:
    """Train one run, resuming where an earlier attempt was stopped."""
    from poshgrid.training.train import train as train_run

    run(
        specs.TrainSpec,
        spec,
        lambda given: train_run(given, tokens, tokenizer, checkpoints, output),
        manifest=output / "manifest.json",
        code=code,
        inputs=[*tokens.glob("*.bin"), tokenizer / "tokenizer.json"],
    )


@app.command(rich_help_panel="Stages")
def items(
    spec: Spec,
    data: Data,
    base: Pairs,
    output: Output,
    code: Code = "",
) -> None:
    """Make or read the minimal pairs of a suite."""
    from poshgrid.benchmark.items import generate

    bases = named(base)
    run(
        specs.ItemsSpec,
        spec,
        lambda given: generate(given, data, bases, output),
        manifest=output.parent / "manifest.json",
        code=code,
        inputs=bases.values(),
    )


@app.command(rich_help_panel="Stages")
def score(
    spec: Spec,
    model: Annotated[Path, typer.Option(help="Folder of the model")],
    items: Pairs,
    output: Annotated[Path, typer.Option(help="Folder; one table for each suite")],
    code: Code = "",
) -> None:
    """Score every suite with one model."""
    from poshgrid.evaluation.score import score as score_model

    suites = named(items)
    outputs = {suite: output / f"{suite}.parquet" for suite in suites}
    inputs = [model / "model.safetensors", *suites.values()]
    run(
        specs.ScoreSpec,
        spec,
        lambda given: score_model(given, model, suites, outputs),
        manifest=output / "manifest.json",
        code=code,
        inputs=inputs,
    )


@app.command(rich_help_panel="Stages")
def accuracy(
    spec: Spec,
    scores: Annotated[Path, typer.Option(help="Folder of all scores")],
    items: Pairs,
    output: Output,
    code: Code = "",
) -> None:
    """Count correct judgements and test them against chance."""
    from poshgrid.statistics.accuracy import accuracy as judge

    suites = named(items)
    run(
        specs.JudgementSpec,
        spec,
        lambda given: judge(given, scores, suites, output),
        manifest=output / "manifest.json",
        code=code,
        inputs=suites.values(),
    )


@app.command(rich_help_panel="Stages")
def fit(
    spec: Spec,
    counts: Annotated[Path, typer.Option(help="Counts of correct judgements")],
    output: Output,
    threads: Annotated[int, typer.Option(help="Chains at once; the draws are the same")] = 1,
    code: Code = "",
) -> None:
    """Fit a Bayesian mixed model to the counts."""
    from poshgrid.statistics.fit import fit as fit_model

    run(
        specs.ModelSpec,
        spec,
        lambda given: fit_model(given, counts, output, threads),
        manifest=output / "manifest.json",
        code=code,
        inputs=[counts],
    )


@app.command(rich_help_panel="Stages")
def report(
    spec: Spec,
    results: Annotated[Path, typer.Option(help="Folder of all results")],
    output: Output,
    code: Code = "",
) -> None:
    """Write the report of a target."""
    from poshgrid.report.page import write

    run(
        specs.ReportSpec,
        spec,
        lambda given: write(given, results, output),
        manifest=output / "manifest.json",
        code=code,
    )
