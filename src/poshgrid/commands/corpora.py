"""Commands: text to sentences, sentences to bases; gold trees, parsers, parses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import (
    Code,
    Data,
    Output,
    Pairs,
    Sentences,
    Spec,
    Threads,
    app,
    beside,
    named,
    run,
)
from poshgrid.config import specs


@app.command(rich_help_panel="Stages")
def read(
    spec: Spec,
    data: Data,
    output: Output,
    threads: Threads = 1,
    code: Code = "",
) -> None:
    """Read one source and clean it into sentences."""
    from poshgrid.corpora.read import input_files, read_source

    run(
        specs.SourceSpec,
        spec,
        lambda given: read_source(given, data, output, threads),
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
    )


@app.command(rich_help_panel="Stages")
def parse(
    spec: Spec,
    sentences: Sentences,
    model: Annotated[Path, typer.Option(help="Folder of the parser")],
    output: Output,
    code: Code = "",
) -> None:
    """Parse one shard of a base."""
    from poshgrid.evidence.screening.screen import screen
    from poshgrid.parsing.parse import parse as parse_shard

    run(
        specs.ParseSpec,
        spec,
        lambda given: parse_shard(given, sentences, model, output, screen(given.screens)),
        manifest=beside(output),
        code=code,
        inputs=[sentences, *(path for path in model.rglob("*") if path.is_file())],
    )
