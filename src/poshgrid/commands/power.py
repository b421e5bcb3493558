"""``poshgrid power``: which effects a grid can detect, before any model is trained."""

from __future__ import annotations

from typing import Annotated

import typer

from poshgrid.commands.base import Configs, Results, Target, command, grid_of
from poshgrid.core.errors import PoshgridError, check_known


@command("poshgrid power config/pilot.yaml --seeds 3,6 --effects 0,5,10", rare=True)
def power(
    config: Configs = None,
    target: Target = "all",
    model: Annotated[
        str | None, typer.Option(help="A regression with contrasts; default: the first")
    ] = None,
    effects: Annotated[
        str, typer.Option(help="True differences, points of accuracy; 0: false alarms")
    ] = "0,2,5,10,15",
    seeds: Annotated[
        str | None, typer.Option(help="Seeds of each point, e.g. 3,6; default: the grid's")
    ] = None,
    accuracy: Annotated[
        float, typer.Option(min=0.01, max=0.99, help="Mean accuracy of the cells (share)")
    ] = 0.6,
    sd: Annotated[list[str] | None, typer.Option(help="SD of a group, log odds: cell=0.3")] = None,
    results: Results = None,
) -> None:
    """Write, as CSV, how often a study's contrasts would find an effect."""
    import polars as pl

    from poshgrid.core import formats
    from poshgrid.statistics import power as powers

    grid = grid_of(config, results)
    check_known("--target: unknown target", target, grid.targets)
    used = set(grid.fitted(target))
    fitted = {name: regression for name, regression in grid.regressions.items() if name in used}
    fitted = {name: regression for name, regression in fitted.items() if regression.contrasts}
    if not fitted:
        raise PoshgridError(
            f"--target: {target}: no regression with contrasts is fitted to it; name another "
            "target, or add contrasts to a regression"
        )
    check_known("--model: no regression with contrasts on this target", model, fitted)
    chosen = fitted[model] if model else next(iter(fitted.values()))
    shares = [x / 100 for x in _numbers("--effects", effects)]
    sds = dict(powers.PUBLISHED)
    for text in sd or []:
        group, _, number = text.partition("=")
        check_known(f"--sd: {text!r}: unknown group", group, powers.GROUPS)
        sds = {key: value for key, value in sds.items() if key.partition("[")[0] != group}
        sds[group] = _numbers("--sd", number)[0]
    numbers = [None] if seeds is None else [int(x) for x in _numbers("--seeds", seeds)]
    tables = [
        powers.power(
            powers.planned(grid, target, grid.judged(chosen), per_point), chosen,
            effects=shares, sds=sds, accuracy=accuracy,
        )
        for per_point in numbers
    ]  # fmt: skip
    typer.echo(formats.csv(pl.concat(table for table, _ in tables), places=4), nl=False)
    for note in tables[-1][1]:
        typer.echo(f"Note: {note}", err=True)


def _numbers(option: str, text: str) -> list[float]:
    """Return the numbers in a comma-separated list."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise PoshgridError(f"{option}: {text!r}: give numbers separated by commas") from error
