"""``poshgrid power``: what a grid can show, before a model of it is trained."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from poshgrid.commands.base import Configs, Results, Target, app, grid_of
from poshgrid.config.names import PAPER
from poshgrid.errors import PoshgridError, check_known

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from poshgrid.config import BayesianModel
    from poshgrid.grid.grid import Grid
    from poshgrid.statistics.power.simulation import Size


@app.command(rich_help_panel="Your own suites, models and counts")
def power(
    config: Configs = None,
    target: Target = "all",
    model: Annotated[
        str | None, typer.Option(help="A Bayesian model with contrasts; none: the first")
    ] = None,
    effects: Annotated[
        str, typer.Option(help="True differences, points of accuracy; 0: false alarms")
    ] = "0,2,5,10,15",
    seeds: Annotated[
        str | None, typer.Option(help="Of each point, e.g. 3,6; none: the grid's, and one more")
    ] = None,
    components: Annotated[
        Path | None,
        typer.Option("--from", help="Folder of a fit with its SDs; none: published"),
    ] = None,
    sd: Annotated[
        list[str] | None, typer.Option(help="SD of a group, log odds: cell=0.3, cell[wanna]=0.6")
    ] = None,
    rival: Annotated[
        float, typer.Option(min=0, max=1, help="Accuracy of the best rival, for learned")
    ] = 0.5,
    replications: Annotated[int, typer.Option(min=2, help="Simulated studies of each kind")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of the simulation")] = 42,
    check: Annotated[
        int,
        typer.Option(min=0, help="Studies of each effect to compare with the model's own engine"),
    ] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Processes; does not change the output")] = 2,
    results: Results = None,
    as_json: Annotated[bool, typer.Option("--json", help="Records, unrounded")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="The contrasts as CSV")] = False,
) -> None:
    """Simulate a study: how often would its contrasts and `learned` find an effect?"""
    # Small matrices: more threads are slower, and their sums differ in the last bits.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from poshgrid.statistics.power import check as checking
    from poshgrid.statistics.power import components as spreads
    from poshgrid.statistics.power import contrasts, layout, learned
    from poshgrid.statistics.power.simulation import Size
    from poshgrid.tables import formats

    if as_json and as_csv:
        raise PoshgridError("--json and --csv: choose one")
    shares = [x / 100 for x in _numbers("--effects", effects, float, least=0, most=60)]
    grid = grid_of(config or [PAPER], results)
    check_known("--target: unknown target", target, grid.targets)
    chosen = _model(grid, target, model)
    suite = grid.judged(chosen)
    if suite not in grid.pairs:
        raise PoshgridError(f"models: {chosen.name}: unknown suite {suite!r}")
    found = layout.layout(grid, target, suite)
    source = spreads.of_paper() if components is None else spreads.of_fit(components)
    source = source.overruled(sd or [])
    numbers = (
        sorted(set(_numbers("--seeds", seeds, int, least=1, most=1000)))
        if seeds is not None
        else [found.seeds, found.seeds + 1]
    )
    sizes = [*(Size(number, 1) for number in numbers), Size(numbers[0], 2)]
    if check:
        held = checking.held_to_draws(
            found,
            chosen,
            source,
            effects=shares,
            size=sizes[0],
            replications=check,
            seed=seed,
            threads=threads,
        )
        for line in _checked(held):
            typer.echo(line)
        return
    table, notes = contrasts.power(
        found, chosen, source,
        effects=shares, sizes=sizes, replications=replications, seed=seed, threads=threads,
        progress=_told,
    )  # fmt: skip
    judged = learned.power(
        found, source,
        effects=shares, sizes=sizes, replications=replications, seed=seed, rival=rival,
    )  # fmt: skip
    if as_csv:
        typer.echo(formats.csv(table), nl=False)
        return
    least = contrasts.least(table)
    if as_json:
        content = {
            "target": target,
            "model": chosen.name,
            "suite": suite,
            "source": source.source,
            "sds": dict(source.sds),
            "seed": seed,
            "contrasts": table.to_dicts(),
            "least": least.to_dicts(),
            "learned": judged.to_dicts(),
            "least_learned": contrasts.least(judged).to_dicts(),
            "notes": notes,
        }
        typer.echo(json.dumps(content, indent=1, ensure_ascii=False))
        return
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"{target} · {chosen.name} · {suite}", style="bold")
    spread = ", ".join(f"{name} {value:.2f}" for name, value in source.sds.items())
    items = "its items" if found.known else "its templates (no items yet)"
    console.print(
        f"Simulated from {source.source}: SDs, log odds: {spread}; pairs from {items}.\n",
        markup=False,
        soft_wrap=True,
    )
    for each in _tables(table, least, judged, contrasts.least(judged), sizes):
        console.print(each)
    console.print(
        f"Share of {replications} simulated studies whose 95% interval, simultaneous over levels, "
        "leaves 0 out on the right side [95% Monte Carlo interval]; at effect 0: false alarms. "
        "wrong: on the wrong side. "
        f"least: points found in {100 * contrasts.ENOUGH:.0f}%.",
        markup=False,
        soft_wrap=True,
    )
    for note in notes:
        console.print(f"Note: {note}", markup=False, soft_wrap=True)


def _told(done: int, total: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done} of {total}" + ("\n" if done == total else ""))


def _numbers(option: str, text: str, kind: type, *, least: float, most: float) -> list[Any]:
    """Return the numbers of a list.

    Raises:
        PoshgridError: one is none, or out of bounds, or there is none.
    """
    try:
        found = [kind(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(least <= x <= most for x in found):
        raise PoshgridError(
            f"{option}: {text!r}: give numbers from {least:g} to {most:g}, with commas"
        )
    return list(dict.fromkeys(found))


def _model(grid: Grid, target: str, named: str | None) -> BayesianModel:
    """Return the model: the one named, or the first with contrasts that a target is fitted to."""
    fitted = grid.fitted(target)
    if named is not None:
        check_known("--model: unknown model", named, grid.models)
        if not grid.models[named].contrasts:
            raise PoshgridError(f"--model: {named}: has no contrasts; name a model that has some")
        if named not in fitted:
            raise PoshgridError(
                f"--model: {named}: target {target} has no two runs that differ in its contrasts; "
                "name another --target"
            )
        return grid.models[named]
    having = [m for name, m in grid.models.items() if name in fitted and m.contrasts]
    if not having:
        raise PoshgridError(
            f"--target: {target}: no model with contrasts is fitted to it; name another target, or "
            "add contrasts to a model"
        )
    return having[0]


def _tables(
    rows: pl.DataFrame,
    least: pl.DataFrame,
    judged: pl.DataFrame,
    least_judged: pl.DataFrame,
    sizes: list[Size],
) -> Iterator[Table]:
    """Yield a table for each contrast, one of its levels, and one of `learned`."""
    import polars as pl

    heads = [_head(size) for size in sizes]
    for (name, first, less), mine in rows.group_by(
        "contrast", "first", "less", maintain_order=True
    ):
        title = f"{name}: {first} − {less}"
        overall = mine.filter(pl.col("by") == "")
        yield _table(f"{title}, overall", "effect", heads, _lines(overall, sizes, _points))
        own = least.filter(contrast=name, first=first, less=less)
        yield _table(
            f"{title}, least",
            "level",
            heads,
            _lines(own, sizes, lambda row: row["level"] or "overall", ("by", "level")),
        )
    if judged.height:
        for (category,), mine in judged.group_by("category", maintain_order=True):
            yield _table(f"learned: {category}", "above rival", heads, _lines(mine, sizes, _points))
        yield _table(
            "learned, least",
            "category",
            heads,
            _lines(least_judged, sizes, lambda row: row["category"], ("category",)),
        )


def _points(row: dict[str, Any]) -> str:
    return f"{100 * row['effect']:g}"


def _head(size: Size) -> str:
    return f"{size.seeds} seeds" + (f", {size.items} × items" if size.items > 1 else "")


def _lines(
    rows: pl.DataFrame,
    sizes: list[Size],
    label: Callable[[dict[str, Any]], str],
    key: tuple[str, ...] = ("effect",),
) -> list[list[str]]:
    """Return a line for each place or effect, a cell for each size."""
    found: dict[tuple[Any, ...], dict[tuple[int, int], str]] = {}
    labels = {}
    for row in rows.iter_rows(named=True):
        at = tuple(row[name] for name in key)
        labels[at] = label(row)
        found.setdefault(at, {})[row["seeds"], row["items"]] = _cell(row)
    return [[labels[at], *(cells.get(size, "–") for size in sizes)] for at, cells in found.items()]


def _cell(row: dict[str, Any]) -> str:
    if "least" in row:
        return "not reached" if row["least"] is None else f"{100 * row['least']:.1f}"
    shown = f"{100 * row['power']:.0f}% [{100 * row['low']:.0f}, {100 * row['high']:.0f}]"
    return shown + (f", wrong {100 * row['wrong']:.1f}%" if row.get("wrong") else "")


def _table(title: str, corner: str, heads: list[str], lines: list[list[str]]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    table.add_column(corner, no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(*line)
    return table


def _checked(held: dict[str, float]) -> Iterator[str]:
    yield (
        f"{held['decisions']} decisions on the same simulated counts: {100 * held['agree']:.1f}% "
        "are the same by the approximation and by the model's own engine"
    )
    yield (
        f"intervals that leave 0 out: {100 * held['found']:.1f}% against "
        f"{100 * held['found_engine']:.1f}%; posterior means at most {100 * held['mean']:.2f} "
        f"points apart; SDs {held['width']:.3f} times the engine's"
    )
