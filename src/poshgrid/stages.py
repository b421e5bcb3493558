"""The commands of the workflow's stages: each rule calls one of them.

A command takes its slice of the configuration as ``--spec`` (canonical JSON) and its files by path,
so that the command of any job can be copied from its log and run by hand. Heavy libraries are
imported by the command that needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid import specs
from poshgrid.errors import PoshgridError
from poshgrid.manifest import recorded
from poshgrid.specs import S

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Do language models learn, from what a child hears, what cannot be learned from it?",
)
Spec = Annotated[str, typer.Option(help="Slice of the configuration, as JSON")]
Code = Annotated[str, typer.Option(help="Fingerprint of the code, for the manifest")]
Data = Annotated[Path, typer.Option(help="Folder of the sources")]
Output = Annotated[Path, typer.Option(help="File or folder to write")]
Pairs = Annotated[list[str], typer.Option(help="name=path; may be repeated")]


@app.command(rich_help_panel="Stages")
def read(spec: Spec, data: Data, output: Output, code: Code = "") -> None:
    """Read one source and clean it into sentences."""
    from poshgrid.corpora.read import read_source

    _run(
        specs.SourceSpec,
        spec,
        lambda given: read_source(given, data, output),
        manifest=output.parent / "manifest.json",
        code=code,
    )


@app.command(rich_help_panel="Stages")
def mix(spec: Spec, source: Pairs, output: Output, code: Code = "") -> None:
    """Mix sources into a base, nested over sizes."""
    from poshgrid.corpora.mix import mix as mix_sources

    sources = _named(source)
    _run(
        specs.BaseSpec,
        spec,
        lambda given: mix_sources(given, sources, output),
        manifest=output.parent / "manifest.json",
        code=code,
        inputs=sources.values(),
    )


@app.command(rich_help_panel="Stages")
def treebank(spec: Spec, data: Data, output: Output, code: Code = "") -> None:
    """Prepare the gold trees that a parser is trained and tested on."""
    from poshgrid.parsing.treebank import prepare

    _run(
        specs.TreebankSpec,
        spec,
        lambda given: prepare(given, data, output),
        manifest=output / "manifest.json",
        code=code,
    )


@app.command(rich_help_panel="Stages")
def train_parser(
    spec: Spec,
    treebank: Annotated[Path, typer.Option(help="Folder of train, dev and test.conllu")],
    output: Output,
    code: Code = "",
) -> None:
    """Train a dependency parser and test it on held-out trees."""
    from poshgrid.parsing.train import train as train_a_parser

    _run(
        specs.ParserSpec,
        spec,
        lambda given: train_a_parser(given, treebank, output),
        manifest=output / "manifest.json",
        code=code,
        inputs=treebank.glob("*.conllu"),
    )


@app.command(rich_help_panel="Stages")
def parse(
    spec: Spec,
    sentences: Annotated[Path, typer.Option(help="Sentences of a base")],
    model: Annotated[Path, typer.Option(help="Folder of the parser")],
    output: Output,
    code: Code = "",
) -> None:
    """Parse one shard of a base."""
    from poshgrid.parsing.parse import parse as parse_shard

    _run(
        specs.ParseSpec,
        spec,
        lambda given: parse_shard(given, sentences, model, output),
        manifest=_beside(output),
        code=code,
        inputs=[sentences],
    )


@app.command(rich_help_panel="Stages")
def evidence(
    spec: Spec,
    sentences: Annotated[Path, typer.Option(help="Sentences of a base")],
    parses: Annotated[list[Path], typer.Option(help="Shards; may be repeated")],
    output: Output,
    code: Code = "",
) -> None:
    """Label the direct evidence in a base's sentences."""
    from poshgrid.evidence.label import label

    _run(
        specs.EvidenceSpec,
        spec,
        lambda given: label(given, sentences, parses, output),
        manifest=_beside(output),
        code=code,
        inputs=parses,
    )


@app.command(rich_help_panel="Stages")
def condition(
    spec: Spec,
    output: Output,
    sentences: Annotated[Path | None, typer.Option(help="Sentences of a base")] = None,
    evidence: Annotated[Path | None, typer.Option(help="Labels; none: a bare base")] = None,
    prebuilt: Annotated[Path | None, typer.Option(help="Folder of ready files")] = None,
    code: Code = "",
) -> None:
    """Build what a learner sees: a base less its evidence, plus what is put back."""
    from poshgrid.evidence import condition as built
    from poshgrid.evidence import prebuilt as ready

    def make(given: specs.ConditionSpec) -> dict[str, Any]:
        if prebuilt is not None:
            return ready.build(given, prebuilt, output)
        if sentences is None:
            raise PoshgridError("poshgrid condition: give either --sentences or --prebuilt")
        return built.build(given, sentences, evidence, output)

    ready_files = prebuilt.glob("*.txt") if prebuilt else ()
    _run(
        specs.ConditionSpec,
        spec,
        make,
        manifest=output / "manifest.json",
        code=code,
        inputs=[*(path for path in (sentences, evidence) if path), *ready_files],
    )


@app.command(rich_help_panel="Stages")
def audit(
    spec: Spec,
    condition: Annotated[Path, typer.Option(help="Folder of the condition")],
    sentences: Annotated[Path, typer.Option(help="Sentences of its base")],
    evidence: Annotated[Path, typer.Option(help="Labels of its base")],
    output: Output,
    code: Code = "",
) -> None:
    """Draw sheets of sentences for people to judge."""
    from poshgrid.audit.draw import draw

    _run(
        specs.AuditSpec,
        spec,
        lambda given: draw(given, condition, sentences, evidence, output),
        manifest=output / "manifest.json",
        code=code,
        inputs=[condition / "train.parquet", condition / "statistics.json", sentences, evidence],
    )


@app.command(rich_help_panel="Stages")
def tokenizer(
    spec: Spec,
    condition: Annotated[Path, typer.Option(help="Folder of the condition")],
    output: Output,
    code: Code = "",
) -> None:
    """Train the tokenizer of a condition and size."""
    from poshgrid.tokenization.tokenizer import train as train_tokenizer

    _run(
        specs.TokenizerSpec,
        spec,
        lambda given: train_tokenizer(given, condition, output),
        manifest=output / "manifest.json",
        code=code,
        inputs=[condition / "train.parquet"],
    )


@app.command(rich_help_panel="Stages")
def sweep(
    spec: Spec,
    condition: Annotated[Path, typer.Option(help="Folder of the condition")],
    output: Output,
    code: Code = "",
) -> None:
    """Count a condition's tokens at several vocabulary sizes."""
    from poshgrid.tokenization.sweep import sweep as count_tokens

    _run(
        specs.TokenizerSpec,
        spec,
        lambda given: count_tokens(given, condition, output),
        manifest=_beside(output),
        code=code,
        inputs=[condition / "train.parquet"],
    )


@app.command(rich_help_panel="Stages")
def tokens(
    condition: Annotated[Path, typer.Option(help="Folder of the condition")],
    tokenizer: Annotated[Path, typer.Option(help="Folder of its tokenizer")],
    output: Output,
    code: Code = "",
) -> None:
    """Encode a condition as memory-mapped tokens."""
    from poshgrid.tokenization.encode import encode

    inputs = [*condition.glob("*.parquet"), tokenizer / "tokenizer.json"]
    with recorded(output / "manifest.json", code=code, inputs=inputs) as facts:
        facts.update(encode(condition, tokenizer, output))


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

    _run(
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

    bases = _named(base)
    _run(
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

    suites = _named(items)
    outputs = {suite: output / f"{suite}.parquet" for suite in suites}
    inputs = [model / "model.safetensors", *suites.values()]
    _run(
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

    suites = _named(items)
    _run(
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

    _run(
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

    _run(
        specs.ReportSpec,
        spec,
        lambda given: write(given, results, output),
        manifest=output / "manifest.json",
        code=code,
    )


def _run(
    kind: type[S],
    spec: str,
    stage: Callable[[S], dict[str, Any]],
    *,
    manifest: Path,
    code: str,
    inputs: Iterable[Path] = (),
) -> None:
    """Parse a stage's slice, run the stage and write the manifest with the facts it returns."""
    given = specs.parse(kind, spec)
    with recorded(manifest, spec=given.model_dump(mode="json"), code=code, inputs=inputs) as facts:
        facts.update(stage(given))


def _named(pairs: list[str]) -> dict[str, Path]:
    named: dict[str, Any] = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        if not equals:
            raise PoshgridError(f"{pair!r}: write name=path")
        named[name] = Path(path)
    return named


def _beside(output: Path) -> Path:
    return output.with_name(f"{output.stem}.manifest.json")
