"""Commands: tokenizers and tokens."""

from __future__ import annotations

from poshgrid.commands.base import Code, Condition, Output, Spec, Tokenizer, app, beside, run
from poshgrid.provenance.manifest import recorded


@app.command(rich_help_panel="Stages")
def tokenizer(
    spec: Spec,
    condition: Condition,
    output: Output,
    code: Code = "",
) -> None:
    """Train the tokenizer of a condition and size."""
    from poshgrid.config import specs
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
    condition: Condition,
    output: Output,
    code: Code = "",
) -> None:
    """Count a condition's tokens at several vocabulary sizes."""
    from poshgrid.config import specs
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
