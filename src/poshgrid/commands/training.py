"""Commands: distances, training, checkpoints, nulls that count words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from poshgrid.commands.base import (
    Code,
    Condition,
    Configs,
    Output,
    Results,
    Spec,
    Tokenizer,
    Tokens,
    app,
    grid_of,
    run,
)
from poshgrid.config import specs
from poshgrid.config.runs import AXES
from poshgrid.config.training import Tracker
from poshgrid.errors import check_known
from poshgrid.provenance.manifest import recorded


@app.command(rich_help_panel="Stages")
def distances(
    condition: Condition,
    tokenizer: Tokenizer,
    tokens: Tokens,
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
    tokens: Tokens,
    tokenizer: Tokenizer,
    checkpoints: Annotated[Path, typer.Option(help="Folder of resumable checkpoints")],
    output: Output,
    distances: Annotated[
        Path | None, typer.Option(help="Folder of distances, for tree-planting")
    ] = None,
    checkpoint_every: Annotated[
        int, typer.Option(min=1, help="Steps between two checkpoints")
    ] = 2_000,
    tracker: Annotated[str | None, typer.Option(help="tensorboard; default: no tracker")] = None,
    code: Code = "",
) -> None:
    """Train one run, resuming where an earlier attempt was stopped."""
    from poshgrid.grid import folders
    from poshgrid.training import signals
    from poshgrid.training.tracker import tracking
    from poshgrid.training.train import train as train_run

    check_known("tracker: unknown word", tracker, get_args(Tracker))
    name = "/".join(output.parts[-len(AXES) :])
    events = checkpoints.parent / "tracking"

    def stage(given: specs.TrainSpec) -> dict[str, Any]:
        if given.regimen:
            often = {"checkpoint_every": checkpoint_every}
            given = given.model_copy(update={"regimen": given.regimen.model_copy(update=often)})
        try:
            with tracking(tracker, name, events):
                return train_run(
                    given, tokens, tokenizer, checkpoints, output, distances, leave=True
                )
        except signals.ToldToEndError as told:
            from poshgrid.cluster.slurm import requeue

            requeue(told)
            raise

    run(
        specs.TrainSpec,
        spec,
        stage,
        manifest=output / "manifest.json",
        code=code,
        inputs=[
            *tokens.glob("*.bin"),
            *tokens.glob("*.npy"),
            tokenizer / "tokenizer.json",
            *(distances.glob("*.*") if distances else []),
        ],
        finished=lambda: folders.clear(checkpoints, output, specs.parse(specs.TrainSpec, spec)),
    )


@app.command(rich_help_panel="For people")
def checkpoints(
    config: Configs = None,
    results: Results = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete stale checkpoints")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation")] = False,
    folder: Annotated[str | None, typer.Option(help="Only this folder, stale or not")] = None,
) -> None:
    """List resumable checkpoints: those that a run goes on from, locked ones, stale ones."""
    from poshgrid.grid import folders

    grid = grid_of(config, results)
    found = folders.folders(grid)
    for each in found:
        run = f" {each.run}" if each.run else ""
        typer.echo(f"{each.path.name} {each.life:7} {_size(each.size):>9}{run}: {each.why}")
    if not found:
        typer.echo(f"no checkpoints in {grid.paths.checkpoints()}")
    some = folders.chosen(found, folder) if delete or folder else []
    if not delete:
        stale = [each for each in found if each.life == "stale"]
        if stale:
            size = _size(sum(each.size for each in stale))
            typer.echo(f"{len(stale)} stale, {size}: the same with --delete deletes them")
        return
    if not some:
        typer.echo("nothing to delete: nothing is certainly stale")
        return
    size = _size(sum(each.size for each in some))
    if not yes and not typer.confirm(f"delete {len(some)} folders, {size}?"):
        typer.echo("nothing deleted")
        return
    done, said = folders.delete(some)
    typer.echo(f"deleted {done} folders")
    for line in said:
        typer.echo(line, err=True)
    if said:
        raise typer.Exit(1)


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
    )


def _size(size: int) -> str:
    return f"{size / 1e9:,.2f} GB" if size >= 1e7 else f"{size / 1e3:,.0f} kB"
