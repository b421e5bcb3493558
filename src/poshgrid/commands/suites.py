"""Commands for suites and judgements of others: what they hold, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid.commands.base import Configs, Output, Results, app, grid_of, named
from poshgrid.errors import PoshgridError, did_you_mean


@app.command(rich_help_panel="For people")
def gate(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders of minimal pairs")],
    reader: Annotated[str, typer.Option(help="What reads them: blimp, lines, scamp ...")],
    output: Output = Path("gate"),
    option: Annotated[
        list[str], typer.Option(help="Of the reader: key=value; may be repeated")
    ] = [],  # noqa: B006 - typer copies it
    text: Annotated[
        list[str], typer.Option(help="Text that nulls are counted on: [name=]path; may be repeated")
    ] = [],  # noqa: B006
    words: Annotated[
        list[str], typer.Option(help="Words that pairs may have: [name=]path; may be repeated")
    ] = [],  # noqa: B006
    order: Annotated[int, typer.Option(min=2, help="Of the n-gram null")] = 5,
    tolerance: Annotated[float, typer.Option(min=0, max=0.5, help="Of a null, around 50%")] = 0.05,
    name: Annotated[str | None, typer.Option(help="Of the suite; none: the first path's")] = None,
) -> None:
    """Hold minimal pairs of any suite to the gate: a page of faults and of word-counting nulls."""
    from rich.console import Console

    from poshgrid.quality import given, terminal

    items = given.read(paths, reader, _options(option))
    found = given.judge(
        items,
        suite=name or paths[0].stem,
        texts=_named(text),
        lists=_named(words),
        order=order,
        tolerance=tolerance,
        output=output,
    )
    console = Console(highlight=False)
    for each in terminal.draw(found):
        console.print(each)
    typer.echo(f"{output / 'index.html'}")


@app.command(rich_help_panel="For people")
def export_judgements(
    config: Configs = None,
    target: Annotated[str, typer.Option(help="Experiment, or all")] = "all",
    suite: Annotated[str, typer.Option(help="Suite of minimal pairs")] = "posh",
    output: Output = Path("judgements"),
    results: Results = None,
) -> None:
    """Write what runs made of each pair: item_id, run, delta; and POSH-BENCH's published form."""
    from poshgrid.evaluation.exchange import DELTAS, export

    grid = grid_of(config, results)
    if target not in grid.targets:
        raise PoshgridError(
            f"--target: unknown target {target!r}{did_you_mean(target, grid.targets)}"
        )
    pairs = [name for name, task in grid.tasks.items() if task == "pairs"]
    if suite not in pairs:
        raise PoshgridError(f"--suite: no suite of pairs {suite!r}{did_you_mean(suite, pairs)}")
    runs = [run.name for run in grid.runs(target)]
    number = export(
        runs, Path(grid.paths.all_scores()), suite, Path(grid.paths.items(suite)), output
    )
    typer.echo(f"{output / DELTAS}: {number:,} judgements of {len(runs):,} runs")


@app.command(rich_help_panel="For people")
def import_judgements(
    folder: Annotated[Path, typer.Argument(help="Judgements in POSH-BENCH's published form")],
    output: Output = Path("imported"),
    suite: Annotated[str, typer.Option(help="What the suite is called")] = "posh",
) -> None:
    """Read judgements of others into items, scores, counts and accuracies like ours."""
    from rich.console import Console

    from poshgrid import files
    from poshgrid.benchmark.schema import ITEMS
    from poshgrid.config import Scoring
    from poshgrid.config.evaluation import Quality
    from poshgrid.evaluation.exchange import read
    from poshgrid.evaluation.schema import SCORES
    from poshgrid.report.terminal import table, view
    from poshgrid.specs import JudgementSpec
    from poshgrid.statistics.accuracy import accuracy
    from poshgrid.statistics.schema import ACCURACY

    found = read(folder)
    items = output / "items.parquet"
    files.write_table(found.items, items, ITEMS)
    for run, scores in found.runs.items():
        files.write_table(scores, output / "scores" / run / f"{suite}.parquet", SCORES)
    spec = JudgementSpec(
        scoring=Scoring(), tolerance=Quality().tolerance, runs=list(found.runs), cells=found.cells
    )
    accuracy(spec, output / "scores", {suite: items}, None, output)
    frame = files.read_table(output / "accuracy.parquet", ACCURACY)
    rows = view.select(frame, suite, "phenomenon", {})
    console = Console(highlight=False)
    drawn = view.view(rows, "phenomenon", view.MEASURES["accuracy"], stars="pooled", expected={})
    for each in table.draw(drawn, console):
        console.print(each)
    typer.echo(f"{output / 'accuracy.csv'}")


@app.command(rich_help_panel="For people")
def pair_sheet(
    items: Annotated[Path, typer.Argument(help="Items of a suite of minimal pairs")],
    output: Output = Path("pairs.csv"),
    count: Annotated[int, typer.Option(min=1, help="Pairs of each phenomenon")] = 100,
    seed: Annotated[int, typer.Option(help="Of the pairs, their order and their sides")] = 42,
) -> None:
    """Draw a sheet of pairs for people to judge, who are not told which member is good."""
    from poshgrid import files
    from poshgrid.audit.pairs import LABELS, draw
    from poshgrid.benchmark.schema import ITEMS

    number = draw(files.read_table(items, ITEMS), count, seed, output)
    typer.echo(f"{output}: {number:,} pairs; write {', '.join(LABELS)} in the column 'label'")


@app.command(rich_help_panel="For people")
def pair_rate(
    items: Annotated[Path, typer.Argument(help="Items that the sheet was drawn from")],
    sheet: Annotated[Path, typer.Argument(help="A sheet with its labels filled in")],
    second: Annotated[Path | None, typer.Argument(help="Another annotator's sheet")] = None,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Of intervals")] = 0.95,
    output: Annotated[Path | None, typer.Option(help="JSON file to write, too")] = None,
) -> None:
    """Report how far people agree with a suite, and with each other."""
    from poshgrid import files
    from poshgrid.audit.pairs import lines, rate
    from poshgrid.benchmark.schema import ITEMS

    found = rate(files.read_table(items, ITEMS), sheet, second, confidence)
    for line in lines(found):
        typer.echo(line)
    if output is not None:
        files.write_json(output, found.to_dict())


def _options(pairs: list[str]) -> dict[str, Any]:
    """Return a reader's options; values are YAML, as in a configuration.

    Raises:
        PoshgridError: an argument has no equals sign, or its value is no YAML.
    """
    import yaml

    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise PoshgridError(f"--option {pair!r}: write key=value")
        try:
            found[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise PoshgridError(f"--option {pair!r}: the value is no YAML") from error
    return found


def _named(values: list[str]) -> dict[str, Path]:
    """Return name -> path; a path without a name is called by its file."""
    pairs = [value if "=" in value else f"{Path(value).stem}={value}" for value in values]
    found = named(pairs)
    if len(found) < len(pairs):
        raise PoshgridError(f"{', '.join(values)}: two have the same name; write NAME=path")
    return found
