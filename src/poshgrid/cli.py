"""The command line: one command for each stage of the workflow, and a few for people.

Stage commands take their slice of the configuration as ``--spec`` (canonical JSON) and their files
by path, so that the command of any job can be copied from its log and run by hand. Heavy libraries
are imported by the command that needs them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid import logs, specs
from poshgrid.errors import PoshgridError
from poshgrid.manifest import recorded

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

    slice_ = specs.parse(specs.SourceSpec, spec)
    with recorded(output.parent / "manifest.json", spec=slice_.model_dump(), code=code) as facts:
        facts.update(read_source(slice_, data, output))


@app.command(rich_help_panel="Stages")
def mix(spec: Spec, source: Pairs, output: Output, code: Code = "") -> None:
    """Mix sources into a base, nested over sizes."""
    from poshgrid.corpora.mix import mix as mix_sources

    slice_, sources = specs.parse(specs.BaseSpec, spec), _named(source)
    with recorded(
        output.parent / "manifest.json",
        spec=slice_.model_dump(),
        code=code,
        inputs=sources.values(),
    ) as facts:
        facts.update(mix_sources(slice_, sources, output))


@app.command(rich_help_panel="Stages")
def treebank(spec: Spec, data: Data, output: Output, code: Code = "") -> None:
    """Prepare the gold trees that a parser is trained and tested on."""
    from poshgrid.parsing.treebank import prepare

    slice_ = specs.parse(specs.TreebankSpec, spec)
    with recorded(output / "manifest.json", spec=slice_.model_dump(), code=code) as facts:
        facts.update(prepare(slice_, data, output))


@app.command(rich_help_panel="Stages")
def train_parser(
    spec: Spec,
    treebank: Annotated[Path, typer.Option(help="Folder of train, dev and test.conllu")],
    output: Output,
    code: Code = "",
) -> None:
    """Train a dependency parser and test it on held-out trees."""
    from poshgrid.parsing.train import train as train_a_parser

    slice_ = specs.parse(specs.ParserSpec, spec)
    with recorded(
        output / "manifest.json",
        spec=slice_.model_dump(),
        code=code,
        inputs=treebank.glob("*.conllu"),
    ) as facts:
        facts.update(train_a_parser(slice_, treebank, output))


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

    slice_ = specs.parse(specs.ParseSpec, spec)
    with recorded(
        _beside(output), spec=slice_.model_dump(), code=code, inputs=[sentences]
    ) as facts:
        facts.update(parse_shard(slice_, sentences, model, output))


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

    slice_ = specs.parse(specs.EvidenceSpec, spec)
    with recorded(_beside(output), spec=slice_.model_dump(), code=code, inputs=parses) as facts:
        facts.update(label(slice_, sentences, parses, output))


@app.command(rich_help_panel="Stages")
def condition(
    spec: Spec,
    sentences: Annotated[Path, typer.Option(help="Sentences of a base")],
    output: Output,
    evidence: Annotated[Path | None, typer.Option(help="Labels; none: a bare base")] = None,
    code: Code = "",
) -> None:
    """Build what a learner sees: a base less its evidence, plus what is put back."""
    from poshgrid.evidence.condition import build

    slice_ = specs.parse(specs.ConditionSpec, spec)
    inputs = [sentences, *([evidence] if evidence else [])]
    with recorded(
        output / "manifest.json", spec=slice_.model_dump(), code=code, inputs=inputs
    ) as facts:
        facts.update(build(slice_, sentences, evidence, output))


@app.command(rich_help_panel="Stages")
def tokenizer(
    spec: Spec,
    condition: Annotated[Path, typer.Option(help="Folder of the condition")],
    output: Output,
    code: Code = "",
) -> None:
    """Train the tokenizer of a condition and size."""
    from poshgrid.tokenization.tokenizer import train as train_tokenizer

    slice_ = specs.parse(specs.TokenizerSpec, spec)
    with recorded(
        output / "manifest.json",
        spec=slice_.model_dump(),
        code=code,
        inputs=[condition / "train.parquet"],
    ) as facts:
        facts.update(train_tokenizer(slice_, condition, output))


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

    slice_ = specs.parse(specs.TrainSpec, spec)
    with recorded(
        output / "manifest.json",
        spec=slice_.model_dump(),
        code=code,
        inputs=[*tokens.glob("*.bin"), tokenizer / "tokenizer.json"],
    ) as facts:
        facts.update(train_run(slice_, tokens, tokenizer, checkpoints, output))


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

    slice_, bases = specs.parse(specs.ItemsSpec, spec), _named(base)
    with recorded(
        output.parent / "manifest.json",
        spec=slice_.model_dump(),
        code=code,
        inputs=bases.values(),
    ) as facts:
        facts.update(generate(slice_, data, bases, output))


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

    slice_, suites = specs.parse(specs.ScoreSpec, spec), _named(items)
    outputs = {suite: output / f"{suite}.parquet" for suite in suites}
    inputs = [model / "model.safetensors", *suites.values()]
    with recorded(
        output / "manifest.json", spec=slice_.model_dump(), code=code, inputs=inputs
    ) as facts:
        facts.update(score_model(slice_, model, suites, outputs))


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

    slice_, suites = specs.parse(specs.JudgementSpec, spec), _named(items)
    with recorded(
        output / "manifest.json", spec=slice_.model_dump(), code=code, inputs=suites.values()
    ) as facts:
        facts.update(judge(slice_, scores, suites, output))


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

    slice_ = specs.parse(specs.ModelSpec, spec)
    with recorded(
        output / "manifest.json", spec=slice_.model_dump(), code=code, inputs=[counts]
    ) as facts:
        facts.update(fit_model(slice_, counts, output, threads))


@app.command(rich_help_panel="Stages")
def report(
    spec: Spec,
    results: Annotated[Path, typer.Option(help="Folder of all results")],
    output: Output,
    code: Code = "",
) -> None:
    """Write the report of a target."""
    from poshgrid.report.page import write

    slice_ = specs.parse(specs.ReportSpec, spec)
    with recorded(output / "manifest.json", spec=slice_.model_dump(), code=code) as facts:
        facts.update(write(slice_, results, output))


@app.command(rich_help_panel="For people")
def check(
    config: Annotated[Path, typer.Argument(help="Configuration file")] = Path("config/config.yaml"),
) -> None:
    """Check a configuration; print its targets and the number of their runs."""
    from poshgrid import configfile
    from poshgrid.grid import Grid

    grid = Grid(configfile.load(config))
    for target, runs in grid.targets.items():
        typer.echo(f"{target:12} {len(runs):6,} runs, {len(grid.nulls(runs)):,} nulls")


@app.command(rich_help_panel="For people")
def runs(
    config: Annotated[Path, typer.Argument(help="Configuration file")] = Path("config/config.yaml"),
    target: Annotated[str, typer.Option(help="Experiment, or all")] = "all",
    only: Annotated[str | None, typer.Option(help="Subset, e.g. size=10M,seed=42")] = None,
) -> None:
    """List the runs of a target: the names of its model folders."""
    from poshgrid import configfile
    from poshgrid.errors import did_you_mean
    from poshgrid.grid import Grid

    loaded = configfile.load(config)
    grid = Grid(loaded.model_copy(update={"only": only}) if only else loaded)
    if target not in grid.targets:
        raise PoshgridError(f"unknown target {target!r}{did_you_mean(target, grid.targets)}")
    for run in grid.targets[target]:
        typer.echo(grid.paths.model(run.name))


@app.command(rich_help_panel="For people")
def schema(output: Output = Path("workflow/schemas/config.schema.json")) -> None:
    """Write the JSON Schema of the configuration."""
    from poshgrid.configfile import write_schema

    write_schema(output)


def main() -> None:
    """Run the command line; an error is one line on standard error and a non-zero status."""
    debug = bool(os.environ.get("POSHGRID_DEBUG"))
    logs.setup(verbose=debug)
    try:
        app()
    except PoshgridError as error:
        if debug:
            raise
        _fail(str(error))
    except OSError as error:
        if debug:
            raise
        place = error.filename or "input or output"
        _fail(f"{place}: {error.strerror or error}; check the path, permissions and disk space")
    except MemoryError:
        _fail("out of memory; give the job more, or lower batch_size or evidence.shard_words")
    except Exception as error:
        if debug:
            raise
        reason = str(error).strip().splitlines()
        _fail(
            f"internal error: {type(error).__name__}: {reason[0] if reason else ''}; "
            "set POSHGRID_DEBUG=1 and run the command again for details, then report it"
        )


def _fail(message: str) -> None:
    for line in message.splitlines():
        sys.stderr.write(f"error: {line}\n")
    sys.exit(1)


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
