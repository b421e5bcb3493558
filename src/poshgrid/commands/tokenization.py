"""Commands: tokenizers and tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Code, Condition, Output, Spec, Tokenizer, app, beside, run
from poshgrid.config import specs
from poshgrid.provenance.manifest import recorded


@app.command(rich_help_panel="Stages")
def tokenizer(
    spec: Spec,
    output: Output,
    condition: Annotated[
        list[Path] | None, typer.Option(help="Folder of a condition that it is trained on")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="What it is instead: tokenizer.json, or a word a line")
    ] = None,
    code: Code = "",
) -> None:
    """Train a tokenizer on conditions, or take it from a file."""
    from poshgrid.errors import PoshgridError
    from poshgrid.tokenization import tokenizer as tokenizers

    conditions = condition or []
    if bool(file) == bool(conditions):
        raise PoshgridError("give --condition (one or more) or --file")
    run(
        specs.TokenizerSpec,
        spec,
        lambda given: (
            tokenizers.given(given, file, output)
            if file
            else tokenizers.train(given, conditions, output)
        ),
        manifest=output / "manifest.json",
        code=code,
        inputs=[file] if file else [each / "train.parquet" for each in conditions],
    )


@app.command(rich_help_panel="Stages")
def sweep(
    spec: Spec,
    condition: Condition,
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
    condition: Condition,
    tokenizer: Tokenizer,
    output: Output,
    code: Code = "",
) -> None:
    """Encode a condition as memory-mapped tokens."""
    from poshgrid.tokenization.encode import encode

    inputs = [*condition.glob("*.parquet"), tokenizer / "tokenizer.json"]
    with recorded(output / "manifest.json", code=code, inputs=inputs) as facts:
        facts.update(encode(condition, tokenizer, output))
