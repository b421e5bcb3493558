"""``poshgrid export``: models, items and tables for the tools that others use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from poshgrid.commands.base import Output, app
from poshgrid.errors import PoshgridError, check_known

if TYPE_CHECKING:
    from poshgrid.analysis.results import Results

KINDS = ("models", "items", "judgements", "tables")


@app.command(rich_help_panel="For people")
def export(
    what: Annotated[str, typer.Argument(help=f"{', '.join(KINDS[:-1])} or {KINDS[-1]}")],
    results: Annotated[Path, typer.Argument(help="Results folder, e.g. results/tiny")],
    output: Output = Path("exported"),
    target: Annotated[
        str | None, typer.Option(help="Whose accuracies, judgements and tables; none: all")
    ] = None,
    suite: Annotated[
        list[str] | None,
        typer.Option(help="Of items and judgements; may be repeated; none: all"),
    ] = None,
    only: Annotated[str | None, typer.Option(help="Of models, e.g. size=10M,seed=42")] = None,
    licence: Annotated[
        str | None, typer.Option(help="Of models, as the Hub spells it: cc-by-nc-sa-4.0")
    ] = None,
    upload: Annotated[
        str | None, typer.Option(help="User or organisation of the Hugging Face Hub to send to")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="New repositories are public")] = False,
) -> None:
    """Write results as other tools read them (docs/export.md)."""
    import poshgrid

    check_known("unknown word", what, KINDS)
    if upload and what not in ("models", "items"):
        raise PoshgridError(f"--upload: sends models and items; {what} stay here")
    found = poshgrid.open(results)
    makers: dict[str, Callable[[], list[Path]]] = {
        "models": lambda: _models(found, output, target, only, licence),
        "items": lambda: _items(found, output, suite),
        "judgements": lambda: _judgements(found, output, target, suite),
        "tables": lambda: _tables(found, output, target),
    }
    folders = makers[what]()
    for folder in folders:
        typer.echo(folder)
    if upload:
        from poshgrid.export import hub

        kind: Literal["model", "dataset"] = "model" if what == "models" else "dataset"
        for address in hub.upload(folders, upload, kind, public=public):
            typer.echo(address)


def _models(
    results: Results, output: Path, target: str | None, only: str | None, licence: str | None
) -> list[Path]:
    from poshgrid.config.runs import parse_only
    from poshgrid.export import models

    runs = models.chosen(results, parse_only(only, "--only"))
    return models.export(results, runs, output / "models", target=target, licence=licence)


def _items(results: Results, output: Path, suites: list[str] | None) -> list[Path]:
    from poshgrid.export import items

    return [items.export(results, each, output / "items") for each in suites or results.suites]


def _judgements(
    results: Results, output: Path, target: str | None, suites: list[str] | None
) -> list[Path]:
    from poshgrid.evaluation import exchange

    pairs = [each for each in results.suites if results.task(each) == "pairs"]
    for each in suites or []:
        check_known("--suite: no suite of pairs", each, pairs)
    folders = {each: output / "judgements" / each for each in suites or pairs}
    for each, folder in folders.items():
        runs = results.judged(target) if target else [run.name for run in results.scored(each)]
        scores, items = Path(results.paths.all_scores()), Path(results.paths.items(each))
        exchange.export(runs, scores, each, items, folder)
    return list(folders.values())


def _tables(results: Results, output: Path, target: str | None) -> list[Path]:
    from poshgrid.export import tables

    return [tables.export(results, output / "tables", target)]
