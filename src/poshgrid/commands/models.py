"""Commands: nulls that count words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Code, Output, Spec, app, run


@app.command(rich_help_panel="Stages")
def count(
    spec: Spec,
    sentences: Annotated[Path, typer.Option(help="Table of sentences: of a base or a condition")],
    output: Output,
    code: Code = "",
) -> None:
    """Count the words of sentences: an n-gram null."""
    from poshgrid.config import specs
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
