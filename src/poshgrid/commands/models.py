"""Commands from models to the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid import specs
from poshgrid.commands.base import Code, Data, Output, Pairs, Spec, app, named, run
from poshgrid.errors import PoshgridError
from poshgrid.manifest import recorded

MODEL_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "*.py")
"""Of a model and its tokenizer, ours or given by path: what its scores depend on."""


@app.command(rich_help_panel="Stages")
def distances(
    condition: Annotated[Path, typer.Option(help="Folder of the condition")],
    tokenizer: Annotated[Path, typer.Option(help="Folder of the tokenizer")],
    tokens: Annotated[Path, typer.Option(help="Folder of tokens")],
    parses: Annotated[list[Path], typer.Option(help="Shards; may be repeated")],
    output: Output,
    code: Code = "",
) -> None:
    """Measure distances in the trees of the training sentences, for tree-planting."""
    from poshgrid.distances.make import make

    table, ids = condition / "train.parquet", tokens / "train.bin"
    inputs = [table, tokenizer / "tokenizer.json", ids, *parses]
    with recorded(output / "manifest.json", code=code, inputs=inputs) as facts:
        facts.update(make(condition, tokenizer, tokens, parses, output))


@app.command(rich_help_panel="Stages")
def train(
    spec: Spec,
    tokens: Annotated[Path, typer.Option(help="Folder of tokens")],
    tokenizer: Annotated[Path, typer.Option(help="Folder of the tokenizer")],
    checkpoints: Annotated[Path, typer.Option(help="Folder of resumable checkpoints")],
    output: Output,
    distances: Annotated[
        Path | None, typer.Option(help="Folder of distances, for tree-planting")
    ] = None,
    together: Annotated[int, typer.Option(min=1, help="Runs that share the GPU")] = 1,
    code: Code = "",
) -> None:
    """Train one run, resuming where an earlier attempt was stopped."""
    from poshgrid.training import folders
    from poshgrid.training.train import train as train_run

    run(
        specs.TrainSpec,
        spec,
        lambda given: train_run(
            given, tokens, tokenizer, checkpoints, output, distances, together, leave=True
        ),
        manifest=output / "manifest.json",
        code=code,
        inputs=[
            *tokens.glob("*.bin"),
            *tokens.glob("*.npy"),
            tokenizer / "tokenizer.json",
            *(distances.glob("*.*") if distances else []),
        ],
        costly=True,
        finished=lambda: folders.clear(checkpoints, output, specs.parse(specs.TrainSpec, spec)),
    )


@app.command(rich_help_panel="Stages")
def together(
    model: Annotated[list[Path], typer.Option(help="Folder of a model; may be repeated")],
    output: Output,
) -> None:
    """Say that runs which shared a GPU are all trained."""
    from poshgrid.files import write_json
    from poshgrid.training.together import trained

    write_json(output, trained(model))


@app.command(rich_help_panel="Stages")
def count(
    spec: Spec,
    sentences: Annotated[Path, typer.Option(help="Table of sentences: of a base or a condition")],
    output: Output,
    code: Code = "",
) -> None:
    """Count the words of sentences: an n-gram null."""
    from poshgrid.models.ngram import count as count_words

    run(
        specs.CountSpec,
        spec,
        lambda given: count_words(sentences, output, order=given.order, size=given.size),
        manifest=output / "manifest.json",
        code=code,
        inputs=[sentences],
        costly=True,
    )


@app.command(rich_help_panel="Stages")
def items(
    output: Annotated[Path, typer.Option(help="Table of items, to write or to show")],
    spec: Spec = "",
    data: Data = Path("data"),
    base: Pairs = [],  # noqa: B006 - typer copies it
    ngrams: Pairs = [],  # noqa: B006
    code: Code = "",
    show: Annotated[int, typer.Option(help="Show so many pairs of each phenomenon")] = 0,
    seed: Annotated[int, typer.Option(help="Of the pairs that are shown")] = 0,
) -> None:
    """Make or read the items of a suite; or show some of a table that is there."""
    if show:
        from poshgrid.benchmark.show import examples, read

        typer.echo(examples(read(output), show, seed))
        return
    if not spec:
        raise PoshgridError("items: give --show N to see pairs of a table, or --spec to make one")
    from poshgrid.benchmark.items import generate

    bases, models = named(base), named(ngrams)
    run(
        specs.ItemsSpec,
        spec,
        lambda given: generate(given, data, bases, models, output),
        manifest=output.parent / "manifest.json",
        code=code,
        inputs=[
            *bases.values(),
            *(path / "model.safetensors" for path in models.values()),
            *(path / "config.json" for path in models.values()),
        ],
    )


@app.command(rich_help_panel="Stages")
def lengths(
    spec: Spec,
    tokenizer: Annotated[Path, typer.Option(help="Folder of the tokenizer")],
    items: Pairs,
    output: Output,
    code: Code = "",
) -> None:
    """Hold the items of all suites to what the models of a cell see at a time."""
    from poshgrid.evaluation.lengths import lengths as measure

    suites = named(items)
    run(
        specs.LengthsSpec,
        spec,
        lambda given: measure(given, tokenizer, suites, output / "lengths.json"),
        manifest=output / "manifest.json",
        code=code,
        inputs=[tokenizer / "tokenizer.json", *suites.values()],
    )


@app.command(rich_help_panel="Stages")
def quality(
    spec: Spec,
    items: Annotated[Path, typer.Option(help="Minimal pairs of the suite")],
    output: Output,
    base: Pairs = [],  # noqa: B006
    train: Pairs = [],  # noqa: B006
    scores: Pairs = [],  # noqa: B006
    code: Code = "",
) -> None:
    """Hold a suite to the gate, and write the page that says what is wrong with it."""
    from poshgrid.quality.gate import gate

    bases, trained, nulls = named(base), named(train), named(scores)
    run(
        specs.QualitySpec,
        spec,
        lambda given: gate(
            items,
            suite=given.suite,
            generated=given.generated,
            top_k=given.top_k,
            bases=bases,
            train=trained,
            scores=nulls,
            scoring=given.scoring,
            tolerance=given.tolerance,
            bases_of=given.bases,
            output=output,
        ),
        manifest=output / "manifest.json",
        code=code,
        inputs=[items, *bases.values(), *trained.values(), *nulls.values()],
    )


@app.command(rich_help_panel="Stages")
def score(
    spec: Spec,
    model: Annotated[str, typer.Option(help="Folder of the model, or its id on a hub")],
    items: Pairs,
    output: Annotated[Path, typer.Option(help="Folder; one table for each suite")],
    code: Code = "",
) -> None:
    """Score every suite with one model."""
    from poshgrid.evaluation.score import score as score_model

    suites = named(items)
    outputs = {suite: output / f"{suite}.parquet" for suite in suites}
    tokens = {suite: output / f"{suite}.tokens.parquet" for suite in suites}
    run(
        specs.ScoreSpec,
        spec,
        lambda given: score_model(given, model, suites, outputs, tokens),
        manifest=output / "manifest.json",
        code=code,
        inputs=[
            *(path for kind in MODEL_FILES for path in Path(model).rglob(kind)),
            *suites.values(),
        ],
        costly=Path(model).is_dir(),  # of a model on a hub nothing is digested
    )


@app.command(rich_help_panel="Stages")
def perplexity(
    spec: Spec,
    model: Annotated[Path, typer.Option(help="Folder of the model")],
    sentences: Annotated[Path, typer.Option(help="The base's sentences")],
    output: Output,
    code: Code = "",
) -> None:
    """Measure a model's perplexity on test sentences that nothing was removed from."""
    from poshgrid.evaluation.perplexity import perplexity as read

    run(
        specs.PerplexitySpec,
        spec,
        lambda given: read(given, model, sentences, output),
        manifest=output.with_suffix(".manifest.json"),
        code=code,
        inputs=[*model.glob("*.*"), sentences],
        costly=True,
    )


@app.command(rich_help_panel="Stages")
def accuracy(
    spec: Spec,
    scores: Annotated[Path, typer.Option(help="Folder of all scores")],
    items: Pairs,
    conditions: Annotated[Path, typer.Option(help="Folder of all conditions")],
    output: Output,
    rules: Annotated[
        list[str], typer.Option(help="SUITE=TABLE: what rules make of its pairs, as rivals")
    ] = [],  # noqa: B006
    code: Code = "",
) -> None:
    """Count correct judgements and test them against chance and the best rival."""
    from poshgrid.statistics.accuracy import accuracy as judge

    suites, by_rule = named(items), named(rules)
    run(
        specs.JudgementSpec,
        spec,
        lambda given: judge(given, scores, suites, conditions, output, by_rule),
        manifest=output / "manifest.json",
        code=code,
        inputs=[*suites.values(), *by_rule.values()],
    )


@app.command(rich_help_panel="Stages")
def curves(
    spec: Spec,
    scores: Annotated[Path, typer.Option(help="Folder of all scores")],
    models: Annotated[Path, typer.Option(help="Folder of all models")],
    output: Output,
    items: Pairs = [],  # noqa: B006
    code: Code = "",
) -> None:
    """Write accuracies by step and epoch, and a table of how training went."""
    from poshgrid.statistics.curves import curves as by_step

    suites = named(items)
    run(
        specs.JudgementSpec,
        spec,
        lambda given: by_step(given, scores, models, suites, output),
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
        costly=True,
    )


@app.command(rich_help_panel="Stages")
def deltas(
    spec: Spec,
    scores: Annotated[Path, typer.Option(help="Folder of all scores")],
    items: Pairs,
    output: Output,
    perplexities: Annotated[Path, typer.Option(help="Folder of all perplexities")] = Path(),
    code: Code = "",
) -> None:
    """Set filtered models beside the full ones: what filtering changes."""
    from poshgrid.statistics.deltas import deltas as compare

    suites = named(items)

    def stage(given: specs.DeltasSpec) -> dict[str, Any]:
        found = {name: perplexities / f"{name}.json" for name in given.perplexity}
        return compare(given, scores, suites, found, output)

    run(
        specs.DeltasSpec,
        spec,
        stage,
        manifest=output / "manifest.json",
        code=code,
        inputs=suites.values(),
    )


@app.command(rich_help_panel="Stages")
def measures(
    spec: Spec,
    scores: Annotated[Path, typer.Option(help="Folder of all scores")],
    items: Annotated[Path, typer.Option(help="Items of the suite")],
    output: Output,
    norms: Annotated[Path | None, typer.Option(help="Norms of the test")] = None,
    code: Code = "",
) -> None:
    """Write the results on a suite of paradigms, choices or completions."""

    def stage(given: specs.MeasuresSpec) -> dict[str, Any]:
        if given.task == "paradigms":
            from poshgrid.statistics.measures import paradigms

            return paradigms.write(
                given.runs,
                scores,
                given.suite,
                items,
                output,
                sign=given.measures.sign,
                reduction=given.measures.reduction,
            )
        from poshgrid.statistics.measures import choices

        return choices.write(
            given.runs,
            scores,
            given.suite,
            items,
            output,
            norms=norms,
            block_pass=given.measures.block_pass,
        )

    run(
        specs.MeasuresSpec,
        spec,
        stage,
        manifest=output / "manifest.json",
        code=code,
        inputs=[items, *([norms] if norms else [])],
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
