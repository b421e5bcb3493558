"""Commands: sheets of sentences and of pairs for people to judge, and what they found."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Code, Condition, Labels, Output, Sentences, Spec, app, run
from poshgrid.config import specs


@app.command(rich_help_panel="Stages")
def audit(
    spec: Spec,
    condition: Condition,
    sentences: Sentences,
    evidence: Labels,
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


@app.command(rich_help_panel="For people")
def leak_rate(
    sheet: Annotated[Path, typer.Argument(help="A sheet with its labels filled in")],
    second: Annotated[Path | None, typer.Argument(help="Another annotator's sheet")] = None,
    confidence: Annotated[float, typer.Option(help="Of the interval")] = 0.95,
    statistics: Annotated[Path | None, typer.Option(help="The sheet's statistics.json")] = None,
    output: Annotated[Path | None, typer.Option(help="JSON file to write, too")] = None,
) -> None:
    """Report the leak rate that an annotated sheet shows, with its interval."""
    from poshgrid.audit.rate import lines, rate
    from poshgrid.files import write_json

    found = rate(sheet, second, confidence=confidence, statistics=statistics)
    for line in lines(found):
        typer.echo(line)
    if output is not None:
        write_json(output, asdict(found))


@app.command(rich_help_panel="For people")
def pair_sheet(
    items: Annotated[Path, typer.Argument(help="Items of a suite of minimal pairs")],
    output: Output = Path("pairs.csv"),
    count: Annotated[int, typer.Option(min=1, help="Pairs of each phenomenon")] = 100,
    seed: Annotated[int, typer.Option(help="Of the pairs, their order and their sides")] = 42,
) -> None:
    """Draw a sheet of pairs for people to judge; it hides which member is good."""
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
        files.write_json(output, asdict(found))
