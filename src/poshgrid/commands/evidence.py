"""Commands: direct evidence, and conditions without it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid.commands.base import (
    Code,
    Condition,
    Data,
    Labels,
    Output,
    Sentences,
    Spec,
    Threads,
    app,
    beside,
    run,
)
from poshgrid.config import specs
from poshgrid.errors import PoshgridError


@app.command(rich_help_panel="Stages")
def detector(spec: Spec, data: Data, output: Output, code: Code = "") -> None:
    """Learn from gold trees what evidence looks like in words."""
    from poshgrid.evidence.screening.detector import learn

    run(
        specs.DetectorSpec,
        spec,
        lambda given: learn(given, data, output),
        manifest=output / "manifest.json",
        code=code,
    )


@app.command(rich_help_panel="Stages")
def evidence(
    spec: Spec,
    sentences: Sentences,
    parses: Annotated[list[Path], typer.Option(help="Shards; may be repeated")],
    output: Output,
    threads: Threads = 1,
    code: Code = "",
) -> None:
    """Label the direct evidence in a base's sentences."""
    from poshgrid.evidence.label import label

    run(
        specs.EvidenceSpec,
        spec,
        lambda given: label(given, sentences, parses, output, threads),
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
    """Count how much evidence in gold trees a parser finds."""
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
    beside: Annotated[Path | None, typer.Option(help="JSON of a condition to differ from")] = None,
    code: Code = "",
) -> None:
    """Build a training corpus: a base without its evidence, plus what is put back."""
    from poshgrid.corpora import listing
    from poshgrid.evidence import condition as built
    from poshgrid.evidence import prebuilt as ready

    def make(given: specs.ConditionSpec) -> dict[str, Any]:
        other = specs.beside(beside) if beside else None
        if prebuilt is not None:
            return ready.build(given, prebuilt, output, other)
        if sentences is None:
            raise PoshgridError("poshgrid condition: give either --sentences or --prebuilt")
        return built.build(given, sentences, evidence, output, other)

    ready_files = listing.ready_files(prebuilt).values() if prebuilt else ()
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
    condition: Condition,
    sentences: Sentences,
    evidence: Labels,
    output: Output,
    code: Code = "",
) -> None:
    """Count what else a condition lost with the evidence that was removed."""
    from poshgrid.evidence.collateral import collateral

    run(
        specs.CollateralSpec,
        spec,
        lambda given: collateral(given, condition, sentences, evidence, output),
        manifest=output / "manifest.json",
        code=code,
        inputs=[condition / "train.parquet", condition / "statistics.json", sentences, evidence],
    )
