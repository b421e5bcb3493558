"""Commands from text to tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid import specs
from poshgrid.commands.base import Code, Data, Output, Pairs, Spec, app, beside, named, run
from poshgrid.errors import PoshgridError
from poshgrid.manifest import recorded


@app.command(rich_help_panel="Stages")
def read(spec: Spec, data: Data, output: Output, code: Code = "") -> None:
    """Read one source and clean it into sentences."""
    from poshgrid.corpora.read import input_files, read_source

    run(
        specs.SourceSpec,
        spec,
        lambda given: read_source(given, data, output),
        manifest=output.parent / "manifest.json",
        code=code,
        inputs=input_files(specs.parse(specs.SourceSpec, spec), data),
    )


@app.command(rich_help_panel="Stages")
def mix(spec: Spec, source: Pairs, output: Output, code: Code = "") -> None:
    """Mix sources into a base, nested over sizes."""
    from poshgrid.corpora.mix import mix as mix_sources

    sources = named(source)
    run(
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

    run(
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

    run(
        specs.ParserSpec,
        spec,
        lambda given: train_a_parser(given, treebank, output),
        manifest=output / "manifest.json",
        code=code,
        inputs=treebank.glob("*.conllu"),
        costly=True,
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

    run(
        specs.ParseSpec,
        spec,
        lambda given: parse_shard(given, sentences, model, output),
        manifest=beside(output),
        code=code,
        inputs=[sentences, *(path for path in model.rglob("*") if path.is_file())],
        costly=True,
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

    run(
        specs.EvidenceSpec,
        spec,
        lambda given: label(given, sentences, parses, output),
        manifest=beside(output),
        code=code,
        inputs=parses,
    )


@app.command(rich_help_panel="Stages")
def recall(
    spec: Spec,
    data: Data,
    model: Annotated[Path, typer.Option(help="Folder of the parser")],
    output: Output,
    treebank: Annotated[
        Path | None, typer.Option(help="Folder of train and dev.conllu; none: the parser was given")
    ] = None,
    code: Code = "",
) -> None:
    """Count what a parser finds of the evidence in gold trees."""
    from poshgrid.evidence.recall import files
    from poshgrid.evidence.recall import recall as counted

    gold = specs.parse(specs.RecallSpec, spec).gold
    run(
        specs.RecallSpec,
        spec,
        lambda given: counted(given, data, model, treebank, output),
        manifest=beside(output),
        code=code,
        inputs=[
            *(path for name in gold for path in files(name, data)),
            *(path for path in model.rglob("*") if path.is_file()),
            *(treebank.glob("*.conllu") if treebank else ()),
        ],
    )


@app.command(rich_help_panel="Stages")
def condition(
    spec: Spec,
    output: Output,
    sentences: Annotated[Path | None, typer.Option(help="Sentences of a base")] = None,
    evidence: Annotated[Path | None, typer.Option(help="Labels; none: a bare base")] = None,
    prebuilt: Annotated[Path | None, typer.Option(help="Folder of ready files")] = None,
    beside: Annotated[Path | None, typer.Option(help="What it must differ from: JSON")] = None,
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
        return built.build(given, sentences, evidence, output, beside and specs.beside(beside))

    ready_files = prebuilt.glob("*.txt") if prebuilt else ()
    run(
        specs.ConditionSpec,
        spec,
        make,
        manifest=output / "manifest.json",
        code=code,
        inputs=[*(path for path in (sentences, evidence) if path), *ready_files],
    )


@app.command(rich_help_panel="Stages")
def measure_collateral(
    spec: Spec,
    condition: Annotated[Path, typer.Option(help="Folder of the condition")],
    sentences: Annotated[Path, typer.Option(help="Sentences of its base")],
    evidence: Annotated[Path, typer.Option(help="Labels of its base")],
    output: Output,
    code: Code = "",
) -> None:
    """Count what else went from a base with the evidence that a condition goes without."""
    from poshgrid.evidence.collateral import collateral

    run(
        specs.CollateralSpec,
        spec,
        lambda given: collateral(given, condition, sentences, evidence, output),
        manifest=output / "manifest.json",
        code=code,
        inputs=[condition / "train.parquet", condition / "statistics.json", sentences, evidence],
    )


@app.command(rich_help_panel="Stages")
def detector(spec: Spec, data: Data, output: Output, code: Code = "") -> None:
    """Learn from gold trees what evidence looks like in words."""
    from poshgrid.screening.learn import learn

    run(
        specs.DetectorSpec,
        spec,
        lambda given: learn(given, data, output),
        manifest=output / "manifest.json",
        code=code,
    )


@app.command(rich_help_panel="Stages")
def audit(
    spec: Spec,
    condition: Annotated[Path, typer.Option(help="Folder of the condition")],
    sentences: Annotated[Path, typer.Option(help="Sentences of its base")],
    evidence: Annotated[Path, typer.Option(help="Labels of its base")],
    output: Output,
    detector: Annotated[Path | None, typer.Option(help="Folder of the detector")] = None,
    code: Code = "",
) -> None:
    """Draw sheets of sentences for people to judge."""
    from poshgrid.audit.draw import draw

    tables = [condition / "train.parquet", condition / "statistics.json", sentences, evidence]
    model = (path for path in detector.rglob("*") if path.is_file()) if detector else ()
    run(
        specs.AuditSpec,
        spec,
        lambda given: draw(given, condition, sentences, evidence, output, detector),
        manifest=output / "manifest.json",
        code=code,
        inputs=[*tables, *model],
        editable=["*.csv", "*.html"],
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

    run(
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

    run(
        specs.TokenizerSpec,
        spec,
        lambda given: count_tokens(given, condition, output),
        manifest=beside(output),
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
